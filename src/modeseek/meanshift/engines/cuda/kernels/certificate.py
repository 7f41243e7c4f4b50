"""The certificate on the device: whether no later update can change the partition; see `meanshift.certificate`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import cuda, float64, int32

from modeseek.meanshift.bandwidth.draws import BOUND_RTOL
from modeseek.meanshift.engines.cuda.kernels.device import block_of, device
from modeseek.meanshift.engines.cuda.kernels.single_shift import Shape

__all__ = ["certifier"]

# points that are asked before a certificate is worked out, and how many rows of it are done between looks
WITNESSES, ROWS = 16, 64
# as in `modeseek.meanshift.certificate`: the largest angle between two points of a group under cosine
WIDEST_ANGLE = math.pi / 4


@cache
def certifier(shape: Shape) -> Callable[..., Any]:
    """Return the device function that tells whether a state is certified.

    A partition is certified if its diameter D is below tau and its gap above h_upper + 2 D. As tau is below half of
    every bandwidth, that is so if and only if it holds for D the largest distance below tau and for the gap the
    smallest distance that is not: then no two points are between 2 D and the gap apart, so that "closer than tau"
    needs no chains of points.

    (x, n, stride, d, tau, h_upper, rounding, partial) -> bool, after a barrier.
    """
    dim, threads, spherical = shape.dim, shape.threads, shape.spherical
    block = block_of(threads)
    sync = block.sync
    (most, put_most, join_most), (least, put_least, join_least) = block.largest, block.smallest

    @device
    def square(x, stride, d, i, j):  # type: ignore[no-untyped-def]
        total = 0.0
        for c in range(dim if dim > 0 else d):
            a = float64(x[c * stride + j]) - float64(x[c * stride + i])
            total += a * a
        return total

    @device
    def between(x, n, stride, d, i, low, high):  # type: ignore[no-untyped-def]
        found = 0
        for j in range(cuda.threadIdx.x, n, threads):
            r = square(x, stride, d, i, j)
            found |= int32(low <= r and r <= high)
        return found

    @device
    def largest(value, partial):  # type: ignore[no-untyped-def]
        value = most(value)
        put_most(partial, 0, 0, value)
        sync()
        value = join_most(partial, 0, 0, value)
        sync()
        return value

    @device
    def arc(chord):  # type: ignore[no-untyped-def]
        return 2.0 * math.asin(min(max(chord / 2.0, 0.0), 1.0)) if spherical else chord

    @device
    def certified(x, n, stride, d, tau, h_upper, eps, partial):  # type: ignore[no-untyped-def]
        low, high, found = tau * tau, h_upper * h_upper, 0
        for number in range(WITNESSES):
            found |= between(x, n, stride, d, number * (n - 1) // (WITNESSES - 1), low, high)
        if cuda.syncthreads_or(found):
            return False
        diameter, gap = 0.0, math.inf
        for first in range(0, n, ROWS):
            for i in range(first, min(first + ROWS, n)):
                for j in range(i + 1 + cuda.threadIdx.x, n, threads):
                    r = square(x, stride, d, i, j)
                    if r < low:
                        diameter = max(diameter, r)
                    else:
                        gap = min(gap, r)
            if cuda.syncthreads_or(int32(gap <= high)):
                return False
        farthest = 0.0
        for c in range(d):
            for j in range(cuda.threadIdx.x, n, threads):
                farthest = max(farthest, abs(float64(x[c * stride + j])))
        gap = least(gap)
        put_least(partial, 0, 0, gap)
        sync()
        gap = math.sqrt(join_least(partial, 0, 0, gap))
        sync()
        diameter = math.sqrt(largest(diameter, partial))
        rounding = eps * largest(farthest, partial)
        width = arc(diameter) + rounding
        if gap == math.inf:
            return not spherical or arc(diameter) < WIDEST_ANGLE
        if spherical and width >= WIDEST_ANGLE:
            return False
        return arc(gap) > arc(h_upper * (1.0 + BOUND_RTOL)) + 2.0 * width

    return certified
