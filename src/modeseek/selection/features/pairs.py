"""Features of pairs of Gaussians: whether neighbouring clusters are two or one, and whether a cluster is one or two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.config import FeaturesConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.features.base import Feature, weighted_quantile

PAIRS = tuple(
    Feature(name, meaning, graph_only=False)
    for name, meaning in (
        ("pair_mean", "mean Mahalanobis distance of clusters from the nearest one, by their common covariance"),
        ("pair_min", "the smallest of these distances"),
        ("pair_q10", "their 10th percentile, by size"),
        ("pair_valley_mean", "mean of points halfway to that cluster over points at the centers, on the discriminant"),
        ("pair_valley_max", "the largest of these ratios"),
        ("pair_gain_mean", "mean gain in log likelihood of two Gaussians over one, per point, for these two clusters"),
        ("pair_gain_min", "the smallest of these gains"),
        (
            "halves_gain_mean",
            "mean gain in log likelihood of two Gaussians over one, per point, for halves of clusters",
        ),
        ("halves_gain_max", "the largest of these gains"),
    )
)


class PairSample(NamedTuple):
    """Points from which pairs of clusters are compared: their indices, coordinates, and least variance."""

    rows: IntArray
    x: Array
    floor: float


def pair_sample(data: SelectionData, rows: IntArray) -> PairSample:
    """Return the points `rows`."""
    x = np.ascontiguousarray(data.coordinates[rows])
    return PairSample(rows, x, 1e-4 * float(x.var(axis=0).mean()) + 1e-300)


def pair_features(sample: PairSample, labels: IntArray, config: FeaturesConfig) -> dict[str, float]:
    """Return the features by name; none if fewer than two clusters have enough points."""
    from modeseek.selection.features.pairs_loops import compare_pairs

    rows, distance, valley, gain, halves = compare_pairs(sample.x, labels[sample.rows], sample.floor, config).T
    if len(rows) < 2:
        return {}
    share = rows / rows.sum()
    return {
        "pair_mean": distance @ share,
        "pair_min": distance.min(),
        "pair_q10": weighted_quantile(distance, rows, 0.1),
        "pair_valley_mean": valley @ share,
        "pair_valley_max": valley.max(),
        "pair_gain_mean": gain @ share,
        "pair_gain_min": gain.min(),
        "halves_gain_mean": halves @ share,
        "halves_gain_max": halves.max(),
    }
