"""Compiled loops of `approximate`."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached, inlined


@inlined
def _square(x, i, j):  # type: ignore[no-untyped-def]
    """Return the squared distance between two points."""
    total = np.float32(0.0)
    for a in range(x.shape[1]):
        away = x[i, a] - x[j, a]
        total += away * away
    return total


@inlined
def _sift(squares, near, size, value, index):  # type: ignore[no-untyped-def]
    """Replace the largest value of a heap, which is its first entry, and restore the order of the heap."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and squares[child + 1] > squares[child]:
            child += 1
        if squares[child] <= value:
            break
        squares[at], near[at] = squares[child], near[child]
        at = child
    squares[at], near[at] = value, index


@cached
def closest_members(x, groups, members, known, near, squares, first, last):  # type: ignore[no-untyped-def]
    """Write the neighbours of the points with first <= i < last to `near`, and their squared distances to `squares`.

    They are the nearest among the points in row i of `known` and the members of the groups of point i. Row i of
    `groups` has the numbers of these groups, and row g of `members` has the points of group g. Entries of -1 are empty.
    Neighbours in `near` are sorted by distance.
    """
    k = near.shape[1]
    seen = np.full(len(x), -1, dtype=np.int32)
    for i in range(first, last):
        own, heap = near[i], squares[i]
        for q in range(k):
            own[q], heap[q] = -1, np.float32(np.inf)
        seen[i] = i
        for g in range(-1, groups.shape[1]):
            row = known[i] if g < 0 else members[groups[i, g]]
            if g >= 0 and groups[i, g] < 0:
                continue
            for e in range(len(row)):
                j = row[e]
                if j < 0 or seen[j] == i:
                    continue
                seen[j] = i
                value = _square(x, i, j)
                if value < heap[0]:
                    _sift(heap, own, k, value, j)
        for end in range(k - 1, 0, -1):
            value, index = heap[end], own[end]
            heap[end], own[end] = heap[0], own[0]
            _sift(heap, own, end, value, index)


@cached
def both_ways(near, width):  # type: ignore[no-untyped-def]
    """Return the first `width` neighbours of each point, and up to `width` points that have it as such a neighbour."""
    n = len(near)
    out = np.full((n, 2 * width), -1, dtype=np.int32)
    count = np.zeros(n, dtype=np.int32)
    for q in range(width):
        for i in range(n):
            j = near[i, q]
            out[i, q] = j
            if j >= 0 and count[j] < width:
                out[j, width + count[j]] = i
                count[j] += 1
    return out


@cached
def make_symmetric(near, squares):  # type: ignore[no-untyped-def]
    """Insert each point into the lists of its neighbours where it is nearer than their last entry."""
    n, k = near.shape
    last = squares[:, k - 1].copy()  # a small copy stays in the cache, and most points are farther than these distances
    for i in range(n):
        for q in range(k):
            j, value = near[i, q], squares[i, q]
            if j < 0 or value >= last[j]:
                continue
            present = False
            for r in range(k):
                if near[j, r] == i:
                    present = True
                    break
            if present:
                continue
            place = k - 1
            while place > 0 and squares[j, place - 1] > value:
                squares[j, place], near[j, place] = squares[j, place - 1], near[j, place - 1]
                place -= 1
            squares[j, place], near[j, place] = value, i
            last[j] = squares[j, k - 1]
