"""Kernels for simultaneous shifts of many queries, with sums over one state, tile by tile.

A block of threads has a tile of queries and visits tiles of points. Each thread computes eight pairs at a time, so that
each loaded number is used several times. If no point of a tile is within reach of a query, the tile ends after the
distances.
"""

import math
from functools import cache
from typing import Any

from numba import cuda, float64, int32, uint32

from modeseek.meanshift.engines.cuda.kernels.block import device, kernel_of
from modeseek.meanshift.engines.cuda.kernels.single_shift import KernelSpec, weight_of
from modeseek.meanshift.engines.workspace import SHORTEST

# A tile has 64 queries, 32 points and 16 coordinates at a time; a block of 16 x 16 threads has 4 x 2 pairs per thread.
QUERIES = 64
SOURCES = 32
SQUARE = 16
# Sizes of arrays in shared memory; Numba requires constants, not expressions.
QUERY_TILE = SQUARE * QUERIES
SOURCE_TILE = SQUARE * SOURCES
PAIR_TILE = QUERIES * SOURCES
# Threads that compute the ball around a tile.
BALL_THREADS = 32


@cache
def sums_kernel(spec: KernelSpec) -> Any:
    """Return the kernel ``(x, n, w, queries, inv, near, mass, gone)`` that sums over the points for each query.

    x and queries have the coordinates of n points and m queries as rows, padded to whole tiles; inv (m,) is h^-2. near
    (tiles of queries, tiles of points) is 0 for tiles that are farther apart than h. The kernel writes the sums
    of weights, mass (splits, m), and of weighted differences, gone (splits, d, m). Block (b, s) sums over split s of
    the points, for tile b of the queries.
    """
    weighted, weight, real = spec.weighted, weight_of(spec.code, spec.single), spec.real

    @device
    def load(tile, wide, source, row, column):  # type: ignore[no-untyped-def]
        """Load 16 coordinates of a tile with `wide` columns."""
        me = cuda.threadIdx.y * SQUARE + cuda.threadIdx.x
        c, at = uint32(me // wide), uint32(me % wide)
        while c < uint32(SQUARE):
            tile[uint32(c * uint32(wide) + at)] = source[uint32(row) + c, uint32(column) + at]
            c = uint32(c + uint32(SQUARE * SQUARE // wide))

    @device
    def load_both(tile_q, tile_x, queries, x, row, first, begin):  # type: ignore[no-untyped-def]
        cuda.syncthreads()
        load(tile_q, QUERIES, queries, row, first)
        load(tile_x, SOURCES, x, row, begin)
        cuda.syncthreads()

    @device
    def choose(a, values):  # type: ignore[no-untyped-def]
        """Return values[a]; branches keep the values in registers."""
        return values[0] if a == 0 else (values[1] if a == 1 else (values[2] if a == 2 else values[3]))

    @kernel_of(128)
    def kernel(x, n, w, queries, inv, near, mass, gone):  # type: ignore[no-untyped-def]
        tile_q = cuda.shared.array(QUERY_TILE, real)
        tile_x = cuda.shared.array(SOURCE_TILE, real)
        tile_g = cuda.shared.array(PAIR_TILE, real)
        d, m = gone.shape[1], gone.shape[2]
        across, down, split = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y), cuda.blockIdx.y
        me, first = cuda.threadIdx.y * SQUARE + cuda.threadIdx.x, cuda.blockIdx.x * QUERIES
        tiles = near.shape[1]
        share = -(-tiles // cuda.gridDim.y)
        total = 0.0
        zero, one, wide, narrow = uint32(0), uint32(1), uint32(QUERIES), uint32(SOURCES)
        qa, qb, qc, qd = across, uint32(across + SQUARE), uint32(across + 2 * SQUARE), uint32(across + 3 * SQUARE)
        below = uint32(down + SQUARE)
        for axis in range(cuda.threadIdx.y, d, SQUARE):
            for q in range(first + cuda.threadIdx.x, min(first + QUERIES, m), SQUARE):
                gone[split, axis, q] = 0.0
        for tile in range(split * share, min(tiles, (split + 1) * share)):
            if near[cuda.blockIdx.x, tile] == 0:
                continue
            begin = tile * SOURCES
            r00 = r01 = r02 = r03 = r10 = r11 = r12 = r13 = real(0.0)
            for low in range(0, d, SQUARE):
                load_both(tile_q, tile_x, queries, x, low, first, begin)
                c, at, of = zero, zero, zero
                while c < uint32(SQUARE):
                    q0, q1, q2, q3 = tile_q[at + qa], tile_q[at + qb], tile_q[at + qc], tile_q[at + qd]
                    x0, x1 = tile_x[of + down], tile_x[of + below]
                    r00 += (x0 - q0) * (x0 - q0)
                    r01 += (x0 - q1) * (x0 - q1)
                    r02 += (x0 - q2) * (x0 - q2)
                    r03 += (x0 - q3) * (x0 - q3)
                    r10 += (x1 - q0) * (x1 - q0)
                    r11 += (x1 - q1) * (x1 - q1)
                    r12 += (x1 - q2) * (x1 - q2)
                    r13 += (x1 - q3) * (x1 - q3)
                    c, at, of = uint32(c + one), uint32(at + wide), uint32(of + narrow)
            found = 0
            for b in range(2):
                p = begin + cuda.threadIdx.y + b * SQUARE
                heavy = real(1.0)
                if weighted and p < n:
                    heavy = w[p]
                for a in range(4):
                    q = first + cuda.threadIdx.x + a * SQUARE
                    r = choose(a, (r00, r01, r02, r03)) if b == 0 else choose(a, (r10, r11, r12, r13))
                    g = real(0.0)
                    if q < m and p < n:
                        g = weight(r * real(inv[q])) * heavy
                    tile_g[uint32((p - begin) * QUERIES + q - first)] = g
                    found |= int32(g > real(0.0))
            if not cuda.syncthreads_or(found):
                continue
            if me < QUERIES:
                e, part = uint32(me), real(0.0)
                while e < uint32(QUERIES * SOURCES):
                    part += tile_g[e]
                    e = uint32(e + wide)
                total += part
            for low in range(0, d, SQUARE):
                load_both(tile_q, tile_x, queries, x, low, first, begin)
                at = uint32(down * wide)
                q0, q1, q2, q3 = tile_q[at + qa], tile_q[at + qb], tile_q[at + qc], tile_q[at + qd]
                s0 = s1 = s2 = s3 = real(0.0)
                p, at, of = zero, zero, uint32(down * narrow)
                while p < narrow:
                    place = tile_x[of + p]
                    s0 += tile_g[at + qa] * (place - q0)
                    s1 += tile_g[at + qb] * (place - q1)
                    s2 += tile_g[at + qc] * (place - q2)
                    s3 += tile_g[at + qd] * (place - q3)
                    p, at = uint32(p + one), uint32(at + wide)
                c = low + cuda.threadIdx.y
                for a in range(4):
                    q = first + cuda.threadIdx.x + a * SQUARE
                    if q < m and c < d:
                        gone[split, c, q] += choose(a, (s0, s1, s2, s3))
        if me < QUERIES and first + me < m:
            mass[split, first + me] = total

    return kernel


@kernel_of(64)
def find_balls(x, n, wide, centers, radii):  # type: ignore[no-untyped-def]
    """Set the centre and the radius of a ball around each tile of `wide` columns."""
    farthest = cuda.shared.array(BALL_THREADS, float64)
    me, tile = cuda.threadIdx.x, cuda.blockIdx.x
    begin, end = tile * wide, min((tile + 1) * wide, n)
    for c in range(me, x.shape[0], BALL_THREADS):
        total = 0.0
        for j in range(begin, end):
            total += x[c, j]
        centers[tile, c] = total / (end - begin)
    cuda.syncthreads()
    farthest[me] = 0.0
    for j in range(begin + me, end, BALL_THREADS):
        square = 0.0
        for c in range(x.shape[0]):
            a = x[c, j] - centers[tile, c]
            square += a * a
        farthest[me] = max(farthest[me], square)
    cuda.syncthreads()
    if me == 0:
        for other in range(1, BALL_THREADS):
            farthest[0] = max(farthest[0], farthest[other])
        radii[tile] = math.sqrt(farthest[0])


@kernel_of(64)
def find_near(centers_q, radii_q, centers_x, radii_x, h, near):  # type: ignore[no-untyped-def]
    """Set `near` to 1 for tiles of queries and of points that may be within reach of each other, else to 0.

    Tiles are given by balls around them. h is the largest bandwidth of each tile of queries.
    """
    q, p = cuda.blockIdx.y, cuda.grid(1)
    if p < near.shape[1]:
        square = 0.0
        for c in range(centers_q.shape[1]):
            a = centers_q[q, c] - centers_x[p, c]
            square += a * a
        reach = (h[q] + radii_q[q] + radii_x[p]) * (1.0 + 1e-6)  # rounding must not exclude a tile
        near[q, p] = 1 if square <= reach * reach else 0


@kernel_of(64)
def finish(queries, mass, gone, order, spherical, moved):  # type: ignore[no-untyped-def]
    """Add the splits and move each query; row order[k] of moved (m, d) gets query k."""
    k = cuda.grid(1)
    if k >= len(order):
        return
    splits, d, total, square = len(mass), moved.shape[1], 0.0, 0.0
    for split in range(splits):
        total += mass[split, k]
    scale = 1.0 / total if total > 0.0 else 0.0
    for c in range(d):
        s = 0.0
        for split in range(splits):
            s += gone[split, c, k]
        s = queries[c, k] + s * scale
        gone[0, c, k] = s
        square += s * s
    length = math.sqrt(square) if spherical else 1.0
    for c in range(d):
        moved[order[k], c] = gone[0, c, k] / length if length > SHORTEST else queries[c, k]
