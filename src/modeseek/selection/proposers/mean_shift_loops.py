"""Compiled loops of `mean_shift`: whole chains of few points, much faster than `modeseek.meanshift` for these."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached


@cached
def run_chain(points, weights, order, bandwidths, sweeps):  # type: ignore[no-untyped-def]
    """Stochastic mean shift with the biweight profile: one random point at a time moves to its mean."""
    n, d = points.shape
    # columns are contiguous, so that the loops over points use vector instructions
    x = np.ascontiguousarray(points.T)
    squares, step = np.empty(n), 0
    for _sweep in range(sweeps):
        largest = 0.0
        for _ in range(n):
            i = int(order[step] * n)
            inverse = 1.0 / (bandwidths[step] * bandwidths[step])
            step += 1
            squares[:] = 0.0
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
    return np.ascontiguousarray(x.T)


@cached
def components_within(x, radius):  # type: ignore[no-untyped-def]
    """Return connected components of points closer than `radius`."""
    n, d = x.shape
    label = np.full(n, -1, dtype=np.int32)
    stack = np.empty(n, dtype=np.int64)
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
                    if s < radius * radius:
                        label[j] = count
                        stack[top] = j
                        top += 1
        count += 1
    return label
