"""Compiled loops of `mean_shift`: whole runs with few points, for which `modeseek.meanshift` is much slower."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray


@cached_loop
def _chain_loop(x, weights, order, bandwidths, sweeps, squares):  # type: ignore[no-untyped-def]
    d, n = x.shape
    step = 0
    for _sweep in range(sweeps):
        largest = 0.0
        for _ in range(n):
            i = int(order[step] * n)
            inverse = 1.0 / (bandwidths[step] * bandwidths[step])
            step += 1
            for j in range(n):
                squares[j] = 0.0
            for a in range(d):
                column, own = x[a], x[a, i]
                for j in range(n):
                    squares[j] += (column[j] - own) * (column[j] - own)
            total = 0.0
            for j in range(n):
                squares[j] = weights[j] * max(1.0 - squares[j] * inverse, 0.0)
                total += squares[j]
            moved = 0.0
            for a in range(d):
                column, mean = x[a], 0.0
                for j in range(n):
                    mean += squares[j] * column[j]
                mean /= total
                moved += (mean - column[i]) ** 2
                column[i] = mean
            largest = max(largest, moved * inverse)
        if largest < 1e-6:
            break


def run_chain(points: Array, weights: Array, order: Array, bandwidths: Array, sweeps: int) -> Array:
    """Return the final positions of stochastic mean shift with the biweight profile.

    Update k moves the point int(order[k] * n), where 0 <= order[k] < 1, to the mean around it at bandwidth
    bandwidths[k].
    """
    # columns are contiguous, so that the loops over points use vector instructions
    x = np.array(points.T, order="C")
    _chain_loop(x, weights, order, bandwidths, sweeps, np.empty(len(points)))
    return np.ascontiguousarray(x.T)


@cached_loop
def _climb_loop(x, weights, h, steps, ends, squares):  # type: ignore[no-untyped-def]
    d, n = x.shape
    inverse = 1.0 / (h * h)
    for i in range(n):
        for _step in range(steps):
            for j in range(n):
                squares[j] = 0.0
            for a in range(d):
                column, own = x[a], ends[a, i]
                for j in range(n):
                    squares[j] += (column[j] - own) * (column[j] - own)
            total = 0.0
            for j in range(n):
                squares[j] = weights[j] * max(1.0 - squares[j] * inverse, 0.0)
                total += squares[j]
            moved = 0.0
            for a in range(d):
                column, mean = x[a], 0.0
                for j in range(n):
                    mean += squares[j] * column[j]
                mean /= total
                moved += (mean - ends[a, i]) ** 2
                ends[a, i] = mean
            if moved * inverse < 1e-4:
                break


def climb(points: Array, weights: Array, h: float, steps: int) -> Array:
    """Return the final positions of mean shift with the biweight profile: each climbs the density of all points."""
    x = np.array(points.T, order="C")
    ends = x.copy()
    _climb_loop(x, weights, h, steps, ends, np.empty(len(points)))
    return np.ascontiguousarray(ends.T)


@cached_loop
def _components_loop(x, square, label, stack):  # type: ignore[no-untyped-def]
    n, d = x.shape
    count = 0
    for start in range(n):
        if label[start] >= 0:
            continue
        label[start] = count
        stack[0], top = start, 1
        while top > 0:
            top -= 1
            i = stack[top]
            for j in range(n):
                if label[j] < 0:
                    s = 0.0
                    for a in range(d):
                        s += (x[i, a] - x[j, a]) ** 2
                    if s < square:
                        label[j] = count
                        stack[top] = j
                        top += 1
        count += 1


def components_within(x: Array, radius: float) -> IntArray:
    """Return the connected component of each point; points closer than `radius` are connected."""
    label = np.full(len(x), -1, dtype=np.int32)
    _components_loop(x, radius * radius, label, np.empty(len(x), dtype=np.int64))
    return label
