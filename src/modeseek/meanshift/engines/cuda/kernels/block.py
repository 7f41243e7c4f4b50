"""Blocks of threads: barriers, and sums, maxima and minima over all threads of a block.

Importing this module imports Numba's CUDA target and compiles nothing. On a GPU, 32 threads form a warp, which reduces
by shuffles. Numba's simulator has no shuffles; there a warp is one thread, and the same code reduces over warps.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from numba import cuda
from numba.cuda.core import config

# Numba must not warn about few blocks: a launch may have only a few chains, with one block each.
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
SIMULATED = bool(config.ENABLE_CUDASIM)
LANES = 1 if SIMULATED else 32
ALL_LANES = 0xFFFFFFFF


def device(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call."""
    return cuda.jit(device=True)(function)


def kernel_of(registers: int) -> Callable[..., Any]:
    """Return a decorator that compiles a kernel with at most this many registers per thread."""
    return cuda.jit if SIMULATED else cuda.jit(max_registers=registers)  # type: ignore[call-arg,unused-ignore]


@cache
def multiprocessors() -> int:
    """Return the number of multiprocessors of the device."""
    return 1 if SIMULATED else int(cuda.get_current_device().MULTIPROCESSOR_COUNT)


class Reduction(NamedTuple):
    """A sum, maximum or minimum over the threads of a block.

    The first three functions are the steps of a reduction, so that several reductions can share one barrier. `partial`
    is a shared array of shape (2, rows, warps): reductions that share a barrier use different rows, and consecutive
    barriers alternate between the two pages, so that reading one does not delay writing the other.

    Attributes
    ----------
    warp : callable
        ``x``: reduce over the warp; all its threads get the result.
    put : callable
        ``(partial, page, row, x)``: store the result of a warp.
    join : callable
        ``(partial, page, row, x)``: reduce over the warps after a barrier; all threads get the result.
    block : callable
        ``(partial, page, x)``: all steps in row 0, with the barrier between them.
    """

    warp: Callable[..., Any]
    put: Callable[..., Any]
    join: Callable[..., Any]
    block: Callable[..., Any]


class Block(NamedTuple):
    """Device functions for blocks of a given number of threads.

    Attributes
    ----------
    warps : int
    sync : callable
        A barrier, after which every thread sees what the others wrote.
    total, largest, smallest : Reduction
    """

    warps: int
    sync: Callable[..., Any]
    total: Reduction
    largest: Reduction
    smallest: Reduction


@cache
def block_of(threads: int) -> Block:
    """Return the functions for blocks of `threads` threads, a power of two."""
    warps = threads // LANES

    @device
    def sync():  # type: ignore[no-untyped-def]
        if warps > 1:
            cuda.syncthreads()
        elif not SIMULATED:
            cuda.syncwarp()

    operations = (device(lambda a, b: a + b), device(lambda a, b: max(a, b)), device(lambda a, b: min(a, b)))
    return Block(warps, sync, *(_reduction(warps, sync, operation) for operation in operations))


def _reduction(warps: int, sync: Callable[..., Any], operation: Callable[..., Any]) -> Reduction:
    @device
    def shuffle(x, width):  # type: ignore[no-untyped-def]
        """Reduce over groups of `width` lanes."""
        distance = width // 2
        while distance > 0:
            x = operation(x, cuda.shfl_xor_sync(ALL_LANES, x, distance))
            distance //= 2
        return x

    @device
    def warp(x):  # type: ignore[no-untyped-def]
        return shuffle(x, LANES)

    @device
    def put(partial, page, row, x):  # type: ignore[no-untyped-def]
        if warps > 1 and cuda.threadIdx.x % LANES == 0:
            partial[page, row, cuda.threadIdx.x // LANES] = x

    @device
    def join(partial, page, row, x):  # type: ignore[no-untyped-def]
        if warps == 1:
            return x
        if LANES > 1:
            return shuffle(partial[page, row, cuda.threadIdx.x % warps], warps)
        x = partial[page, row, 0]
        for other in range(1, warps):
            x = operation(x, partial[page, row, other])
        return x

    @device
    def block(partial, page, x):  # type: ignore[no-untyped-def]
        x = warp(x)
        put(partial, page, 0, x)
        sync()
        return join(partial, page, 0, x)

    return Reduction(warp, put, join, block)
