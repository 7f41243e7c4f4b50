"""Device functions that make the random draws of a chain; each thread of a block makes one at a time."""

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import cuda, int32, int64

from modeseek.meanshift.engines.cuda.kernels.block import block_of, device
from modeseek.meanshift.engines.cuda.kernels.philox import uniform_pair
from modeseek.meanshift.engines.cuda.kernels.policies import WALK, draw, draw_walk, nu_of


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
