"""A partition of the windows by average linkage, cut where the mean silhouette is largest.

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
        labels = np.unique(fcluster(tree, count, "maxclust"), return_inverse=True)[1]
        return mean_silhouette(distances, labels), labels

    counts = np.unique(np.round(np.geomspace(low, high, config.linkage_counts)).astype(int))
    cuts = [cut(count) for count in counts]
    best = max(range(len(cuts)), key=lambda i: cuts[i][0])
    if not refine:
        return cuts[best]
    ends = counts[max(best - 1, 0)], counts[min(best + 1, len(counts) - 1)]
    between = np.unique(np.linspace(*ends, config.refined_linkage_counts).astype(int))
    return max([cuts[best], *map(cut, between)], key=lambda each: each[0])
