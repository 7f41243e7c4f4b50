"""The compiled loop of `modes`."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray

__all__ = ["merge_components"]


@cached_loop
def _merge_loop(heights, low, high, saddles, order, parent, saddle, target):  # type: ignore[no-untyped-def]
    for place in range(len(order)):
        e = order[place]
        a, b = low[e], high[e]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a == b:
            continue
        beyond = high[e]
        # the higher peak stays the root; if both are equal, the first
        if heights[a] > heights[b] or (heights[a] == heights[b] and a < b):
            a, b, beyond = b, a, low[e]
        saddle[a], target[a] = saddles[e], beyond
        parent[a] = b


def merge_components(
    heights: Array, low: IntArray, high: IntArray, saddles: Array, order: IntArray
) -> tuple[Array, IntArray]:
    """Return the saddle and the target of every point; `order` sorts the edges (low, high) by decreasing saddle."""
    n = len(heights)
    saddle, target = np.full(n, -np.inf), np.arange(n)
    # the root of a component is its peak
    _merge_loop(heights, low, high, saddles, order, np.arange(n), saddle, target)
    return saddle, target
