"""What kernels share: the shape of a block, sums over it, and the uniforms of `modeseek.meanshift.bandwidth.draws`.

Importing this module imports Numba's CUDA target and compiles nothing. On a device 32 threads make a warp, which adds
up by shuffles. Numba's simulator has no shuffles, so there a warp is one thread, and the same code adds up the warps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda
from numba.cuda.core import config

__all__ = [
    "LANES",
    "SIMULATED",
    "Block",
    "Fold",
    "block_of",
    "device",
    "kernel_of",
    "multiprocessors",
    "round_keys",
    "uniform_pair",
]

# a block for each of a few chains is what is wanted: nothing to warn of
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
SIMULATED = bool(config.ENABLE_CUDASIM)
LANES = 1 if SIMULATED else 32
EVERYONE = 0xFFFFFFFF

ROUNDS = 10
# Philox 4x64: multipliers, in halves of 32 bits, and what is added to the key after each round
WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
M0_LOW, M0_HIGH = np.uint64(0xD2E7470EE14C6C93 & 0xFFFFFFFF), np.uint64(0xD2E7470EE14C6C93 >> 32)
M1_LOW, M1_HIGH = np.uint64(0xCA5A826395121157 & 0xFFFFFFFF), np.uint64(0xCA5A826395121157 >> 32)
HALF, LOW_HALF, UPPER_53 = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(11)
NONE = np.uint64(0)


def device(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call."""
    return cuda.jit(device=True)(function)


def kernel_of(registers: int) -> Callable[..., Any]:
    """Return the decorator that compiles a kernel whose threads take so many registers at most."""
    return cuda.jit if SIMULATED else cuda.jit(max_registers=registers)  # type: ignore[call-arg,unused-ignore]


def round_keys(seed: int, chain: int) -> np.ndarray:
    """Return the (rounds, 2) keys of Philox for key (seed, chain): made here, where integers do not overflow."""
    keys = [[(key + r * step) % 2**64 for key, step in zip((seed, chain), WEYL, strict=True)] for r in range(ROUNDS)]
    return np.array(keys, dtype=np.uint64)


@device
def _product(x, low, high):  # type: ignore[no-untyped-def]
    """Return the upper and the lower 64 bits of a product, from halves whose products fit."""
    a, b = x & LOW_HALF, x >> HALF
    p, q, r = a * low, a * high, b * low
    middle = (p >> HALF) + (q & LOW_HALF) + (r & LOW_HALF)
    upper = b * high + (q >> HALF) + (r >> HALF) + (middle >> HALF)
    return upper, (p & LOW_HALF) | ((middle & LOW_HALF) << HALF)


@device
def uniform_pair(keys, counter):  # type: ignore[no-untyped-def]
    """Return the first two uniforms of the block with counter (counter, 0, 0, 0)."""
    c0, c1, c2, c3 = np.uint64(counter), NONE, NONE, NONE
    for r in range(ROUNDS):
        high0, low0 = _product(c0, M0_LOW, M0_HIGH)
        high1, low1 = _product(c2, M1_LOW, M1_HIGH)
        c0, c1, c2, c3 = high1 ^ c1 ^ keys[r, 0], low1, high0 ^ c3 ^ keys[r, 1], low0
    return np.float64(c0 >> UPPER_53) * 2.0**-53, np.float64(c1 >> UPPER_53) * 2.0**-53


@device
def _add(a, b):  # type: ignore[no-untyped-def]
    return a + b


@device
def _max(a, b):  # type: ignore[no-untyped-def]
    return max(a, b)


@device
def _min(a, b):  # type: ignore[no-untyped-def]
    return min(a, b)


class Fold(NamedTuple):
    """A sum (or a largest, or a smallest) over a block, in three steps, so that several have one barrier.

    Attributes
    ----------
    warp : callable
        x -> its sum over the warp, to each of its threads.
    put : callable
        (partial, page, row, x): write down the sum of a warp. Rows of `partial`, a shared array of shape
        (2, rows, warps), are for different sums. Pages alternate from one barrier to the next: who reads the one does
        not hold up who writes the other.
    join : callable
        (partial, page, row, x) -> the sum over the block, to each of its threads, after a barrier.
    """

    warp: Callable[..., Any]
    put: Callable[..., Any]
    join: Callable[..., Any]


class Block(NamedTuple):
    """Device functions of a block of so many threads.

    Attributes
    ----------
    warps : int
    sync : callable
        () -> None: a barrier, after which everyone sees what everyone wrote.
    total, largest, smallest : Fold
    """

    warps: int
    sync: Callable[..., Any]
    total: Fold
    largest: Fold
    smallest: Fold


@cache
def block_of(threads: int) -> Block:
    """Return the functions of a block of so many threads: a power of two."""
    warps = threads // LANES

    @device
    def sync():  # type: ignore[no-untyped-def]
        if warps > 1:
            cuda.syncthreads()
        elif not SIMULATED:
            cuda.syncwarp()

    return Block(warps, sync, *(_fold(warps, join) for join in (_add, _max, _min)))


def _fold(warps: int, join: Callable[..., Any]) -> Fold:
    @device
    def shuffled(x, width):  # type: ignore[no-untyped-def]
        """Join the values of lanes in groups of a width."""
        if width > 16:
            x = join(x, cuda.shfl_xor_sync(EVERYONE, x, 16))
        if width > 8:
            x = join(x, cuda.shfl_xor_sync(EVERYONE, x, 8))
        if width > 4:
            x = join(x, cuda.shfl_xor_sync(EVERYONE, x, 4))
        if width > 2:
            x = join(x, cuda.shfl_xor_sync(EVERYONE, x, 2))
        if width > 1:
            x = join(x, cuda.shfl_xor_sync(EVERYONE, x, 1))
        return x

    @device
    def warp(x):  # type: ignore[no-untyped-def]
        return shuffled(x, LANES)

    @device
    def put(partial, page, row, x):  # type: ignore[no-untyped-def]
        if warps > 1 and cuda.threadIdx.x % LANES == 0:
            partial[page, row, cuda.threadIdx.x // LANES] = x

    @device
    def joined(partial, page, row, x):  # type: ignore[no-untyped-def]
        if warps == 1:
            return x
        if LANES > 1:
            return shuffled(partial[page, row, cuda.threadIdx.x % warps], warps)
        x = partial[page, row, 0]
        for other in range(1, warps):
            x = join(x, partial[page, row, other])
        return x

    return Fold(warp, put, joined)


@cache
def multiprocessors() -> int:
    """Return how many multiprocessors the device has."""
    return 1 if SIMULATED else int(cuda.get_current_device().MULTIPROCESSOR_COUNT)
