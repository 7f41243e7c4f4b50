"""Lists of candidates, compiled: the engine for high dimension, where few points are within reach of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs

from modeseek._common.distances import distance_blocks
from modeseek._common.resources import check_time, deadline
from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.engines.coincident_points import (
    FEW,
    ULPS,
    Groups,
    coincident,
    room,
    shift_distinct,
    worth_a_look,
)
from modeseek.meanshift.engines.neighbor_lists.arrays import EXTRA, SITES, Sites
from modeseek.meanshift.engines.workspace import BaseWorkspace, in_blocks
from modeseek.meanshift.types import Draws, ProfileLike

if TYPE_CHECKING:
    from modeseek.meanshift.engines.neighbor_lists.kernels import Shifts
    from modeseek.meanshift.engines.neighbor_lists.lists import Keeper

__all__ = ["NeighborListsEngine"]

# coordinates between two looks at whether a point is out of reach already
WIDTH = 64
LANES = 8
# collapse when no more than this share of the points is left: lists have to be made for each collapsed block
SHARE = 0.5
# it pays from dimension d, with n points, up to a share of pairs in reach: benchmarks/neighbor_lists_crossover.py
CROSSOVERS = ((128, 300, 1.0), (48, 1000, 0.4), (12, 2000, 0.15))
# points whose reach is looked at to know that share
SAMPLE = 64


class NeighborListsWorkspace(BaseWorkspace):
    """A state held by rows, with a list for each point of those that may come within reach.

    Lists are made by matrix products, for the largest bandwidth to come and a skin. Points that have moved more than
    half the skin are looked at by every query until lists are made anew, so results are exact at any time.

    Attributes
    ----------
    evaluations : int
        Distances measured so far; one in a matrix product counts by its price.
    """

    def __init__(self, points: Array, weights: Array, shifts: Shifts, geometry: Geometry, n_jobs: int | None):
        from modeseek.meanshift.engines.neighbor_lists.lists import Keeper

        self.evaluations = 0
        self._weights, self._equal = weights.astype(np.float64), bool(np.ptp(weights) == 0)
        self._shifts, self._spherical, self._n_jobs = shifts, geometry.spherical, effective_n_jobs(n_jobs)
        self._ulps = ULPS * float(np.finfo(points.dtype).eps)
        self._d = points.shape[1]
        self._keeper = Keeper(len(points), self._ulps)
        self.load(points)

    @property
    def points(self) -> Array:
        """The current state as a new (n, d) array."""
        return self._rows[:, : self._d].copy()

    @property
    def builds(self) -> int:
        """How often the lists of the points were made."""
        return self._keeper.builds

    @property
    def _rows(self) -> Array:
        return self._positions.reshape(len(self._positions), -1)

    def load(self, points: Array) -> None:
        """Replace the state."""
        self._positions = _padded(points)
        self._collapsed: tuple[Array, Array] | None = None

    def take(self, members: IntArray) -> Array:
        """Return some points."""
        return self._rows[members, : self._d]

    def place(self, members: IntArray, values: Array) -> None:
        """Put some points elsewhere."""
        self._rows[members, : self._d] = values
        self._collapsed = None

    def shift_one_by_one(self, draws: Draws) -> Array:
        """Move one point after the other; return the lengths of the shifts."""
        self._collapsed = None
        lengths = np.empty(len(draws.indices))
        look = worth_a_look(len(lengths), len(self._weights))
        done = 0
        while done < len(lengths):
            groups = coincident(self._rows, share=SHARE) if look and len(lengths) - done >= FEW else None
            if groups is None:
                done = self._shift_points(draws, done, lengths)
            else:
                done = self._shift_sites(groups, draws, done, lengths)
        return lengths

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query; each by itself, so any number of threads gives the same."""
        from modeseek.meanshift.engines.neighbor_lists.lists import lists_of, one_thread, price

        positions, weights = self._collapse() if len(queries) >= FEW else (self._positions, self._weights)
        rows = positions.reshape(len(positions), -1)

        def shift(queries: Array, bandwidths: Array) -> Array:
            moved = np.empty_like(queries)
            padded = _padded(queries).reshape(len(queries), -1)
            until = deadline()

            def move(block: slice) -> None:
                h, x, new = bandwidths[block], queries[block], moved[block]
                for part, starts, members in lists_of(padded[block], rows, float(h.max())):
                    check_time(until)
                    self._shifts.all(positions, weights, x[part], h[part], starts, members, self._spherical, new[part])
                    looked_at.append(int(starts[-1]))

            looked_at = [int(price(rows.shape[1]) * len(queries) * len(rows))]
            with one_thread():
                in_blocks(move, len(queries), len(queries), self._n_jobs)
            self.evaluations += sum(looked_at)
            return moved

        return shift_distinct(shift, queries, h)

    def _collapse(self) -> tuple[Array, Array]:
        """Return positions and weights with coincident points merged."""
        if self._collapsed is None:
            groups = coincident(self._rows)
            if groups is None:
                self._collapsed = self._positions, self._weights
            else:
                self._collapsed = self._positions[groups.leaders], groups.weights(self._weights)
        return self._collapsed

    def _shift_points(self, draws: Draws, done: int, lengths: Array) -> int:
        """Apply the draws that are left, each point a site of its own."""
        n = len(self._weights)
        sites = Sites(self._positions, self._weights.copy(), np.ones(n, dtype=np.int64), np.arange(n))
        return self._advance(sites, n, self._keeper, draws, done, lengths)

    def _shift_sites(self, groups: Groups, draws: Draws, done: int, lengths: Array) -> int:
        """Apply draws to sites of coincident points until there is no room for new ones; return how many are done."""
        from modeseek.meanshift.engines.neighbor_lists.lists import Keeper

        m, capacity = len(groups.leaders), room(groups)
        positions = np.zeros((capacity, *self._positions.shape[1:]), dtype=self._positions.dtype)
        weights, counts = np.zeros(capacity), np.zeros(capacity, dtype=np.int64)
        positions[:m] = self._positions[groups.leaders]
        weights[:m], counts[:m] = groups.weights(self._weights), groups.counts()
        sites = Sites(positions, weights, counts, groups.site)
        done = self._advance(sites, m, Keeper(capacity, self._ulps), draws, done, lengths)
        self._positions = positions[sites.site]
        return done

    def _advance(self, sites: Sites, m: int, keeper: Keeper, draws: Draws, done: int, lengths: Array) -> int:
        while done < len(lengths):
            h = float(draws.bandwidths[done:].max())
            lists, rules = keeper.prepare(sites, m, h, len(lengths) - done)
            while done < len(lengths) and lists.tally[EXTRA] <= rules.patience:
                check_time()
                step = self._shifts.each(
                    sites,
                    lists,
                    self._weights,
                    self._equal,
                    rules,
                    draws.indices[done:],
                    draws.bandwidths[done:],
                    self._spherical,
                    lengths[done:],
                )
                self.evaluations += keeper.spent()
                done += step
                if step == 0:  # no room for another site
                    return done
            m = int(lists.tally[SITES])
        return done


class NeighborListsEngine:
    """Lists of candidates, compiled by Numba."""

    name = "neighbor_lists"

    def refusal(self, profile: ProfileLike, dimensions: int) -> str | None:
        """Return why this engine cannot be used, if so."""
        if profile.code is None:
            return f"it has no compiled form of profile {profile.name!r}; 'brute' and 'reference' take one's own"
        return None

    def pays(self, profile: ProfileLike, points: Array, h: float | None) -> bool:
        """Return whether it should be faster than `brute`."""
        n, d = points.shape
        least, widest = next(((n_, share) for d_, n_, share in CROSSOVERS if d >= d_), (np.inf, 0.0))
        return n >= least and (h is None or _share_in_reach(points, h) <= widest)

    def open(
        self,
        points: Array,
        weights: Array,
        profile: ProfileLike,
        geometry: Geometry,
        n_jobs: int | None = None,
    ) -> NeighborListsWorkspace:
        """Return a workspace; compiles what the profile needs on first use."""
        from modeseek.meanshift.engines.neighbor_lists.kernels import shifts

        assert profile.code is not None
        return NeighborListsWorkspace(points, weights, shifts(profile.code), geometry, n_jobs)


def _share_in_reach(points: Array, h: float) -> float:
    """Return the share of pairs of points at most h apart, from a sample."""
    some = points[np.linspace(0, len(points) - 1, min(SAMPLE, len(points))).astype(np.intp)]
    return float(np.mean([np.mean(squares <= h * h) for _, squares in distance_blocks(points, some)]))


def _padded(points: Array) -> Array:
    """Return the rows cut into equal blocks of coordinates, zeros added so that they fill vector lanes."""
    n, d = points.shape
    blocks = -(-d // WIDTH)
    width = -(-d // (blocks * LANES)) * LANES
    rows = np.zeros((n, blocks * width), dtype=points.dtype)
    rows[:, :d] = points
    return rows.reshape(n, blocks, width)
