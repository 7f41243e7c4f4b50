"""The merge tree of a density on a graph, with one entry for each point.

The height of a point is its log density, and the saddle of an edge is the log density between its two points. Imagine a
water level that falls: points and edges emerge from the highest down, and components meet at saddles. When two
components meet, the one with the lower peak ends there. The prominence of a peak is its height above that saddle. This
is the persistence of modes of Chazal, Guibas, Oudot and Skraba, "Persistence-based clustering in Riemannian manifolds",
Journal of the ACM, 2013.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.storable import is_real, is_within, require, storable
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_integer, check_number
from modeseek.selection.sorting import ascending

__all__ = ["PointTree", "cut", "cuts", "level_for", "peaks", "point_tree", "tree_of_sorted"]


def _check_tree(tree: PointTree) -> None:
    n = len(tree.heights)
    require(n and all(each.shape == (n,) for each in tree) and is_real(tree.heights, 1), "the tree")
    top = tree.prominence == np.inf
    require((tree.prominence >= 0).all() and ((tree.saddle == -np.inf) == top).all(), "the prominence in a tree")
    require(is_within(tree.target, 0, n), "the targets in a tree")
    # compiled code follows targets until it reaches a top, which is its own target
    ends = tree.target
    for _ in range(n.bit_length()):
        ends = ends[ends]
    require((top[ends] & (tree.target[ends] == ends)).all(), "the targets in a tree")


@storable(_check_tree)
class PointTree(NamedTuple):
    """A merge tree: the saddle at which the component of each point meets a component with a higher peak.

    Attributes
    ----------
    heights : (n,) array
        Log density of each point.
    prominence : (n,) array
        Height of each peak above its saddle. It is 0 for points that are no peak, and infinite for the highest peak of
        each connected component of the graph.
    target : (n,) integer array
        The point on the other side of the saddle; the point itself if its prominence is infinite.
    saddle : (n,) array
        Height of the saddle; -inf if the prominence is infinite.
    """

    heights: Array
    prominence: Array
    target: IntArray
    saddle: Array


def point_tree(heights: ArrayLike, edges: ArrayLike, saddles: ArrayLike) -> PointTree:
    """Return the merge tree of a density on a graph.

    Parameters
    ----------
    heights : (n,) array-like
        Log density of each point.
    edges : (m, 2) array-like of int
        Pairs of neighbouring points.
    saddles : (m,) array-like
        Log density on each edge. Values above the lower of the two heights are reduced to that height.

    Examples
    --------
    Two peaks of heights 3 and 2, and a saddle of height 1 between them:

    >>> tree = point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0])
    >>> tree.prominence
    array([inf,  0.,  1.])
    >>> cut(tree, 0.5), cut(tree, 1.5)
    (array([0, 0, 1]), array([0, 0, 0]))
    """
    f = np.ascontiguousarray(heights, dtype=np.float64)
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    s = np.asarray(saddles, dtype=np.float64)
    # equal saddles are sorted by their points, so that the order of the edges does not matter
    key = low * len(f) + high
    if (key[1:] < key[:-1]).any():
        first = np.argsort(key, kind="stable")
        low, high, s = low[first], high[first], s[first]
    return tree_of_sorted(f, low, high, s)


def tree_of_sorted(heights: Array, low: IntArray, high: IntArray, saddles: Array) -> PointTree:
    """Return `point_tree` for edges with low < high, sorted by `low` and then by `high`."""
    from modeseek.selection.modes.loops import merge_components

    s = np.minimum(saddles, np.minimum(heights[low], heights[high]))
    saddle, target = merge_components(heights, low, high, s, ascending(-s))
    return PointTree(heights, heights - saddle, target, saddle)


def cut(tree: PointTree, level: float) -> IntArray:
    """Return the clusters of the modes with at least a given prominence.

    Parameters
    ----------
    tree : PointTree
    level : float
        Least prominence, at least 0. Above all finite prominences, the clusters are the connected components.

    Returns
    -------
    labels : (n,) integer array
        Numbered by decreasing height of the modes.
    """
    [labels] = cuts(tree, [check_number("level", level, strict=False)])
    return labels.astype(np.intp)


def cuts(tree: PointTree, levels: Sequence[float]) -> Iterator[IntArray]:
    """Yield the labels of `cut` for several levels, as 32-bit integers; points are assigned to peaks only once."""
    from modeseek.selection.modes.loops import cut_at

    peak = np.flatnonzero(tree.prominence > 0.0)
    yield from cut_at(tree, peak[np.argsort(-tree.heights[peak], kind="stable")], np.array(levels, dtype=np.float64))


def follow(target: IntArray) -> IntArray:
    """Return the end of the path of targets from each point; an end is its own target."""
    while True:
        further = target[target]
        if (further == target).all():
            return target
        target = further


def peaks(tree: PointTree) -> IntArray:
    """Return the points with positive prominence, by decreasing prominence.

    Examples
    --------
    >>> peaks(point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0]))
    array([0, 2])
    """
    own = np.flatnonzero(tree.prominence > 0)
    return own[np.lexsort((own, -tree.heights[own], -tree.prominence[own]))]


def level_for(tree: PointTree, n_clusters: int) -> float:
    """Return a level at which `cut` gives `n_clusters` clusters, in the middle of all such levels.

    Modes of equal prominence merge at the same level, and connected components never merge. If no level gives the
    number exactly, the result is a level with the next larger number, or, if there are too few modes, with all modes.

    Examples
    --------
    >>> level_for(point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0]), 2)
    0.5
    """
    n_clusters = check_integer("n_clusters", n_clusters, low=1)
    finite = np.sort(tree.prominence[(tree.prominence > 0) & np.isfinite(tree.prominence)])[::-1]
    n_components = int(np.isinf(tree.prominence).sum())
    if n_clusters <= n_components or not len(finite):
        return float(finite[0] + 1.0) if len(finite) else 0.0
    last = min(n_clusters - n_components, len(finite)) - 1
    lower = finite[finite < finite[last]]
    return float((finite[last] + (lower[0] if len(lower) else 0.0)) / 2)
