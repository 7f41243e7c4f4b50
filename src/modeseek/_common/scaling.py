"""Features on one scale, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.storable import is_real, require, storable
from modeseek._common.types import Array

__all__ = ["Moments", "Scaling", "dominant"]

# rows are summed up by so many, in their order: however they come in, the same numbers are added to the same
TOGETHER = 1 << 13
# a column with more of the variance than this leaves the others no say
MOST_VARIANCE = 0.999


def _check_scaling(scaling: Scaling) -> None:
    require(is_real(scaling.shift, 1) and is_real(scaling.factor, 1), "the scaling")
    require(scaling.shift.shape == scaling.factor.shape and (scaling.factor > 0).all(), "the scaling")


@storable(_check_scaling)
class Scaling(NamedTuple):
    """The map x -> (x - shift) / factor, feature by feature.

    Attributes
    ----------
    shift, factor : (d,) array
        What is taken off, and what is divided by.
    """

    shift: Array
    factor: Array

    @classmethod
    def fit(cls, X: Array, *, standardize: bool) -> Scaling:
        """Return the map to mean 0 and standard deviation 1, or the one that changes nothing.

        Examples
        --------
        >>> Scaling.fit(np.array([[1.0, 5.0], [3.0, 5.0]]), standardize=True)
        Scaling(shift=array([2., 5.]), factor=array([1., 1.]))
        """
        if not standardize:
            return cls.none(X.shape[1])
        return Moments.empty(X.shape[1]).add(X).scaling()

    @classmethod
    def none(cls, d: int) -> Scaling:
        """Return the map that changes nothing."""
        return cls(np.zeros(d), np.ones(d))

    def apply(self, X: Array) -> Array:
        """Bring rows of the data to the scale that is clustered."""
        return (X - self.shift) / self.factor

    def undo(self, X: Array) -> Array:
        """Bring rows back to the data's own units."""
        return X * self.factor + self.shift


@storable()
class Moments(NamedTuple):
    """Mean and spread of rows that come in blocks; how they are cut into blocks changes no bit.

    Attributes
    ----------
    n : int
        Rows summed up.
    mean, std, low, high : (d,) array
        Their mean, standard deviation, least and greatest.
    rest : (r, d) array
        Rows that wait for more.
    """

    n: int
    mean: Array
    std: Array
    low: Array
    high: Array
    rest: Array

    @classmethod
    def empty(cls, d: int) -> Moments:
        """Return those of no rows."""
        return cls(0, np.zeros(d), np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf), np.empty((0, d)))

    def add(self, rows: Array) -> Moments:
        """Return those of more rows.

        Examples
        --------
        >>> rows = np.random.default_rng(0).normal(size=(20_000, 2))
        >>> one, two = Moments.empty(2).add(rows), Moments.empty(2).add(rows[:7]).add(rows[7:])
        >>> bool((one.scaling().factor == two.scaling().factor).all())
        True
        """
        moments, at = self, 0
        if len(self.rest):
            at = min(len(rows), TOGETHER - len(self.rest))
            moments = self._replace(rest=np.concatenate([self.rest, rows[:at]]))
            if len(moments.rest) == TOGETHER:
                moments = moments._summed()
        while len(rows) - at >= TOGETHER:
            moments = moments._replace(rest=rows[at : at + TOGETHER])._summed()
            at += TOGETHER
        return moments._replace(rest=np.array(rows[at:])) if at < len(rows) else moments

    def scaling(self) -> Scaling:
        """Return the map to mean 0 and standard deviation 1."""
        whole = self._summed() if len(self.rest) else self
        # a feature that never changes stays as it is; rounding leaves it a tiny spread
        constant = whole.low == whole.high
        return Scaling(np.where(constant, whole.low, whole.mean), np.where(constant | (whole.std == 0), 1.0, whole.std))

    def _summed(self) -> Moments:
        rows, n = np.ascontiguousarray(self.rest), self.n + len(self.rest)
        # by the largest entry first: squares of huge numbers would overflow
        size = np.maximum(np.abs(rows).max(axis=0), np.finfo(np.float64).tiny)
        mean, std = (rows / size).mean(axis=0) * size, (rows / size).std(axis=0) * size
        before, now = self.n / n, len(rows) / n
        between = np.sqrt(before * now)
        if self.n:
            std = np.hypot(
                np.hypot(self.std * np.sqrt(before), std * np.sqrt(now)), mean * between - self.mean * between
            )
            mean = self.mean * before + mean * now
        low, high = np.minimum(self.low, rows.min(axis=0)), np.maximum(self.high, rows.max(axis=0))
        return Moments(n, mean, std, low, high, rows[:0])


def dominant(X: Array) -> tuple[int, float] | None:
    """Return the column that holds nearly all of the variance, and how many times the next one's spread it has.

    None where there is none, or where all other columns are constant.

    Examples
    --------
    >>> column, times = dominant(np.array([[1.0, 20_000.0], [2.0, 50_000.0], [3.0, 10_000.0]]))
    >>> column, round(times)
    (1, 20817)
    >>> dominant(np.array([[1.0, 5.0], [2.0, 7.0]])) is None
    True
    """
    if X.shape[1] < 2 or len(X) < 2:
        return None
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    size = max(float(np.max(high - low)), np.finfo(np.float64).tiny)
    # by the largest extent first: squares of huge numbers would overflow
    spread = ((X - low) / size).std(axis=0)
    column = int(np.argmax(spread))
    next_one = float(np.max(np.delete(spread, column)))
    if next_one == 0 or spread[column] ** 2 <= MOST_VARIANCE * np.square(spread).sum():
        return None
    return column, float(spread[column] / next_one)
