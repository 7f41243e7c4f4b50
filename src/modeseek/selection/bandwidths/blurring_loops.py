"""Compiled sweeps of blurring mean shift, for few features.

Points are sorted along one axis. A point interacts only with those closer than the bandwidth along it, which are far
fewer than all points if the bandwidth is small. Lengths are in units of the bandwidth.
"""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop, loop_part
from modeseek._common.types import Array, IntArray

__all__ = ["blur", "first_within"]


@loop_part
def _sort(keys, order):  # type: ignore[no-untyped-def]
    """Sort the indices `order` by their keys, by insertion: they are nearly sorted."""
    for k in range(1, len(order)):
        i, j = order[k], k
        while j > 0 and keys[order[j - 1]] > keys[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i


@cached_loop
def _sweep_loop(x, weights, own_shares, axis, order, old, mass, squares):  # type: ignore[no-untyped-def]
    """Move all points; return the largest change of a coordinate."""
    d, n = x.shape
    _sort(x[axis], order)
    for k in range(n):
        mass[k] = weights[order[k]]
        for c in range(d):
            old[c, k] = x[c, order[k]]
    line = old[axis]
    start, stop, largest = 0, 0, 0.0
    for k in range(n):
        while line[start] < line[k] - 1.0:
            start += 1
        while stop < n and line[stop] <= line[k] + 1.0:
            stop += 1
        for j in range(start, stop):
            squares[j] = (line[j] - line[k]) * (line[j] - line[k])
        for c in range(d):
            if c != axis:
                column, own = old[c], old[c, k]
                for j in range(start, stop):
                    squares[j] += (column[j] - own) * (column[j] - own)
        total = 0.0
        for j in range(start, stop):
            squares[j] = mass[j] * max(1.0 - squares[j], 0.0)
            total += squares[j]
        total -= mass[k] * (1.0 - own_shares[order[k]])
        for c in range(d):
            column, own, shift = old[c], old[c, k], 0.0
            for j in range(start, stop):
                shift += squares[j] * (column[j] - own)
            shift /= total
            x[c, order[k]] = own + shift
            largest = max(largest, abs(shift))
    return largest


def blur(x: Array, weights: Array, own_shares: Array, axis: int, order: IntArray) -> float:
    """Move all points by one sweep of blurring mean shift with the biweight profile and bandwidth 1.

    Parameters
    ----------
    x : (d, n) array
        Points in columns; changed.
    weights : (n,) array
    own_shares : (n,) array
        Factor on the weight of a point in its own mean.
    axis : int
        Points are sorted along this axis.
    order : (n,) array
        Indices of the points, sorted if the last sweep left them so; changed.

    Returns
    -------
    float
        The largest change of a coordinate.
    """
    return _sweep_loop(x, weights, own_shares, axis, order, np.empty_like(x), *np.empty((2, len(order))))


@cached_loop
def _first_loop(x, axis, order, square, joined, first):  # type: ignore[no-untyped-def]
    d, n = x.shape
    line = x[axis]
    _sort(line, order)
    for k in range(n):
        for back in range(k - 1, -1, -1):
            i, j = max(order[k], order[back]), min(order[k], order[back])
            if (line[i] - line[j]) * (line[i] - line[j]) >= square:
                break
            distance = 0.0
            for c in range(d):
                distance += (x[c, i] - x[c, j]) * (x[c, i] - x[c, j])
            if distance >= square:
                continue
            if not joined:
                first[i] = min(first[i], j)
                continue
            while first[i] != i:
                first[i] = first[first[i]]
                i = first[i]
            while first[j] != j:
                first[j] = first[first[j]]
                j = first[j]
            first[max(i, j)] = min(i, j)
    if joined:
        for i in range(n):
            first[i] = first[first[i]]


def first_within(x: Array, radius: float, axis: int, order: IntArray, *, joined: bool) -> IntArray:
    """Return for each point the first point, in the order of x, that is closer than `radius`.

    Parameters
    ----------
    x, axis, order
        As in `blur`; x does not change.
    radius : float
    joined : bool
        Whether to return the first point of the connected component instead.
    """
    first = np.arange(len(order))
    _first_loop(x, axis, order, radius * radius, joined, first)
    return first
