"""The certificate: a condition under which no later update can change the partition.

A point that moves becomes a weighted mean of points within the bandwidth. So it stays in the convex hull of its cluster
as long as no other cluster is within reach. Hulls of diameter D of clusters with a gap are at least gap - 2 D apart.
Hence clusters with D < tau and gap > h_upper + 2 D, where h_upper is the largest bandwidth still to come, never change.
Under cosine the same holds with angles in place of chords for clusters well below a right angle, because a spherical
cap of that size is convex. docs/theory.md has the proof.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from modeseek._common.types import Array, Geometry
from modeseek.meanshift.components import components, diameter_of, gap_of

# largest angle between two points of a cluster under cosine
MAX_ANGLE = np.pi / 4
# number of points whose distances are checked before the components are computed
WITNESSES = 16
# their distances to every 64th point are checked first
STRIDE = 64
# number of distances computed at a time
DISTANCES = 100_000


def certifies(
    diameter: float, gap: float, tau: float, h_upper: float, geometry: Geometry, rounding: float = 0.0
) -> bool:
    """Return whether D < tau and gap > h_upper + 2 D, in angles under cosine.

    Examples
    --------
    >>> certifies(0.4, 1.001, 0.45, 1.0, Geometry())  # gap > h_upper alone is not enough
    False
    """
    if not diameter < tau:
        return False
    if np.isinf(gap):
        return not geometry.spherical or float(geometry.arc(diameter)) < MAX_ANGLE
    if np.isinf(h_upper):
        return False
    width = float(geometry.arc(diameter)) + rounding
    if geometry.spherical and width >= MAX_ANGLE:
        return False
    return float(geometry.arc(gap)) > float(geometry.arc(h_upper)) + 2 * width


def is_certified(points: Array, tau: float, h_upper: float, geometry: Geometry) -> bool:
    """Return whether the partition of a state at tau is certified.

    In a certified state no distance is between tau and h_upper. A few points are checked for that first, which is a
    quick rejection while points still move.
    """
    x = points.astype(np.float64)
    witnesses = x[np.linspace(0, len(x) - 1, WITNESSES).astype(np.intp)]
    for some in (x[::STRIDE], x):
        # in one block if that needs little memory, which matters for small data
        at_once = max(1, DISTANCES // len(some))
        for start in range(0, len(witnesses), at_once):
            distances = cdist(witnesses[start : start + at_once], some)
            if ((distances >= tau) & (distances <= h_upper)).any():
                return False
    labels = components(points, tau)
    diameter, gap = diameter_of(points, labels), gap_of(points, labels)
    return certifies(diameter, gap, tau, h_upper, geometry, rounding_of(points))


def rounding_of(points: Array) -> float:
    """Return a bound on how far rounding can move a point outside its hull: 16 units of the largest coordinate."""
    return 16 * float(np.finfo(points.dtype).eps) * float(np.abs(points).max())
