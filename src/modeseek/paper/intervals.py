"""Intervals for means and shares over runs, at the paper's 90 %."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, t

from modeseek._common.types import Array

__all__ = ["LEVEL", "Interval", "half_width", "mean_interval", "wilson"]

LEVEL = 0.9


class Interval(NamedTuple):
    """A center with its interval; arrays where the input was several, NaN where the ends are unknown."""

    center: Any
    low: Any
    high: Any

    def text(self, digits: int = 2) -> str:
        """Return a single center with its interval.

        Examples
        --------
        >>> mean_interval([3.0, 4.0, 5.0]).text(1)
        '4.0 [2.3, 5.7]'
        """
        if np.isnan(self.low):
            return f"{self.center:.{digits}f}"
        return f"{self.center:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def wilson(count: ArrayLike, total: ArrayLike, level: float = LEVEL) -> Interval:
    """Return Wilson's score interval for a share; it says something at shares of 0 and 1 too.

    Examples
    --------
    >>> share = wilson(97, 1000)
    >>> print(f"{share.low:.3f} to {share.high:.3f}")
    0.083 to 0.113
    """
    count, total = np.asarray(count, dtype=np.float64), np.asarray(total, dtype=np.float64)
    z, share = norm.ppf((1 + level) / 2), count / total
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z / (1 + z**2 / total) * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    # at 0 and 1 the end is exact, and rounding must not move it
    low = np.where(count == 0, 0.0, middle - half)[()]
    high = np.where(count == total, 1.0, middle + half)[()]
    return Interval(share[()], low, high)


def half_width(std: ArrayLike, count: int, level: float = LEVEL) -> Array:
    """Return half of Student's interval for the mean of `count` numbers with that standard deviation."""
    if count < 2:
        return np.full(np.shape(std), np.nan)[()]
    return t.ppf((1 + level) / 2, count - 1) * np.asarray(std) / np.sqrt(count)


def mean_interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """Return the mean over the first axis with Student's interval, mean -+ t s / sqrt(count); NaN ends for one value.

    Examples
    --------
    >>> float(mean_interval([1.0, 2.0, 3.0]).center)
    2.0
    """
    x = np.asarray(values, dtype=np.float64)
    mean = x.mean(axis=0)
    half = half_width(x.std(axis=0, ddof=1) if len(x) > 1 else np.zeros_like(mean), len(x), level)
    return Interval(mean, mean - half, mean + half)
