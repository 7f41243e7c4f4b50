"""Ranges of bandwidths, their completion by automatic values, local bandwidth factors, and scikit-learn's estimate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from modeseek._common.distances import kth_distance
from modeseek._common.types import Array
from modeseek._common.validation import check_integer, check_number, check_range, check_state

__all__ = ["Range", "complete_range", "estimate_bandwidth", "local_scales"]


class Range(NamedTuple):
    """A range of bandwidths, [h_min, h_max], that shrinks towards h_inf.

    Algorithms with a single bandwidth use h_inf.
    """

    h_min: float
    h_inf: float
    h_max: float


def complete_range(h_min: float | None, h_inf: float | None, h_max: float | None, automatic: Range) -> Range:
    """Return the given range, in which None is replaced by the automatic value, clipped to the values that are given.

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
    """Return bandwidth factors of points: the distance to neighbour number sqrt(n), over the median of these distances.

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
    """Return the same bandwidth as `sklearn.cluster.estimate_bandwidth`, in bounded memory.

    It is the mean distance of the rows to their (quantile * n)-th nearest neighbours.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    quantile : float, default=0.3
        In [0, 1]; 0.5 gives about the median of all pairwise distances.
    n_samples : int, optional
        Number of random rows to use; all by default.
    random_state : int, RandomState or None, default=0
        Seed of the random rows.
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
