"""Average linkage of windows of speech and of random subsamples of them, for many numbers of clusters.

Average linkage finds speakers with a few utterances, for which the neighbour graph of ModeSeek is too coarse.
"""

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek.diarization.config import DEFAULT, DiarizationConfig
from modeseek.diarization.embeddings import mean_directions, nearest_direction
from modeseek.diarization.speaker_choice import mean_cosines
from modeseek.meanshift.consensus import Vote
from modeseek.metrics import rand_agreement


def linkage_partitions(
    rows: Array,
    min_clusters: int = 1,
    max_clusters: float = np.inf,
    config: DiarizationConfig = DEFAULT,
) -> list[IntArray]:
    """Return partitions of unit rows by average linkage, for several numbers of clusters within the bounds.

    The merge tree is cut at several numbers of clusters. Each cut gives up to three partitions. In the first, clusters
    of one row are joined with the cluster of the nearest direction. In the second, rows then move to the nearest mean
    direction (`move_rows`). In the third, clusters below a quarter of the mean size are joined before rows move.
    Partitions outside the bounds are left out. If none remains, the cut at the lower bound is returned.

    Parameters
    ----------
    rows : (n, d) array
        Unit vectors. The memory grows with n^2.
    min_clusters, max_clusters : int
    config : DiarizationConfig

    Examples
    --------
    >>> rows = np.repeat(np.eye(3), 5, axis=0) + np.random.default_rng(0).normal(0, 0.1, (15, 3))
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> sorted({int(labels.max()) + 1 for labels in linkage_partitions(rows)})
    [2, 3, 4, 5, 6]
    """
    n, low = len(rows), max(2, min_clusters)
    tree = merge_tree(cosine_distances(rows))
    found: dict[bytes, IntArray] = {}
    # clusters are joined after the cut, so that some cuts with more clusters also end within the bounds
    high = max(low, min(config.max_partition_share * n, 2 * max_clusters))
    for count in np.unique(np.round(np.geomspace(low, high, config.partition_counts)).astype(int)):
        whole = join_small(rows, cut_tree(tree, count), 2)
        joined = join_small(rows, whole, config.small_share * n / (whole.max() + 1))
        for labels in (whole, move_rows(rows, whole, config), move_rows(rows, joined, config)):
            if low <= labels.max() + 1 <= max_clusters:
                found.setdefault(labels.tobytes(), labels)
    if not found and low <= n:
        return [cut_tree(tree, low)]
    return list(found.values())


@dataclass(frozen=True, eq=False)
class SubsampledLinkage:
    """Average linkage of random subsamples of unit rows.

    Attributes
    ----------
    rows : (n, d) array
    subsamples : list of arrays
        The rows of each subsample.
    trees : list of arrays
        The merge tree of each subsample, in the format of SciPy.
    config : DiarizationConfig

    Examples
    --------
    >>> rows = np.repeat(np.eye(3), 5, axis=0) + np.random.default_rng(0).normal(0, 0.1, (15, 3))
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> linkage = SubsampledLinkage.of(rows, seed=0)
    >>> linkage.stability([np.repeat([0, 1, 2], 5), np.tile([0, 1, 2], 5)]) > 0.5
    array([ True, False])
    """

    rows: Array
    subsamples: list[IntArray]
    trees: list[Array]
    config: DiarizationConfig

    @classmethod
    def of(cls, rows: Array, seed: int, config: DiarizationConfig = DEFAULT) -> "SubsampledLinkage":
        """Draw the subsamples and compute their merge trees."""
        n, rng, distances = len(rows), np.random.default_rng(seed), cosine_distances(rows)
        size = min(n, max(config.min_linkage_windows, int(config.linkage_subsample_fraction * n)))
        subsamples = [np.sort(rng.choice(n, size, replace=False)) for _ in range(config.linkage_subsamples)]
        return cls(rows, subsamples, [merge_tree(distances[np.ix_(some, some)]) for some in subsamples], config)

    def votes(self, count: int) -> list[Vote]:
        """Return a partition of each subsample into `count` clusters; clusters of one row join the nearest cluster."""
        return [
            (some, join_small(self.rows[some], cut_tree(tree, count), 2))
            for some, tree in zip(self.subsamples, self.trees, strict=True)
        ]

    def stability(self, partitions: list[IntArray]) -> Array:
        """Return the mean adjusted Rand index of each partition with those of the subsamples into as many clusters."""
        counts = [int(labels.max()) + 1 for labels in partitions]
        votes = {count: self.votes(count) for count in set(counts)}
        return np.array(
            [
                np.mean([rand_agreement(labels[some], found) for some, found in votes[count]])
                for labels, count in zip(partitions, counts, strict=True)
            ]
        )


def cut_tree(tree: Array, count: int) -> IntArray:
    """Cut a merge tree into `count` clusters; for a few rows, this is much faster than `fcluster` of SciPy.

    Examples
    --------
    >>> cut_tree(linkage([[0.0], [5.0], [0.1], [9.0]], "average"), 3)
    array([2, 0, 2, 1])
    """
    n = len(tree) + 1
    merged = max(0, n - count)
    root = np.arange(n + merged)
    root[tree[:merged, :2].astype(np.intp)] = np.arange(n, n + merged)[:, None]
    while (root != root[root]).any():
        root = root[root]
    return number_labels(root[:n])


def join_small(rows: Array, labels: IntArray, least: float) -> IntArray:
    """Merge clusters with fewer than `least` rows into the larger cluster with the nearest direction."""
    labels = number_labels(labels)
    large = np.bincount(labels) >= least
    if large.all() or not large.any():
        return labels
    directions = mean_directions(rows, labels)
    nearest = np.flatnonzero(large)[nearest_direction(directions, directions[large])]
    return number_labels(np.where(large, np.arange(len(large)), nearest)[labels])


def move_rows(rows: Array, labels: IntArray, config: DiarizationConfig) -> IntArray:
    """Move each row to the cluster with the nearest mean direction, `partition_moves` times.

    A row is left out of the mean of its cluster.
    """
    for _ in range(config.partition_moves):
        if labels.max() == 0:
            break
        labels = number_labels(mean_cosines(rows, labels).cosines.argmax(axis=1))
    return labels


def number_labels(labels: IntArray) -> IntArray:
    """Renumber labels as 0, 1, ... without gaps."""
    return np.unique(labels, return_inverse=True)[1]


def cosine_distances(rows: Array) -> Array:
    """Return 1 - cosine for all pairs of unit vectors, in float64."""
    n = len(rows)
    check_memory(40.0 * n * n, f"the distances of all pairs of {n:,} rows", "Take fewer rows.")
    distances = np.maximum(1.0 - np.asarray(rows @ rows.T, dtype=np.float64), 0.0)
    np.fill_diagonal(distances, 0.0)
    return distances


def merge_tree(distances: Array) -> Array:
    """Return the merge tree of average linkage, in the format of SciPy."""
    return np.asarray(linkage(squareform(distances, checks=False), "average"))
