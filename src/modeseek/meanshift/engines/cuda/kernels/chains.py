"""The kernel that runs many chains: a block of threads runs one chain to its end, and then takes the next.

A sweep has n updates. An update is a sum over all points, which the threads of a block share, and a move, which every
thread computes, so that none waits for it. The threads make their draws themselves, one each at a time. Before each
sweep, the block tests whether the chain has ended.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from numba import cuda, float32, float64, int32, uint32

from modeseek.meanshift.engines.cuda.kernels.block import block_of, device, kernel_of
from modeseek.meanshift.engines.cuda.kernels.chain_draws import drawer, shuffler
from modeseek.meanshift.engines.cuda.kernels.chain_end import INTERRUPTED, end_checker
from modeseek.meanshift.engines.cuda.kernels.policies import H_0
from modeseek.meanshift.engines.cuda.kernels.single_shift import UNROLL, KernelSpec, high_shifter, low_shifter

# Entries of `flags`: whether the host requests a stop, and the number of chains that have ended.
STOP = 0
ENDED = 1
NO_POINT = 0xFFFFFFFF


class Problems(NamedTuple):
    """The points of all problems, one after the other; arrays on the device.

    Attributes
    ----------
    points : array
        By coordinate within each problem.
    weights, cumulative, local_scales : arrays
        Weights, cumulated weights for the draws, and factors of the bandwidth; empty if all are 1.
    """

    points: Any
    weights: Any
    cumulative: Any
    local_scales: Any


class Chains(NamedTuple):
    """One entry per chain; arrays on the device.

    Attributes
    ----------
    first, n : integer arrays
        First point among those of all problems, and number of points.
    last_at, state_at : integer arrays
        Position of the chain in `Results.last_shift` and `Results.states`.
    keys, policies : arrays
        Keys of the draws, and rows of `kernels.policies`.
    tau, threshold, fraction, by_certificate, max_updates, max_sweeps : arrays
        The fields of `modeseek.meanshift.types.Ending` as floating-point numbers; NaN is no limit.
    rounding, max_scale : arrays
        Relative rounding error of a coordinate, and the largest factor of the bandwidth.
    """

    first: Any
    n: Any
    last_at: Any
    state_at: Any
    keys: Any
    policies: Any
    tau: Any
    threshold: Any
    fraction: Any
    by_certificate: Any
    max_updates: Any
    max_sweeps: Any
    rounding: Any
    max_scale: Any


class Results(NamedTuple):
    """What the kernel writes; arrays on the device.

    Attributes
    ----------
    states, last_shift : arrays
        States by coordinate, and the length of the last move of each point.
    h, updates, sweeps, outcome : arrays
        One entry per chain.
    max_shifts : (chains, sweeps) array
        The longest move of each sweep.
    """

    states: Any
    last_shift: Any
    h: Any
    updates: Any
    sweeps: Any
    outcome: Any
    max_shifts: Any


class ChainScratch(NamedTuple):
    """Scratch arrays on the device, with one row per block: weights and a new position, uniforms and an order."""

    weights: Any
    new: Any
    uniforms: Any
    order: Any


@cache
def point_placer(spec: KernelSpec) -> Callable[..., Any]:
    """Return the device function ``(points, first, state, lengths)`` that writes the state before the first update.

    `first` is the position of the first point of the chain among the points of all problems. `state` is the tuple
    (x, n, stride, d). x is padded by points far away.
    """
    threads, far = spec.threads, spec.far

    @device
    def place_points(points, first, state, lengths):  # type: ignore[no-untyped-def]
        x, n, stride, d = state
        for c in range(d):
            for j in range(cuda.threadIdx.x, stride, threads):
                x[c * stride + j] = points[first * d + c * n + j] if j < n else far
        for j in range(cuda.threadIdx.x, n, threads):
            lengths[j] = math.inf

    return place_points


@cache
def chains_kernel(spec: KernelSpec) -> Any:
    """Return the CUDA kernel that runs all chains.

    Its arguments are ``(d, reshuffled, problems, chains, results, scratch, queue, flags)``. `reshuffled` is 1 if each
    sweep visits the points in a new order. `queue` and `flags`, of shapes (1,) and (2,), must be zeros.
    """
    dim, threads, in_shared = spec.dim, spec.threads, spec.shared
    block = block_of(threads)
    warps, sync = block.warps, block.sync
    shift_low, shift_high = low_shifter(spec), high_shifter(spec)
    shuffle, make_draws, check, place_points = shuffler(threads), drawer(threads), end_checker(spec), point_placer(spec)
    real, numba_type = spec.real, float32 if spec.single else float64

    @kernel_of(128)
    def kernel(d, reshuffled, problems, chains, results, scratch, queue, flags):  # type: ignore[no-untyped-def]
        me, row = cuda.threadIdx.x, cuda.blockIdx.x
        partial = cuda.shared.array((2, 4, warps), float64)
        indices = cuda.shared.array(threads, int32)
        bandwidths = cuda.shared.array(threads, float64)
        inverse = cuda.shared.array(threads, float64)
        word = cuda.shared.array(2, int32)
        own = cuda.shared.array(0, numba_type)
        place = cuda.local.array(3, real)
        while True:
            if me == 0:
                word[0] = cuda.atomic.add(queue, 0, 1)
            cuda.syncthreads()
            number = word[0]
            if number >= len(chains.n):
                return
            first, n, policy, key = chains.first[number], chains.n[number], chains.policies[number], chains.keys[number]
            lengths = results.last_shift[chains.last_at[number] : chains.last_at[number] + n]
            w = problems.weights[first : first + n] if len(problems.weights) > 0 else problems.weights
            order = scratch.order[row, :n] if reshuffled == 1 else scratch.order[row, :0]
            stride = -(-n // (UNROLL * threads)) * UNROLL * threads if dim > 0 else n
            kept = results.states[chains.state_at[number] : chains.state_at[number] + stride * d]
            x = own if in_shared else kept
            xs = x[:stride], x[(dim > 1) * stride :], x[(dim > 2) * 2 * stride :]
            state = x, n, stride, d
            place_points(problems.points, first, state, lengths)
            h, k, sweeps, page = policy[H_0], 0, 0, 0
            cuda.syncthreads()
            outcome = check(chains, number, state, h, k, sweeps, lengths, partial)
            while outcome < 0:
                if me == 0:
                    word[1] = cuda.atomic.add(flags, STOP, 0)  # an atomic read, because the host may write it
                cuda.syncthreads()
                if word[1] != 0:
                    outcome = INTERRUPTED
                    continue
                largest = real(0.0)
                if reshuffled == 1:
                    shuffle(key, n, k, scratch.uniforms[row], order)
                for begin in range(0, n, threads):
                    some = min(threads, n - begin)
                    draws = indices, bandwidths, inverse
                    make_draws(problems, (first, n, policy, key), order, k, begin, some, h, draws)
                    last, step = uint32(NO_POINT), uint32(0)
                    while step < uint32(some):
                        i = uint32(indices[step])
                        if dim > 0:
                            square = shift_low(xs, n, w, i, inverse[step], last, place, partial, page)
                            page, last = 1 - page, i
                        else:
                            g, new = scratch.weights[row], scratch.new[row]
                            square = shift_high(state, w, i, inverse[step], g, new, partial)
                        if uint32(me) == i % uint32(threads):
                            lengths[i] = square
                        largest = max(largest, real(square))
                        step = uint32(step + uint32(1))
                    h = bandwidths[some - 1]
                    sync()  # the draws are not needed any more, and every thread sees the last move
                k, sweeps = k + n, sweeps + 1
                if me == 0 and sweeps <= results.max_shifts.shape[1]:
                    results.max_shifts[number, sweeps - 1] = math.sqrt(largest)
                outcome = check(chains, number, state, h, k, sweeps, lengths, partial)
            if in_shared:
                for j in range(me, stride * d, threads):
                    kept[j] = x[j]
            for j in range(me, n, threads):
                lengths[j] = math.sqrt(lengths[j])
            if me == 0:
                results.h[number], results.updates[number] = h, k
                results.sweeps[number], results.outcome[number] = sweeps, outcome
                cuda.atomic.add(flags, ENDED, 1)
            cuda.syncthreads()

    return kernel


@cache
def draws_kernel(spec: KernelSpec) -> Any:
    """Return the kernel ``(x, n, d, w, indices, inverse, lengths, g, new)`` that applies draws to one state.

    It runs in one block. x has the coordinates of n points as rows, padded as `low_shifter` requires. `inverse` is
    h^-2, and g and new are scratch for n and d numbers.
    """
    dim, real, block = spec.dim, spec.real, block_of(spec.threads)
    warps, sync = block.warps, block.sync
    shift_low, shift_high = low_shifter(spec), high_shifter(spec)

    @kernel_of(128)
    def kernel(x, n, d, w, indices, inverse, lengths, g, new):  # type: ignore[no-untyped-def]
        partial = cuda.shared.array((2, 4, warps), float64)
        place = cuda.local.array(3, real)
        stride, last, page = x.shape[1], uint32(NO_POINT), 0
        flat = x.reshape(x.size)
        xs = flat[:stride], flat[(dim > 1) * stride :], flat[(dim > 2) * 2 * stride :]
        for step in range(len(indices)):
            i = uint32(indices[step])
            if dim > 0:
                square = shift_low(xs, n, w, i, inverse[step], last, place, partial, page)
                page, last = 1 - page, i
            else:
                square = shift_high((flat, n, stride, d), w, i, inverse[step], g, new, partial)
            if cuda.threadIdx.x == 0:
                lengths[step] = math.sqrt(square)
        sync()

    return kernel
