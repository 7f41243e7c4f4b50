"""The compiled loops of `prominence`."""

from __future__ import annotations

import numpy as np
from numba import njit

from modeseek._common.jit import cached

__all__ = ["flood", "resolve"]


@njit(inline="always")
def root_of(parent, i):  # type: ignore[no-untyped-def]
    """Return the root of i, with its path halved on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def _flood(heights, low, high, saddles):  # type: ignore[no-untyped-def]
    """Return saddle and target of every point; edges come from the highest saddle down."""
    n = len(heights)
    # the root of a component is its peak
    parent = np.arange(n)
    saddle, target = np.full(n, -np.inf), np.arange(n)
    for e in range(len(low)):
        a, b = root_of(parent, low[e]), root_of(parent, high[e])
        if a == b:
            continue
        beyond = high[e]
        # the higher peak goes on; of equals, the first
        if heights[a] > heights[b] or (heights[a] == heights[b] and a < b):
            a, b, beyond = b, a, low[e]
        saddle[a], target[a] = saddles[e], beyond
        parent[a] = b
    return saddle, target


def _resolve(prominence, target, level):  # type: ignore[no-untyped-def]
    """Return for each point the mode it belongs to when modes below the level have merged."""
    n = len(prominence)
    mode = np.full(n, -1)
    path = np.empty(n, dtype=np.int64)
    for start in range(n):
        i, length = start, 0
        while mode[i] < 0:
            if prominence[i] >= level and prominence[i] > 0.0:
                mode[i] = i
                break
            path[length] = i
            length += 1
            i = target[i]
        for step in range(length):
            mode[path[step]] = mode[i]
    return mode


flood = cached(_flood)
resolve = cached(_resolve)
