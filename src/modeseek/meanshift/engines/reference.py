"""`engine="reference"`: plain NumPy, written to be read. Every other engine is tested against it."""

import numpy as np

from modeseek._common.resources import check_time
from modeseek._common.types import Array, Geometry
from modeseek.meanshift.engines.workspace import BaseWorkspace, apply_shift
from modeseek.meanshift.objective import mean_shift_vector
from modeseek.meanshift.types import Draws, Engine, ProfileLike


class ReferenceWorkspace(BaseWorkspace):
    """A state whose points are moved one at a time by NumPy."""

    def __init__(self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry):
        self._weights, self._profile, self._geometry = weights, profile, geometry
        self.load(points)

    def shift_one_by_one(self, draws: Draws) -> Array:
        """Move one point after the other; return the lengths of the shifts."""
        lengths = np.empty(len(draws.indices))
        for k, (i, h) in enumerate(zip(draws.indices, draws.bandwidths, strict=True)):
            old = self._points[i].copy()
            self._points[i] = self._shifted(old, h)
            lengths[k] = np.linalg.norm(self._points[i].astype(np.float64) - old)
        return lengths

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query x."""
        bandwidths = np.broadcast_to(h, len(queries))
        moved = [self._shifted(x, h_x) for x, h_x in zip(queries, bandwidths, strict=True)]
        return np.array(moved, dtype=queries.dtype).reshape(queries.shape)

    def _shifted(self, x: Array, h: float) -> Array:
        check_time()
        x = x.astype(np.float64)
        shift = mean_shift_vector(x, h, self._points, self._weights, self._profile)
        return apply_shift(x, shift, self._geometry)


class ReferenceEngine(Engine):
    """Plain NumPy."""

    name = "reference"

    def open(
        self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry, n_jobs: int | None = None
    ) -> ReferenceWorkspace:
        """Return a workspace."""
        return ReferenceWorkspace(points, weights, profile, geometry)
