"""Device functions that test whether a chain has ended, with the certificate of `modeseek.meanshift.certificate`."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import cuda, float64, int32

from modeseek.meanshift.bandwidth.draws import BOUND_RTOL
from modeseek.meanshift.certificate import MAX_ANGLE, WITNESSES
from modeseek.meanshift.engines.cuda.kernels.block import block_of, device
from modeseek.meanshift.engines.cuda.kernels.policies import frozen, upper
from modeseek.meanshift.engines.cuda.kernels.single_shift import KernelSpec

# Names in `modeseek.meanshift.chains.Outcome`, and their positions.
OUTCOMES = ("CERTIFIED", "SMALL_SHIFTS", "UPDATE_LIMIT", "INTERRUPTED")
CERTIFIED = OUTCOMES.index("CERTIFIED")
SMALL_SHIFTS = OUTCOMES.index("SMALL_SHIFTS")
UPDATE_LIMIT = OUTCOMES.index("UPDATE_LIMIT")
INTERRUPTED = OUTCOMES.index("INTERRUPTED")
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


@cache
def end_checker(spec: KernelSpec) -> Callable[..., Any]:
    """Return the device function ``(chains, number, state, h, k, sweeps, lengths, partial)`` that tests for the end.

    It returns the outcome of the chain, or -1 if it continues; as `modeseek.meanshift.chains.Stopping.check`. `state`
    is the tuple (x, n, stride, d), and `lengths` has the squared lengths of the last moves.
    """
    threads, certified = spec.threads, certifier(spec)
    block = block_of(threads)
    sync, total = block.sync, block.total.block

    @device
    def shifts_are_small(lengths, n, threshold, fraction, partial):  # type: ignore[no-untyped-def]
        small = 0.0
        for j in range(cuda.threadIdx.x, n, threads):
            small += 1.0 if lengths[j] <= threshold * threshold else 0.0
        small = total(partial, 0, small)
        sync()
        return small / n >= fraction

    @device
    def check(chains, number, state, h, k, sweeps, lengths, partial):  # type: ignore[no-untyped-def]
        n, policy = state[1], chains.policies[number]
        if chains.by_certificate[number] == 1.0:
            count = k // n
            due = count <= 32 or count % (count // 32) == 0
            widest = upper(policy, h, k) * chains.max_scale[number]
            if due and certified(state, chains.tau[number], widest, chains.rounding[number], partial):
                return CERTIFIED
        small = shifts_are_small(lengths, n, chains.threshold[number], chains.fraction[number], partial)
        if small and (chains.by_certificate[number] == 0.0 or frozen(policy, h, k)):
            return SMALL_SHIFTS
        return UPDATE_LIMIT if k >= chains.max_updates[number] or sweeps >= chains.max_sweeps[number] else -1

    return check
