"""Compiled loops of `modes`."""

from __future__ import annotations

import numpy as np
from numba import njit

from modeseek._common.jit import cached

__all__ = ["cluster_peaks", "merge_components"]


@njit(inline="always")
def _root(parent, i):  # type: ignore[no-untyped-def]
    """Return the root of i, and halve the path to it."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@cached
def merge_components(heights, low, high, saddles):  # type: ignore[no-untyped-def]
    """Return the saddle and the target of every point; edges (low, high) are sorted by decreasing saddle."""
    n = len(heights)
    # the root of a component is its peak
    parent = np.arange(n)
    saddle, target = np.full(n, -np.inf), np.arange(n)
    for e in range(len(low)):
        a, b = _root(parent, low[e]), _root(parent, high[e])
        if a == b:
            continue
        beyond = high[e]
        # the higher peak stays the root; if both are equal, the first
        if heights[a] > heights[b] or (heights[a] == heights[b] and a < b):
            a, b, beyond = b, a, low[e]
        saddle[a], target[a] = saddles[e], beyond
        parent[a] = b
    return saddle, target


@cached
def cluster_peaks(prominence, target, level):  # type: ignore[no-untyped-def]
    """Return the peak of each point's cluster when all peaks of lower prominence than `level` have merged."""
    n = len(prominence)
    peak = np.full(n, -1)
    path = np.empty(n, dtype=np.int64)
    for start in range(n):
        i, length = start, 0
        while peak[i] < 0:
            if prominence[i] >= level and prominence[i] > 0.0:
                peak[i] = i
                break
            path[length] = i
            length += 1
            i = target[i]
        for step in range(length):
            peak[path[step]] = peak[i]
    return peak
