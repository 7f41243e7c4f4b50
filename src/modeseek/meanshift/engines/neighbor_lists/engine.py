"""The neighbour-list engine: sums over lists of near points, for data of high dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from modeseek._common.distances import distance_blocks
from modeseek._common.resources import check_time, deadline
from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.engines.brute.blocks import MAX_SECOND_DIMENSION, expected_visits, power_of
from modeseek.meanshift.engines.coincident_points import MergeConfig, MergingWorkspace, PointGroups, shift_distinct
from modeseek.meanshift.engines.neighbor_lists.arrays import GroupState, ListBuffers
from modeseek.meanshift.engines.neighbor_lists.config import DEFAULT, ListConfig, pair_cost
from modeseek.meanshift.engines.workspace import QueryBlock, UpdateBlock, map_blocks
from modeseek.meanshift.types import ProfileLike

if TYPE_CHECKING:
    from modeseek.meanshift.engines.neighbor_lists.lists import ListKeeper
    from modeseek.meanshift.engines.neighbor_lists.loops import ListShifts

# Rows are padded to a multiple of this number of coordinates, which fill whole vector registers.
PAD_TO = 8
# (smallest dimension, smallest n, largest share of pairs within h) for which this engine is faster than `brute`,
# measured by benchmarks/neighbor_lists_crossover.py. Up to MAX_SECOND_DIMENSION dimensions, the work of both engines is
# estimated instead of the share.
CROSSOVERS = ((128, 300, 1.0), (MAX_SECOND_DIMENSION + 1, 1000, 0.4), (48, 1000, 1.0), (12, 2000, 1.0))
# A point in a list takes as long as this many points of a block of `brute`, because points of a block are contiguous.
# If points move one at a time, lists are soon outdated, and take COST_OF_MOVES times longer.
BLOCK_POINTS_PER_MEMBER = 1.75
COST_OF_MOVES = 3.5
# Number of points whose neighbours are counted to estimate the share of pairs within h.
SAMPLE_POINTS = 64


class NeighborListsWorkspace(MergingWorkspace):
    """A state stored by rows, with a list for each point of the points that may come within the bandwidth.

    Lists are built by matrix products. Their radius is the largest coming bandwidth plus a margin, the skin. A query
    also visits all points that have moved more than half the skin since then. Results are therefore always exact.
    """

    def __init__(
        self,
        points: Array,
        weights: Array,
        shifts: ListShifts,
        geometry: Geometry,
        n_jobs: int | None,
        config: ListConfig,
    ):
        # lists have to be built for the merged points too, so merging pays later than in `brute`
        super().__init__(points, weights, geometry, n_jobs, MergeConfig(max_share=0.5))
        self._shifts, self._list_config = shifts, config
        self._keeper = self._make_keeper(len(points))

    @property
    def builds(self) -> int:
        """The number of times that lists of all points were built."""
        return self._keeper.builds

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query x. Queries are independent, so the result does not depend on n_jobs."""
        from modeseek._common.blas import one_blas_thread
        from modeseek.meanshift.engines.neighbor_lists.lists import iter_lists

        positions, weights = self._sources(len(queries))

        def shift(queries: Array, bandwidths: Array) -> Array:
            padded, until = self._arrange(queries), deadline()
            all_queries = QueryBlock(queries, bandwidths, np.empty_like(queries))

            def move(block: slice) -> int:
                some, evaluations, buffers = all_queries.part(block), 0, ListBuffers.empty(positions)
                for part, starts, members in iter_lists(padded[block], positions, float(some.bandwidths.max())):
                    check_time(until)
                    some_now = some.part(part)
                    self._shifts.all(positions, weights, some_now, starts, members, self._spherical, buffers)
                    evaluations += int(starts[-1])
                return evaluations

            with one_blas_thread():
                evaluations = map_blocks(move, len(queries), len(queries), self._n_jobs)
            self.evaluations += int(pair_cost(positions.shape[1]) * len(queries) * len(positions)) + sum(evaluations)
            return all_queries.moved

        return shift_distinct(shift, queries, h)

    @property
    def _rows(self) -> Array:
        return self._state

    def _arrange(self, points: Array) -> Array:
        """Return rows padded by zeros."""
        n, d = points.shape
        rows = np.zeros((n, -(-d // PAD_TO) * PAD_TO), dtype=points.dtype)
        rows[:, :d] = points
        return rows

    def _select(self, members: IntArray) -> Array:
        return self._state[members]

    def _update(self, updates: UpdateBlock, found: PointGroups | None) -> int:
        groups = self._groups(found)
        if found is None:
            return self._advance(GroupState(self._state, groups), len(self._weights), self._keeper, updates)
        m, keeper = len(found.leaders), self._make_keeper(len(groups.weights))
        positions = np.zeros((len(groups.weights), self._state.shape[1]), dtype=self._state.dtype)
        positions[:m] = self._state[found.leaders]
        done = self._advance(GroupState(positions, groups), m, keeper, updates)
        self._state = positions[groups.group]
        return done

    def _make_keeper(self, capacity: int) -> ListKeeper:
        from modeseek.meanshift.engines.neighbor_lists.lists import ListKeeper

        return ListKeeper(capacity, self._tolerance, self._list_config)

    def _advance(self, state: GroupState, m: int, keeper: ListKeeper, updates: UpdateBlock) -> int:
        """Apply updates to m groups until no unused group is left; return how many were applied."""
        count, done, buffers = len(updates.lengths), 0, ListBuffers.empty(state.positions)
        while done < count:
            lists, limits = keeper.prepare(state, m, float(updates.bandwidths[done:].max()), count - done)
            while done < count and lists.counters.extra[0] <= limits.max_extra:
                check_time()
                step = self._shifts.each(state, lists, limits, updates.part(done), self._spherical, buffers)
                self.evaluations += keeper.take_evaluations()
                done += step
                if step == 0:
                    return done
            m = int(lists.counters.groups[0])
        return done


class NeighborListsEngine:
    """Sums over lists of near points, compiled by Numba.

    Parameters
    ----------
    config : ListConfig, optional
    """

    name = "neighbor_lists"

    def __init__(self, config: ListConfig = DEFAULT) -> None:
        self._config = config

    def refusal(self, profile: ProfileLike, dimensions: int) -> str | None:
        """Return why this engine cannot be used, or None."""
        if profile.code is None:
            return f"profile {profile.name!r} is a custom profile, which only 'brute' and 'reference' support"
        return None

    def pays(self, profile: ProfileLike, points: Array, h: float | None, one_by_one: bool = False) -> bool:
        """Return whether this engine should be faster than `brute`."""
        n, d = points.shape
        least, max_share = next(((n_, share) for d_, n_, share in CROSSOVERS if d >= d_), (np.inf, 0.0))
        if n < least or h is None:
            return n >= least
        share = _share_within(points, h)
        if d > MAX_SECOND_DIMENSION:
            return share <= max_share
        members = (pair_cost(d) + share) * n * (COST_OF_MOVES if one_by_one else 1.0)
        return members * BLOCK_POINTS_PER_MEMBER <= expected_visits(points, h, power_of(profile.code))

    def open(
        self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry, n_jobs: int | None = None
    ) -> NeighborListsWorkspace:
        """Return a workspace; the functions for the profile are compiled at their first use."""
        from modeseek.meanshift.engines.neighbor_lists.loops import shifts

        assert profile.code is not None
        return NeighborListsWorkspace(points, weights, shifts(profile.code), geometry, n_jobs, self._config)


def _share_within(points: Array, h: float) -> float:
    """Estimate the share of pairs of points with distance at most h from a sample."""
    sample = points[np.linspace(0, len(points) - 1, min(SAMPLE_POINTS, len(points))).astype(np.intp)]
    return float(np.mean([np.mean(squares <= h * h) for _, squares in distance_blocks(points, sample)]))
