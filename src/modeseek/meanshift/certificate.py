"""The certificate: a condition under which no later update can change the partition.

A point that moves becomes a weighted mean of points within the bandwidth. So it stays in the convex hull of its cluster
as long as no other cluster is within reach. Let D be the largest diameter of a cluster, and `gap` the smallest distance
between points of different clusters. Then the hulls of two clusters are at least gap - 2 D apart. Hence a partition
never changes if D < tau < h_min / 2 and gap - 2 D > h_upper, where all later bandwidths lie between h_min and h_upper.
Under cosine, the same holds with angles in place of chords if D is well below a right angle. docs/theory.md has the
proof.
"""

from functools import lru_cache

import numpy as np
from scipy.spatial.distance import cdist

from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.bandwidth.draws import BOUND_RTOL
from modeseek.meanshift.components import components, diameter_of, gap_of

# largest angle between two points of a cluster under cosine
MAX_ANGLE = np.pi / 4
# number of points whose distances are checked before the components are computed
WITNESSES = 16
# their distances to every 64th point are checked first
STRIDE = 64
# how far rounding can move a point outside its hull, in units in the last place of the largest coordinate
ROUNDING_ULPS = 16
# number of distances computed at a time
DISTANCES = 100_000


def certifies(
    diameter: float,
    gap: float,
    tau: float,
    *,
    h_min: float,
    h_upper: float,
    geometry: Geometry | None = None,
    rounding: float = 0.0,
) -> bool:
    """Return whether D < tau < h_min / 2 and gap - 2 D > h_upper, in angles under cosine.

    Parameters
    ----------
    diameter, gap : float
        Largest distance within a cluster, and smallest distance between clusters; inf if there is one cluster.
    tau : float
        Points closer than this share a cluster.
    h_min, h_upper : float
        Lower and upper bound of all later bandwidths, local scales included; `h_upper` is inf if unknown.
    geometry : Geometry, optional
        Default: Euclidean.
    rounding : float
        Margin added to the diameter in both conditions.

    Examples
    --------
    >>> certifies(0.4, 1.001, 0.45, h_min=1.0, h_upper=1.0)  # gap > h_upper alone is not enough
    False
    """
    geometry = geometry or Geometry()
    width = float(geometry.arc(diameter)) + rounding
    if not tau < min(h_min, h_upper) / 2 or not width < float(geometry.arc(tau)):
        return False
    if geometry.spherical and width >= MAX_ANGLE:
        return False
    if np.isinf(gap):
        return True
    reach = h_upper * (1.0 + BOUND_RTOL)
    return bool(reach < np.inf) and float(geometry.arc(gap)) > float(geometry.arc(reach)) + 2 * width


def meets_theorem2(diameter: float, gap: float, tau: float, h_min: float) -> bool:
    """Return whether the conditions of Theorem 2 hold: D < tau < h_min / 2 and gap > h_min - tau.

    Examples
    --------
    >>> meets_theorem2(0.4, 0.6, 0.45, 1.0)
    True
    """
    return diameter < tau < h_min / 2 and gap > h_min - tau


def is_certified(points: Array, tau: float, *, h_min: float, h_upper: float, geometry: Geometry) -> bool:
    """Return whether the partition of a state at tau is certified.

    In a certified state, no distance is between tau and h_upper. The distances of a few points are checked first, which
    quickly rejects most states while points still move.
    """
    x = points.astype(np.float64)
    witnesses = x[witnesses_of(len(x))]
    for some in (x[::STRIDE], x):
        # in one block if this needs little memory, which is faster for small data
        at_once = max(1, DISTANCES // len(some))
        for start in range(0, len(witnesses), at_once):
            distances = cdist(witnesses[start : start + at_once], some)
            if ((distances >= tau) & (distances <= h_upper)).any():
                return False
    labels = components(points, tau)
    diameter, gap = diameter_of(points, labels), gap_of(points, labels)
    rounding = rounding_of(points)
    return certifies(diameter, gap, tau, h_min=h_min, h_upper=h_upper, geometry=geometry, rounding=rounding)


@lru_cache(maxsize=16)
def witnesses_of(n: int) -> IntArray:
    """Return the indices of the points whose distances are checked first."""
    return np.linspace(0, n - 1, WITNESSES).astype(np.intp)


def rounding_of(points: Array) -> float:
    """Return a bound on the distance by which rounding can move a point outside the hull of its cluster."""
    return ROUNDING_ULPS * float(np.finfo(points.dtype).eps) * float(np.abs(points).max())
