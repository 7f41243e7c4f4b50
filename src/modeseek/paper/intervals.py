"""Confidence intervals for means and proportions over runs, at the paper's level of 90 %."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, t

from modeseek._common.types import Array

LEVEL = 0.9


class Interval(NamedTuple):
    """An estimate and its interval: floats or arrays; the ends are NaN where they are undefined."""

    center: Any
    low: Any
    high: Any

    def text(self, digits: int = 2) -> str:
        """Return a scalar estimate and its interval as text.

        Examples
        --------
        >>> mean_interval([3.0, 4.0, 5.0]).text(1)
        '4.0 [2.3, 5.7]'
        """
        if np.isnan(self.low):
            return f"{self.center:.{digits}f}"
        return f"{self.center:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def wilson(count: ArrayLike, total: ArrayLike, level: float = LEVEL) -> Interval:
    """Return Wilson's score interval for a proportion, which is also valid for proportions of 0 and 1.

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
    # exact at 0 and 1, without rounding errors
    low = np.where(count == 0, 0.0, middle - half)[()]
    high = np.where(count == total, 1.0, middle + half)[()]
    return Interval(share[()], low, high)


def half_width(std: ArrayLike, count: int, level: float = LEVEL) -> Array:
    """Return half the width of Student's interval for the mean of `count` numbers with standard deviation `std`."""
    if count < 2:
        return np.full(np.shape(std), np.nan)[()]
    return t.ppf((1 + level) / 2, count - 1) * np.asarray(std) / np.sqrt(count)


def mean_interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """Return the mean over the first axis with Student's interval; the ends are NaN for one value.

    Examples
    --------
    >>> float(mean_interval([1.0, 2.0, 3.0]).center)
    2.0
    """
    x = np.asarray(values, dtype=np.float64)
    mean = x.mean(axis=0)
    half = half_width(x.std(axis=0, ddof=1) if len(x) > 1 else np.zeros_like(mean), len(x), level)
    return Interval(mean, mean - half, mean + half)
