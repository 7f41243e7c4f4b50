"""Bandwidths that depend on the data: a factor on h for the point that moves, from its position and density."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_number
from modeseek.meanshift.bandwidth.draws import BOUND_RTOL
from modeseek.meanshift.types import Draws, ProfileLike, Workspace


class LocalFactorError(ValueError):
    """The value of a local factor is outside its declared bounds, so a certificate could be wrong.

    Attributes
    ----------
    factor : float
    """

    def __init__(self, factor: float, low: float, high: float):
        super().__init__(f"local_factor returned {factor:.6g}, outside its bounds [{low:.6g}, {high:.6g}].")
        self.factor = factor


@dataclass(frozen=True)
class LocalFactor:
    """A factor on the bandwidth of each update, as a function of the point that moves and of the density there.

    The draws of points and bandwidths do not depend on it. The certificate uses `low` times the smallest and `high`
    times the largest bandwidth that can be drawn. Every update calls the function, and takes time proportional to the
    number of points.

    Attributes
    ----------
    function : callable
        (point, density) -> factor, where `density` is 1 / (W h^d) sum_j w_j K((x - x_j)/h) in the current state, at
        the drawn h.
    low, high : float
        Bounds of the factor, 0 < low <= high.

    Examples
    --------
    >>> sparse = LocalFactor(lambda point, density: 2.0 if density < 0.1 else 1.0, low=1.0, high=2.0)
    >>> sparse(np.zeros(1), 0.05)
    2.0
    """

    function: Callable[[Array, float], float]
    low: float
    high: float

    def __post_init__(self) -> None:
        check_number("low", self.low)
        check_number("high", self.high, low=self.low, strict=False)

    def __call__(self, point: Array, density: float) -> float:
        """Return the factor; raise a `LocalFactorError` if it is outside the bounds."""
        factor = float(self.function(point, density))
        if not self.low * (1 - BOUND_RTOL) <= factor <= self.high * (1 + BOUND_RTOL):
            raise LocalFactorError(factor, self.low, self.high)
        return factor

    def shift_each(self, workspace: Workspace, draws: Draws, weights: Array, profile: ProfileLike) -> Array:
        """Apply the draws one step at a time, with the factors at the state before each step."""
        lengths = np.zeros(draws.indices.shape)
        for step in range(len(draws.indices)):
            at = slice(step, step + 1)
            indices, bandwidths = draws.indices[at], draws.bandwidths[at]
            factors = self._factors(workspace.points.astype(np.float64), indices, bandwidths, weights, profile)
            lengths[at] = workspace.shift_each(Draws(indices, bandwidths * factors))
        return lengths

    def _factors(self, points: Array, indices: IntArray, h: Array, weights: Array, profile: ProfileLike) -> Array:
        factors = np.ones(indices.shape)
        for place, i in np.ndenumerate(indices):
            if i >= 0:  # -1 pads a short batch
                kernel = profile.k(np.square((points - points[i]) / h[place]).sum(axis=1))
                density = float(weights @ kernel) / (float(weights.sum()) * h[place] ** points.shape[1])
                factors[place] = self(points[i], density)
        return factors
