"""Geometric features on a sample: silhouettes, explained variance, separation of neighbouring clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.config import FeaturesConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.features.base import Feature, nan_elsewhere
from modeseek.selection.features.partitions import Partitions
from modeseek.selection.proposers import Proposal

GEOMETRY = tuple(
    Feature(name, meaning, graph_only=False)
    for name, meaning in (
        ("r2", "share of the variance that the means of clusters explain"),
        ("r2_relative", "r2 divided by that of k-means with as many clusters"),
        ("calinski", "logarithm of the Calinski-Harabasz index"),
        ("simple_silhouette", "mean silhouette from distances to centers"),
        ("simple_negative", "share of points closer to another center than to their own"),
        ("silhouette", "mean silhouette"),
        ("silhouette_negative", "share of points with a negative silhouette"),
        ("silhouette_min", "smallest mean silhouette of a cluster"),
        ("silhouette_cluster", "mean over clusters of their mean silhouettes"),
        (
            "apart_mean",
            "mean distance of clusters from the nearest one, in standard deviations along the line between the centers",
        ),
        ("apart_min", "the smallest of these distances"),
        ("apart_q10", "10th percentile of these distances, weighted by cluster size"),
        ("valley_mean", "mean ratio of the number of points halfway to the nearest center to that at the two centers"),
        ("valley_max", "the largest of these ratios"),
        (
            "split_mean",
            "mean share of the variance along the longest axis of a cluster that is left after the best split in two",
        ),
        ("split_min", "the smallest of these shares, over clusters with 20 points or more"),
    )
)


# clusters with fewer points in the sample have no nearest cluster, and are in no pair of clusters that is compared
LEAST_POINTS = 6


class GeometrySample(NamedTuple):
    """Points from which geometric features are estimated.

    Attributes
    ----------
    rows : (m,) integer array
    x : (m, c) array
        Principal components of the points.
    total_squares : float
        Sum of squared distances from the mean.
    distances : (s, s) array
        Distances between the first s of the points, for silhouettes.
    """

    rows: IntArray
    x: Array
    total_squares: float
    distances: Array


def geometry_sample(data: SelectionData, rng: np.random.Generator, config: FeaturesConfig) -> GeometrySample:
    """Draw a random sample of the points, and compute the distances between some of them for the silhouettes."""
    rows = rng.permutation(len(data))[: config.geometry_points]
    x = np.ascontiguousarray(data.components[rows])
    small = x[: config.silhouette_points]
    squares = np.square(small).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * small @ small.T, 0.0))
    return GeometrySample(rows, x, float(np.square(x - x.mean(axis=0)).sum()), distances)


def geometry_features(sample: GeometrySample, partitions: Partitions, config: FeaturesConfig) -> dict[str, Array]:
    """Return the features of each partition, by name."""
    from modeseek.selection.features.geometry_loops import center_statistics, separations, silhouettes

    own = partitions.of_points(sample.rows)
    k, m = own.sizes, len(sample.x)
    centers, within, inner, outer = center_statistics(sample.x, own)
    r2 = 1 - within / max(sample.total_squares, 1e-300)
    simple = np.where(np.isfinite(outer), (outer - inner) / np.maximum(np.maximum(inner, outer), 1e-300), 0.0)
    small = own.of_points(np.arange(len(sample.distances)))
    silhouette = silhouettes(sample.distances, small)
    by_cluster = np.bincount(small.labels.ravel(), silhouette.ravel()) / small.counts()
    left = np.maximum(1 - r2, 1e-6) / np.maximum(m - k, 1)
    found = {
        "log_k_sample": np.log(k),
        "r2": r2,
        "calinski": np.log(np.maximum(r2, 1e-6) / np.maximum(k - 1, 1) / left),
        "simple_silhouette": simple.mean(axis=1),
        "simple_negative": (simple < 0).mean(axis=1),
        "silhouette": silhouette.mean(axis=1),
        "silhouette_negative": (silhouette < 0).mean(axis=1),
        "silhouette_min": small.least(by_cluster),
        "silhouette_cluster": small.total(by_cluster) / small.sizes,
    }
    chosen = own.largest_clusters(config.max_separated, LEAST_POINTS)
    apart = separations(sample.x, own, centers, chosen)
    known = np.isfinite(apart[:, 0])
    owner, clusters = own.selected(chosen[known])
    if not len(owner):
        return found
    (distance, valley, split), rows = apart[known].T, own.counts()[chosen[known]]
    total, least = clusters.total(rows), clusters.to_clusters(np.minimum(20.0, clusters.largest(rows)))
    separated = {
        "apart_mean": clusters.total(distance * rows) / total,
        "apart_min": clusters.least(distance),
        "apart_q10": clusters.quantiles(distance[None], rows, 0.1)[0],
        "valley_mean": clusters.total(valley * rows) / total,
        "valley_max": clusters.largest(valley),
        "split_mean": clusters.total(split * rows) / total,
        "split_min": clusters.least(np.where(rows >= least, split, np.inf)),
    }
    return found | {name: nan_elsewhere(values, owner, len(k)) for name, values in separated.items()}


def add_relative_r2(candidates: Sequence[Proposal], columns: dict[str, Array]) -> None:
    """Add the column "r2_relative": "r2" divided by the best "r2" of the proposer "centers" with as many clusters.

    The best "r2" for k clusters is the largest one that "centers" reached with at most k; between numbers of clusters,
    it is interpolated linearly in log k.
    """
    own = [each.proposer == "centers" for each in candidates]
    pairs = zip(columns["log_k_sample"][own], columns["r2"][own], strict=True)
    log_k, r2 = np.array(sorted([(0.0, 0.0), *pairs])).T
    best = np.maximum.accumulate(r2)
    columns["r2_relative"] = columns["r2"] / np.maximum(np.interp(columns["log_k"], log_k, best), 1e-3)
