"""Sites: points that coincide up to rounding are summed as one weighted point.

Clusters contract, and once their points coincide, a sum over points repeats itself. The tolerance is a few units in the
last place of the point itself, so a sum over sites is the sum over points up to its own rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.meanshift.engines.workspace import for_each

__all__ = ["FEW", "ULPS", "Groups", "coincident", "room", "shift_distinct", "worth_a_look"]

# coordinates within this many eps of the largest of them count as equal: a mean is not rounded better than that
ULPS = 4.0
# fewer points, or fewer updates, than this are not worth the search
FEW = 32
# a search costs as much as some fifty updates in the plane: blocks shorter than this, and than a sweep, do without
SHORT = 512
# a group is looked for among this many of the last ones along the line; more are as near only by accident
LOOK_BACK = 4


class Groups(NamedTuple):
    """Points in groups of coincident ones.

    Attributes
    ----------
    leaders : (m,) integer array
        A point of each group, ascending; the others of the group lie within rounding of it.
    site : (n,) integer array
        The group of each point.
    """

    leaders: IntArray
    site: IntArray

    def weights(self, weights: Array) -> Array:
        """Return the weight of each group."""
        return np.bincount(self.site, weights=weights, minlength=len(self.leaders))

    def counts(self) -> IntArray:
        """Return how many points each group has."""
        return np.bincount(self.site, minlength=len(self.leaders))


def room(groups: Groups) -> int:
    """Return how many sites to make room for: points that leave others behind need new ones."""
    return len(groups.leaders) + max(FEW, len(groups.site) // 8)


def worth_a_look(updates: int, n: int) -> bool:
    """Whether a block of one-by-one updates of n points is long enough to look for coincident ones."""
    return updates >= max(FEW, min(n, SHORT))


def shift_distinct(shift: Callable[[Array, Array], Array], queries: Array, h: Array | float) -> Array:
    """Shift queries, coincident ones of one bandwidth once.

    Parameters
    ----------
    shift : callable
        (queries, bandwidths) -> new places, one bandwidth for each query.
    queries : (m, d) array
    h : float or (m,) array
    """
    if not len(queries):
        return queries.copy()
    queries, bandwidths = for_each(queries, h)
    groups = coincident(queries) if np.ptp(bandwidths) == 0 else None
    if groups is None:
        return shift(queries, bandwidths)
    return shift(queries[groups.leaders], bandwidths[groups.leaders])[groups.site]


def coincident(points: Array, *, share: float = 0.75) -> Groups | None:
    """Group the points that coincide up to rounding; None if more than a share of n groups would be left.

    Points are sorted along a line and compared with those next to them only. So this costs about a pass over the
    points and a sort, and groups may be missed but never made of points that differ.

    Parameters
    ----------
    points : (n, d) array
    share : float

    Examples
    --------
    >>> points = np.repeat(np.random.default_rng(0).normal(size=(3, 5)), 20, axis=0)
    >>> coincident(points).leaders
    array([ 0, 20, 40])
    >>> coincident(points[::20]) is None
    True
    """
    n, d = points.shape
    if n < FEW:
        return None
    # a fixed direction in general position: rows that differ are hardly ever as close on the line as rounding
    direction = 1.0 + np.modf(np.arange(1, d + 1) * 0.6180339887498949)[0]
    line = points @ direction.astype(points.dtype)
    eps = float(np.finfo(points.dtype).eps)
    largest = max(float(points.max()), -float(points.min()))
    window = 2.0 * d * eps * largest * (ULPS + d)  # what coordinates differ by, and the rounding of the line itself
    if np.count_nonzero(np.diff(np.sort(line)) > window) + 1 > share * n:
        return None
    from modeseek.meanshift.engines.coincident_points_kernels import lead

    order = np.argsort(line, kind="stable")
    leader = np.empty(n, dtype=np.int64)
    lead(points, line, order, window, ULPS * eps, LOOK_BACK, leader)
    leaders, site = np.unique(leader, return_inverse=True)
    return Groups(leaders, site.reshape(-1)) if len(leaders) <= share * n else None
