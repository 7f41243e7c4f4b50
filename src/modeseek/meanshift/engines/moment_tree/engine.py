"""The moment-tree engine: sums over the cells of a tree, for many points in one, two or three dimensions."""

import numpy as np
from joblib import effective_n_jobs

from modeseek._common.resources import check_time
from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.engines.moment_tree import tree as trees
from modeseek.meanshift.engines.moment_tree.config import DEFAULT, TreeConfig
from modeseek.meanshift.engines.moment_tree.tree import QueryScratch, Tree
from modeseek.meanshift.engines.workspace import BaseWorkspace, QueryBlock, UpdateBlock, contiguous_queries, map_blocks
from modeseek.meanshift.types import Draws, ProfileLike

MAX_DIMENSIONS = len(trees.FAN) - 1


class MomentTreeWorkspace(BaseWorkspace):
    """A state and a tree over its points, which is updated with every move.

    Attributes
    ----------
    evaluations : int
        Number of nodes and points visited so far.
    """

    def __init__(
        self, points: Array, weights: Array, power: int, geometry: Geometry, n_jobs: int | None, config: TreeConfig
    ):
        self._weights, self._config, self._n_jobs = weights.astype(np.float64), config, effective_n_jobs(n_jobs)
        self._spherical = geometry.spherical
        self._basis = trees.make_basis(points.shape[1], power)
        self._max_nodes = 64 + len(points) // config.max_cell_points
        self.evaluations = 0
        self.load(points)

    def load(self, points: Array) -> None:
        """Replace the state."""
        super().load(points)
        self._tree: Tree | None = None

    def place(self, members: IntArray, values: Array) -> None:
        """Set the positions of the points with indices `members`."""
        from modeseek.meanshift.engines.moment_tree.updates import place

        if self._tree is None or (np.abs(values - self._root[:-1]) > self._root[-1]).any():
            super().place(members, values)
            self._tree = None
            return
        place(self._basis, self._tree, members, values, np.empty(len(self._basis.monomials.parent)))
        self._moves += len(members)

    def shift_one_by_one(self, draws: Draws) -> Array:
        """Move one point after the other; return the lengths of the shifts."""
        from modeseek.meanshift.engines.moment_tree.sums import shift_each

        updates = UpdateBlock(*draws, np.empty(len(draws.indices)))
        for start in range(0, len(updates.lengths), self._config.updates_per_call):
            check_time()
            some = updates.part(start, self._config.updates_per_call)
            tree = self._tree_for(some.bandwidths)
            scratch = QueryScratch.make(self._basis, tree)
            self.evaluations += shift_each(self._basis, tree, some, self._spherical, scratch)
            self._moves += len(some.lengths)
        return updates.lengths

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query x. Queries are independent, so the result does not depend on n_jobs."""
        from modeseek.meanshift.engines.moment_tree.sums import shift_queries

        queries, bandwidths = contiguous_queries(queries, h)
        block = QueryBlock(queries, bandwidths, np.empty_like(queries))
        if not len(queries):
            return block.moved
        tree, step = self._tree_for(bandwidths), self._config.updates_per_call

        def move(part: slice) -> int:
            scratch = QueryScratch.make(self._basis, tree)
            return shift_queries(self._basis, tree, block.part(part), self._spherical, scratch)

        least = self._config.updates_per_thread
        self.evaluations += sum(map_blocks(move, len(queries), step, self._n_jobs, least=least))
        return block.moved

    def _tree_for(self, bandwidths: Array) -> Tree:
        """Return a tree for these bandwidths; rebuild it before rounding errors of the moments accumulate."""
        largest = float(bandwidths.max())
        if self._tree is None or self._worn() or largest > self._config.max_growth * self._tree.max_h:
            self._tree = self._build(float(bandwidths.min()), largest)
        return self._tree

    def _worn(self) -> bool:
        """Return whether enough points have moved for the tree to be rebuilt."""
        few = self.evaluations - self._evaluations_at_build <= self._config.few_evaluations * self._moves
        return self._moves >= self._config.moves_per_rebuild[few] * len(self._points)

    def _build(self, smallest: float, largest: float) -> Tree:
        from modeseek.meanshift.engines.moment_tree.updates import divide, fill_chunks

        n, d = self._points.shape
        low, high = -np.ones(d), np.ones(d)
        if not self._spherical:
            # one column at a time, which is faster than axis=0
            low[:], high[:] = [x.min() for x in self._points.T], [x.max() for x in self._points.T]
        # points stay within their convex hull, up to rounding
        half = max(float((high - low).max()) / 2 * (1 + 1e-6), largest * 1e-3)
        self._root = np.append(low / 2 + high / 2, half)
        slack = 16 * np.finfo(np.float64).eps * float(np.abs(self._root).max()) + 1e-12 * smallest
        self._moves, self._evaluations_at_build = 0, self.evaluations
        max_points, min_half = self._config.max_cell_points, self._config.min_half_sides[d] * smallest
        n_nodes = -1
        while n_nodes < 0:
            tree = trees.empty_tree(
                self._basis, self._points, self._weights, (slack, largest), self._root, self._max_nodes
            )
            order = np.arange(n)
            n_nodes = divide(self._basis, tree, max_points, min_half, order, trees.build_scratch(tree))
            self._max_nodes = 64 + n_nodes * 3 // 2 if n_nodes > 0 else 2 * self._max_nodes
        tree = trees.with_chunks(tree, n_nodes)
        fill_chunks(self._basis, tree, order)
        return tree


class MomentTreeEngine:
    """Sums over the cells of a tree with polynomial moments, compiled by Numba.

    Parameters
    ----------
    config : TreeConfig, optional
    """

    name = "moment_tree"

    def __init__(self, config: TreeConfig = DEFAULT) -> None:
        self._config = config

    def refusal(self, profile: ProfileLike, dimensions: int) -> str | None:
        """Return why this engine cannot be used, or None."""
        if dimensions > MAX_DIMENSIONS:
            return f"it supports at most {MAX_DIMENSIONS} dimensions, and the data have {dimensions}"
        if profile.code not in range(4):
            return (
                "it supports the profiles 'flat', 'biweight', 'triweight' and 'quadweight', "
                f"and the weight of {profile.name!r} is not a polynomial"
            )
        return None

    def pays(self, profile: ProfileLike, points: Array, h: float | None, one_by_one: bool = False) -> bool:
        """Return whether this engine should be faster than `brute`."""
        return len(points) >= self.pays_from(profile, points.shape[1])

    def pays_from(self, profile: ProfileLike, dimensions: int) -> int:
        """Return the smallest number of points for which this engine should be faster than `brute`."""
        assert profile.code is not None
        moments = trees.n_moments(trees.make_basis(dimensions, profile.code))
        return max(self._config.min_points[dimensions], self._config.min_points_per_moment * moments)

    def open(
        self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry, n_jobs: int | None = None
    ) -> MomentTreeWorkspace:
        """Return a workspace; the functions for the profile and the dimension are compiled at their first use."""
        assert profile.code is not None
        return MomentTreeWorkspace(points, weights, profile.code, geometry, n_jobs, self._config)
