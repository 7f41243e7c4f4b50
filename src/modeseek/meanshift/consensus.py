"""What several partitions of the same points agree on: one partition, and how sure each point is of its cluster.

Two points are as close as the share of partitions in which they go together (co-association). Groups merge by average
linkage, the closest first, as long as two groups share more than half: that is as long as merging them puts more pairs
of points right than wrong, counted over all partitions. So nobody gives a number of clusters.

Points that go together in every partition are one clump, and nothing below looks at single points.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek._common.unique_rows import unique_rows
from modeseek._common.validation import check_integer, check_weights
from modeseek.meanshift.partition import rank_by_weight
from modeseek.metrics import best_jaccard, rand_agreement

__all__ = [
    "Consensus",
    "Fragments",
    "Vote",
    "cluster_stability",
    "consensus",
    "counterparts",
    "find_fragments",
    "memberships",
]

# which points, and their clusters
Vote: TypeAlias = tuple[IntArray, IntArray]

# clumps whose co-association is held as a square: 32 MB
SQUARE = 2000
# groups merge above this share of the partitions; the last digits are rounding
HALF = 0.5 + 1e-9
# entries of a block of rows by groups
BLOCK = 1 << 22


class Fragments(NamedTuple):
    """Points that go together in every partition, from the heaviest clump to the lightest.

    Attributes
    ----------
    labels : (m, c) integer array
        Cluster of each clump in each partition.
    weights : (c,) array
    members : (n,) integer array
        Clump of each point.
    """

    labels: IntArray
    weights: Array
    members: IntArray


@dataclass(frozen=True, eq=False)
class Consensus:
    """What several partitions agree on.

    Attributes
    ----------
    labels : (n,) integer array
        Cluster of each point, 0 being the heaviest.
    shares : (n, k) sparse array
        Share of the partitions in which a point goes with each cluster; rows add up to 1.
    stability : float
        Mean adjusted Rand index of the partitions with this one.
    cluster_stability : (k,) array
        Mean Jaccard index of each cluster with the closest of each partition.
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
        """The shares as a plain array."""
        n, k = self.shares.shape
        check_memory(8.0 * n * k, f"a plain array of {n:,} points in {k:,} clusters", "Take shares, which is sparse.")
        return self.shares.toarray()


def consensus(partitions: ArrayLike, weights: ArrayLike | None = None, *, square: int = SQUARE) -> Consensus:
    """Return the partition that several partitions agree on.

    The order of the partitions, and the numbers that they give to their clusters, change nothing. Where groups are
    equally close, the heavier one is preferred, and of equally heavy ones that with the earlier point.

    Parameters
    ----------
    partitions : (m, n) array-like of whole numbers from 0 on
        A row for each partition, a column for each point.
    weights : (n,) array-like, optional
        Positive numbers: a weight of 3 is three equal points.
    square : int
        Up to so many clumps, linkage is exact. With more, it goes in rounds: the heaviest clumps of that number are
        linked, each lighter one joins the group that it shares most with, if that is more than half, and what is left
        goes to the next round. Memory stays at square^2.

    Examples
    --------
    >>> found = consensus([[0, 0, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 1, 1]])
    >>> found.labels, found.memberships[:, 0].round(2)
    (array([1, 1, 0, 0, 0]), array([0.  , 0.  , 0.67, 1.  , 1.  ]))
    """
    rows = np.asarray(partitions)
    if rows.ndim != 2 or 0 in rows.shape or rows.dtype.kind not in "iu" or rows.min() < 0:
        raise ValueError(
            "partitions must be whole numbers from 0 on, a row for each partition and a column for each point; "
            f"got shape {rows.shape}, {rows.dtype}."
        )
    check_integer("square", square, low=1)
    masses = check_weights(weights, rows.shape[1])
    if not masses.all():
        raise ValueError(f"weights must be positive, but that of point {int(masses.argmin())} is 0: leave it out.")
    clumps = find_fragments(rows, masses)
    groups = rank_by_weight(_in_rounds(clumps, square)[clumps.members], masses)
    labels = groups.labels
    of_clump = np.empty(len(clumps.weights), dtype=np.intp)
    of_clump[clumps.members] = labels
    everyone = np.arange(len(of_clump))
    votes = [(everyone, row) for row in clumps.labels]
    shares = memberships(of_clump, votes, clumps.weights)
    stability = float(np.mean([rand_agreement(row, labels, masses) for row in rows]))
    return Consensus(labels, shares[clumps.members], stability, cluster_stability(of_clump, votes, clumps.weights))


def find_fragments(partitions: IntArray, weights: Array) -> Fragments:
    """Return the points that go together in every partition.

    Examples
    --------
    >>> find_fragments(np.array([[0, 1, 1, 1], [0, 0, 0, 1]]), np.ones(4))
    Fragments(labels=array([[1, 0, 1], [0, 0, 1]]), weights=array([2., 1., 1.]), members=array([1, 0, 0, 2]))
    """
    first, members = unique_rows(partitions.T)
    sizes = np.bincount(members, weights=weights)
    order = np.lexsort((first, -sizes))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Fragments(partitions[:, first[order]], sizes[order], rank[members])


def memberships(labels: IntArray, votes: Iterable[Vote], weights: Array | None = None) -> csr_array:
    """Return how often each point went with each cluster of a partition: a sparse array whose rows add up to 1.

    A cluster of a vote counts as the one that it shares most weight with. Where most votes say otherwise, the point's
    own cluster is put level with theirs: it is at most as likely, and labels and memberships agree.

    Parameters
    ----------
    labels : (n,) integer array
        The partition, numbered from 0 on.
    votes : iterable of (rows, found)
        Other partitions, of all points or of some: which points, and their clusters. A point without a vote is sure.
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
    counts = csr_array((np.ones(len(row)), (row, column)), shape=shape).tocoo()  # adds up what comes twice
    row, column, count = counts.row, counts.col, counts.data
    own = column == labels[row]
    mine, most = np.zeros(len(labels)), np.zeros(len(labels))
    mine[row[own]] = count[own]
    np.maximum.at(most, row[~own], count[~own])
    mine = np.where(mine > most, mine, most + 1e-9)
    total = mine + np.bincount(row[~own], weights=count[~own], minlength=len(labels))
    row = np.append(np.arange(len(labels)), row[~own])
    column = np.append(labels, column[~own])
    return csr_array((np.append(mine, count[~own]) / total[row], (row, column)), shape=shape)


def cluster_stability(labels: IntArray, votes: Sequence[Vote], weights: Array | None = None) -> Array:
    """Return the mean Jaccard index of each cluster with the closest one of each vote that has some of its points.

    Examples
    --------
    >>> everyone = np.arange(4)
    >>> votes = [(everyone, np.array([1, 1, 0, 0])), (everyone, np.array([0, 0, 0, 1]))]
    >>> cluster_stability(np.array([0, 0, 1, 1]), votes).round(2)
    array([0.83, 0.75])
    """
    total, heard = np.zeros((2, int(labels.max()) + 1))
    for rows, found in votes:
        best = best_jaccard(labels[rows], found, None if weights is None else weights[rows])
        total[: len(best)] += best
        heard[: len(best)] += best > 0
    return np.divide(total, heard, out=np.ones(len(total)), where=heard > 0)


def counterparts(found: IntArray, labels: IntArray, weights: Array | None = None) -> IntArray:
    """Return for each point the label that its found cluster shares most weight with; of equals, the lowest."""
    k = int(labels.max()) + 1
    pairs, inverse = np.unique(found.astype(np.int64) * k + labels, return_inverse=True)
    shared = np.bincount(inverse, weights=weights)
    order = np.lexsort((pairs, -shared, pairs // k))
    clusters, first = np.unique(pairs[order] // k, return_index=True)
    return (pairs[order[first]] % k)[np.searchsorted(clusters, found)]


def _in_rounds(clumps: Fragments, square: int) -> IntArray:
    """Return the group of each clump: by linkage at once if they are few, and in rounds if not."""
    groups = np.empty(len(clumps.weights), dtype=np.intp)
    left, count = np.arange(len(groups)), 0
    while len(left):
        heavy, left = left[:square], left[square:]
        labels, weights = clumps.labels[:, heavy], clumps.weights[heavy]
        found = _linked(_co_association(labels), weights)
        groups[heavy] = count + found
        joined = _closest(clumps.labels[:, left], labels, found, weights)
        groups[left] = count + joined
        left, count = left[joined < 0], count + int(found.max()) + 1
    return groups


def _co_association(labels: IntArray) -> Array:
    """Return the share of partitions in which two clumps go together, as a square."""
    together = np.zeros((labels.shape[1], labels.shape[1]))
    for row in labels:
        together += row[:, None] == row
    return together / len(labels)


def _linked(close: Array, weights: Array) -> IntArray:
    """Return groups by average linkage, weighted by mass, down to `HALF`; `close` is written over.

    From a group to the one closest to it, and on, until two are closest to each other: these merge. This gives what
    merging the closest pair of all gives, since a merged group is never closer to a third than the closer of its parts.
    """
    n = len(weights)
    into, mass, done = np.arange(n), weights.astype(np.float64), np.zeros(n, dtype=bool)
    np.fill_diagonal(close, -1.0)
    path: list[int] = []
    for start in range(n):
        # groups before this one have ended, so that it keeps its number when it merges
        while into[start] == start and not done[start]:
            tip = path[-1] if path else start
            path = path or [start]
            best = int(close[tip].argmax())
            if close[tip, best] <= HALF:
                close[:, tip], done[tip] = -1.0, True  # nobody will come closer to it than now
                path.pop()
            elif len(path) > 1 and close[tip, path[-2]] >= close[tip, best]:  # of equals the one before, or it circles
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


def _closest(labels: IntArray, heavy: IntArray, groups: IntArray, weights: Array) -> IntArray:
    """Return for each column of labels the group of heavy clumps that it shares most with; -1 where at most half."""
    m, n = labels.shape
    k = int(groups.max()) + 1
    # clusters of all partitions get numbers of their own; entry (q, g) is the share of group g that lies in cluster q
    start = np.append(0, np.cumsum(np.maximum(labels.max(axis=1, initial=0), heavy.max(axis=1)) + 1))
    shares = np.tile(weights / np.bincount(groups, weights=weights)[groups], m)
    rows, columns = (heavy + start[:-1, None]).ravel(), np.tile(groups, m)
    within = csr_array((shares, (rows, columns)), shape=(start[-1], k))
    closest = np.full(n, -1, dtype=np.intp)
    step = max(1, BLOCK // k)
    for low in range(0, n, step):
        some = (labels[:, low : low + step] + start[:-1, None]).T
        lines = np.arange(0, some.size + 1, m)
        share = (csr_array((np.ones(some.size), some.ravel(), lines), shape=(len(some), start[-1])) @ within).toarray()
        best = share.argmax(axis=1)
        closest[low : low + step] = np.where(share[np.arange(len(some)), best] > m * HALF, best, -1)
    return closest
