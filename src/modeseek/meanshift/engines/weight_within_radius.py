"""The weight of the points within a radius: the height of modes under the flat kernel."""

import numpy as np
from joblib import effective_n_jobs

from modeseek._common.types import Array
from modeseek.meanshift.engines.workspace import map_blocks

# Queries per compiled call; Ctrl-C takes effect between calls.
QUERIES_PER_CALL = 1024
# Largest number of strips.
MAX_STRIPS = 4096


def weight_within_radius(queries: Array, points: Array, h: float, weights: Array, n_jobs: int | None = None) -> Array:
    """Return the total weight of the points at distance h or less of each query.

    Points are sorted into strips by their second coordinate, and by their first coordinate within each strip. In each
    strip, the points near a query are then consecutive.

    Parameters
    ----------
    queries : (m, d) array
    points : (n, d) array
    h : float
    weights : (n,) array
    n_jobs : int, optional
        Number of threads. The result does not depend on it.

    Examples
    --------
    >>> weight_within_radius(np.array([[0.0]]), np.array([[0.0], [1.0], [2.0]]), 1.0, np.ones(3))
    array([2.])
    """
    from modeseek.meanshift.engines.weight_within_radius_kernels import Strips, sum_weights

    places, queries = points.astype(np.float64), np.ascontiguousarray(queries, dtype=np.float64)
    second = places[:, 1] if places.shape[1] > 1 else np.zeros(len(places))
    low = float(second.min())
    height = max(h, (float(second.max()) - low) / MAX_STRIPS)
    strip = ((second - low) / height).astype(np.intp)
    order = np.lexsort((places[:, 0], strip))
    starts = np.searchsorted(strip[order], np.arange(strip.max() + 2))
    strips = Strips(np.ascontiguousarray(places[order].T), weights[order].astype(np.float64), starts, low, height)
    found = np.empty(len(queries))

    def add_up(block: slice) -> None:
        sum_weights(strips, queries[block], h, found[block])

    map_blocks(add_up, len(queries), QUERIES_PER_CALL, effective_n_jobs(n_jobs))
    return found
