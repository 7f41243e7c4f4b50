"""Simultaneous shifts on the device: many queries against one state, tile by tile.

In one to three dimensions a thread has a query, and a block's threads read points together. In more, a block has a tile
of queries, goes over tiles of points and keeps eight pairs to a thread, so that a number read serves several.
Where a tile of points is out of reach of all of a tile's queries, it ends with the distances.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32, float64, int32, uint32

from modeseek.meanshift.engines.cuda.kernels.device import device, kernel_of
from modeseek.meanshift.engines.cuda.kernels.single_shift import weight_of

__all__ = [
    "ACROSS",
    "BALL",
    "COORDINATES",
    "DOWN",
    "POINTS",
    "QUERIES",
    "THREADS",
    "Sums",
    "balls_kernel",
    "finish_kernel",
    "low_kernel",
    "near_kernel",
    "tiled_kernel",
]

# threads of a block, and points that it reads at a time, in low dimension
THREADS = 128
# a tile: so many queries and points, so many coordinates of them at a time; 4 x 2 pairs to a thread
QUERIES, POINTS, COORDINATES = 64, 32, 16
ACROSS, DOWN = QUERIES // 4, POINTS // 2
OF_QUERIES, OF_POINTS, OF_PAIRS = COORDINATES * QUERIES, COORDINATES * POINTS, QUERIES * POINTS
# threads that find a ball
BALL = 32


class Sums(NamedTuple):
    """What a kernel is compiled for; see `modeseek.meanshift.engines.cuda.kernels.Shape`."""

    code: int
    dim: int
    weighted: bool
    single: bool


@cache
def low_kernel(sums: Sums) -> Any:
    """Return the kernel for up to three dimensions.

    (x, n, w, queries, inv, mass, gone): x and queries have the coordinates of n points and of m queries by rows, inv
    (m,) is h^-2. mass (splits, m) and gone (splits, d, m) take the sums; block (., s) takes the points of split s.
    """
    dim, weighted, weight = sums.dim, sums.weighted, weight_of(sums.code, sums.single)
    real, kind = (np.float32, float32) if sums.single else (np.float64, float64)

    @kernel_of(128)
    def kernel(x, n, w, queries, inv, mass, gone):  # type: ignore[no-untyped-def]
        tile = cuda.shared.array((4, THREADS), kind)
        me, split = cuda.threadIdx.x, cuda.blockIdx.y
        k = cuda.blockIdx.x * THREADS + me
        m = len(inv)
        mine = min(k, m - 1)
        q0, q1, q2 = queries[0, mine], queries[min(1, dim - 1), mine], queries[min(2, dim - 1), mine]
        scale = real(inv[mine])
        share = -(-n // cuda.gridDim.y)
        end = min(n, (split + 1) * share)
        total = t0 = t1 = t2 = 0.0
        for begin in range(split * share, end, THREADS):
            j = begin + me
            if j < end:
                tile[0, me] = x[0, j]
                if dim > 1:
                    tile[1, me] = x[1, j]
                if dim > 2:
                    tile[2, me] = x[2, j]
                if weighted:
                    tile[3, me] = w[j]
            cuda.syncthreads()
            part = s0 = s1 = s2 = real(0.0)
            p, some = uint32(0), uint32(min(THREADS, end - begin))
            while p < some:
                a = tile[0, p] - q0
                r = a * a
                b = c = real(0.0)
                if dim > 1:
                    b = tile[1, p] - q1
                    r += b * b
                if dim > 2:
                    c = tile[2, p] - q2
                    r += c * c
                g = weight(r * scale)
                if weighted:
                    g *= tile[3, p]
                part += g
                s0 += g * a
                if dim > 1:
                    s1 += g * b
                if dim > 2:
                    s2 += g * c
                p = uint32(p + uint32(1))
            total += part
            t0 += s0
            t1 += s1
            t2 += s2
            cuda.syncthreads()
        if k < m:
            mass[split, k], gone[split, 0, k] = total, t0
            if dim > 1:
                gone[split, 1, k] = t1
            if dim > 2:
                gone[split, 2, k] = t2

    return kernel


@cache
def tiled_kernel(sums: Sums) -> Any:
    """Return the kernel for any dimension.

    (x, n, w, queries, inv, near, mass, gone): as `low_kernel`, but x and queries go on with zeros, so that both sides
    are whole tiles; near (tiles of queries, tiles of
    points) tells which tiles may be within reach of each other; mass (splits, m) and gone (splits, d, m) take the sums,
    and have been set to 0 before.
    """
    weighted, weight = sums.weighted, weight_of(sums.code, sums.single)
    real, kind = (np.float32, float32) if sums.single else (np.float64, float64)

    @device
    def fill(tile, wide, source, row, column):  # type: ignore[no-untyped-def]
        """Read some coordinates of a tile that is so many columns wide."""
        me = cuda.threadIdx.y * ACROSS + cuda.threadIdx.x
        c, at = uint32(me // wide), uint32(me % wide)
        while c < uint32(COORDINATES):
            tile[uint32(c * uint32(wide) + at)] = source[uint32(row) + c, uint32(column) + at]
            c = uint32(c + uint32(ACROSS * DOWN // wide))

    @kernel_of(128)
    def kernel(x, n, w, queries, inv, near, mass, gone):  # type: ignore[no-untyped-def]
        tile_q = cuda.shared.array(OF_QUERIES, kind)
        tile_x = cuda.shared.array(OF_POINTS, kind)
        tile_g = cuda.shared.array(OF_PAIRS, kind)
        d, m = gone.shape[1], gone.shape[2]
        across, down, split = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y), cuda.blockIdx.y
        first = cuda.blockIdx.x * QUERIES
        tiles = near.shape[1]
        share = -(-tiles // cuda.gridDim.y)
        total = 0.0
        zero, one, wide, narrow = uint32(0), uint32(1), uint32(QUERIES), uint32(POINTS)
        qa, qb, qc, qd = across, uint32(across + ACROSS), uint32(across + 2 * ACROSS), uint32(across + 3 * ACROSS)
        below = uint32(down + DOWN)
        for tile in range(split * share, min(tiles, (split + 1) * share)):
            if near[cuda.blockIdx.x, tile] == 0:
                continue
            begin = tile * POINTS
            r00 = r01 = r02 = r03 = r10 = r11 = r12 = r13 = real(0.0)
            for low in range(0, d, COORDINATES):
                cuda.syncthreads()
                fill(tile_q, QUERIES, queries, low, first)
                fill(tile_x, POINTS, x, low, begin)
                cuda.syncthreads()
                c, at, of = zero, zero, zero
                while c < uint32(COORDINATES):
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
                p = begin + cuda.threadIdx.y + b * DOWN
                heavy = real(1.0)
                if weighted and p < n:
                    heavy = w[p]
                for a in range(4):
                    q = first + cuda.threadIdx.x + a * ACROSS
                    low_r = r00 if a == 0 else (r01 if a == 1 else (r02 if a == 2 else r03))
                    high_r = r10 if a == 0 else (r11 if a == 1 else (r12 if a == 2 else r13))
                    g = real(0.0)
                    if q < m and p < n:
                        g = weight((low_r if b == 0 else high_r) * real(inv[q])) * heavy
                    tile_g[uint32((p - begin) * QUERIES + q - first)] = g
                    found |= int32(g > real(0.0))
            if not cuda.syncthreads_or(found):
                continue
            if cuda.threadIdx.y * ACROSS + cuda.threadIdx.x < QUERIES:
                e = uint32(cuda.threadIdx.y * ACROSS + cuda.threadIdx.x)
                part = real(0.0)
                while e < uint32(QUERIES * POINTS):
                    part += tile_g[e]
                    e = uint32(e + wide)
                total += part
            for low in range(0, d, COORDINATES):
                cuda.syncthreads()
                fill(tile_q, QUERIES, queries, low, first)
                fill(tile_x, POINTS, x, low, begin)
                cuda.syncthreads()
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
                    q = first + cuda.threadIdx.x + a * ACROSS
                    if q < m and c < d:
                        gone[split, c, q] += s0 if a == 0 else (s1 if a == 1 else (s2 if a == 2 else s3))
        me = cuda.threadIdx.y * ACROSS + cuda.threadIdx.x
        if me < QUERIES and first + me < m:
            mass[split, first + me] = total

    return kernel


@cache
def balls_kernel(wide: int) -> Any:
    """Return the kernel that finds a ball around each tile of so many columns; (x, n, centers, radii), a block each."""

    @kernel_of(64)
    def kernel(x, n, centers, radii):  # type: ignore[no-untyped-def]
        far = cuda.shared.array(BALL, float64)
        me, tile = cuda.threadIdx.x, cuda.blockIdx.x
        begin, end = tile * wide, min((tile + 1) * wide, n)
        for c in range(me, x.shape[0], BALL):
            total = 0.0
            for j in range(begin, end):
                total += x[c, j]
            centers[tile, c] = total / (end - begin)
        cuda.syncthreads()
        far[me] = 0.0
        for j in range(begin + me, end, BALL):
            square = 0.0
            for c in range(x.shape[0]):
                a = x[c, j] - centers[tile, c]
                square += a * a
            far[me] = max(far[me], square)
        cuda.syncthreads()
        if me == 0:
            for other in range(1, BALL):
                far[0] = max(far[0], far[other])
            radii[tile] = math.sqrt(far[0])

    return kernel


@cache
def near_kernel() -> Any:
    """Return the kernel that compares balls: (centers, radii) of queries and of points, h (tiles of queries,), near."""

    @kernel_of(64)
    def kernel(centers_q, radii_q, centers_x, radii_x, h, near):  # type: ignore[no-untyped-def]
        q, p = cuda.blockIdx.y, cuda.grid(1)
        if p < near.shape[1]:
            square = 0.0
            for c in range(centers_q.shape[1]):
                a = centers_q[q, c] - centers_x[p, c]
                square += a * a
            reach = (h[q] + radii_q[q] + radii_x[p]) * (1.0 + 1e-6)  # nothing is lost by rounding
            near[q, p] = 1 if square <= reach * reach else 0

    return kernel


@cache
def finish_kernel(spherical: bool) -> Any:
    """Return the kernel that adds up the splits and moves each query, a thread each.

    (queries, mass, gone, order, moved): moved (m, d) gets query k at row order[k].
    """

    @kernel_of(64)
    def kernel(queries, mass, gone, order, moved):  # type: ignore[no-untyped-def]
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
            moved[order[k], c] = gone[0, c, k] / length if length > 1e-12 else queries[c, k]

    return kernel
