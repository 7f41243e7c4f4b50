"""What a view is: a function from a graph (points with their neighbours) to partitions, by setting.

Modes and communities look at neighbours only. So the same function, on the neighbours that are left when points are
taken away, tells how much of a partition stays.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, TypeAlias

import numpy as np

from modeseek._common.neighbors import Neighbors
from modeseek._common.types import Array, IntArray
from modeseek.selection.communities import louvain, neighbour_graph
from modeseek.selection.modes import PointTree, cut, point_tree

__all__ = [
    "KnnGraph",
    "Partitions",
    "Setting",
    "by_communities",
    "by_modes",
    "excess_prominence",
    "is_trivial",
    "neighbor_counts",
    "trees",
]

Setting: TypeAlias = tuple[float, float]
Partitions: TypeAlias = dict[Setting, IntArray]

# neighbours that the density goes by; the larger ones where there are points enough for them
COUNTS, LARGE_COUNTS, POINTS_FOR_LARGE = (3, 4, 6, 8, 12, 16, 24), (36, 48), 40
# a mode must rise by so many standard errors of the log density, 2 / sqrt(count)
ERRORS = (1.0, 1.5, 2.0, 2.5, 3.0)
# neighbours that carry the edges of the graph
EDGES = 8
# communities: lists of shared neighbours, and resolutions
LISTS, RESOLUTIONS = (5, 7, 10, 14, 20, 28), (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


class KnnGraph(NamedTuple):
    """Points as views see them.

    Attributes
    ----------
    neighbours : Neighbors
    weights : (n,) array
        How many rows each point stands for.
    dimension : float
        Intrinsic dimension.
    counts : tuple of int
        Neighbour counts that a density can go by here.
    coordinates : (n, d) array
        Where the points are, in the few directions that they spread most in: for views that go by more than neighbours.
    share : float
        Share of all points that these are: lists are as much shorter, so that they reach as far.
    """

    neighbours: Neighbors
    weights: Array
    dimension: float
    counts: tuple[int, ...]
    coordinates: Array
    share: float = 1.0


def neighbor_counts(n: int) -> tuple[int, ...]:
    """Return the neighbour counts that n points allow, the thinned ones included.

    Examples
    --------
    >>> neighbor_counts(30), neighbor_counts(5)
    ((3, 4, 6, 8), (1,))
    """
    fit = [count for count in COUNTS if 2.5 * count < n - 1] or [1]
    return (*fit, *(count for count in LARGE_COUNTS if POINTS_FOR_LARGE * count <= n))


def trees(graph: KnnGraph, counts: Collection[float] | None = None) -> dict[int, PointTree]:
    """Return how the modes merge, for the density by each count of neighbours (all that the graph has, or these).

    The log density of point i is ln(W_i) - dimension * ln(r_i), with r_i the distance to its count-th neighbour and W_i
    the mean weight up to there. An edge is as high as its lower end, and no higher than a density of its own length:
    a long edge is a saddle.
    """
    indices, distances = graph.neighbours
    edges, along = _edges(indices[:, :EDGES], -graph.dimension * np.log(distances[:, :EDGES]))
    running = graph.weights[:, None] + np.cumsum(graph.weights[indices], axis=1)
    found = {}
    for count in (each for each in graph.counts if counts is None or each in counts):
        mass = np.log(running[:, count - 1] / (count + 1))
        heights = mass - graph.dimension * np.log(distances[:, count - 1])
        lighter = np.minimum(mass[edges[:, 0]], mass[edges[:, 1]])
        found[count] = point_tree(heights, edges, along + lighter)
    return found


def _edges(near: IntArray, along: Array) -> tuple[IntArray, Array]:
    """Return each pair of a point and a neighbour once, in order, with what stands on it."""
    n = len(near)
    own = np.repeat(np.arange(n), near.shape[1])
    key = np.minimum(own, near.ravel()) * n + np.maximum(own, near.ravel())
    key, first = np.unique(key, return_index=True)
    return np.column_stack([key // n, key % n]), along.ravel()[first]


def by_modes(graph: KnnGraph, only: Setting | None = None) -> Partitions:
    """Return clusters around modes, by (neighbours that the density goes by, standard errors a mode must rise)."""
    wanted, levels = (None, ERRORS) if only is None else ((only[0],), (only[1],))
    return {
        (float(count), errors): cut(tree, 2.0 * errors / np.sqrt(count))
        for count, tree in trees(graph, wanted).items()
        for errors in levels
    }


def by_communities(graph: KnnGraph, only: Setting | None = None) -> Partitions:
    """Return communities of the graph of shared neighbours, by (length of the lists, resolution)."""
    n = len(graph.weights)
    lists, resolutions = (LISTS, RESOLUTIONS) if only is None else ((only[0],), (only[1],))
    found = {}
    for length in (each for each in lists if only is not None or 4 * each < n / graph.share):
        shared = neighbour_graph(graph.neighbours.indices[:, : max(2, round(graph.share * length))])
        for resolution in resolutions:
            found[float(length), resolution] = louvain(shared, resolution)
    return found


def excess_prominence(graph: KnnGraph, *, most: float = 1.5, step: float = 0.1) -> float:
    """Return how far beyond what chance makes of n points a second mode rises: the largest c up to `most`.

    At some count of neighbours the graph still has two clusters worth the name when modes must rise by
    ln(n) / count + c; negative where it has not even for c = 0.
    """
    n, best = len(graph.weights), -step
    for count, tree in trees(graph).items():
        c = most
        while c > best and is_trivial(cut(tree, np.log(n) / count + c), graph.weights):
            c -= step
        best = max(best, c)
    return best


def is_trivial(labels: IntArray, weights: Array) -> bool:
    """Return whether one cluster has 95 % of the weight, or fewer than two have three points."""
    sizes = np.bincount(labels)
    heaviest = np.bincount(labels, weights=weights).max()
    return bool(heaviest >= 0.95 * weights.sum() or (sizes >= 3).sum() < 2)
