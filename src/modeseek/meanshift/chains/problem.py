"""The input shared by all chains: points, weights, kernel profile, metric and engine."""

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.types import Array, Geometry
from modeseek._common.validation import METRICS, check_choice, check_state, check_weights
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import BIWEIGHT, FLAT, Profile, get_profile
from modeseek.meanshift.types import Engine, Workspace

# Flat weights jump at distance h, and on a lattice many pairs of points have exactly this distance. Points that are
# farther away by up to this share of h are included, so that the rounding errors of an engine have no effect.
FLAT_MARGINS = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-5}
# a bandwidth, or an array of them
H = TypeVar("H", float, Array)


@dataclass(frozen=True, eq=False)
class Problem:
    """Points to be clustered, with everything an algorithm needs besides its bandwidth.

    Attributes
    ----------
    points : (n, d) array
        The initial state; for mean shift, the data. Rounding errors are smallest for centred data.
    weights : (n,) array
    engine : Engine
    profile : Profile
    geometry : Geometry
    n_jobs : int, optional
        Number of threads for simultaneous updates.
    """

    points: Array
    weights: Array
    engine: Engine
    profile: Profile = BIWEIGHT
    geometry: Geometry = field(default_factory=Geometry)
    n_jobs: int | None = None

    def reach(self, h: H) -> H:
        """Return the bandwidth that engines use for h: slightly more if the profile is flat, otherwise h.

        Examples
        --------
        >>> make_problem([[0.0]], profile="flat").reach(2.0)
        2.000000002
        """
        return h * (1 + FLAT_MARGINS[self.points.dtype]) if self.profile is FLAT else h

    def open(self) -> Workspace:
        """Open a workspace of the engine on the points."""
        return self.engine.open(self.points, self.weights, self.profile, self.geometry, self.n_jobs)


def make_problem(
    points: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    profile: str | Profile = "biweight",
    metric: str = "euclidean",
    engine: str = "auto",
    n_jobs: int | None = None,
) -> Problem:
    """Validate plain arrays and names, and return a `Problem`.

    Parameters
    ----------
    points : (n, d) array-like
        Unit vectors if `metric` is "cosine".
    weights : (n,) array-like, optional
        Default: 1 for each point.
    profile : str or Profile
    metric : {"euclidean", "cosine"}
    engine : str
        Name of an engine, or "auto".
    n_jobs : int, optional
        Number of threads for simultaneous updates.

    Examples
    --------
    >>> make_problem([[0.0], [0.1], [5.0]]).weights
    array([1., 1., 1.])
    """
    state = check_state(points)
    geometry = Geometry(check_choice("metric", metric, METRICS))
    if geometry.spherical and not np.allclose(np.linalg.norm(state, axis=1), 1.0, atol=1e-5):
        raise ValueError('points must be unit vectors under metric="cosine": divide each row by its length.')
    kernel = get_profile(profile)
    return Problem(state, check_weights(weights, len(state)), choose(engine, kernel, state), kernel, geometry, n_jobs)
