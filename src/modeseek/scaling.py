"""Features on one scale, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek.types import Array

__all__ = ["Scaling"]


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
