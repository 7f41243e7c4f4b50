"""Climbing on the device, for many points in one to three dimensions: sums by cells.

The data lie in the cells of a grid. A cell out of reach of a climber counts nothing, one wholly within reach counts by
its moments, which is exact for flat and biweight weights, polynomials of the distance; the others are opened. With
other weights all cells within reach are opened. A thread has a climber and takes it to its end.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from modeseek._common.types import Array, IntArray
from modeseek.meanshift.engines.cuda.kernels.device import kernel_of
from modeseek.meanshift.engines.cuda.kernels.single_shift import weight_of

__all__ = ["BY_MOMENTS", "Cells", "build_cells", "climb_kernel"]

# profiles whose weights are polynomials of second degree at most in the coordinates, by code: flat, biweight
BY_MOMENTS = (0, 1)
# most cells of a grid, and of a bandwidth along an axis
MOST_CELLS, FINEST = 1 << 22, 24
# points asked, among so many, how many others are within reach
ASKED, AMONG = 64, 4096


class Cells(NamedTuple):
    """Points in the cells of a grid.

    Attributes
    ----------
    origin : (d,) array
        The grid's lowest corner.
    side : float
    shape : (d,) integer array
        Cells along each axis.
    starts : (cells + 1,) integer array
        Where each cell's points begin.
    points : (d, n) array
        In the order of cells.
    weights : (n,) array
    moments : (cells, k) array
        About a cell's centre: weight, sums of u, of the products of its coordinates (lower triangle), of |u|^2 u.
    order : (n,) integer array
        Which point stands where.
    """

    origin: Array
    side: float
    shape: IntArray
    starts: IntArray
    points: Array
    weights: Array
    moments: Array
    order: IntArray

    def cell_of(self, places: Array) -> IntArray:
        """Return the cell of each place, the nearest for those outside."""
        steps = np.clip(np.floor((places - self.origin) / self.side).astype(np.int64), 0, self.shape - 1)
        return np.ravel_multi_index(tuple(steps.T), tuple(self.shape))


def build_cells(points: Array, weights: Array, h: float, by_moments: bool) -> Cells:
    """Put points into cells whose side is a fraction of h that the crowding asks for."""
    x = points.astype(np.float64)
    side = h / (_fineness(x, h) if by_moments else 2)
    low, extent = x.min(axis=0), np.ptp(x, axis=0)
    while np.prod(np.floor(extent / side) + 1.0) > MOST_CELLS:
        side *= 1.25
    shape = (np.floor(extent / side) + 1).astype(np.int64)
    empty = Cells(low, side, shape, low[:0], x, weights, low[:0], low[:0])
    cell = empty.cell_of(x)
    order = np.argsort(cell, kind="stable")
    count = int(np.prod(shape))
    starts = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(cell, minlength=count), out=starts[1:])
    x, cell, w = x[order], cell[order], weights[order].astype(np.float64)
    moments = _moments(x, w, cell, empty) if by_moments else np.zeros((1, 1))
    return Cells(low, side, shape, starts, np.ascontiguousarray(x.T), w, moments, order)


def _fineness(x: Array, h: float) -> int:
    """Return cells to a bandwidth: opened ones cost what lies in them, the others what they are."""
    n = len(x)
    some = x[np.linspace(0, n - 1, min(n, AMONG)).astype(np.intp)]
    asked = some[np.linspace(0, len(some) - 1, min(len(some), ASKED)).astype(np.intp)]
    near = np.square(asked[:, None] - some[None]).sum(axis=2) <= h * h
    crowd = n * float(near.mean())
    return int(np.clip(round((0.075 * crowd) ** (1 / 3)), 2, FINEST))


def _moments(x: Array, w: Array, cell: IntArray, cells: Cells) -> Array:
    d, count = x.shape[1], int(np.prod(cells.shape))
    steps = np.stack(np.unravel_index(cell, tuple(cells.shape)), axis=1)
    u = x - (cells.origin + (steps + 0.5) * cells.side)
    square = np.einsum("ij,ij->i", u, u)
    terms = [np.ones(len(x)), *u.T]
    terms += [u[:, a] * u[:, b] for a in range(d) for b in range(a + 1)]
    terms += [square * column for column in u.T]
    return np.column_stack([np.bincount(cell, weights=w * term, minlength=count) for term in terms])


@cache
def climb_kernel(code: int, dim: int) -> Any:
    """Return the kernel that takes climbers to their ends.

    (origin, side, shape, starts, x, w, moments, h, tol, most, spherical, ends, last, steps): `ends` (m, d) has where
    climbers start, and gets where they end; `last` and `steps` the length of their last step and their number.
    """
    weight, by_moments = weight_of(code, False), code in BY_MOMENTS
    quadratic = code == 1
    FIRST, SECOND = 1, 1 + dim
    THIRD = SECOND + dim * (dim + 1) // 2

    @kernel_of(128)
    def kernel(origin, side, shape, starts, x, w, moments, h, tol, most, spherical, ends, last, steps):  # type: ignore[no-untyped-def]
        k = cuda.grid(1)
        if k >= len(ends):
            return
        inv, reach = 1.0 / (h * h), h * h
        q = cuda.local.array(3, np.float64)
        s = cuda.local.array(3, np.float64)
        delta = cuda.local.array(3, np.float64)
        low = cuda.local.array(3, np.int32)
        high = cuda.local.array(3, np.int32)
        for c in range(3):
            low[c] = high[c] = 0
            q[c] = s[c] = delta[c] = 0.0
        for c in range(dim):
            q[c] = ends[k, c]
        length, done = math.inf, 0
        while done < most and length > tol * h:
            total = 0.0
            for c in range(dim):
                s[c] = 0.0
                low[c] = max(0, math.floor((q[c] - h - origin[c]) / side))
                high[c] = min(shape[c] - 1, math.floor((q[c] + h - origin[c]) / side))
            for i in range(low[0], high[0] + 1):
                for j in range(low[1], high[1] + 1):
                    for z in range(low[2], high[2] + 1):
                        cell = i
                        if dim > 1:
                            cell = cell * shape[1] + j
                        if dim > 2:
                            cell = cell * shape[2] + z
                        begin, end = starts[cell], starts[cell + 1]
                        if begin == end:
                            continue
                        near = far = 0.0
                        for c in range(dim):
                            step = i if c == 0 else (j if c == 1 else z)
                            delta[c] = origin[c] + (step + 0.5) * side - q[c]
                            away = max(abs(delta[c]) - 0.5 * side, 0.0)
                            near += away * away
                            away = abs(delta[c]) + 0.5 * side
                            far += away * away
                        if near > reach * (1.0 + 1e-9):
                            continue
                        if by_moments and far < reach * (1.0 - 1e-9):
                            mass = moments[cell, 0]
                            if not quadratic:
                                total += mass
                                for c in range(dim):
                                    s[c] += delta[c] * mass + moments[cell, FIRST + c]
                                continue
                            square = along = spread = 0.0
                            at = SECOND
                            for c in range(dim):
                                square += delta[c] * delta[c]
                                along += delta[c] * moments[cell, FIRST + c]
                                at += c
                                spread += moments[cell, at]
                                at += 1
                            total += mass - inv * (square * mass + 2.0 * along + spread)
                            for c in range(dim):
                                turned = 0.0
                                for e in range(dim):
                                    a, b = max(c, e), min(c, e)
                                    turned += moments[cell, SECOND + a * (a + 1) // 2 + b] * delta[e]
                                first = delta[c] * mass + moments[cell, FIRST + c]
                                s[c] += first - inv * (
                                    square * first
                                    + (2.0 * along + spread) * delta[c]
                                    + 2.0 * turned
                                    + moments[cell, THIRD + c]
                                )
                            continue
                        for p in range(begin, end):
                            r = 0.0
                            for c in range(dim):
                                delta[c] = x[c, p] - q[c]
                                r += delta[c] * delta[c]
                            g = weight(r * inv) * w[p]
                            total += g
                            for c in range(dim):
                                s[c] += g * delta[c]
            scale = 1.0 / total if total > 0.0 else 0.0
            square = 0.0
            for c in range(dim):
                s[c] = q[c] + s[c] * scale
                square += s[c] * s[c]
            size = math.sqrt(square) if spherical else 1.0
            length = 0.0
            for c in range(dim):
                new = s[c] / size if size > 1e-12 else q[c]
                length += (new - q[c]) * (new - q[c])
                q[c] = new
            length = math.sqrt(length)
            done += 1
        for c in range(dim):
            ends[k, c] = q[c]
        last[k], steps[k] = length, done

    return kernel
