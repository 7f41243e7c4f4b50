"""Features on one scale, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek.types import Array

__all__ = ["Scaling", "dominant"]

# a column with more of the variance than this leaves the others no say
MOST_VARIANCE = 0.999


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
    def fit(cls, X: Array, *, standardise: bool) -> Scaling:
        """Return the map to mean 0 and standard deviation 1, or the one that changes nothing.

        Examples
        --------
        >>> Scaling.fit(np.array([[1.0, 5.0], [3.0, 5.0]]), standardise=True)
        Scaling(shift=array([2., 5.]), factor=array([1., 1.]))
        """
        if not standardise:
            return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        # by the largest entry first: squares of huge numbers would overflow
        size = np.maximum(np.abs(X).max(axis=0), np.finfo(np.float64).tiny)
        mean, std = (X / size).mean(axis=0) * size, (X / size).std(axis=0) * size
        # a feature that never changes stays as it is; rounding leaves it a tiny spread
        constant = np.ptp(X, axis=0) == 0
        return cls(np.where(constant, X[0], mean), np.where(constant | (std == 0), 1.0, std))

    def apply(self, X: Array) -> Array:
        """Bring rows of the data to the scale that is clustered."""
        return (X - self.shift) / self.factor

    def undo(self, X: Array) -> Array:
        """Bring rows back to the data's own units."""
        return X * self.factor + self.shift


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
