"""Compiled loops of `spanning_tree`; SciPy's minimum spanning tree is slower and ignores edges of length zero."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray


@cached_loop
def _forest_loop(parent, left, right, kept):  # type: ignore[no-untyped-def]
    count = 0
    for e in range(len(left)):
        a, b = left[e], right[e]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            parent[a] = b
            kept[count] = e
            count += 1
            if count == len(kept):
                break
    return count


def spanning_forest(n: int, left: IntArray, right: IntArray) -> IntArray:
    """Return the positions of the edges of the minimum spanning forest; edges are in ascending order of length."""
    kept = np.empty(n - 1, dtype=np.int64)
    return kept[: _forest_loop(np.arange(n, dtype=np.int32), left, right, kept)]


@cached_loop
def _linkage_loop(parent, left, right, node, child, size):  # type: ignore[no-untyped-def]
    n = len(parent)
    for e in range(len(left)):
        a, b = left[e], right[e]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        child[e, 0], child[e, 1] = node[a], node[b]
        size[n + e] = size[node[a]] + size[node[b]]
        parent[a] = b
        node[b] = n + e


def single_linkage(n: int, left: IntArray, right: IntArray, weights: Array) -> tuple[IntArray, Array]:
    """Return the two children of each merge of single linkage, and the weights of points and merges.

    `left` and `right` are the edges of a spanning tree, in ascending order of length.
    """
    child, size = np.empty((len(left), 2), dtype=np.int64), np.concatenate([weights, np.empty(len(left))])
    _linkage_loop(np.arange(n, dtype=np.int32), left, right, np.arange(n), child, size)
    return child, size


@cached_loop
def _condense_loop(child, height, size, least, owner, fallen, parent_of, birth, stability, n_children):  # type: ignore[no-untyped-def]
    """Follow clusters from the root of the tree down; return the number of clusters."""
    m, count = len(child), 1
    n = len(owner) - m
    for v in range(n + m - 1, n - 1, -1):
        c, e = owner[v], v - n
        level = 1.0 / (height[e] if height[e] > 1e-300 else 1e-300)
        # from the root down, a merge of two large nodes is a split of their cluster; a small node falls off its cluster
        split = not fallen[v] and size[child[e, 0]] >= least and size[child[e, 1]] >= least
        if split:
            stability[c] += (level - birth[c]) * size[v]
            n_children[c] = 2
        for side in range(2):
            s = child[e, side]
            owner[s], fallen[s] = c, fallen[v]
            if split:
                parent_of[count], birth[count], owner[s] = c, level, count
                count += 1
            elif not fallen[v] and not size[s] >= least:
                stability[c] += (level - birth[c]) * size[s]
                fallen[s] = True
    return count


def condensed_labels(n: int, child: IntArray, height: Array, size: Array, least: float, leaf: bool) -> IntArray:
    """Return labels by clusters of a condensed merge tree; -1 for points outside of all selected clusters.

    Parameters
    ----------
    n : int
        Number of points. Nodes 0 to n - 1 of the tree are points, and node n + e is merge e.
    child, height, size : arrays
        Children and height of each merge, weight of each node.
    least : float
        The smallest weight of a cluster.
    leaf : bool
        Whether to select the leaves of the tree instead of the clusters with the largest excess of mass.
    """
    m = len(child)
    # `owner` is the cluster that each node belongs to; clusters are numbered in the order in which they split off
    owner, fallen = np.zeros(n + m, dtype=np.int64), np.zeros(n + m, dtype=np.bool_)
    parent_of, n_children = np.full(2 * m + 2, -1, dtype=np.int64), np.zeros(2 * m + 2, dtype=np.int64)
    birth, stability = np.zeros(2 * m + 2), np.zeros(2 * m + 2)
    count = _condense_loop(child, height, size, least, owner, fallen, parent_of, birth, stability, n_children)
    final = _selected(parent_of[:count].tolist(), n_children[:count].tolist(), stability[:count].tolist(), leaf)
    return np.array(final, dtype=np.int32)[owner[:n]]


def _selected(parent_of: list[int], n_children: list[int], stability: list[float], leaf: bool) -> list[int]:
    """Return the number of the selected cluster that each cluster is part of, or -1."""
    count = len(parent_of)
    chosen, below = [False] * count, [0.0] * count
    for c in range(count - 1, -1, -1):
        best = stability[c]
        if n_children[c] == 0:
            chosen[c] = True
        elif leaf or below[c] > best or c == 0:
            best = below[c]
        else:
            chosen[c] = True
        if parent_of[c] >= 0:
            below[parent_of[c]] += best
    # clusters below a chosen cluster are not chosen
    final, number = [-1] * count, 0
    for c in range(count):
        p = parent_of[c]
        if p >= 0 and final[p] >= 0:
            final[c] = final[p]
        elif chosen[c] and not (c == 0 and n_children[0] > 0):
            final[c] = number
            number += 1
    return final
