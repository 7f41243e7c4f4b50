"""A state on the device."""

from typing import Any

import numpy as np
from numba import cuda

from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.engines.cuda.config import CudaConfig
from modeseek.meanshift.engines.cuda.kernels import batch_shift, columns
from modeseek.meanshift.engines.cuda.kernels.block import SIMULATED, multiprocessors
from modeseek.meanshift.engines.cuda.kernels.chains import draws_kernel
from modeseek.meanshift.engines.cuda.kernels.grid_climb import build_cells, climb_kernel
from modeseek.meanshift.engines.cuda.kernels.single_shift import MAX_LOW, UNROLL, KernelSpec
from modeseek.meanshift.engines.workspace import BaseWorkspace, contiguous_queries
from modeseek.meanshift.types import Draws, ProfileLike

# Number of threads that apply single-point updates.
THREADS = 8 if SIMULATED else 512
# Threads per block of kernels with one thread per query or tile.
BLOCK = 128
# Number of points per pivot, and largest number of pivots. Rows are sorted by nearest pivot, so that tiles are compact.
POINTS_PER_PIVOT = 64
MAX_PIVOTS = 128
# Smallest number of points in a split, the part of the points over which a block of threads sums, and number of blocks
# that a multiprocessor should have.
MIN_SPLIT = 1024
BLOCKS_PER_MULTIPROCESSOR = 8


class CudaWorkspace(BaseWorkspace):
    """A state stored by coordinates in the memory of the device.

    In more than three dimensions the columns are sorted so that near points are in the same tile. More pairs of tiles
    are then farther apart than the bandwidth and can be skipped.
    """

    def __init__(self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry, config: CudaConfig):
        (self._n, self._d), self._dtype, self._config = points.shape, points.dtype, config
        assert profile.code is not None
        self._low, self._weights = self._d <= MAX_LOW, weights
        weighted, single = bool(np.ptp(weights) > 0), points.dtype == np.float32
        self._spec = KernelSpec(
            profile.code, self._d if self._low else 0, weighted, geometry.spherical, single, THREADS
        )
        pivots = np.linspace(0, self._n - 1, min(-(-self._n // POINTS_PER_PIVOT), MAX_PIVOTS)).astype(np.intp)
        self._pivots = None if self._low else points[pivots]
        self._order = self._sorted(points)
        self._column = np.argsort(self._order)
        self._w = cuda.to_device(weights[self._order].astype(points.dtype))
        self.load(points)

    @property
    def points(self) -> Array:
        """A copy of the current state, an (n, d) array."""
        return self.take(np.arange(self._n))

    def load(self, points: Array) -> None:
        """Replace the state."""
        self._x = self._arranged(points, self._order, UNROLL * THREADS if self._low else batch_shift.SOURCES)
        self._balls: tuple[Any, Any] | None = None

    def take(self, members: IntArray) -> Array:
        """Return the positions of the points with indices `members`."""
        rows = cuda.device_array((len(members), self._d), self._dtype)
        _launch_2d(columns.from_columns, *rows.shape)(self._x, cuda.to_device(self._column[members]), rows)
        return rows.copy_to_host()

    def place(self, members: IntArray, values: Array) -> None:
        """Set the positions of the points with indices `members`."""
        rows = cuda.to_device(np.ascontiguousarray(values, dtype=self._dtype))
        _launch_2d(columns.to_columns, *rows.shape)(self._x, cuda.to_device(self._column[members]), rows)
        self._balls = None

    def shift_one_by_one(self, draws: Draws) -> Array:
        """Move one point after the other; return the lengths of the shifts."""
        lengths = cuda.device_array(len(draws.indices), np.float64)
        g = cuda.device_array(1 if self._low else self._n, self._dtype)
        new = cuda.device_array(self._d, np.float64)
        indices, inverse = cuda.to_device(self._column[draws.indices]), cuda.to_device(draws.bandwidths**-2.0)
        kernel = draws_kernel(self._spec)[1, THREADS]
        kernel(self._x, self._n, self._d, self._w, indices, inverse, lengths, g, new)
        self._balls = None
        return lengths.copy_to_host()

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query x."""
        m = len(queries)
        if not m:
            return queries.copy()
        queries, bandwidths = contiguous_queries(queries, h)
        if self._low and m * self._n >= self._config.min_pairs_for_cells and np.ptp(bandwidths) == 0:
            return self.climb(queries, float(bandwidths[0]), 0.0, 1)[0]
        # as many queries as points are usually the points themselves
        order = self._order if m == self._n else self._sorted(queries)
        places, bandwidths = self._arranged(queries, order, batch_shift.QUERIES), bandwidths[order]
        tiles = -(-m // batch_shift.QUERIES)
        splits = max(1, min(-(-BLOCKS_PER_MULTIPROCESSOR * multiprocessors() // tiles), -(-self._n // MIN_SPLIT)))
        mass, gone = cuda.device_array((splits, m), np.float64), cuda.device_array((splits, self._d, m), np.float64)
        kernel = batch_shift.sums_kernel(self._spec)[(tiles, splits), (batch_shift.SQUARE, batch_shift.SQUARE)]
        inverse, near = cuda.to_device(bandwidths**-2.0), self._near(places, bandwidths)
        kernel(self._x, self._n, self._w, places, inverse, near, mass, gone)
        moved = cuda.device_array((m, self._d), queries.dtype)
        finish = _launch_1d(batch_shift.finish, m)
        finish(places, mass, gone, cuda.to_device(order), self._spec.spherical, moved)
        return moved.copy_to_host()

    @property
    def climbs(self) -> bool:
        """Whether `climb` can be used."""
        return self._low

    def climb(self, queries: Array, h: float, tol: float, most: int) -> tuple[Array, Array, IntArray]:
        """Shift every query repeatedly, until a step is at most tol * h long or `most` steps are done.

        Return the ends, the lengths of the last steps, and the numbers of steps.
        """
        cells = build_cells(self.points, self._weights, h, self._spec.code, self._config.cells_per_bandwidth)
        order = np.argsort(cells.cell_of(queries.astype(np.float64)), kind="stable")
        ends = cuda.to_device(np.ascontiguousarray(queries[order], dtype=np.float64))
        last, steps = cuda.device_array(len(order), np.float64), cuda.device_array(len(order), np.int32)
        kernel = _launch_1d(climb_kernel(self._spec.code, self._d), len(order))
        kernel(cells.on_device(), h, tol, most, self._spec.spherical, ends, last, steps)
        back = np.argsort(order)
        found, *others = (each.copy_to_host()[back] for each in (ends, last, steps))
        return found.astype(queries.dtype), *others

    def _arranged(self, rows: Array, order: IntArray, multiple: int) -> Any:
        """Return rows in a given order as columns on the device, padded to whole tiles in both dimensions."""
        d = -(-self._d // batch_shift.SQUARE) * batch_shift.SQUARE
        out = cuda.device_array((d, -(-len(rows) // multiple) * multiple), self._dtype)
        empty = self._spec.far if self._low else self._spec.real(0.0)
        on_device = cuda.to_device(np.ascontiguousarray(rows, dtype=self._dtype))
        _launch_2d(columns.arrange, out.shape[1], out.shape[0])(on_device, cuda.to_device(order), empty, out)
        return out

    def _near(self, places: Any, bandwidths: Array) -> Any:
        """Return for each pair of a tile of queries and a tile of points whether they may be within a bandwidth."""
        if self._balls is None:
            self._balls = self._find_balls(self._x, batch_shift.SOURCES, self._n)
        centers, radii = self._find_balls(places, batch_shift.QUERIES, len(bandwidths))
        widest = np.maximum.reduceat(bandwidths, np.arange(0, len(bandwidths), batch_shift.QUERIES))
        near = cuda.device_array((len(radii), len(self._balls[1])), np.uint8)
        blocks = -(-near.shape[1] // BLOCK), near.shape[0]
        find_near = batch_shift.find_near[blocks, BLOCK]
        find_near(centers, radii, *self._balls, cuda.to_device(widest), near)
        return near

    def _find_balls(self, x: Any, wide: int, n: int) -> tuple[Any, Any]:
        tiles = -(-n // wide)
        centers, radii = cuda.device_array((tiles, x.shape[0]), np.float64), cuda.device_array(tiles, np.float64)
        batch_shift.find_balls[tiles, batch_shift.BALL_THREADS](x, n, wide, centers, radii)
        return centers, radii

    def _sorted(self, rows: Array) -> IntArray:
        """Return an order in which near rows are close together; the given order in low dimension."""
        if self._pivots is None or len(rows) <= batch_shift.QUERIES:
            return np.arange(len(rows))
        distances = np.square(self._pivots).sum(axis=1) - 2 * rows @ self._pivots.T
        return np.argsort(np.argmin(distances, axis=1), kind="stable")


def _launch_1d(kernel: Any, count: int) -> Any:
    """Configure a kernel with one thread for each of `count` items."""
    return kernel[-(-count // BLOCK), BLOCK]


def _launch_2d(kernel: Any, n_columns: int, n_rows: int) -> Any:
    """Configure a kernel with one thread for each column and row."""
    wide, high = (8, 4) if SIMULATED else (32, 8)
    return kernel[(-(-n_columns // wide), -(-n_rows // high)), (wide, high)]
