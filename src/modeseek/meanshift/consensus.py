"""Consensus of several partitions of the same points, and the memberships of each point.

The co-association of two points is the share of partitions that put them in the same cluster. The consensus comes from
average linkage of co-associations: the two closest groups merge while their mean co-association is above one half. Each
such merge agrees with the partitions about more pairs of points than it disagrees. So no number of clusters is needed.
Points that are together in every partition form a fragment, and computations use fragments instead of points.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array

from modeseek._common.distances import BLOCK
from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek._common.unique_rows import unique_rows
from modeseek._common.validation import check_integer, check_weights
from modeseek.meanshift.partition import rank_by_weight
from modeseek.metrics import best_jaccard, rand_agreement

# a partition of some of the points: their indices and their clusters
Vote: TypeAlias = tuple[IntArray, IntArray]

# largest number of fragments by default (a co-association matrix of 32 MB)
MAX_FRAGMENTS = 2000
# groups merge above a mean co-association of one half, with a margin for rounding
MERGE_ABOVE = 0.5 + 1e-9


class Fragments(NamedTuple):
    """Sets of points that are together in every partition, from the heaviest to the lightest.

    Attributes
    ----------
    labels : (m, c) integer array
        Cluster of each fragment in each partition.
    weights : (c,) array
    members : (n,) integer array
        Fragment of each point.
    """

    labels: IntArray
    weights: Array
    members: IntArray


@dataclass(frozen=True, eq=False)
class Consensus:
    """The consensus of several partitions.

    Attributes
    ----------
    labels : (n,) integer array
        Cluster of each point; 0 is the heaviest.
    shares : (n, k) sparse array
        Share of the partitions in which a point belongs to each cluster. Rows sum to 1.
    stability : float
        Mean adjusted Rand index between the partitions and the consensus.
    cluster_stability : (k,) array
        For each cluster, mean over the partitions of the largest Jaccard index with one of their clusters.

    Examples
    --------
    >>> consensus([[0, 0, 1], [0, 0, 1], [0, 1, 1]]).labels
    array([0, 0, 1])
    """

    labels: IntArray
    shares: csr_array
    stability: float
    cluster_stability: Array

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.shares.shape[1]

    @property
    def memberships(self) -> Array:
        """The shares as a dense array."""
        n, k = self.shares.shape
        check_memory(8.0 * n * k, f"a dense array of {n:,} points by {k:,} clusters", "Use shares, which is sparse.")
        return self.shares.toarray()


def consensus(
    partitions: ArrayLike, weights: ArrayLike | None = None, *, max_fragments: int = MAX_FRAGMENTS
) -> Consensus:
    """Return the consensus of several partitions.

    The result depends neither on the order of the partitions nor on the numbering of their clusters. Ties between
    groups go to the heavier one, and between equally heavy groups to the one with the first point.

    Parameters
    ----------
    partitions : (m, n) array-like of non-negative integers
        One row for each partition, one column for each point.
    weights : (n,) array-like, optional
        Positive numbers. A weight of 3 counts as three equal points.
    max_fragments : int
        Linkage is exact for at most this many fragments. For more, it proceeds in rounds: the heaviest `max_fragments`
        fragments are linked, each lighter one joins the group with which it has the largest mean co-association if
        that is above one half, and the remaining ones go to the next round. Memory is proportional to
        max_fragments^2.

    Examples
    --------
    >>> found = consensus([[0, 0, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 1, 1]])
    >>> found.labels, found.memberships[:, 0].round(2)
    (array([1, 1, 0, 0, 0]), array([0.  , 0.  , 0.67, 1.  , 1.  ]))
    """
    rows = np.asarray(partitions)
    if rows.ndim != 2 or 0 in rows.shape or rows.dtype.kind not in "iu" or rows.min() < 0:
        raise ValueError(
            "partitions must be an array of non-negative integers, a row for each partition and a column for each "
            f"point; got shape {rows.shape}, {rows.dtype}."
        )
    check_integer("max_fragments", max_fragments, low=1)
    masses = check_weights(weights, rows.shape[1])
    if not masses.all():
        raise ValueError(f"weights must be positive, but that of point {int(masses.argmin())} is 0: leave it out.")
    fragments = find_fragments(rows, masses)
    labels = rank_by_weight(_in_rounds(fragments, max_fragments)[fragments.members], masses).labels
    of_fragment = np.empty(len(fragments.weights), dtype=np.intp)
    of_fragment[fragments.members] = labels
    everyone = np.arange(len(of_fragment))
    votes = [(everyone, row) for row in fragments.labels]
    shares = memberships(of_fragment, votes, fragments.weights)
    stability = float(np.mean([rand_agreement(row, labels, masses) for row in rows]))
    by_cluster = cluster_stability(of_fragment, votes, fragments.weights)
    return Consensus(labels, shares[fragments.members], stability, by_cluster)


def find_fragments(partitions: IntArray, weights: Array) -> Fragments:
    """Return the sets of points that are together in every partition.

    Examples
    --------
    >>> find_fragments(np.array([[0, 1, 1, 1], [0, 0, 0, 1]]), np.ones(4))
    Fragments(labels=array([[1, 0, 1], [0, 0, 1]]), weights=array([2., 1., 1.]), members=array([1, 0, 0, 2]))
    """
    first, members = unique_rows(partitions.T)
    ranked = rank_by_weight(first[members], weights)
    return Fragments(partitions[:, ranked.first], ranked.sizes, ranked.labels)


def memberships(labels: IntArray, votes: Iterable[Vote], weights: Array | None = None) -> csr_array:
    """Return the share of votes for each point and cluster: a sparse array whose rows sum to 1.

    Each cluster of a vote is identified with the cluster of `labels` with which it shares most weight. If another
    cluster has more votes for a point than the point's cluster in `labels`, the share of the latter is raised to that
    of the other cluster and a little more, so that memberships never contradict the labels.

    Parameters
    ----------
    labels : (n,) integer array
        The partition, numbered from 0.
    votes : iterable of (rows, found)
        Other partitions of all or some points: indices of points, and the cluster of each. A point without any vote has
        a share of 1 for its cluster in `labels`.
    weights : (n,) array, optional

    Examples
    --------
    >>> everyone = np.arange(3)
    >>> votes = [(everyone, np.array([5, 5, 7])), (everyone, np.array([2, 3, 3]))]
    >>> memberships(np.array([0, 0, 1]), votes).toarray()
    array([[1. , 0. ], [1. , 0. ], [0.5, 0.5]])
    """
    rows, columns = [], []
    for some, found in votes:
        rows.append(some)
        columns.append(counterparts(found, labels[some], None if weights is None else weights[some]))
    row, column = np.concatenate(rows), np.concatenate(columns)
    shape = len(labels), int(labels.max()) + 1
    # entries at the same position are added
    return with_own_largest(csr_array((np.ones(len(row)), (row, column)), shape=shape).tocoo(), labels)


def with_own_largest(shares: coo_array, labels: IntArray) -> csr_array:
    """Return (n, k) shares after the cluster of each point gets the largest; rows sum to 1, or to 0 for label -1."""
    n, row, column, share = len(labels), shares.row, shares.col, shares.data
    own, other = column == labels[row], (column != labels[row]) & (labels[row] >= 0)
    mine, most = np.bincount(row[own], weights=share[own], minlength=n), np.zeros(n)
    np.maximum.at(most, row[other], share[other])
    mine = np.where(mine > most, mine, most + 1e-9)
    clustered = np.flatnonzero(labels >= 0)
    row, column = np.append(clustered, row[other]), np.append(labels[clustered], column[other])
    share = np.append(mine[clustered], share[other])
    return csr_array((share / np.bincount(row, weights=share, minlength=n)[row], (row, column)), shape=shares.shape)


def cluster_stability(labels: IntArray, votes: Sequence[Vote], weights: Array | None = None) -> Array:
    """Return the mean over votes of the largest Jaccard index of each cluster with a cluster of the vote.

    A vote that contains no point of a cluster is left out of the mean for this cluster.

    Examples
    --------
    >>> everyone = np.arange(4)
    >>> votes = [(everyone, np.array([1, 1, 0, 0])), (everyone, np.array([0, 0, 0, 1]))]
    >>> cluster_stability(np.array([0, 0, 1, 1]), votes).round(2)
    array([0.83, 0.75])
    """
    total, count = np.zeros((2, int(labels.max()) + 1))
    for rows, found in votes:
        best = best_jaccard(labels[rows], found, None if weights is None else weights[rows])
        total[: len(best)] += best
        count[: len(best)] += best > 0
    return np.divide(total, count, out=np.ones(len(total)), where=count > 0)


def counterparts(found: IntArray, labels: IntArray, weights: Array | None = None) -> IntArray:
    """Return for each point the label with which its cluster in `found` shares most weight; the lowest one in ties."""
    k = int(labels.max()) + 1
    pairs, inverse = np.unique(found.astype(np.int64) * k + labels, return_inverse=True)
    shared = np.bincount(inverse, weights=weights)
    order = np.lexsort((pairs, -shared, pairs // k))
    clusters, first = np.unique(pairs[order] // k, return_index=True)
    return (pairs[order[first]] % k)[np.searchsorted(clusters, found)]


def _in_rounds(fragments: Fragments, max_fragments: int) -> IntArray:
    """Return the group of each fragment."""
    groups = np.empty(len(fragments.weights), dtype=np.intp)
    left, count = np.arange(len(groups)), 0
    while len(left):
        heavy, left = left[:max_fragments], left[max_fragments:]
        labels, weights = fragments.labels[:, heavy], fragments.weights[heavy]
        found = _average_linkage(_co_association(labels), weights)
        groups[heavy] = count + found
        joined = _closest_group(fragments.labels[:, left], labels, found, weights)
        groups[left] = count + joined
        left, count = left[joined < 0], count + int(found.max()) + 1
    return groups


def _co_association(labels: IntArray) -> Array:
    together = np.zeros((labels.shape[1], labels.shape[1]))
    for row in labels:
        together += row[:, None] == row
    return together / len(labels)


def _average_linkage(close: Array, weights: Array) -> IntArray:
    """Return the group of each fragment by weighted average linkage down to `MERGE_ABOVE`; `close` is overwritten.

    This is the nearest-neighbour chain algorithm: it follows closest groups until two groups are closest to each other,
    and merges these. The result is the same as if the closest of all pairs merged each time, because average linkage is
    reducible. SciPy's linkage does not accept weights.
    """
    n = len(weights)
    into, mass, done = np.arange(n), weights.astype(np.float64), np.zeros(n, dtype=bool)
    np.fill_diagonal(close, -1.0)
    path: list[int] = []
    for start in range(n):
        # all earlier groups are finished, so this one keeps its number when it merges
        while into[start] == start and not done[start]:
            tip = path[-1] if path else start
            path = path or [start]
            best = int(close[tip].argmax())
            if close[tip, best] <= MERGE_ABOVE:
                close[:, tip], done[tip] = -1.0, True  # other groups cannot become closer to it
                path.pop()
            elif len(path) > 1 and close[tip, path[-2]] >= close[tip, best]:  # also for ties, or the path would cycle
                kept, gone = sorted((path.pop(), path.pop()))
                _merge(close, mass, kept, gone)
                into[gone] = kept
            else:
                path.append(best)
    while (into[into] != into).any():
        into = into[into]
    return np.unique(into, return_inverse=True)[1]


def _merge(close: Array, mass: Array, kept: int, gone: int) -> None:
    total = mass[kept] + mass[gone]
    close[kept] = (mass[kept] * close[kept] + mass[gone] * close[gone]) / total
    close[kept, [kept, gone]] = -1.0
    close[:, kept], close[:, gone] = close[kept], -1.0
    mass[kept] = total


def _closest_group(labels: IntArray, heavy: IntArray, groups: IntArray, weights: Array, block: int = BLOCK) -> IntArray:
    """Return for each column of labels the group with the largest mean co-association; -1 if it is at most one half."""
    m, n = labels.shape
    k = int(groups.max()) + 1
    # clusters of all partitions are numbered consecutively; entry (q, g) is the share of group g in cluster q
    start = np.append(0, np.cumsum(np.maximum(labels.max(axis=1, initial=0), heavy.max(axis=1)) + 1))
    shares = np.tile(weights / np.bincount(groups, weights=weights)[groups], m)
    rows, columns = (heavy + start[:-1, None]).ravel(), np.tile(groups, m)
    within = csr_array((shares, (rows, columns)), shape=(start[-1], k))
    closest = np.full(n, -1, dtype=np.intp)
    step = max(1, block // k)
    for low in range(0, n, step):
        some = (labels[:, low : low + step] + start[:-1, None]).T
        starts = np.arange(0, some.size + 1, m)
        share = (csr_array((np.ones(some.size), some.ravel(), starts), shape=(len(some), start[-1])) @ within).toarray()
        best = share.argmax(axis=1)
        closest[low : low + step] = np.where(share[np.arange(len(some)), best] > m * MERGE_ABOVE, best, -1)
    return closest
