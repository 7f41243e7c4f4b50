"""How much weight lies within a distance of places: the heights of modes under the flat kernel."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from modeseek._common.types import Array
from modeseek.meanshift.engines.workspace import in_blocks

__all__ = ["weight_within_radius"]

# queries of one call: between calls Ctrl-C is heard
PER_CALL = 1024
# strips are at least so many times thinner than what they cut
STRIPS = 4096


def weight_within_radius(
    queries: Array, points: Array, h: float, weights: Array, *, n_jobs: int | None = None
) -> Array:
    """Return the weight of the points within h of each query, the rim included.

    In strips along the first coordinate, in which what is near a query lies in one piece.

    Parameters
    ----------
    queries : (m, d) array
    points : (n, d) array
    h : float
    weights : (n,) array
    n_jobs : int, optional
        Threads; each query is summed by one, in one order.

    Examples
    --------
    >>> weight_within_radius(np.array([[0.0]]), np.array([[0.0], [1.0], [2.0]]), 1.0, np.ones(3))
    array([2.])
    """
    from modeseek.meanshift.engines.weight_within_radius_kernels import sum_within

    places, queries = points.astype(np.float64), np.ascontiguousarray(queries, dtype=np.float64)
    reach = h * (1 + 1e-6)  # a point at the rim must not fall out by rounding
    second = places[:, 1] if places.shape[1] > 1 else np.zeros(len(places))
    low = float(second.min())
    side = max(h, (float(second.max()) - low) / STRIPS)
    strip = ((second - low) / side).astype(np.intp)
    order = np.lexsort((places[:, 0], strip))
    strips = np.searchsorted(strip[order], np.arange(strip.max() + 2))
    coordinates, weights = np.ascontiguousarray(places[order].T), weights[order].astype(np.float64)
    masses = np.empty(len(queries))

    def add_up(block: slice) -> None:
        sum_within(coordinates, weights, strips, low, side, queries[block], h, reach, masses[block])

    in_blocks(add_up, len(queries), PER_CALL, effective_n_jobs(n_jobs))
    return masses
