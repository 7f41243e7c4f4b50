"""Geometric features on a sample: silhouettes, explained variance, separation of neighbouring clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.config import FeaturesConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.features.base import Feature, weighted_quantile
from modeseek.selection.proposers import Proposal

GEOMETRY = tuple(
    Feature(name, meaning, graph_only=False)
    for name, meaning in (
        ("r2", "share of the variance that the means of clusters explain"),
        ("r2_relative", "r2 over that of k-means with as many clusters"),
        ("calinski", "logarithm of the Calinski-Harabasz index"),
        ("simple_silhouette", "mean silhouette from distances to centers"),
        ("simple_negative", "share of points closer to another center than to their own"),
        ("silhouette", "mean silhouette"),
        ("silhouette_negative", "share of points with a negative silhouette"),
        ("silhouette_min", "smallest mean silhouette of a cluster"),
        ("silhouette_cluster", "mean over clusters of their mean silhouettes"),
        ("apart_mean", "mean distance of clusters from the nearest one, in standard deviations along the line"),
        ("apart_min", "the smallest of these distances"),
        ("apart_q10", "their 10th percentile, by size"),
        ("valley_mean", "mean of points halfway to the nearest cluster over points at the centers"),
        ("valley_max", "the largest of these ratios"),
        ("split_mean", "mean variance that is left after the best split of a cluster along its longest axis"),
        ("split_min", "the smallest of these, of clusters with 20 points"),
    )
)


class GeometrySample(NamedTuple):
    """Points from which geometric features are estimated.

    Attributes
    ----------
    rows : (m,) integer array
    x : (m, c) array
        Their principal components.
    total_squares : float
        Sum of squared distances from the mean.
    distances : (s, s) array
        Distances between the first of them, for silhouettes.
    """

    rows: IntArray
    x: Array
    total_squares: float
    distances: Array


def geometry_sample(data: SelectionData, rng: np.random.Generator, config: FeaturesConfig) -> GeometrySample:
    """Draw the points and compute their distances."""
    rows = rng.permutation(len(data))[: config.geometry_points]
    x = np.ascontiguousarray(data.components[rows])
    small = x[: config.silhouette_points]
    squares = np.square(small).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * small @ small.T, 0.0))
    return GeometrySample(rows, x, float(np.square(x - x.mean(axis=0)).sum()), distances)


def geometry_features(sample: GeometrySample, labels: IntArray, config: FeaturesConfig) -> dict[str, float]:
    """Return the features by name."""
    from modeseek.selection.features.geometry_loops import center_statistics, separations, silhouettes
    from modeseek.selection.partition_loops import compact

    own, k = compact(labels[sample.rows])
    centers, counts, within, inner, outer = center_statistics(sample.x, own, k)
    r2 = 1 - within / max(sample.total_squares, 1e-300)
    simple = np.where(np.isfinite(outer), (outer - inner) / np.maximum(np.maximum(inner, outer), 1e-300), 0.0)
    small, k_small = compact(own[: len(sample.distances)])
    silhouette = silhouettes(sample.distances, small, k_small)
    by_cluster = np.bincount(small, weights=silhouette) / np.bincount(small)
    found = {
        "log_k_sample": float(np.log(k)),
        "r2": r2,
        "calinski": float(np.log(max(r2, 1e-6) / max(k - 1, 1) / (max(1 - r2, 1e-6) / max(len(own) - k, 1)))),
        "simple_silhouette": simple.mean(),
        "simple_negative": float((simple < 0).mean()),
        "silhouette": silhouette.mean(),
        "silhouette_negative": float((silhouette < 0).mean()),
        "silhouette_min": by_cluster.min(),
        "silhouette_cluster": by_cluster.mean(),
    }
    apart = separations(sample.x, own, centers, counts, config.max_separated)
    apart = apart[np.isfinite(apart[:, 1])]
    if len(apart):
        rows, distance, valley, split = apart.T
        found |= {
            "apart_mean": (distance * rows).sum() / rows.sum(),
            "apart_min": distance.min(),
            "apart_q10": weighted_quantile(distance, rows, 0.1),
            "valley_mean": (valley * rows).sum() / rows.sum(),
            "valley_max": valley.max(),
            "split_mean": (split * rows).sum() / rows.sum(),
            "split_min": split[rows >= min(20.0, rows.max())].min(),
        }
    return found


def add_relative_r2(candidates: Sequence[Proposal], columns: dict[str, Array]) -> None:
    """Add the share of explained variance relative to that of centers, a rising curve over the number of clusters."""
    own = [each.proposer == "centers" for each in candidates]
    pairs = zip(columns["log_k_sample"][own], columns["r2"][own], strict=True)
    log_k, r2 = np.array(sorted([(0.0, 0.0), *pairs])).T
    best = np.maximum.accumulate(r2)
    columns["r2_relative"] = columns["r2"] / np.maximum(np.interp(columns["log_k"], log_k, best), 1e-3)
