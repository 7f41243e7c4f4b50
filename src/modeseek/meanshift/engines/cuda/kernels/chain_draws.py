"""Device functions that make the random draws of a chain by Philox 4x64, as `modeseek.meanshift.bandwidth.draws` does.

Each thread of a block makes one draw at a time.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import cuda, int32, int64

from modeseek.meanshift.bandwidth.draws import KEY_STEPS, MULTIPLIERS, ROUNDS, UNUSED_BITS
from modeseek.meanshift.engines.cuda.kernels.block import block_of, device
from modeseek.meanshift.engines.cuda.kernels.policies import WALK, draw, draw_walk, nu_of

FIRST_MULTIPLIER, SECOND_MULTIPLIER = map(np.uint64, MULTIPLIERS)
HALF_WORD, LOW_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)
SHIFT, ZERO = np.uint64(UNUSED_BITS), np.uint64(0)


def round_keys(seed: int, chain: int) -> np.ndarray:
    """Return the keys of all rounds, shape (rounds, 2), computed on the host, where integers do not overflow."""
    words = zip((seed, chain), KEY_STEPS, strict=True)
    columns = [[(word + number * step) % 2**64 for number in range(ROUNDS)] for word, step in words]
    return np.array(columns, dtype=np.uint64).T.copy()


@device
def _product(x, multiplier):  # type: ignore[no-untyped-def]
    """Return the upper and the lower 64 bits of a product."""
    a, b = x & LOW_HALF, x >> HALF_WORD
    low, high = multiplier & LOW_HALF, multiplier >> HALF_WORD
    p, q, r = a * low, a * high, b * low
    middle = (p >> HALF_WORD) + (q & LOW_HALF) + (r & LOW_HALF)
    upper = b * high + (q >> HALF_WORD) + (r >> HALF_WORD) + (middle >> HALF_WORD)
    return upper, (p & LOW_HALF) | ((middle & LOW_HALF) << HALF_WORD)


@device
def uniform_pair(keys, counter):  # type: ignore[no-untyped-def]
    """Return the first two uniform numbers of the block with counter (counter, 0, 0, 0)."""
    c0, c1, c2, c3 = np.uint64(counter), ZERO, ZERO, ZERO
    for number in range(ROUNDS):
        high0, low0 = _product(c0, FIRST_MULTIPLIER)
        high1, low1 = _product(c2, SECOND_MULTIPLIER)
        c0, c1, c2, c3 = high1 ^ c1 ^ keys[number, 0], low1, high0 ^ c3 ^ keys[number, 1], low0
    return np.float64(c0 >> SHIFT) * 2.0**-53, np.float64(c1 >> SHIFT) * 2.0**-53


@device
def pick(u, n, cumulative, first):  # type: ignore[no-untyped-def]
    """Return the point that a uniform number chooses, by weight if there are cumulated weights."""
    if len(cumulative) == 0:
        return min(int64(u * n), n - 1)
    aim, low, high = u * cumulative[first + n - 1], 0, n
    while low < high:
        middle = (low + high) // 2
        if cumulative[first + middle] <= aim:
            low = middle + 1
        else:
            high = middle
    return min(low, n - 1)


@cache
def shuffler(threads: int) -> Callable[..., Any]:
    """Return the device function ``(key, n, done, uniforms, order)`` that writes a random order of n points.

    It sorts them by uniform numbers, and the sort is stable. `done` is the number of draws before.
    """
    sync = block_of(threads).sync

    @device
    def shuffle(key, n, done, uniforms, order):  # type: ignore[no-untyped-def]
        for k in range(cuda.threadIdx.x, n, threads):
            uniforms[k], _ = uniform_pair(key, done + k + 1)
        sync()
        for k in range(cuda.threadIdx.x, n, threads):
            before = 0
            for other in range(n):
                before += int32(uniforms[other] < uniforms[k] or (uniforms[other] == uniforms[k] and other < k))
            order[before] = k
        sync()

    return shuffle


@cache
def drawer(threads: int) -> Callable[..., Any]:
    """Return the device function ``(problems, chain, order, done, begin, some, h, draws)`` that makes the next draws.

    `chain` is the tuple (first, n, policy, key). `some` draws follow the first `begin` draws of a sweep, before which
    `done` draws were made, and h is the bandwidth of the last one. `draws` is the tuple of the shared arrays that it
    writes: points, bandwidths of the policy, and h^-2 with the factors of the points.
    """
    sync = block_of(threads).sync

    @device
    def make_draws(problems, chain, order, done, begin, some, h, draws):  # type: ignore[no-untyped-def]
        first, n, policy, key = chain
        indices, bandwidths, inverse = draws
        me, k = cuda.threadIdx.x, done + begin + cuda.threadIdx.x + 1
        if me < some:
            u, v = uniform_pair(key, k)
            indices[me] = order[begin + me] if len(order) > 0 else pick(u, n, problems.cumulative, first)
            if policy[0] == WALK:
                bandwidths[me], inverse[me] = v, nu_of(policy, k)
            else:
                bandwidths[me] = draw(policy, v, k)
        sync()
        if policy[0] == WALK:  # each step depends on the one before
            if me == 0:
                for step in range(some):
                    h = draw_walk(policy, bandwidths[step], inverse[step], h)
                    bandwidths[step] = h
            sync()
        if me < some:
            width = bandwidths[me]
            if len(problems.local_scales) > 0:
                width *= problems.local_scales[first + indices[me]]
            inverse[me] = 1.0 / (width * width)
        sync()

    return make_draws
