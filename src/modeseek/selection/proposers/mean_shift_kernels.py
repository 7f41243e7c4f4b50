"""Compiled loops of `mean_shift`: whole chains of few points, much faster than `modeseek.meanshift` for these."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached


@cached
def run_chain(points, weights, order, bandwidths, sweeps):  # type: ignore[no-untyped-def]
    """Stochastic mean shift with the biweight profile: one random point at a time moves to its mean."""
    n, d = points.shape
    x = points.copy()
    step, shift = 0, np.empty(d)
    for _sweep in range(sweeps):
        largest = 0.0
        for _ in range(n):
            i = int(order[step] * n)
            h = bandwidths[step]
            step += 1
            shift[:] = 0.0
            total = 0.0
            inverse = 1.0 / (h * h)
            for j in range(n):
                s = 0.0
                for a in range(d):
                    t = x[j, a] - x[i, a]
                    s += t * t
                s *= inverse
                if s < 1.0:
                    w = weights[j] * (1.0 - s)
                    total += w
                    for a in range(d):
                        shift[a] += w * x[j, a]
            s = 0.0
            for a in range(d):
                new = shift[a] / total
                s += (new - x[i, a]) ** 2
                x[i, a] = new
            largest = max(largest, s * inverse)
        if largest < 1e-6:
            break
    return x


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
