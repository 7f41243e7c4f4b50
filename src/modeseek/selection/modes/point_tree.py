"""Modes of a density on a graph, and how they merge: each by its prominence, the rise above the saddle to a higher one.

Heights (log densities) stand on points, saddles on edges. Seen from above, a flood that falls: points and edges come up
from the highest down, components meet at saddles, and of two that meet the one with the lower peak ends there. This is
the persistence of modes (Chazal, Guibas, Oudot and Skraba 2013).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.storable import is_real, is_within, require, storable
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_integer, check_number

__all__ = ["PointTree", "cut", "level_for", "peaks", "point_tree"]


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
    """How the modes of a density merge.

    Attributes
    ----------
    heights : (n,) array
    prominence : (n,) array
        For each point, as the peak of its component: how far it rises above the saddle at which the component met one
        with a higher peak; 0 where it has none of its own, inf for the highest peak of a connected part.
    target : (n,) integer array
        The point on the other side of that saddle; the point itself where prominence is inf.
    saddle : (n,) array
        The height of that saddle; -inf where prominence is inf.
    """

    heights: Array
    prominence: Array
    target: IntArray
    saddle: Array


def point_tree(heights: ArrayLike, edges: ArrayLike, saddles: ArrayLike) -> PointTree:
    """Return how the modes of heights on a graph merge.

    Parameters
    ----------
    heights : (n,) array-like
        Log density of each point.
    edges : (m, 2) array-like of int
        Pairs of points that are neighbours.
    saddles : (m,) array-like
        Log density on each edge, at most that of its points; it is cut down to the lower of them.

    Examples
    --------
    Two hills, 3 and 2 high, with a saddle at 1 between them:

    >>> tree = point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0])
    >>> tree.prominence
    array([inf,  0.,  1.])
    >>> cut(tree, 0.5), cut(tree, 1.5)
    (array([0, 0, 1]), array([0, 0, 0]))
    """
    from modeseek.selection.modes.kernels import flood  # Numba is imported by who needs it

    f = np.ascontiguousarray(heights, dtype=np.float64)
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    s = np.minimum(np.asarray(saddles, dtype=np.float64), np.minimum(f[low], f[high]))
    # from the highest down; ties by the pair, so that the order of edges changes nothing
    key = low * len(f) + high
    if (key[1:] < key[:-1]).any():
        first = np.argsort(key, kind="stable")
        low, high, s = low[first], high[first], s[first]
    order = np.argsort(-s, kind="stable")
    saddle, target = flood(f, low[order], high[order], s[order])
    return PointTree(f, f - saddle, target, saddle)


def cut(tree: PointTree, level: float) -> IntArray:
    """Return the clusters at a level: modes that rise by at least that much, each with what merges into it.

    Labels count from the highest mode. A level above every prominence leaves the connected parts of the graph.

    Parameters
    ----------
    tree : PointTree
    level : float
        At least 0, where every point of prominence 0 still belongs to a higher one.
    """
    from modeseek.selection.modes.kernels import resolve

    level = check_number("level", level, strict=False)
    mode = resolve(tree.prominence, tree.target, level)
    kept = np.unique(mode)
    order = np.argsort(-tree.heights[kept], kind="stable")
    rank = np.empty(len(tree.heights), dtype=np.intp)
    rank[kept[order]] = np.arange(len(kept))
    return rank[mode]


def peaks(tree: PointTree) -> IntArray:
    """Return the points that are peaks, those of prominence above 0, from the most prominent to the least.

    Examples
    --------
    >>> peaks(point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0]))
    array([0, 2])
    """
    own = np.flatnonzero(tree.prominence > 0)
    return own[np.lexsort((own, -tree.heights[own], -tree.prominence[own]))]


def level_for(tree: PointTree, n_clusters: int) -> float:
    """Return a level at which `cut` leaves that many clusters, in the middle of those that do.

    Modes of equal prominence come and go together, and connected parts never merge: then it is the level with the
    fewest clusters above the number, or all parts.

    Examples
    --------
    >>> level_for(point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0]), 2)
    0.5
    """
    n_clusters = check_integer("n_clusters", n_clusters, low=1)
    finite = np.sort(tree.prominence[(tree.prominence > 0) & np.isfinite(tree.prominence)])[::-1]
    n_parts = int(np.isinf(tree.prominence).sum())
    if n_clusters <= n_parts or not len(finite):
        return float(finite[0] + 1.0) if len(finite) else 0.0
    last = min(n_clusters - n_parts, len(finite)) - 1
    lower = finite[finite < finite[last]]
    return float((finite[last] + (lower[0] if len(lower) else 0.0)) / 2)
