"""The compiled loop of `modes`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray

if TYPE_CHECKING:
    from modeseek.selection.modes.point_tree import PointTree

__all__ = ["cut_at", "merge_components"]


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
        # the higher peak remains the root; if both are equally high, the first one does
        if heights[a] > heights[b] or (heights[a] == heights[b] and a < b):
            a, b, beyond = b, a, low[e]
        saddle[a], target[a] = saddles[e], beyond
        parent[a] = b


def merge_components(
    heights: Array, low: IntArray, high: IntArray, saddles: Array, order: IntArray
) -> tuple[Array, IntArray]:
    """Return `PointTree.saddle` and `target`; `order` has the edges (low, high) by decreasing saddle."""
    n = len(heights)
    saddle, target = np.full(n, -np.inf), np.arange(n)
    # the root of a component is its peak
    _merge_loop(heights, low, high, saddles, order, np.arange(n), saddle, target)
    return saddle, target


@cached_loop
def _cut_loop(prominence, target, order, levels, number, top, label, out):  # type: ignore[no-untyped-def]
    for place in range(len(order)):
        number[order[place]] = place
    # find the peak of each point: follow its targets
    for i in range(len(number)):
        end = i
        while number[end] < 0:
            end = target[end]
        j = i
        while number[j] < 0:
            number[j], j = number[end], target[j]
    for q in range(len(levels)):
        count = 0
        for p in range(len(order)):
            top[p] = -1
            if prominence[order[p]] >= levels[q]:
                top[p], label[p], count = p, count, count + 1
        for p in range(len(order)):
            end = p
            while top[end] < 0:
                end = number[target[order[end]]]
            end, j = top[end], p
            while top[j] < 0:
                top[j], j = end, number[target[order[j]]]
        for p in range(len(order)):
            top[p] = label[top[p]]
        for i in range(len(number)):
            out[q, i] = top[number[i]]


def cut_at(tree: PointTree, order: IntArray, levels: Array) -> IntArray:
    """Return a row of labels for each level: the clusters of the modes with at least this prominence.

    `order` has the peaks by decreasing height.
    """
    n, m = len(tree.heights), len(order)
    out, number = np.empty((len(levels), n), dtype=np.int32), np.full(n, -1, dtype=np.int32)
    top, label = np.empty(m, dtype=np.int32), np.empty(m, dtype=np.int32)
    _cut_loop(tree.prominence, tree.target, order, levels, number, top, label, out)
    return out
