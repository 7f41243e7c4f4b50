"""All pairs, compiled: the engine for any dimension and any profile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from modeseek._common.resources import check_time
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
from modeseek.meanshift.engines.workspace import BaseWorkspace, in_blocks
from modeseek.meanshift.types import Draws, ProfileLike

if TYPE_CHECKING:
    from modeseek.meanshift.engines.brute.kernels import Shifts

__all__ = ["BruteEngine"]

# pairs summed per compiled call: a fraction of a second, so that Ctrl-C is heard
PAIRS_PER_CALL = 200_000_000
# ... and fewer are not worth a thread
PAIRS_PER_THREAD = 1_000_000


class _Collapsed(NamedTuple):
    """A state with coincident points merged, for sums against it."""

    coordinates: Array
    weights: Array


class BruteWorkspace(BaseWorkspace):
    """A state held by coordinates (d rows of n), so that sums over points run in vector lanes.

    Attributes
    ----------
    evaluations : int
        Distances measured so far.
    """

    def __init__(
        self,
        points: Array,
        weights: Array,
        shifts: Callable[[int], Shifts],
        geometry: Geometry,
        n_jobs: int | None,
    ):
        self.evaluations = 0
        self._weights, self._equal = weights.astype(np.float64), bool(np.ptp(weights) == 0)
        self._plain = shifts(int(not self._equal))
        self._weighted = shifts(1)
        self._spherical, self._n_jobs = geometry.spherical, effective_n_jobs(n_jobs)
        self._ulps = ULPS * float(np.finfo(points.dtype).eps)
        self.load(points)

    @property
    def points(self) -> Array:
        """The current state as a new (n, d) array."""
        return self._coordinates.T.copy()

    def load(self, points: Array) -> None:
        """Replace the state."""
        self._coordinates = np.array(points.T, order="C")
        self._collapsed: _Collapsed | None = None

    def take(self, members: IntArray) -> Array:
        """Return some points."""
        return self._coordinates[:, members].T

    def place(self, members: IntArray, values: Array) -> None:
        """Put some points elsewhere."""
        self._coordinates[:, members] = values.T
        self._collapsed = None

    def shift_one_by_one(self, draws: Draws) -> Array:
        """Move one point after the other; return the lengths of the shifts."""
        self._collapsed = None
        lengths = np.empty(len(draws.indices))
        look = worth_a_look(len(lengths), len(self._weights))
        done = 0
        while done < len(lengths):
            groups = coincident(self._coordinates.T) if look and len(lengths) - done >= FEW else None
            if groups is None:
                self._shift_plain(draws, done, lengths)
                break
            done = self._shift_sites(groups, draws, done, lengths)
        return lengths

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query; each by itself, so any number of threads gives the same."""
        # by this call's queries alone, so that a run that goes on gives what it gives in one piece
        plain = _Collapsed(self._coordinates, self._weights)
        coordinates, weights = self._collapse() if len(queries) >= FEW else plain
        shifts = self._plain if weights is self._weights else self._weighted

        def shift(queries: Array, bandwidths: Array) -> Array:
            moved = np.empty_like(queries)

            def move(block: slice) -> None:
                shifts.all(coordinates, weights, queries[block], bandwidths[block], self._spherical, moved[block])

            in_blocks(
                move,
                len(queries),
                self._updates_per_call(coordinates.size),
                self._n_jobs,
                least=PAIRS_PER_THREAD // coordinates.size,
            )
            self.evaluations += len(queries) * len(weights)
            return moved

        return shift_distinct(shift, queries, h)

    def _collapse(self) -> _Collapsed:
        if self._collapsed is None:
            groups = coincident(self._coordinates.T)
            if groups is None:
                self._collapsed = _Collapsed(self._coordinates, self._weights)
            else:
                leaders = np.ascontiguousarray(self._coordinates[:, groups.leaders])
                self._collapsed = _Collapsed(leaders, groups.weights(self._weights))
        return self._collapsed

    def _shift_plain(self, draws: Draws, done: int, lengths: Array) -> None:
        step = self._updates_per_call(self._coordinates.size)
        for start in range(done, len(lengths), step):
            check_time()
            block = slice(start, start + step)
            self._plain.each(
                self._coordinates,
                self._weights,
                draws.indices[block],
                draws.bandwidths[block],
                self._spherical,
                lengths[block],
            )
        self.evaluations += (len(lengths) - done) * len(self._weights)

    def _shift_sites(self, groups: Groups, draws: Draws, done: int, lengths: Array) -> int:
        """Apply draws to sites until there is no room for new ones; return how many are done."""
        from modeseek.meanshift.engines.brute.kernels import Sites

        coordinates = np.zeros((len(self._coordinates), room(groups)), dtype=self._coordinates.dtype)
        m = len(groups.leaders)
        coordinates[:, :m] = self._coordinates[:, groups.leaders]
        weights, counts = np.zeros(coordinates.shape[1]), np.zeros(coordinates.shape[1], dtype=np.int64)
        weights[:m], counts[:m] = groups.weights(self._weights), groups.counts()
        sites = Sites(weights, counts, groups.site, np.array([m, 0]))
        step = self._updates_per_call(coordinates.size)
        while done < len(lengths) and sites.tally[0] < len(weights):
            check_time()
            block = slice(done, done + step)
            done += self._weighted.each_site(
                coordinates,
                sites,
                self._weights,
                self._equal,
                self._ulps,
                draws.indices[block],
                draws.bandwidths[block],
                self._spherical,
                lengths[block],
            )
        self._coordinates = np.ascontiguousarray(coordinates[:, sites.site])
        self.evaluations += int(sites.tally[1])
        return done

    @staticmethod
    def _updates_per_call(size: int) -> int:
        return max(1, PAIRS_PER_CALL // max(1, size))


class BruteEngine:
    """All pairs, compiled by Numba."""

    name = "brute"

    def refusal(self, profile: ProfileLike, dimensions: int) -> str | None:
        """Return None: it takes everything that compiles."""
        return None

    def open(
        self,
        points: Array,
        weights: Array,
        profile: ProfileLike,
        geometry: Geometry,
        n_jobs: int | None = None,
    ) -> BruteWorkspace:
        """Return a workspace; compiles what the profile needs on first use."""
        from numba.core.errors import NumbaError

        from modeseek.meanshift.engines.brute.kernels import LOW, own_shifts, shifts

        dim = min(points.shape[1], LOW + 1)
        if profile.code is not None:
            return BruteWorkspace(points, weights, partial(shifts, profile.code, dim), geometry, n_jobs)
        function = getattr(profile.weight, "function", profile.weight)
        workspace = BruteWorkspace(points, weights, partial(own_shifts, function, dim), geometry, n_jobs)
        try:
            workspace.shift_all(points[:1], 1.0)
        except NumbaError as error:
            raise ValueError(
                f"profile {profile.name!r} cannot be compiled, which engine='brute' needs: write its weight in plain "
                f"arithmetic and NumPy, or use engine='reference'. ({str(error).splitlines()[0]})"
            ) from None
        return workspace
