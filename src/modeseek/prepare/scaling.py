"""Scaling of features: standard, robust, logarithms or none; and the statistics that it is made from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.scaling import Moments
from modeseek._common.storable import is_real, require, storable
from modeseek._common.types import Array
from modeseek.prepare.config import PrepareConfig

# quartile range of a normal distribution with standard deviation 1
NORMAL_QUARTILE_RANGE = 1.3489795003921634


def _check(scaling: FeatureScaling) -> None:
    require(all(is_real(each, 1) for each in scaling), "the scaling")
    require(len({each.shape for each in scaling}) == 1, "the scaling")
    require((scaling.factor > 0).all() and (scaling.unit >= 0).all(), "the scaling")


@storable(_check)
class FeatureScaling(NamedTuple):
    """The map x -> (f(x) - shift) / factor, feature by feature.

    f(x) is sign(x) log(1 + |x| / unit) if `unit` is positive; it is x if `unit` is 0.

    Attributes
    ----------
    unit, shift, factor : (d,) array
    """

    unit: Array
    shift: Array
    factor: Array

    @classmethod
    def none(cls, d: int) -> FeatureScaling:
        """Return the identity in d dimensions."""
        return cls(np.zeros(d), np.zeros(d), np.ones(d))

    def apply(self, X: Array) -> Array:
        """Scale rows of the data.

        Examples
        --------
        >>> scaling = FeatureScaling(np.array([1.0]), np.zeros(1), np.ones(1))
        >>> scaling.undo(scaling.apply(np.array([[99.0], [-3.0]]))).round(6).ravel()
        array([99., -3.])
        """
        return (logarithms(X, self.unit) - self.shift) / self.factor

    def undo(self, X: Array) -> Array:
        """Convert scaled rows back to the units of the data."""
        values = X * self.factor + self.shift
        if not self.unit.any():
            return values
        exponents = np.where(self.unit > 0, np.abs(values), 0.0)
        return np.where(self.unit > 0, np.sign(values) * np.expm1(exponents) * self.unit, values)


def logarithms(X: Array, unit: Array) -> Array:
    """Return sign(x) log(1 + |x| / unit) for features with a positive unit, and others unchanged."""
    if not unit.any():
        return X
    return np.where(unit > 0, np.sign(X) * np.log1p(np.abs(X) / np.where(unit > 0, unit, 1)), X)


@storable()
class RowSample(NamedTuple):
    """Random rows of a table that arrives in chunks; chunk sizes do not change the choice.

    Attributes
    ----------
    seen : int
        Number of rows so far.
    ranks : (r,) array
        A random number for each sampled row, determined by the number of the row.
    rows : (r, d) array
        The rows with the smallest random numbers, in their order.
    """

    seen: int
    ranks: Array
    rows: Array

    @classmethod
    def empty(cls, d: int) -> RowSample:
        """Return a sample of no rows."""
        return cls(0, np.empty(0), np.empty((0, d)))

    def add(self, rows: Array, config: PrepareConfig) -> RowSample:
        """Return the sample with further rows."""
        seen = self.seen + len(rows)
        most = max(1, min(config.sample_rows, config.sample_numbers // max(1, rows.shape[1])))
        # a multiplicative hash: multiples of the golden ratio modulo 1 are spread evenly
        ranks = np.concatenate([self.ranks, np.modf(np.arange(self.seen, seen) * 0.6180339887498949)[0]])
        kept = np.concatenate([self.rows, rows])
        if len(ranks) > most:
            chosen = np.sort(np.argpartition(ranks, most)[:most])
            ranks, kept = ranks[chosen], kept[chosen]
        return RowSample(seen, ranks, kept)


def skewness(X: Array) -> Array:
    """Return the skewness of each column; 0 for constant columns."""
    tiny = np.finfo(np.float64).tiny
    # divided by the largest entry, because powers of huge numbers would overflow
    scaled = X / np.maximum(np.abs(X).max(axis=0), tiny)
    centered = scaled - scaled.mean(axis=0)
    variance = np.square(centered).mean(axis=0)
    return np.where(variance > 1e-30, (centered**3).mean(axis=0) / np.maximum(variance, 1e-30) ** 1.5, 0.0)


def log_units(X: Array) -> Array:
    """Return the unit of the logarithm of each column: its smallest positive magnitude, or 1."""
    smallest = np.where(X == 0, np.inf, np.abs(X)).min(axis=0)
    return np.where(np.isfinite(smallest), smallest, 1.0)


def skewed_features(X: Array, config: PrepareConfig) -> Array:
    """Return which columns are heavily skewed to the right, and much less so after a logarithm."""
    skew = skewness(X)
    after = np.abs(skewness(logarithms(X, log_units(X))))
    return (skew > config.skewness) & (after < skew / 2)


def many_zeros(X: Array, config: PrepareConfig) -> Array:
    """Return in which columns zeros are so frequent that a logarithm would separate them from the other values."""
    zeros, smallest = (X == 0).mean(axis=0), (np.abs(X) == log_units(X)).mean(axis=0)
    return (zeros > config.max_zeros) & (zeros > config.zero_ratio * smallest)


def fit_scaling(scale: str, X: Array, skewed: Array | bool = False, moments: Moments | None = None) -> FeatureScaling:
    """Return the scaling of complete rows.

    Parameters
    ----------
    scale : {"standard", "robust", "log", "none"}
    X : (n, d) array
        The rows, or a sample of them.
    skewed : (d,) boolean array, optional
        The features of which "log" takes the logarithm. Default: none.
    moments : Moments, optional
        Mean and standard deviation of all rows, if X is a sample.
    """
    identity = FeatureScaling.none(X.shape[1])
    if scale == "none":
        return identity
    unit = np.where(skewed, log_units(X), 0.0) if scale == "log" else identity.unit
    if scale == "robust":
        low, middle, high = np.percentile(X, [25, 50, 75], axis=0)
        spread = (high - low) / NORMAL_QUARTILE_RANGE
        # at least half of the values of such a column are the same
        _, std = Moments.empty(X.shape[1]).add(X).scaling()
        return FeatureScaling(unit, middle, np.where(spread > 0, spread, std))
    if moments is None or scale == "log":
        moments = Moments.empty(X.shape[1]).add(logarithms(X, unit))
    return FeatureScaling(unit, *moments.scaling())
