"""Partitions of the windows by average linkage: the one with the largest mean silhouette, and several.

It finds speakers with a few utterances, which the neighbour graph of ModeSeek is too coarse for. It also separates
overlapping windows and single words, so `SpeakerSearch` uses it only if it is stable under subsampling.
"""

from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import silhouette_score

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek.diarization.config import DEFAULT_CONFIG, DiarizationConfig
from modeseek.diarization.embeddings import mean_directions, nearest_direction
from modeseek.diarization.speaker_choice import load_speaker_choice, mean_cosines, partition_features
from modeseek.meanshift.consensus import Vote
from modeseek.metrics import rand_agreement


class LinkagePartition(NamedTuple):
    """A partition by average linkage and its quality.

    Attributes
    ----------
    labels : (n,) integer array
    silhouette : float
        Mean silhouette.
    stability : float
        Mean adjusted Rand index with the partitions of subsamples.
    votes : list of (rows, labels)
        The subsamples and their partitions.
    """

    labels: IntArray
    silhouette: float
    stability: float
    votes: list[Vote]


def find_linkage_partition(
    rows: Array, *, min_clusters: int, max_clusters: float, seed: int, config: DiarizationConfig = DEFAULT_CONFIG
) -> LinkagePartition | None:
    """Return the cut of average linkage with the largest mean silhouette; None if there are too few rows.

    Parameters
    ----------
    rows : (n, d) array
        Unit vectors. The memory grows with n^2.
    min_clusters, max_clusters : int
        Bounds on the number of clusters.
    seed : int
        Seed of the subsamples.
    config : DiarizationConfig

    Examples
    --------
    >>> rows = np.repeat(np.eye(3), 5, axis=0) + np.random.default_rng(0).normal(0, 0.1, (15, 3))
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> found = find_linkage_partition(rows, min_clusters=1, max_clusters=np.inf, seed=0)
    >>> int(found.labels.max()) + 1, round(found.stability, 2)
    (3, 1.0)
    """
    n = len(rows)
    distances = cosine_distances(rows)
    found = _best_cut(distances, min_clusters, max_clusters, config, refine=True)
    if found is None:
        return None
    silhouette, labels = found
    votes: list[Vote] = []
    rng = np.random.default_rng(seed)
    size = max(config.min_linkage_windows, int(config.linkage_subsample_fraction * n))
    for _ in range(config.linkage_subsamples):
        subsample = np.sort(rng.choice(n, size, replace=False))
        part = distances[np.ix_(subsample, subsample)]
        again = _best_cut(part, min_clusters, max_clusters, config, refine=False)
        votes.append((subsample, np.zeros(size, dtype=np.intp) if again is None else again[1]))
    stability = float(np.mean([rand_agreement(labels[subsample], other) for subsample, other in votes]))
    return LinkagePartition(labels, silhouette, stability, votes)


def is_one_speaker(rows: Array, config: DiarizationConfig = DEFAULT_CONFIG) -> bool:
    """Return whether unit rows are of one speaker by the learned choice; False if there are too few or too many rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.eye(64)[[0] * 20] + rng.normal(0, 0.1, (20, 64))
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> is_one_speaker(rows)
    True
    """
    if not config.min_linkage_windows <= len(rows) < config.max_single_windows:
        return False
    partitions = linkage_partitions(rows, config)
    return bool(partitions) and load_speaker_choice().prefers_single(partition_features(rows, partitions))


def linkage_partitions(rows: Array, config: DiarizationConfig = DEFAULT_CONFIG) -> list[IntArray]:
    """Return partitions of unit rows by average linkage, for several numbers of clusters.

    Each cut gives up to three partitions without clusters of one row: these join the cluster of the nearest direction;
    then rows move to the nearest mean direction; and the same after clusters below a quarter of the mean size joined
    the nearest others.

    Examples
    --------
    >>> rows = np.repeat(np.eye(3), 5, axis=0) + np.random.default_rng(0).normal(0, 0.1, (15, 3))
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> sorted({int(labels.max()) + 1 for labels in linkage_partitions(rows)})
    [2, 3, 4, 5, 6]
    """
    n = len(rows)
    tree = linkage(squareform(cosine_distances(rows), checks=False), "average")
    found: dict[bytes, IntArray] = {}
    counts = np.geomspace(2, max(2.0, config.max_partition_share * n), config.partition_counts)
    for count in np.unique(np.round(counts).astype(int)):
        whole = _join_small(rows, fcluster(tree, count, "maxclust"), 2)
        joined = _join_small(rows, whole, config.small_share * n / (whole.max() + 1))
        for labels in (whole, _moved(rows, whole, config), _moved(rows, joined, config)):
            if labels.max() > 0:
                found.setdefault(labels.tobytes(), labels)
    return list(found.values())


def _join_small(rows: Array, labels: IntArray, least: float) -> IntArray:
    """Merge clusters with fewer than `least` rows into the larger cluster with the nearest direction."""
    labels = _numbered(labels)
    large = np.bincount(labels) >= least
    if large.all() or not large.any():
        return labels
    directions = mean_directions(rows, labels)
    nearest = np.flatnonzero(large)[nearest_direction(directions, directions[large])]
    return _numbered(np.where(large, np.arange(len(large)), nearest)[labels])


def _moved(rows: Array, labels: IntArray, config: DiarizationConfig) -> IntArray:
    """Assign rows to the nearest mean direction of the others, a few times."""
    for _ in range(config.partition_moves):
        if labels.max() == 0:
            break
        labels = _numbered(mean_cosines(rows, labels).cosines.argmax(axis=1))
    return labels


def _numbered(labels: IntArray) -> IntArray:
    return np.unique(labels, return_inverse=True)[1]


def cosine_distances(rows: Array) -> Array:
    """Return 1 - cosine for all pairs of unit vectors, in float64."""
    n = len(rows)
    check_memory(40.0 * n * n, f"the distances of all pairs of {n:,} rows", "Take fewer rows.")
    distances = np.maximum(1.0 - np.asarray(rows @ rows.T, dtype=np.float64), 0.0)
    np.fill_diagonal(distances, 0.0)
    return distances


def mean_silhouette(distances: Array, labels: IntArray) -> float:
    """Return the mean silhouette (Rousseeuw 1987); 0 for one cluster and for clusters of single rows."""
    if not 1 < len(np.unique(labels)) < len(labels):
        return 0.0
    return float(silhouette_score(distances, labels, metric="precomputed"))


def _best_cut(
    distances: Array, min_clusters: int, max_clusters: float, config: DiarizationConfig, *, refine: bool
) -> tuple[float, IntArray] | None:
    n = len(distances)
    # a speaker has two windows or more on average
    low, high = max(2, min_clusters), int(min(max_clusters, max(n // 2, min_clusters)))
    if n < config.min_linkage_windows or low > high:
        return None
    tree = linkage(squareform(distances, checks=False), "average")

    def cut(count: int) -> tuple[float, IntArray]:
        labels = _numbered(fcluster(tree, count, "maxclust"))
        return mean_silhouette(distances, labels), labels

    counts = np.unique(np.round(np.geomspace(low, high, config.linkage_counts)).astype(int))
    cuts = [cut(count) for count in counts]
    best = max(range(len(cuts)), key=lambda i: cuts[i][0])
    if not refine:
        return cuts[best]
    ends = counts[max(best - 1, 0)], counts[min(best + 1, len(counts) - 1)]
    between = np.unique(np.linspace(*ends, config.refined_linkage_counts).astype(int))
    return max([cuts[best], *map(cut, between)], key=lambda each: each[0])
