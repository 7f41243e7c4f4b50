"""The brute-force engine: compiled sums over all pairs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from modeseek._common.resources import check_time
from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.bandwidth.draws import DrawCode
from modeseek.meanshift.certificate import ROUNDING_ULPS, witnesses_of
from modeseek.meanshift.engines.brute.blocks import Blocks, make_blocks
from modeseek.meanshift.engines.coincident_points import (
    DEFAULT_MERGE,
    Merging,
    MergingWorkspace,
    PointGroups,
    shift_distinct,
)
from modeseek.meanshift.engines.workspace import Buffers, QueryBlock, SweepBlock, UpdateBlock, map_blocks
from modeseek.meanshift.kernels.profiles import ZeroOutside
from modeseek.meanshift.types import Draws, EndTest, Engine, ProfileLike, SweepsEnd, SweepsInfo

if TYPE_CHECKING:
    from modeseek.meanshift.engines.brute.loops import BruteShifts
    from modeseek.meanshift.engines.brute.sweep_loops import Scratch

# Work (pairs of points times coordinates) of one compiled call. It takes a fraction of a second, after which Ctrl-C
# takes effect.
WORK_PER_CALL = 200_000_000
# Smallest work for a thread.
WORK_PER_THREAD = 1_000_000
# With at least this dimension and number of points, points are sorted into blocks. Blocks outside the ball of radius h
# around the query, or inside it, are not opened.
BLOCKS_FROM_DIMENSION = 4
BLOCKS_FROM_POINTS = 1024
# Points are not sorted for fewer queries than this. Sorting costs as much as the sums of about 60 queries.
BLOCKS_FROM_QUERIES = 128
# Number of visits per point after which points are sorted again. These visits cost a few times as much as sorting.
VISITS_PER_SORT = 1000
# Arguments of compiled sweeps for draws that are passed as arrays.
GIVEN = DrawCode.given()
NO_TEST = EndTest(1.0, 1.0, False, 1.0, False, np.zeros(2, dtype=bool))
# Largest work of a sweep for which whole sweeps run in compiled code.
WORK_PER_SWEEP = WORK_PER_CALL // 8


class BruteWorkspace(MergingWorkspace):
    """A state stored by coordinates (d rows of n), so that sums over points use vector instructions.

    Parameters
    ----------
    points, weights : (n, d) and (n,) arrays
    shifts : callable
        Takes 1 if weights differ, else 0, and returns the compiled functions.
    geometry : Geometry
    n_jobs : int, optional
    """

    def __init__(
        self,
        points: Array,
        weights: Array,
        shifts: Callable[[int], BruteShifts],
        geometry: Geometry,
        n_jobs: int | None,
    ):
        super().__init__(points, weights, geometry, n_jobs, DEFAULT_MERGE)
        self._merging = Merging.of(self._config, self._d, points.dtype)
        self._sorted: tuple[float, Blocks] | None = None
        self._buffers = Buffers.empty(self._d)
        self._plain, self._weighted = shifts(int(not self._equal_weights)), shifts(1)

    @property
    def most_sweeps(self) -> int:
        """Largest number of sweeps in one call; 0 if a sweep takes long, or for single precision."""
        work = self._state.size * len(self._weights)
        blocks = self._d >= BLOCKS_FROM_DIMENSION and len(self._weights) >= BLOCKS_FROM_POINTS
        return 0 if blocks or work > WORK_PER_SWEEP or self._state.dtype != np.float64 else WORK_PER_CALL // work

    def shift_one_by_one(self, draws: Draws) -> Array:
        """Move one point after the other; return the lengths of the shifts."""
        if not self.most_sweeps:
            return super().shift_one_by_one(draws)
        # a policy of the user may return an array with strides, such as that of `np.broadcast_to`
        indices, bandwidths = map(np.ascontiguousarray, draws)
        updates = UpdateBlock(indices, bandwidths, np.empty(len(indices)))
        self._apply_sweeps(updates, GIVEN, np.zeros(1), np.empty(len(self._weights)), NO_TEST)
        return updates.lengths

    def shift_sweeps(self, code: DrawCode, h: float, last_shift: Array, test: EndTest) -> SweepsInfo:
        """Apply sweeps until the stopping rule may be fulfilled; return what happened in them."""
        n = len(self._weights)
        updates = UpdateBlock(np.empty(n, dtype=np.intp), np.empty(n), np.empty(n))
        path = np.empty(n * (len(test.due) - 1))
        path[-1] = h
        largest, end = self._apply_sweeps(updates, code, path, last_shift, test)
        return SweepsInfo(path[: n * len(largest)], largest, end)

    @cached_property
    def _scratch(self) -> Scratch:
        from modeseek.meanshift.engines.brute.sweep_loops import Scratch

        return Scratch.empty(self._d, len(self._weights), self._config.min_points)

    def _apply_sweeps(
        self, updates: UpdateBlock, code: DrawCode, path: Array, last_shift: Array, test: EndTest
    ) -> tuple[Array, SweepsEnd]:
        from modeseek.meanshift.engines.brute.sweep_loops import SweepSetup, apply_sweeps

        check_time()
        self._merged = None
        largest = np.zeros(len(test.due) - 1)
        rounding, witnesses = ROUNDING_ULPS * self._merging.eps, witnesses_of(len(self._weights))
        block = SweepBlock(code, path, last_shift, largest, test, rounding, witnesses)
        addresses = self._plain.each_address, self._weighted.each_group_address
        setup = SweepSetup(*addresses, self._merging, self._spherical, self._equal_weights)
        done, end, evaluations = apply_sweeps(setup, self._state, self._weights, updates, block, self._scratch)
        self.evaluations += evaluations
        return largest[:done], SweepsEnd(end)

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query x. Queries are independent, so the result does not depend on n_jobs."""
        if self._merged is None:
            self._sorted = None
        X, w = self._sources(len(queries))
        shifts = self._plain if w is self._weights else self._weighted

        def shift(queries: Array, bandwidths: Array) -> Array:
            block = QueryBlock(queries, bandwidths, np.empty_like(queries))
            if self._d < BLOCKS_FROM_DIMENSION or not _sorting_pays(len(queries), len(w)):
                step, function = _updates_per_call(X), partial(shifts.all, X, w)
            else:
                blocks = self._blocks(X, w, float(bandwidths.min()), shifts.blocks.power)
                step, function = 8 * _updates_per_call(X), partial(shifts.blocks.all, blocks)
            visits = map_blocks(
                lambda part: function(block.part(part), self._spherical, Buffers.empty(self._d)),
                len(queries),
                step,
                self._n_jobs,
                least=WORK_PER_THREAD // X.size,
            )
            self.evaluations += sum(visits)
            return block.moved

        return shift_distinct(shift, queries, h)

    def _blocks(self, X: Array, w: Array, h: float, power: int) -> Blocks:
        """Return the columns of X in blocks, which are kept as long as the state and the bandwidth do not change."""
        if self._sorted is None or self._sorted[0] != h:
            self._sorted = h, make_blocks(X.T, w, h, power)[0]
        return self._sorted[1]

    @property
    def _rows(self) -> Array:
        return self._state.T

    def _arrange(self, points: Array) -> Array:
        return np.array(points.T, order="C")

    def _select(self, members: IntArray) -> Array:
        return np.ascontiguousarray(self._state[:, members])

    def _update(self, updates: UpdateBlock, found: PointGroups | None) -> int:
        if found is not None:
            return self._update_groups(updates, found)
        count = len(updates.lengths)
        if self._d < BLOCKS_FROM_DIMENSION or min(count, len(self._weights)) < BLOCKS_FROM_POINTS:
            self._apply(self._state, self._weights, updates)
            self.evaluations += count * len(self._weights)
        else:
            self._apply_in_blocks(updates)
        return count

    def _apply_in_blocks(self, updates: UpdateBlock) -> None:
        """Sort points into blocks, apply the updates there, and store the points in their original order."""
        done, n, shifts = 0, len(self._weights), self._plain.blocks
        while done < len(updates.lengths):
            rest = updates.part(done)
            blocks, places = make_blocks(self._rows, self._weights, float(rest.bandwidths.min()), shifts.power)
            rest, visited, start = rest._replace(indices=places[rest.indices]), 0, 0
            while start < len(rest.lengths) and visited < VISITS_PER_SORT * n:
                check_time()
                most = min(WORK_PER_CALL // self._d, VISITS_PER_SORT * n - visited)
                count, more = shifts.each(blocks, rest.part(start), self._spherical, most, self._buffers)
                start, visited = start + count, visited + more
            self._state = blocks.points.transpose(1, 0, 2).reshape(self._d, -1)[:, places]
            done, self.evaluations = done + start, self.evaluations + visited

    def _apply(self, X: Array, weights: Array, updates: UpdateBlock) -> None:
        step = _updates_per_call(X)
        for start in range(0, len(updates.lengths), step):
            check_time()
            self._plain.each(X, weights, updates.part(start, step), self._spherical, self._buffers)

    def _update_groups(self, updates: UpdateBlock, found: PointGroups) -> int:
        groups, used, done = self._groups(found), len(found.leaders), 0
        X = np.zeros((self._d, len(groups.weights)), dtype=self._state.dtype)
        X[:, :used] = self._state[:, found.leaders]
        while done < len(updates.lengths) and used < X.shape[1]:
            check_time()
            part = updates.part(done, _updates_per_call(X))
            step, used, evaluations = self._weighted.each_group(
                X, groups, used, self._tolerance, part, self._spherical, self._buffers
            )
            done, self.evaluations = done + step, self.evaluations + evaluations
        self._state = np.ascontiguousarray(X[:, groups.group])
        return done


def _sorting_pays(queries: int, n: int) -> bool:
    enough = n >= BLOCKS_FROM_POINTS and queries >= BLOCKS_FROM_QUERIES
    return enough and queries * n >= BLOCKS_FROM_POINTS**2


def _updates_per_call(X: Array) -> int:
    return max(1, WORK_PER_CALL // max(1, X.size))


class BruteEngine(Engine):
    """Sums over all pairs, compiled by Numba."""

    name = "brute"

    def open(
        self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry, n_jobs: int | None = None
    ) -> BruteWorkspace:
        """Return a workspace; the functions for the profile are compiled at their first use."""
        from numba.core.errors import NumbaError

        from modeseek.meanshift.engines.brute.loops import MAX_LOW, custom_shifts, shifts

        dim = min(points.shape[1], MAX_LOW + 1)
        if profile.code is not None:
            return BruteWorkspace(points, weights, partial(shifts, profile.code, dim), geometry, n_jobs)
        weight = profile.weight
        function = weight.function if isinstance(weight, ZeroOutside) else weight
        workspace = BruteWorkspace(points, weights, partial(custom_shifts, function, dim), geometry, n_jobs)
        try:
            workspace.shift_all(points[:1], 1.0)
        except NumbaError as error:
            raise ValueError(
                f"profile {profile.name!r} cannot be compiled, which engine='brute' requires: write its weight in "
                f"plain arithmetic and NumPy, or use engine='reference'. ({str(error).splitlines()[0]})"
            ) from None
        return workspace
