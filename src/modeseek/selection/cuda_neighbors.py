"""Exact nearest neighbours on an NVIDIA GPU: all pairs, one thread for each point.

Each thread keeps the k nearest points so far. Libraries with this search (cuVS, Faiss) would be a large dependency, and
their products of float32 matrices lose the neighbours of points that are far from the mean.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda, float64

from modeseek._common.neighbors import Neighbors, sorted_lists
from modeseek._common.types import Array, IntArray, Stage, Watcher
from modeseek.meanshift.engines.cuda.kernels.block import SIMULATED, kernel_of

THREADS = 4 if SIMULATED else 128
# number of points that a block holds in shared memory
TILE = 32
# number of points whose neighbours one launch finds; it limits the memory on the device
QUERIES = 1 << 16


def cuda_neighbors(points: Array, k: int, *, watch: Watcher | None = None, queries: int = QUERIES) -> Neighbors:
    """Return the k nearest other points of each point; equally distant points are in the order of their indices.

    Parameters
    ----------
    points : (n, d) array
        Distinct points.
    k : int
        At most n - 1.
    watch : callable, optional
        Receives the number of finished rows, as a `Stage`.
    queries : int
        Number of points whose neighbours are found in one launch.
    """
    n, d = points.shape
    # differences are computed on the device, so that rounding does not depend on the distance from the origin
    source = cuda.to_device(np.ascontiguousarray(points, dtype=np.float64))
    squares = cuda.device_array((k, min(n, queries)), dtype=np.float64)
    nearest = cuda.device_array((k, min(n, queries)), dtype=np.int32)
    indices: IntArray = np.empty((n, k), dtype=np.int32)
    for first in range(0, n, queries):
        count = min(queries, n - first)
        _kernel(d)[-(-count // THREADS), THREADS](source, first, count, squares, nearest)
        indices[first : first + count] = nearest.copy_to_host()[:, :count].T
        if watch is not None:
            watch(Stage("nearest neighbours", first + count, n, "rows"))
    return sorted_lists(points, indices)


@cache
def _kernel(d: int) -> Any:
    """Return the kernel ``(points, first, count, squares, nearest)`` for points with d coordinates.

    It sets column q of `squares` and `nearest` to the nearest other points of point `first + q`, in no order. Of
    equally distant points, those with the smaller indices are kept.
    """

    @kernel_of(128)
    def kernel(points, first, count, squares, nearest):  # type: ignore[no-untyped-def]
        tile = cuda.shared.array((TILE, d), float64)
        own = cuda.local.array(d, float64)
        q, n, k, me = cuda.grid(1), len(points), len(squares), cuda.threadIdx.x
        if q < count:
            for c in range(d):
                own[c] = points[first + q, c]
            for i in range(k):
                squares[i, q], nearest[i, q] = math.inf, n
        farthest, at = math.inf, 0
        for begin in range(0, n, TILE):
            size = min(TILE, n - begin)
            cuda.syncthreads()
            for e in range(me, size * d, THREADS):
                tile[e // d, e % d] = points[begin + e // d, e % d]
            cuda.syncthreads()
            if q >= count:
                continue
            for j in range(size):
                square = 0.0
                for c in range(d):
                    step = tile[j, c] - own[c]
                    square += step * step
                if square < farthest and begin + j != first + q:
                    squares[at, q], nearest[at, q] = square, begin + j
                    # the next point to drop: the farthest one, and of equally distant ones the last
                    farthest, last = -1.0, -1
                    for i in range(k):
                        if squares[i, q] > farthest or (squares[i, q] == farthest and nearest[i, q] > last):
                            farthest, last, at = squares[i, q], nearest[i, q], i

    return kernel
