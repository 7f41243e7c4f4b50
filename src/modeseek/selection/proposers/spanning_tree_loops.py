"""Compiled loops of `spanning_tree`; SciPy's minimum spanning tree is slower and treats zero lengths as no edge."""

from __future__ import annotations

import numpy as np
from numba import njit

from modeseek._common.jit import cached


@njit(inline="always")
def _root(parent, i):  # type: ignore[no-untyped-def]
    """Return the root of i, and halve the path to it."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@cached
def spanning_forest(n, left, right):  # type: ignore[no-untyped-def]
    """Return the positions of the edges of the minimum spanning forest; edges are in ascending order of length."""
    parent = np.arange(n)
    kept = np.empty(n, dtype=np.int64)
    count = 0
    for e in range(len(left)):
        a, b = _root(parent, left[e]), _root(parent, right[e])
        if a != b:
            parent[a] = b
            kept[count] = e
            count += 1
            if count == n - 1:
                break
    return kept[:count].copy()


@cached
def single_linkage(n, left, right, weights):  # type: ignore[no-untyped-def]
    """Return children of the merges along a spanning tree (edges in ascending order), and weights of all nodes."""
    m = len(left)
    child = np.empty((m, 2), dtype=np.int64)
    size = np.empty(n + m)
    for i in range(n):
        size[i] = weights[i]
    parent = np.arange(n)
    node = np.arange(n)
    for e in range(m):
        a, b = _root(parent, left[e]), _root(parent, right[e])
        child[e, 0], child[e, 1] = node[a], node[b]
        size[n + e] = size[node[a]] + size[node[b]]
        parent[a] = b
        node[b] = n + e
    return child, size


@cached
def condensed_labels(n, child, height, size, least, leaf):  # type: ignore[no-untyped-def]
    """Select clusters of a condensed merge tree by excess of mass, or its leaves; -1 marks points outside of all.

    Parameters
    ----------
    n : int
        Number of points; nodes from n on are merges.
    child, height, size : arrays
        Children and height of each merge, weight of each node.
    least : float
        The smallest weight of a cluster.
    leaf : bool
        Select leaves instead of the stablest clusters.
    """
    m = len(child)
    top = n + m - 1
    # the cluster that each node belongs to; clusters are numbered as they split off
    owner = np.full(n + m, -1, dtype=np.int64)
    parent_of = np.empty(2 * m + 2, dtype=np.int64)
    birth = np.empty(2 * m + 2)
    stability = np.zeros(2 * m + 2)
    n_children = np.zeros(2 * m + 2, dtype=np.int64)
    parent_of[0], birth[0] = -1, 0.0
    count = 1
    owner[top] = 0
    # inside of a part that was too small to remain a cluster
    fallen = np.zeros(n + m, dtype=np.bool_)
    for v in range(top, n - 1, -1):
        c = owner[v]
        e = v - n
        level = 1.0 / max(height[e], 1e-300)
        a, b = child[e, 0], child[e, 1]
        big_a, big_b = size[a] >= least, size[b] >= least
        if fallen[v]:
            owner[a] = owner[b] = c
            fallen[a] = fallen[b] = True
        elif big_a and big_b:
            stability[c] += (level - birth[c]) * size[v]
            n_children[c] = 2
            for s in (a, b):
                parent_of[count], birth[count] = c, level
                owner[s] = count
                count += 1
        else:
            for s, big in ((a, big_a), (b, big_b)):
                owner[s] = c
                if not big:
                    stability[c] += (level - birth[c]) * size[s]
                    fallen[s] = True
    chosen = np.zeros(count, dtype=np.bool_)
    best = stability[:count].copy()
    below = np.zeros(count)
    for c in range(count - 1, -1, -1):
        if n_children[c] == 0:
            chosen[c] = True
        elif leaf or below[c] > best[c] or c == 0:
            best[c] = below[c]
        else:
            chosen[c] = True
        if parent_of[c] >= 0:
            below[parent_of[c]] += best[c]
    # a chosen cluster hides those below it
    final = np.full(count, -1, dtype=np.int64)
    number = 0
    for c in range(count):
        p = parent_of[c]
        if p >= 0 and final[p] >= 0:
            final[c] = final[p]
        elif chosen[c] and not (c == 0 and n_children[0] > 0):
            final[c] = number
            number += 1
    labels = np.empty(n, dtype=np.int32)
    for i in range(n):
        labels[i] = final[owner[i]] if owner[i] >= 0 else -1
    return labels
