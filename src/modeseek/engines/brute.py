"""All pairs, compiled: the engine for any dimension and any profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from modeseek.engines.base import BaseWorkspace
from modeseek.types import Array, Draws, Geometry, IntArray, ProfileLike

if TYPE_CHECKING:
    from modeseek.engines.brute_kernels import Shifts

__all__ = ["BruteEngine"]

# pairs summed per compiled call: a fraction of a second, so that Ctrl-C is heard
PAIRS_PER_CALL = 200_000_000


class BruteWorkspace(BaseWorkspace):
    """A state held by coordinates (d rows of n), so that sums over points run in vector lanes."""

    def __init__(
        self,
        points: Array,
        weights: Array,
        shifts: Shifts,
        geometry: Geometry,
        n_jobs: int | None,
    ):
        self._weights, self._shifts = weights.astype(np.float64), shifts
        self._spherical, self._n_jobs = geometry.spherical, effective_n_jobs(n_jobs)
        self.load(points)

    @property
    def points(self) -> Array:
        """The current state as a new (n, d) array."""
        return self._coordinates.T.copy()

    def load(self, points: Array) -> None:
        """Replace the state."""
        self._coordinates = np.array(points.T, order="C")

    def take(self, members: IntArray) -> Array:
        """Return some points."""
        return self._coordinates[:, members].T

    def place(self, members: IntArray, values: Array) -> None:
        """Put some points elsewhere."""
        self._coordinates[:, members] = values.T

    def shift_one_by_one(self, draws: Draws) -> Array:
        """Move one point after the other; return the lengths of the shifts."""
        lengths = np.empty(len(draws.indices))
        step = self._updates_per_call()
        for start in range(0, len(lengths), step):
            block = slice(start, start + step)
            self._shifts.each(
                self._coordinates,
                self._weights,
                draws.indices[block],
                draws.bandwidths[block],
                self._spherical,
                lengths[block],
            )
        return lengths

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query; each by itself, so any number of threads gives the same."""
        queries = np.ascontiguousarray(queries)
        bandwidths = np.ascontiguousarray(np.broadcast_to(np.asarray(h, dtype=np.float64), len(queries)))
        moved = np.empty_like(queries)
        step = max(1, min(self._updates_per_call(), -(-len(queries) // self._n_jobs)))
        blocks = [slice(start, start + step) for start in range(0, len(queries), step)]

        def move(block: slice) -> None:
            self._shifts.all(
                self._coordinates,
                self._weights,
                queries[block],
                bandwidths[block],
                self._spherical,
                moved[block],
            )

        if self._n_jobs == 1 or len(blocks) == 1:
            for block in blocks:
                move(block)
        else:
            Parallel(n_jobs=self._n_jobs, prefer="threads")(delayed(move)(block) for block in blocks)
        return moved

    def _updates_per_call(self) -> int:
        return max(1, PAIRS_PER_CALL // max(1, self._coordinates.size))


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

        from modeseek.engines.brute_kernels import LOW, own_shifts, shifts

        kind = min(points.shape[1], LOW + 1), int(np.ptp(weights) > 0)
        if profile.code is not None:
            return BruteWorkspace(points, weights, shifts(profile.code, *kind), geometry, n_jobs)
        function = getattr(profile.weight, "function", profile.weight)
        workspace = BruteWorkspace(points, weights, own_shifts(function, *kind), geometry, n_jobs)
        try:
            workspace.shift_all(points[:1], 1.0)
        except NumbaError as error:
            raise ValueError(
                f"profile {profile.name!r} cannot be compiled, which engine='brute' needs: write its weight in plain "
                f"arithmetic and NumPy, or use engine='reference'. ({str(error).splitlines()[0]})"
            ) from None
        return workspace
