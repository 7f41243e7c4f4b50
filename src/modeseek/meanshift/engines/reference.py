"""The oracle that ships: plain NumPy, meant to be read. Every other engine is tested against it."""

from __future__ import annotations

import numpy as np

from modeseek._common.resources import check_time
from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.engines.workspace import BaseWorkspace, settle
from modeseek.meanshift.objective import mean_shift_vector
from modeseek.meanshift.types import Draws, ProfileLike

__all__ = ["ReferenceEngine"]


class ReferenceWorkspace(BaseWorkspace):
    """A state, moved one NumPy expression at a time."""

    def __init__(self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry):
        self._points = points.copy()
        self._weights, self._profile, self._geometry = weights, profile, geometry

    @property
    def points(self) -> Array:
        """The current state as a new (n, d) array."""
        return self._points.copy()

    def load(self, points: Array) -> None:
        """Replace the state."""
        self._points = points.copy()

    def place(self, members: IntArray, values: Array) -> None:
        """Put some points elsewhere."""
        self._points[members] = values

    def shift_one_by_one(self, draws: Draws) -> Array:
        """Move one point after the other; return the lengths of the shifts."""
        lengths = np.empty(len(draws.indices))
        for k, (i, h) in enumerate(zip(draws.indices, draws.bandwidths, strict=True)):
            old = self._points[i].copy()
            self._points[i] = self._moved(old, h)
            lengths[k] = np.linalg.norm(self._points[i].astype(np.float64) - old)
        return lengths

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query x against the current state."""
        h = np.broadcast_to(h, len(queries))
        moved = [self._moved(x, h_x) for x, h_x in zip(queries, h, strict=True)]
        return np.array(moved, dtype=queries.dtype).reshape(queries.shape)

    def _moved(self, x: Array, h: float) -> Array:
        check_time()
        x = x.astype(np.float64)
        shift = mean_shift_vector(x, h, self._points, self._weights, self._profile)
        return settle(x, shift, self._geometry)


class ReferenceEngine:
    """Plain NumPy."""

    name = "reference"

    def refusal(self, profile: ProfileLike, dimensions: int) -> str | None:
        """Return None: it takes everything."""
        return None

    def open(
        self,
        points: Array,
        weights: Array,
        profile: ProfileLike,
        geometry: Geometry,
        n_jobs: int | None = None,
    ) -> ReferenceWorkspace:
        """Return a workspace."""
        return ReferenceWorkspace(points, weights, profile, geometry)
