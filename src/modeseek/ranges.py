"""Bandwidths from the data alone: a first, simple rule from nearest-neighbour distances.

h(m) is the median distance of a point to its m-th nearest other point, points counted once however often they occur.
With m = sqrt(n): h_min = h(m / 2), h_inf = h(m), h_max = h(2 m). Clusters end up separated by the upper end of what
can be drawn, so algorithms with one bandwidth take h_max.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from modeseek.neighbours import kth_distance
from modeseek.types import Array
from modeseek.validation import check_integer, check_number, check_range, check_state

__all__ = ["Range", "automatic_range", "complete_range", "estimate_bandwidth", "local_scales"]

# medians over this many points are as good as over all
QUERIES = 2000


class Range(NamedTuple):
    """A range of bandwidths with the value it closes on."""

    h_min: float
    h_inf: float
    h_max: float


def automatic_range(points: Array, *, n_jobs: int | None = None) -> Range:
    """Return h_min, h_inf and h_max from the distances of distinct points to their near neighbours.

    Parameters
    ----------
    points : (n, d) array
        Distinct points. A single one has no scale: its range is 1.

    Examples
    --------
    >>> automatic_range(np.arange(100.0)[:, None])
    Range(h_min=3.0, h_inf=5.0, h_max=10.0)
    """
    n = len(points)
    if n == 1:
        return Range(1.0, 1.0, 1.0)
    queries = points[np.linspace(0, n - 1, min(n, QUERIES)).astype(np.intp)]
    m = np.sqrt(n)
    counts = [min(max(1, round(c)), n - 1) for c in (m / 2, m, 2 * m)]
    # + 1: a point is its own first neighbour
    h = [float(np.median(kth_distance(points, c + 1, queries, n_jobs=n_jobs))) for c in counts]
    return Range(*h)


def complete_range(h_min: float | None, h_inf: float | None, h_max: float | None, automatic: Range) -> Range:
    """Return the range that was asked for; what is None comes from the automatic one, fitted to what was given.

    Examples
    --------
    >>> complete_range(None, None, 2.0, Range(3.0, 5.0, 10.0))
    Range(h_min=2.0, h_inf=2.0, h_max=2.0)
    """
    given = [h for h in (h_min, h_inf, h_max) if h is not None]
    low = min([automatic.h_min, *given]) if h_min is None else h_min
    high = max([automatic.h_max, *given]) if h_max is None else h_max
    low, high, middle = check_range(low, high, h_inf)
    return Range(low, float(np.clip(automatic.h_inf, low, high)) if middle is None else middle, high)


def local_scales(points: Array, *, n_jobs: int | None = None) -> Array:
    """Return a factor on the bandwidth for each point: its sqrt(n)-th neighbour distance over the median one.

    Examples
    --------
    >>> local_scales(np.array([[0.0], [1.0], [2.0], [10.0]]))
    array([1. , 0.5, 1. , 4.5])
    """
    n = len(points)
    if n == 1:
        return np.ones(1)
    distances = kth_distance(points, min(max(1, round(np.sqrt(n))), n - 1) + 1, n_jobs=n_jobs)
    return distances / np.median(distances)


def estimate_bandwidth(
    X: ArrayLike,
    *,
    quantile: float = 0.3,
    n_samples: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float:
    """Return scikit-learn's estimate: the mean distance to the (quantile n)-th neighbour, in bounded memory.

    Parameters
    ----------
    X : (n, d) array
    quantile : float
        In [0, 1]; 0.5 means the median of all pairwise distances, about.
    n_samples : int, optional
        Number of randomly chosen rows to use; all by default.
    random_state : int, RandomState or None
        For the choice of rows.
    n_jobs : int, optional
        Threads for the neighbour search.

    Examples
    --------
    >>> estimate_bandwidth([[1, 1], [2, 1], [1, 0], [4, 7], [3, 5], [3, 6]], quantile=0.5)
    1.61...
    """
    rows = check_state(X, name="X")
    if check_number("quantile", quantile, strict=False) > 1:
        raise ValueError(f"quantile must be in [0, 1]; got {quantile!r}.")
    if n_samples is not None:
        check_integer("n_samples", n_samples, low=1)
        rows = rows[check_random_state(random_state).permutation(len(rows))[:n_samples]]
    offset = rows.min(axis=0) / 2 + rows.max(axis=0) / 2
    k = max(1, int(len(rows) * quantile))
    return float(kth_distance(rows - offset, k, n_jobs=n_jobs).mean())
