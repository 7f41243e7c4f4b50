"""The certificate on the device: whether no later update can change the partition; see `meanshift.certificate`."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import cuda, float64, int32

from modeseek.meanshift.bandwidth.draws import BOUND_RTOL
from modeseek.meanshift.certificate import MAX_ANGLE, WITNESSES
from modeseek.meanshift.engines.cuda.kernels.block import block_of, device
from modeseek.meanshift.engines.cuda.kernels.single_shift import KernelSpec

# Number of rows of pairs between two tests.
ROWS = 64


@cache
def certifier(spec: KernelSpec) -> Callable[..., Any]:
    """Return the device function ``(state, tau, h_upper, rounding, partial)`` that tests whether a state is certified.

    A partition is certified if its diameter D is below tau and its gap exceeds h_upper + 2 D. Because tau is below half
    of every bandwidth, it suffices to let D be the largest distance below tau and the gap the smallest other distance:
    if gap > h_upper + 2 D, no distance lies between D and the gap, and points closer than tau to each other form the
    clusters.

    `state` is the tuple (x, n, stride, d). All threads must call the function after a barrier.
    """
    dim, threads, spherical = spec.dim, spec.threads, spec.spherical
    block = block_of(threads)
    sync, largest, smallest = block.sync, block.largest.block, block.smallest.block

    @device
    def square(state, i, j):  # type: ignore[no-untyped-def]
        x, _, stride, d = state
        total = 0.0
        for c in range(dim if dim > 0 else d):
            a = float64(x[c * stride + j]) - float64(x[c * stride + i])
            total += a * a
        return total

    @device
    def arc(chord):  # type: ignore[no-untyped-def]
        return 2.0 * math.asin(min(max(chord / 2.0, 0.0), 1.0)) if spherical else chord

    @device
    def certified(state, tau, h_upper, eps, partial):  # type: ignore[no-untyped-def]
        x, n, stride, d = state
        me, low, high, found = cuda.threadIdx.x, tau * tau, h_upper * h_upper, 0
        for number in range(WITNESSES):
            for j in range(me, n, threads):
                r = square(state, number * (n - 1) // (WITNESSES - 1), j)
                found |= int32(low <= r and r <= high)
        if cuda.syncthreads_or(found):
            return False
        diameter, gap = 0.0, math.inf
        for first in range(0, n, ROWS):
            for i in range(first, min(first + ROWS, n)):
                for j in range(i + 1 + me, n, threads):
                    r = square(state, i, j)
                    if r < low:
                        diameter = max(diameter, r)
                    else:
                        gap = min(gap, r)
            if cuda.syncthreads_or(int32(gap <= high)):
                return False
        farthest = 0.0
        for c in range(d):
            for j in range(me, n, threads):
                farthest = max(farthest, abs(float64(x[c * stride + j])))
        gap = math.sqrt(smallest(partial, 0, gap))
        diameter = arc(math.sqrt(largest(partial, 1, diameter)))
        width = diameter + eps * largest(partial, 0, farthest)
        sync()  # before `partial` is used again
        if width >= arc(tau) or (spherical and width >= MAX_ANGLE):
            return False
        if gap == math.inf:
            return True
        return arc(gap) > arc(h_upper * (1.0 + BOUND_RTOL)) + 2.0 * width

    return certified
