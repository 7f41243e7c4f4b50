"""A second opinion about the number of speakers: average linkage by cosine, cut where the silhouette is widest.

Embeddings of one speaker lie around one direction, so that a partition can be judged by how much closer rows are to
their own group than to the next (the silhouette, Rousseeuw 1987), for any number of groups. That sees speakers of a few
utterances, which a graph of neighbours is too coarse for. But it also sees windows that overlap, and single words, as
groups: it is heard only if the same comes out when rows are taken away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek.meanshift.consensus import Vote
from modeseek.metrics import rand_agreement

__all__ = ["Opinion", "by_linkage", "nearest_mean", "silhouette"]

# numbers of groups that are tried first; then those between the neighbours of the best
NUMBERS, BETWEEN = 40, 12
# what is taken away, and how often: as ModeSeek does, half as often
KEPT, THINNINGS = 0.7, 8
# rows below which nothing can be said
FEWEST = 6


class Opinion(NamedTuple):
    """A partition with what speaks for it.

    Attributes
    ----------
    labels : (n,) integer array
    silhouette : float
        Mean over rows.
    stability : float
        Mean adjusted Rand index with what comes out of thinned rows.
    votes : list of (rows, labels)
        What came out there.
    """

    labels: IntArray
    silhouette: float
    stability: float
    votes: Sequence[Vote]


def by_linkage(rows: Array, *, least: int, most: float, seed: int) -> Opinion | None:
    """Return the cut of average linkage with the widest silhouette, at `least` to `most` groups; None of few rows.

    Parameters
    ----------
    rows : (n, d) array
        Unit rows. Distances of all pairs are held: give a sample where there are many.
    least, most : int
    seed : int
        Of the thinnings.

    Examples
    --------
    >>> rows = np.repeat(np.eye(3), 5, axis=0) + np.random.default_rng(0).normal(0, 0.1, (15, 3))
    >>> found = by_linkage(rows / np.linalg.norm(rows, axis=1, keepdims=True), least=1, most=np.inf, seed=0)
    >>> int(found.labels.max()) + 1, round(found.stability, 2)
    (3, 1.0)
    """
    n = len(rows)
    check_memory(40.0 * n * n, f"the distances of all pairs of {n:,} rows", "Take fewer rows.")
    apart = np.maximum(1.0 - np.asarray(rows @ rows.T, dtype=np.float64), 0.0)
    np.fill_diagonal(apart, 0.0)
    found = _widest(apart, least, most, finely=True)
    if found is None:
        return None
    labels, width = found
    votes, rng = [], np.random.default_rng(seed)
    for _ in range(THINNINGS):
        some = np.sort(rng.choice(len(rows), max(FEWEST, int(KEPT * len(rows))), replace=False))
        again = _widest(apart[np.ix_(some, some)], least, most, finely=False)
        votes.append((some, np.zeros(len(some), dtype=np.intp) if again is None else again[0]))
    stability = float(np.mean([rand_agreement(labels[some], other) for some, other in votes]))
    return Opinion(labels, width, stability, votes)


def silhouette(apart: Array, labels: IntArray) -> float:
    """Return the mean silhouette of a partition, from the distances of all pairs; of one group it is 0.

    A row is (b - a) / max(a, b), with a its mean distance to its own group and b to the nearest other; alone it is 0.

    Examples
    --------
    >>> apart = np.abs(np.subtract.outer([0.0, 1.0, 8.0, 9.0], [0.0, 1.0, 8.0, 9.0]))
    >>> round(silhouette(apart, np.array([0, 0, 1, 1])), 3)
    0.875
    """
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    if len(sizes) < 2:
        return 0.0
    total = np.add.reduceat(apart[:, order], np.append(0, np.cumsum(sizes)[:-1]), axis=1)
    own = np.arange(len(labels)), labels
    a = total[own] / np.maximum(sizes[labels] - 1, 1)
    others = total / sizes
    others[own] = np.inf
    b = others.min(axis=1)
    larger = np.maximum(a, b)
    width = np.divide(b - a, larger, out=np.zeros(len(a)), where=larger > 0)
    width[sizes[labels] == 1] = 0.0
    return float(width.mean())


def nearest_mean(rows: Array, means: Array) -> IntArray:
    """Return for each unit row the mean direction that it is closest to, in blocks."""
    block = max(1, (1 << 22) // max(1, len(means)))
    parts = [(rows[i : i + block] @ means.T).argmax(axis=1) for i in range(0, len(rows), block)]
    return np.concatenate(parts).astype(np.intp)


def _widest(apart: Array, least: int, most: float, *, finely: bool) -> tuple[IntArray, float] | None:
    n = len(apart)
    # a speaker has two rows or more, on average
    low, high = max(2, least), int(min(most, max(n // 2, least)))
    if n < FEWEST or low > high:
        return None
    tree = linkage(squareform(apart, checks=False), "average")
    numbers = np.unique(np.round(np.geomspace(low, high, NUMBERS)).astype(int))
    tried = [(silhouette(apart, labels), labels) for labels in _cuts(tree, numbers)]
    best = max(range(len(tried)), key=lambda i: tried[i][0])
    if finely:
        around = np.linspace(numbers[max(best - 1, 0)], numbers[min(best + 1, len(numbers) - 1)], BETWEEN)
        tried = [tried[best], *((silhouette(apart, x), x) for x in _cuts(tree, np.unique(around.astype(int))))]
        best = max(range(len(tried)), key=lambda i: tried[i][0])
    return tried[best][1], tried[best][0]


def _cuts(tree: Array, numbers: IntArray) -> Iterator[IntArray]:
    for number in numbers:
        yield np.unique(fcluster(tree, number, "maxclust"), return_inverse=True)[1]
