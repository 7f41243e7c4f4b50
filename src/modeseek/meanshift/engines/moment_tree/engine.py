"""A tree of cells with moments, compiled: the engine for many points in one, two or three dimensions."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from modeseek._common.resources import check_time
from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.engines.moment_tree.tree import Tree, rooms, scratch_of, size, sprout, table, with_chunks
from modeseek.meanshift.engines.workspace import BaseWorkspace, for_each, in_blocks
from modeseek.meanshift.types import Draws, ProfileLike

__all__ = ["MomentTreeEngine"]

# up to this dimension few cells are cut by a sphere
DIMENSIONS = 3
# a cell with more points is cut into smaller ones; 16 points cost much less than a node
CROWD = 256
# cells with half-sides below this share of the smallest bandwidth are not cut: spheres seldom meet them; by dimension
FINEST = (0.0, 1.0 / 256.0, 1.0 / 16.0, 1.0 / 16.0)
# the tree is built anew when this many moves per point have changed its moments: the first while much is opened, the
# second while nearly all is summed by moments; by then rounding has not added up to anything
MOVES_PER_BUILD = (1, 4)
# evaluations per update up to which that is the case
FEW = 50
# ... or when bandwidths have grown by this factor, since larger nodes then need moments
GROWTH = 1.25
# least number of points, by dimension and for each moment of a cell; from benchmarks/moment_tree_crossover.py
POINTS = (0, 4000, 2000, 2000)
POINTS_PER_MOMENT = 100
# updates per compiled call: a fraction of a second, so that Ctrl-C is heard
UPDATES_PER_CALL = 50_000
# ... and fewer are not worth a thread
UPDATES_PER_THREAD = 500


class MomentTreeWorkspace(BaseWorkspace):
    """A state and the tree over it, which follows every move."""

    def __init__(self, points: Array, weights: Array, power: int, geometry: Geometry, n_jobs: int | None):
        d = points.shape[1]
        self._weights, self._geometry, self._n_jobs = weights.astype(np.float64), geometry, effective_n_jobs(n_jobs)
        # the compiler learns the dimension and the power from the lengths of these
        self._shape = (0,) * d, (0,) * power
        self._terms = table(power, d)
        self._limit = 64 + len(points) // CROWD
        self.evaluations = 0
        self.load(points)

    @property
    def points(self) -> Array:
        """The current state as a new (n, d) array."""
        return self._points.copy()

    def load(self, points: Array) -> None:
        """Replace the state."""
        self._points = np.array(points, order="C")
        self._tree: Tree | None = None

    def take(self, members: IntArray) -> Array:
        """Return some points."""
        return self._points[members]

    def place(self, members: IntArray, values: Array) -> None:
        """Put some points elsewhere."""
        from modeseek.meanshift.engines.moment_tree.updates import relocate

        if self._tree is None or (np.abs(values - self._root[:-1]) > self._root[-1]).any():
            self._points[members] = values
            self._tree = None
            return
        scratch = np.empty(len(self._terms.parent))
        state = self._tree, self._points, self._weights
        relocate(*self._shape, self._terms, *state, members, values, self._sizes[1], scratch)
        self._moves += len(members)

    def shift_one_by_one(self, draws: Draws) -> Array:
        """Move one point after the other; return the lengths of the shifts."""
        from modeseek.meanshift.engines.moment_tree.sums import shift_each

        lengths, scratch, spherical = np.empty(len(draws.indices)), rooms(*self._shape), self._geometry.spherical
        for start in range(0, len(lengths), UPDATES_PER_CALL):
            check_time()
            block = slice(start, start + UPDATES_PER_CALL)
            some = draws.indices[block], draws.bandwidths[block]
            state = self._ready(draws.bandwidths[block]), self._points, self._weights
            self.evaluations += shift_each(
                *self._shape, self._terms, *state, some, self._sizes, spherical, lengths[block], scratch
            )
            self._moves += len(some[0])
        return lengths

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query; each by itself, so any number of threads gives the same."""
        from modeseek.meanshift.engines.moment_tree.sums import shift_queries

        queries, bandwidths = for_each(queries, h)
        moved = np.empty_like(queries)
        if not len(queries):
            return moved
        tree, spherical = self._ready(bandwidths), self._geometry.spherical

        def move(block: slice) -> int:
            some = queries[block], bandwidths[block]
            scratch = rooms(*self._shape)
            return shift_queries(*self._shape, self._terms, tree, *some, self._sizes, spherical, moved[block], scratch)

        counts = in_blocks(move, len(queries), UPDATES_PER_CALL, self._n_jobs, least=UPDATES_PER_THREAD)
        self.evaluations += sum(counts)
        return moved

    def _ready(self, bandwidths: Array) -> Tree:
        """Return a tree that suits the bandwidths and has not drifted."""
        largest = float(bandwidths.max())
        if self._tree is None or self._worn() or largest > GROWTH * self._sizes[1]:
            self._tree = self._build(float(bandwidths.min()), largest)
        return self._tree

    def _worn(self) -> bool:
        """Return whether the tree no longer fits, or might have drifted."""
        quiet = self.evaluations - self._evaluations_at_build <= FEW * self._moves
        return self._moves >= MOVES_PER_BUILD[quiet] * len(self._points)

    def _build(self, smallest: float, largest: float) -> Tree:
        from modeseek.meanshift.engines.moment_tree.updates import fill, plant

        low, high = -np.ones(self._points.shape[1]), np.ones(self._points.shape[1])
        if not self._geometry.spherical:
            # column by column: NumPy is slower along the other axis
            low[:], high[:] = [x.min() for x in self._points.T], [x.max() for x in self._points.T]
        # points stay within their hull, up to rounding
        half = max(float((high - low).max()) / 2 * (1 + 1e-6), largest * 1e-3)
        self._root = np.append(low / 2 + high / 2, half)
        # what rounding of coordinates can do to a distance: cells that near the sphere are opened
        slack = 16 * np.finfo(np.float64).eps * float(np.abs(self._root).max()) + 1e-12 * smallest
        self._sizes, self._moves, self._evaluations_at_build = (slack, largest), 0, self.evaluations
        dims, n = self._shape[0], len(self._points)
        while True:
            tree = sprout(*self._shape, n, self._limit, self._root)
            order = np.arange(n)
            n_nodes = plant(
                *self._shape,
                self._terms,
                tree,
                self._points,
                self._weights,
                (CROWD, FINEST[len(dims)] * smallest, largest),
                scratch_of(order, tree),
            )
            if n_nodes > 0:
                break
            self._limit *= 2
        self._limit = 64 + n_nodes * 3 // 2
        tree = with_chunks(dims, tree, n_nodes)
        fill(dims, tree, self._points, self._weights, order)
        return tree


class MomentTreeEngine:
    """A tree of cells with polynomial moments, compiled by Numba."""

    name = "moment_tree"

    def refusal(self, profile: ProfileLike, dimensions: int) -> str | None:
        """Return why this engine cannot be used, if so."""
        if dimensions > DIMENSIONS:
            return f"it is for at most {DIMENSIONS} dimensions, and the data have {dimensions}"
        if profile.code not in range(4):
            return f"it needs flat weights, the bi-, tri- or quadweight, and profile {profile.name!r} is no polynomial"
        return None

    def pays(self, profile: ProfileLike, points: Array, h: float | None) -> bool:
        """Return whether it should be faster than `brute`."""
        return len(points) >= self.pays_from(profile, points.shape[1])

    def pays_from(self, profile: ProfileLike, dimensions: int) -> int:
        """Return the number of points from which it should be faster than `brute`."""
        assert profile.code is not None
        return max(POINTS[dimensions], POINTS_PER_MOMENT * size((0,) * dimensions, (0,) * profile.code))

    def open(
        self,
        points: Array,
        weights: Array,
        profile: ProfileLike,
        geometry: Geometry,
        n_jobs: int | None = None,
    ) -> MomentTreeWorkspace:
        """Return a workspace; compiles what the profile and the dimension need on first use."""
        assert profile.code is not None
        return MomentTreeWorkspace(points, weights, profile.code, geometry, n_jobs)
