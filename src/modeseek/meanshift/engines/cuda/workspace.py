"""A state on the device, and the verbs of a workspace on it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.engines.cuda.kernels import batch_shift as sums
from modeseek.meanshift.engines.cuda.kernels import columns as layout
from modeseek.meanshift.engines.cuda.kernels.chains import draws_kernel
from modeseek.meanshift.engines.cuda.kernels.device import SIMULATED, multiprocessors
from modeseek.meanshift.engines.cuda.kernels.grid_climb import BY_MOMENTS, build_cells, climb_kernel
from modeseek.meanshift.engines.cuda.kernels.single_shift import FAR, FAR_SINGLE, GROUP, LOW, Shape
from modeseek.meanshift.engines.workspace import BaseWorkspace, for_each
from modeseek.meanshift.types import Draws, ProfileLike

__all__ = ["Climbed", "CudaWorkspace"]

# threads that apply draws one by one
THREADS = 8 if SIMULATED else 512
# pairs from which cells are worth building
CELLS_FROM = 1 << 28
# rows near which others are put together, so that tiles are compact: at most, and one for so many
PIVOTS, FOLLOWERS = 128, 64
# points that a split has at least, and blocks that a multiprocessor is to have
LEAST, BLOCKS = 1024, 8


class Climbed(NamedTuple):
    """Where climbers ended, the lengths of their last steps, and how many each took."""

    ends: Array
    last_shift: Array
    steps: IntArray


class CudaWorkspace(BaseWorkspace):
    """A state held by coordinates in the device's memory.

    In high dimension columns are in an order that puts near points together: tiles of them are then out of each other's
    reach more often.
    """

    def __init__(self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry):
        n, d = points.shape
        assert profile.code is not None
        self._n, self._d, self._dtype, self._low = n, d, points.dtype, d <= LOW
        self._code, self._spherical = profile.code, geometry.spherical
        self._weights = weights
        weighted, single = bool(np.ptp(weights) > 0), points.dtype == np.float32
        self._shape = Shape(self._code, d if self._low else 0, weighted, self._spherical, single, THREADS, False)
        self._sums = sums.Sums(self._code, d if self._low else 0, weighted, single)
        self._pivots = _pivots(points) if not self._low else None
        self._order = self._order_of(points)
        self._column = np.empty(n, dtype=np.int64)
        self._column[self._order] = np.arange(n)
        whole = GROUP * THREADS if self._low else sums.POINTS
        self._w = cuda.to_device(weights[self._order].astype(points.dtype))
        self._x = self._arranged(points, self._order, whole)
        self._balls: tuple[Any, Any] | None = None

    @property
    def points(self) -> Array:
        """The current state as a new (n, d) array."""
        return self.take(np.arange(self._n))

    def load(self, points: Array) -> None:
        """Replace the state."""
        self._x = self._arranged(points, self._order, GROUP * THREADS if self._low else sums.POINTS)
        self._balls = None

    def take(self, members: IntArray) -> Array:
        """Return some points."""
        rows = cuda.device_array((len(members), self._d), self._dtype)
        _over(layout.take_kernel(), *rows.shape)(self._x, cuda.to_device(self._column[members]), rows)
        return rows.copy_to_host()

    def place(self, members: IntArray, values: Array) -> None:
        """Put some points elsewhere."""
        rows = cuda.to_device(np.ascontiguousarray(values, dtype=self._dtype))
        _over(layout.place_kernel(), *rows.shape)(self._x, cuda.to_device(self._column[members]), rows)
        self._balls = None

    def shift_one_by_one(self, draws: Draws) -> Array:
        """Move one point after the other; return the lengths of the shifts."""
        lengths = cuda.device_array(len(draws.indices), np.float64)
        room = cuda.device_array(1 if self._low else self._n, self._dtype)
        new = cuda.device_array(self._d, np.float64)
        columns, inverse = cuda.to_device(self._column[draws.indices]), cuda.to_device(draws.bandwidths**-2.0)
        draws_kernel(self._shape)[1, THREADS](self._x, self._n, self._d, self._w, columns, inverse, lengths, room, new)
        self._balls = None
        return lengths.copy_to_host()

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query x against the current state."""
        m = len(queries)
        if not m:
            return queries.copy()
        queries, bandwidths = for_each(queries, h)
        if self._low and m * self._n >= CELLS_FROM and np.ptp(bandwidths) == 0:
            return self.climb(queries, float(bandwidths[0]), 0.0, 1).ends
        # as many queries as points are the points themselves, mostly
        order = self._order if m == self._n else self._order_of(queries)
        places = self._arranged(queries, order, 1 if self._low else sums.QUERIES)
        bandwidths = bandwidths[order]
        tiles = -(-m // (sums.THREADS if self._low else sums.QUERIES))
        splits = max(1, min(-(-BLOCKS * multiprocessors() // tiles), -(-self._n // LEAST)))
        mass, gone = cuda.device_array((splits, m), np.float64), cuda.device_array((splits, self._d, m), np.float64)
        inverse = cuda.to_device(bandwidths**-2.0)
        if self._low:
            kernel = sums.low_kernel(self._sums)[(tiles, splits), sums.THREADS]
            kernel(self._x, self._n, self._w, places, inverse, mass, gone)
        else:
            _over(layout.zero_kernel(), m, self._d)(gone)
            near = self._near(places, bandwidths)
            kernel = sums.tiled_kernel(self._sums)[(tiles, splits), (sums.ACROSS, sums.DOWN)]
            kernel(self._x, self._n, self._w, places, inverse, near, mass, gone)
        moved = cuda.device_array((m, self._d), queries.dtype)
        sums.finish_kernel(self._spherical)[-(-m // sums.THREADS), sums.THREADS](
            places, mass, gone, cuda.to_device(order), moved
        )
        return moved.copy_to_host()

    @property
    def climbs(self) -> bool:
        """Whether `climb` can be used."""
        return self._low

    def climb(self, queries: Array, h: float, tol: float, most: int) -> Climbed:
        """Take every query to its end, by steps until one is at most tol * h long, or so many are done."""
        cells = build_cells(self.points, self._weights, h, self._code in BY_MOMENTS)
        order = np.argsort(cells.cell_of(queries.astype(np.float64)), kind="stable")
        ends = cuda.to_device(np.ascontiguousarray(queries[order], dtype=np.float64))
        last, steps = cuda.device_array(len(order), np.float64), cuda.device_array(len(order), np.int32)
        climb_kernel(self._code, self._d)[-(-len(order) // sums.THREADS), sums.THREADS](
            cuda.to_device(cells.origin),
            cells.side,
            *map(cuda.to_device, (cells.shape, cells.starts, cells.points, cells.weights, cells.moments)),
            h,
            tol,
            most,
            self._spherical,
            ends,
            last,
            steps,
        )
        back = np.argsort(order)
        return Climbed(
            ends.copy_to_host()[back].astype(queries.dtype), last.copy_to_host()[back], steps.copy_to_host()[back]
        )

    def _arranged(self, rows: Array, order: IntArray, whole: int) -> Any:
        """Return rows by coordinate on the device, in an order, filled up to whole tiles."""
        d = self._d if self._low else -(-self._d // sums.COORDINATES) * sums.COORDINATES
        out = cuda.device_array((d, -(-len(rows) // whole) * whole), self._dtype)
        empty = (FAR_SINGLE if self._dtype == np.float32 else FAR) if self._low else 0.0
        on_device = cuda.to_device(np.ascontiguousarray(rows, dtype=self._dtype))
        _over(layout.arrange_kernel(), out.shape[1], out.shape[0])(
            on_device, cuda.to_device(order), self._dtype.type(empty), out
        )
        return out

    def _near(self, places: Any, bandwidths: Array) -> Any:
        """Return which tiles of queries and of points may be within reach of each other."""
        if self._balls is None:
            self._balls = self._found_balls(self._x, sums.POINTS, self._n)
        centers, radii = self._found_balls(places, sums.QUERIES, len(bandwidths))
        widest = cuda.to_device(np.maximum.reduceat(bandwidths, np.arange(0, len(bandwidths), sums.QUERIES)))
        near = cuda.device_array((len(radii), len(self._balls[1])), np.uint8)
        blocks = -(-near.shape[1] // sums.THREADS), near.shape[0]
        sums.near_kernel()[blocks, sums.THREADS](centers, radii, *self._balls, widest, near)
        return near

    def _found_balls(self, x: Any, wide: int, n: int) -> tuple[Any, Any]:
        tiles = -(-n // wide)
        centers, radii = cuda.device_array((tiles, x.shape[0]), np.float64), cuda.device_array(tiles, np.float64)
        sums.balls_kernel(wide)[tiles, sums.BALL](x, n, centers, radii)
        return centers, radii

    def _order_of(self, rows: Array) -> IntArray:
        """Return an order of rows in which near ones follow each other, where that matters."""
        if self._pivots is None or len(rows) <= sums.QUERIES:
            return np.arange(len(rows))
        return np.argsort(
            np.argmin(np.square(self._pivots).sum(axis=1) - 2 * rows @ self._pivots.T, axis=1), kind="stable"
        )


def _pivots(points: Array) -> Array:
    """Return rows to sort by: evenly spaced ones, as good as random."""
    return points[np.linspace(0, len(points) - 1, min(-(-len(points) // FOLLOWERS), PIVOTS)).astype(np.intp)]


def _over(kernel: Any, columns: int, rows: int) -> Any:
    """Return a kernel with a thread for each column and row."""
    wide, high = (8, 4) if SIMULATED else (32, 8)
    return kernel[(-(-columns // wide), -(-rows // high)), (wide, high)]
