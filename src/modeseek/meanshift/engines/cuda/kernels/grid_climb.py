"""Climbing on the device, for many points in one to three dimensions: sums over the cells of a grid.

Cells farther from a climber than the bandwidth are skipped. A cell entirely within the bandwidth contributes by its
moments, which is exact for flat and biweight weights, because these are polynomials. The points of
all other cells are visited. Each thread moves one climber until it stops.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from modeseek._common.types import Array, IntArray
from modeseek.meanshift.engines.cuda.kernels.block import device, kernel_of
from modeseek.meanshift.engines.cuda.kernels.single_shift import weight_of
from modeseek.meanshift.engines.moment_tree.sums import low_power_sums
from modeseek.meanshift.engines.workspace import SHORTEST

FLAT = 0
BIWEIGHT = 1
# Entry of the sums that holds the sum of weights; the first entries hold the sums of weighted differences.
TOTAL = 3
MAX_CELLS = 1 << 22
# Largest number of cells per bandwidth along an axis.
MAX_FINENESS = 24
# The density is estimated from the neighbours of some points among a sample.
SAMPLE_QUERIES = 64
SAMPLE_POINTS = 4096


class Cells(NamedTuple):
    """Points in the cells of a grid.

    Attributes
    ----------
    origin : (d,) array
        The lowest corner of the grid.
    side : float
    shape : (d,) integer array
        Number of cells along each axis.
    starts : (cells + 1,) integer array
        Index of the first point of each cell.
    points : (d, n) array
        Sorted by cell.
    weights : (n,) array
    moments : (cells, k) array
        Moments of each cell, as `moment_tree.sums.low_power_sums` requires.
    """

    origin: Any
    side: float
    shape: Any
    starts: Any
    points: Any
    weights: Any
    moments: Any

    def cell_of(self, places: Array) -> IntArray:
        """Return the cell of each position; the nearest cell for positions outside the grid."""
        return _cell_of(places, self.origin, self.side, self.shape)

    def on_device(self) -> Cells:
        """Return the cells with all arrays on the device."""
        return Cells(*(cuda.to_device(field) if isinstance(field, np.ndarray) else field for field in self))


def build_cells(points: Array, weights: Array, h: float, code: int, fineness: int | None) -> Cells:
    """Sort points into cells whose side is h / fineness; None chooses the fineness from the density of the points."""
    x, by_moments = points.astype(np.float64), code in (FLAT, BIWEIGHT)
    side = h / (fineness or (_fineness(x, h) if by_moments else 2))
    low, extent = x.min(axis=0), np.ptp(x, axis=0)
    while np.prod(np.floor(extent / side) + 1.0) > MAX_CELLS:
        side *= 1.25
    shape = (np.floor(extent / side) + 1).astype(np.int64)
    cell, count = _cell_of(x, low, side, shape), int(np.prod(shape))
    order = np.argsort(cell, kind="stable")
    starts = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(cell, minlength=count), out=starts[1:])
    x, cell, w = x[order], cell[order], weights[order].astype(np.float64)
    centers = low + (np.stack(np.unravel_index(cell, tuple(shape)), axis=1) + 0.5) * side
    moments = _moments((x - centers) / (0.5 * side), w, cell, count) if by_moments else np.zeros((1, 1))
    return Cells(low, side, shape, starts, np.ascontiguousarray(x.T), w, moments)


def _cell_of(places: Array, origin: Array, side: float, shape: IntArray) -> IntArray:
    steps = np.clip(np.floor((places - origin) / side).astype(np.int64), 0, shape - 1)
    return np.ravel_multi_index(tuple(steps.T), tuple(shape))


def _fineness(x: Array, h: float) -> int:
    """Return cells per bandwidth, balancing the cost of visiting points and the cost of visiting cells."""
    n = len(x)
    sample = x[np.linspace(0, n - 1, min(n, SAMPLE_POINTS)).astype(np.intp)]
    queries = sample[np.linspace(0, len(sample) - 1, min(len(sample), SAMPLE_QUERIES)).astype(np.intp)]
    near = np.square(queries[:, None] - sample[None]).sum(axis=2) <= h * h
    return int(np.clip(round((0.075 * n * float(near.mean())) ** (1 / 3)), 2, MAX_FINENESS))


def _moments(u: Array, w: Array, cell: IntArray, count: int) -> Array:
    d, square = u.shape[1], np.einsum("ij,ij->i", u, u)
    terms = [np.ones(len(u)), *u.T]
    for b in range(d):
        terms += [*(u[:, a] * u[:, b] for a in range(b + 1)), square * u[:, b]]
    return np.column_stack([np.bincount(cell, weights=w * term, minlength=count) for term in terms])


@cache
def climb_kernel(code: int, dim: int) -> Any:
    """Return the kernel ``(cells, h, tol, most, spherical, ends, last, steps)`` that moves climbers until they stop.

    `ends` (m, d) has the starting positions, which the kernel replaces by the ends. `last` and `steps` get the length
    of the last step and the number of steps. A climber stops after a step of at most tol * h, or after `most` steps.
    """
    weight, moment_sums = weight_of(code, False), device(low_power_sums)

    @device
    def add_points(x, w, begin, end, q, inv, s):  # type: ignore[no-untyped-def]
        """Add points to the sums s."""
        for p in range(begin, end):
            r = 0.0
            for c in range(dim):
                a = x[c, p] - q[c]
                r += a * a
            g = weight(r * inv) * w[p]
            s[TOTAL] += g
            for c in range(dim):
                s[c] += g * (x[c, p] - q[c])

    @device
    def add_cell(cells, i, j, z, q, h, delta, s):  # type: ignore[no-untyped-def]
        """Add the cell (i, j, z) to the sums s."""
        origin, side, shape, starts, x, w, moments = cells
        inv, reach = 1.0 / (h * h), h * h
        cell = i
        if dim > 1:
            cell = cell * shape[1] + j
        if dim > 2:
            cell = cell * shape[2] + z
        begin, end = starts[cell], starts[cell + 1]
        near = far = 0.0
        for c in range(dim):
            step = i if c == 0 else (j if c == 1 else z)
            delta[c] = origin[c] + (step + 0.5) * side - q[c]
            away = max(abs(delta[c]) - 0.5 * side, 0.0)
            near += away * away
            away = abs(delta[c]) + 0.5 * side
            far += away * away
        if begin == end or near > reach * (1.0 + 1e-9):
            return
        if code <= BIWEIGHT and far < reach * (1.0 - 1e-9):
            place = delta[0], delta[1], delta[2]
            total, s0, s1, s2 = moment_sums(dim, code, moments[cell], 0.5 * side, place, inv)
            s[0], s[1], s[2], s[TOTAL] = s[0] + s0, s[1] + s1, s[2] + s2, s[TOTAL] + total
        else:
            add_points(x, w, begin, end, q, inv, s)

    @kernel_of(128)
    def kernel(cells, h, tol, most, spherical, ends, last, steps):  # type: ignore[no-untyped-def]
        k = cuda.grid(1)
        if k >= len(ends):
            return
        origin, side, shape = cells[0], cells[1], cells[2]
        q = cuda.local.array(3, np.float64)
        s = cuda.local.array(4, np.float64)
        delta = cuda.local.array(3, np.float64)
        low = cuda.local.array(3, np.int32)
        high = cuda.local.array(3, np.int32)
        for c in range(3):
            low[c] = high[c] = 0
            s[c] = delta[c] = 0.0
            q[c] = ends[k, c] if c < dim else 0.0
        length, done = math.inf, 0
        while done < most and length > tol * h:
            s[TOTAL] = 0.0
            for c in range(dim):
                s[c] = 0.0
                low[c] = max(0, math.floor((q[c] - h - origin[c]) / side))
                high[c] = min(shape[c] - 1, math.floor((q[c] + h - origin[c]) / side))
            for i in range(low[0], high[0] + 1):
                for j in range(low[1], high[1] + 1):
                    for z in range(low[2], high[2] + 1):
                        add_cell(cells, i, j, z, q, h, delta, s)
            scale = 1.0 / s[TOTAL] if s[TOTAL] > 0.0 else 0.0
            square = 0.0
            for c in range(dim):
                s[c] = q[c] + s[c] * scale
                square += s[c] * s[c]
            size = math.sqrt(square) if spherical else 1.0
            length = 0.0
            for c in range(dim):
                new = s[c] / size if size > SHORTEST else q[c]
                length += (new - q[c]) * (new - q[c])
                q[c] = new
            length = math.sqrt(length)
            done += 1
        for c in range(dim):
            ends[k, c] = q[c]
        last[k], steps[k] = length, done

    return kernel
