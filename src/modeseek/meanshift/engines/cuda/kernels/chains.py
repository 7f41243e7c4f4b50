"""Many chains at once: a block of threads takes a chain, runs it until it has settled, and takes the next.

A sweep is n updates. Each is a sum over all points, which the threads of a block share, and a move, which all of them
work out alike: so nobody waits for it to be written. Draws are made on the spot, as many at a time as a block has
threads. Before each sweep the block itself looks whether the chain is over.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda, float32, float64, int32, int64, uint32

from modeseek.meanshift.engines.cuda.kernels import policies
from modeseek.meanshift.engines.cuda.kernels.certificate import certifier
from modeseek.meanshift.engines.cuda.kernels.device import block_of, device, kernel_of, uniform_pair
from modeseek.meanshift.engines.cuda.kernels.single_shift import FAR, FAR_SINGLE, GROUP, Shape, any_mover, low_mover

__all__ = ["ENDED", "ENDS", "FLAGS", "OUTCOME", "SWEEPS", "UPDATES", "H", "chains_kernel", "draws_kernel", "stride_of"]

# columns of the tables that the host hands over and gets back
PLACES = ("points at", "last shifts at", "state at", "n")
RULE = ("tau", "threshold", "fraction", "by certificate", "most updates", "most sweeps", "rounding", "widest scale")
ENDS = ("h", "updates", "sweeps", "outcome")
FLAGS = ("stop", "ended")
POINTS_AT, LAST_AT, STATE_AT, N = range(4)
TAU, THRESHOLD, FRACTION, BY_CERTIFICATE, MOST_UPDATES, MOST_SWEEPS, ROUNDING, WIDEST = range(8)
H, UPDATES, SWEEPS, OUTCOME = range(4)
STOP, ENDED = range(2)
# how a chain ends
CERTIFIED, SMALL_SHIFTS, UPDATE_LIMIT, STOPPED = range(4)
# the index of no point
NOBODY = 0xFFFFFFFF


def stride_of(n: int, shape: Shape) -> int:
    """Return how far apart the coordinates of a state of n points are."""
    whole = GROUP * shape.threads
    return -(-n // whole) * whole if shape.dim else n


@cache
def chains_kernel(shape: Shape) -> Any:
    """Return the kernel that runs chains, one for each row of its tables.

    (d, order, points, weights, ladder, scales, places, keys, recipes, rules, queue, flags, states, last, ends, shifts,
    room): `order` is 1 where points are reshuffled. points, weights, ladder and scales are those of all problems, one
    after the other, coordinates by rows; the last three may be empty. queue (1,) and flags are zeros. states, last,
    ends and shifts, the largest of each sweep, take results. The last four are room, a row for each block.
    """
    dim, threads, in_shared = shape.dim, shape.threads, shape.shared
    block = block_of(threads)
    warps, sync, (fold, put, join) = block.warps, block.sync, block.total
    move, move_any, certified = low_mover(shape), any_mover(shape), certifier(shape)
    kind, far = (float32, np.float32(FAR_SINGLE)) if shape.single else (float64, np.float64(FAR))
    real = np.float32 if shape.single else np.float64
    nu_of, drawn, walked, walk = policies.nu_of, policies.drawn, policies.walked, policies.WALK
    upper, frozen = policies.upper, policies.frozen

    @device
    def pick(u, n, ladder, first):  # type: ignore[no-untyped-def]
        """Return the point that a uniform number chooses: by weight, where there is a ladder of them."""
        if len(ladder) == 0:
            return min(int64(u * n), n - 1)
        aim, low, high = u * ladder[first + n - 1], 0, n
        while low < high:
            middle = (low + high) // 2
            if ladder[first + middle] <= aim:
                low = middle + 1
            else:
                high = middle
        return min(low, n - 1)

    @device
    def shuffle(key, n, done, uniforms, order):  # type: ignore[no-untyped-def]
        """Put the points in the order of their uniforms; of equal ones, the first comes first."""
        for k in range(cuda.threadIdx.x, n, threads):
            uniforms[k], _ = uniform_pair(key, done + k + 1)
        sync()
        for k in range(cuda.threadIdx.x, n, threads):
            before = 0
            for other in range(n):
                before += int32(uniforms[other] < uniforms[k] or (uniforms[other] == uniforms[k] and other < k))
            order[before] = k
        sync()

    @device
    def draw(recipe, key, done, begin, some, h, pick_from, n, ladder, scales, first, drawn_at):  # type: ignore[no-untyped-def]
        """Make the next draws: who moves, the policy's bandwidth, and h^-2 with the scale of the point."""
        indices, bandwidths, inverse = drawn_at
        me, k = cuda.threadIdx.x, done + begin + cuda.threadIdx.x + 1
        if me < some:
            u, v = uniform_pair(key, k)
            indices[me] = pick_from[begin + me] if len(pick_from) > 0 else pick(u, n, ladder, first)
            if recipe[0] == walk:
                bandwidths[me], inverse[me] = v, nu_of(recipe, k)
            else:
                bandwidths[me] = drawn(recipe, v, k)
        sync()
        if recipe[0] == walk:  # each step needs the one before
            if me == 0:
                for step in range(some):
                    h = walked(recipe, bandwidths[step], inverse[step], h)
                    bandwidths[step] = h
            sync()
        if me < some:
            width = bandwidths[me]
            if len(scales) > 0:
                width *= scales[first + indices[me]]
            inverse[me] = 1.0 / (width * width)
        sync()

    @device
    def small_enough(last, n, threshold, fraction, partial):  # type: ignore[no-untyped-def]
        small = 0.0
        for j in range(cuda.threadIdx.x, n, threads):
            small += 1.0 if last[j] <= threshold * threshold else 0.0
        small = fold(small)
        put(partial, 0, 0, small)
        sync()
        small = join(partial, 0, 0, small)
        sync()
        return small / n >= fraction

    @device
    def judged(x, n, stride, d, recipe, rule, h, k, sweeps, last, partial):  # type: ignore[no-untyped-def]
        """Return how the chain has ended; -1 if it has not. The twin of `modeseek.meanshift.chains.Stopping.check`."""
        count = k // n
        if rule[BY_CERTIFICATE] == 1.0:
            due = count <= 32 or count % (count // 32) == 0
            widest = upper(recipe, h, k) * rule[WIDEST]
            if due and certified(x, n, stride, d, rule[TAU], widest, rule[ROUNDING], partial):
                return CERTIFIED
            if small_enough(last, n, rule[THRESHOLD], rule[FRACTION], partial) and frozen(recipe, h, k):
                return SMALL_SHIFTS
        elif small_enough(last, n, rule[THRESHOLD], rule[FRACTION], partial):
            return SMALL_SHIFTS
        return UPDATE_LIMIT if k >= rule[MOST_UPDATES] or sweeps >= rule[MOST_SWEEPS] else -1

    @kernel_of(128)
    def kernel(  # type: ignore[no-untyped-def]
        d, order, points, weights, ladder, scales, places, keys, recipes, rules,
        queue, flags, states, last, ends, shifts, g_room, new_room, uniform_room, order_room,
    ):  # fmt: skip
        me, room = cuda.threadIdx.x, cuda.blockIdx.x
        partial = cuda.shared.array((2, 4, warps), float64)
        indices = cuda.shared.array(threads, int32)
        bandwidths = cuda.shared.array(threads, float64)
        inverse = cuda.shared.array(threads, float64)
        word = cuda.shared.array(2, int32)
        own = cuda.shared.array(0, kind)
        place = cuda.local.array(3, kind)
        while True:
            if me == 0:
                word[0] = cuda.atomic.add(queue, 0, 1)
            cuda.syncthreads()
            chain = word[0]
            if chain >= len(places):
                return
            first, n = places[chain, POINTS_AT], places[chain, N]
            recipe, key, rule = recipes[chain], keys[chain], rules[chain]
            lengths = last[places[chain, LAST_AT] : places[chain, LAST_AT] + n]
            w = weights[first : first + n] if len(weights) > 0 else weights
            pick_from = order_room[room, :n] if order == 1 else order_room[room, :0]
            stride = -(-n // (GROUP * threads)) * GROUP * threads if dim > 0 else n
            state = states[places[chain, STATE_AT] : places[chain, STATE_AT] + stride * d]
            x = own if in_shared else state
            xs = x[:stride], x[(dim > 1) * stride :], x[(dim > 2) * 2 * stride :]
            for c in range(d):
                for j in range(me, stride, threads):
                    x[c * stride + j] = points[first * d + c * n + j] if j < n else far
            for j in range(me, n, threads):
                lengths[j] = math.inf
            h, k, sweeps, page = recipe[policies.H_0], 0, 0, 0
            cuda.syncthreads()
            outcome = judged(x, n, stride, d, recipe, rule, h, k, sweeps, lengths, partial)
            while outcome < 0:
                if me == 0:
                    word[1] = cuda.atomic.add(flags, STOP, 0)  # read as it is now: the host may write it
                cuda.syncthreads()
                if word[1] != 0:
                    outcome = STOPPED
                    continue
                largest = real(0.0)
                if order == 1:
                    shuffle(key, n, k, uniform_room[room], pick_from)
                for begin in range(0, n, threads):
                    some = min(threads, n - begin)
                    draw(
                        recipe, key, k, begin, some, h, pick_from, n, ladder, scales, first,
                        (indices, bandwidths, inverse),
                    )  # fmt: skip
                    known, step = uint32(NOBODY), uint32(0)
                    while step < uint32(some):
                        i = uint32(indices[step])
                        if dim > 0:
                            square = move(xs, n, w, i, inverse[step], known, place, partial, page)
                            page, known = 1 - page, i
                        else:
                            square = move_any(
                                x, n, stride, d, w, i, inverse[step], g_room[room], new_room[room], partial
                            )
                        if uint32(me) == i % uint32(threads):
                            lengths[i] = square
                        largest = max(largest, real(square))
                        step = uint32(step + uint32(1))
                    h = bandwidths[some - 1]
                    sync()  # nobody needs these draws any more, and everyone sees the last move
                k, sweeps = k + n, sweeps + 1
                if me == 0 and sweeps <= shifts.shape[1]:
                    shifts[chain, sweeps - 1] = math.sqrt(largest)
                outcome = judged(x, n, stride, d, recipe, rule, h, k, sweeps, lengths, partial)
            if in_shared:
                for j in range(me, stride * d, threads):
                    state[j] = x[j]
            for j in range(me, n, threads):
                lengths[j] = math.sqrt(lengths[j])
            if me == 0:
                ends[chain, H], ends[chain, UPDATES] = h, k
                ends[chain, SWEEPS], ends[chain, OUTCOME] = sweeps, outcome
                cuda.atomic.add(flags, ENDED, 1)
            cuda.syncthreads()

    return kernel


@cache
def draws_kernel(shape: Shape) -> Any:
    """Return the kernel that applies given draws to one state, by one block.

    (x, n, d, w, indices, inverse, lengths, g_room, new_room): x is (rows, columns) with the coordinates of n points,
    for dimensions up to three far away beyond them; inverse has h^-2.
    """
    dim, threads = shape.dim, shape.threads
    warps, sync = block_of(threads).warps, block_of(threads).sync
    move, move_any = low_mover(shape), any_mover(shape)
    kind = float32 if shape.single else float64

    @kernel_of(128)
    def kernel(x, n, d, w, indices, inverse, lengths, g_room, new_room):  # type: ignore[no-untyped-def]
        partial = cuda.shared.array((2, 4, warps), float64)
        place = cuda.local.array(3, kind)
        stride, known, page = x.shape[1], uint32(NOBODY), 0
        state = x.reshape(x.size)
        xs = state[:stride], state[(dim > 1) * stride :], state[(dim > 2) * 2 * stride :]
        for step in range(len(indices)):
            i = uint32(indices[step])
            if dim > 0:
                square = move(xs, n, w, i, inverse[step], known, place, partial, page)
                page, known = 1 - page, i
            else:
                square = move_any(state, n, stride, d, w, i, inverse[step], g_room, new_room, partial)
            if cuda.threadIdx.x == 0:
                lengths[step] = math.sqrt(square)
        sync()

    return kernel
