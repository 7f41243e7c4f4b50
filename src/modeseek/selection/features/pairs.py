"""Features of pairs of Gaussians: whether two neighbours should be one cluster, or one cluster should be two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.config import FeaturesConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.features.base import Feature, nan_elsewhere
from modeseek.selection.features.geometry import LEAST_POINTS
from modeseek.selection.features.partitions import Partitions

PAIRS = tuple(
    Feature(name, meaning, graph_only=False)
    for name, meaning in (
        ("pair_mean", "mean Mahalanobis distance of clusters from the nearest one, by their common covariance"),
        ("pair_min", "the smallest of these distances"),
        ("pair_q10", "10th percentile of these distances, weighted by cluster size"),
        ("pair_valley_mean", "the same mean ratio as valley_mean, along the linear discriminant"),
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
    """Points from which pairs of clusters are compared: indices, coordinates, and a lower bound on variances."""

    rows: IntArray
    x: Array
    floor: float


def pair_sample(data: SelectionData, rows: IntArray) -> PairSample:
    """Return the sample of the points `rows`."""
    x = np.ascontiguousarray(data.coordinates[rows])
    return PairSample(rows, x, 1e-4 * float(x.var(axis=0).mean()) + 1e-300)


def pair_features(sample: PairSample, partitions: Partitions, config: FeaturesConfig) -> dict[str, Array]:
    """Return the features of each partition, by name. Partitions with fewer than two large clusters have none."""
    from modeseek.selection.features.pairs_loops import compare_pairs

    own = Partitions(partitions.start, partitions.sizes, partitions.labels[:, sample.rows])
    chosen = own.largest_clusters(config.max_separated, LEAST_POINTS)
    several = np.bincount(own.partition[chosen], minlength=len(own.sizes)) >= 2
    chosen = chosen[several[own.partition[chosen]]]
    if not len(chosen):
        return {}
    owner, clusters = own.selected(chosen)
    rows, distance, valley, gain, halves = compare_pairs(sample.x, own, chosen, sample.floor).T
    share = rows / clusters.to_clusters(clusters.total(rows))
    found = {
        "pair_mean": clusters.total(distance * share),
        "pair_min": clusters.least(distance),
        "pair_q10": clusters.quantiles(distance[None], rows, 0.1)[0],
        "pair_valley_mean": clusters.total(valley * share),
        "pair_valley_max": clusters.largest(valley),
        "pair_gain_mean": clusters.total(gain * share),
        "pair_gain_min": clusters.least(gain),
        "halves_gain_mean": clusters.total(halves * share),
        "halves_gain_max": clusters.largest(halves),
    }
    return {name: nan_elsewhere(values, owner, len(own.sizes)) for name, values in found.items()}
