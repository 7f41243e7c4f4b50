"""Sweeps of blurring mean shift with bandwidth 1, for trial runs: by compiled loops, or by matrix products."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.sparse.csgraph import connected_components

from modeseek._common.types import Array, IntArray

__all__ = ["BlurringPoints", "MatrixPoints", "SortedPoints", "closeness", "labels_of"]


class BlurringPoints(Protocol):
    """Points that blurring mean shift moves."""

    def coincident(self, radius: float) -> IntArray:
        """Return for each point an equal one, up to `radius`, that stands for it."""

    def keep(self, kept: IntArray) -> None:
        """Drop all other points."""

    def sweep(self, weights: Array, own_shares: Array) -> float:
        """Move all points; return the largest change of a coordinate.

        The weight of a point in its own mean is multiplied by its own share.
        """

    def components(self, radius: float) -> IntArray:
        """Return the labels of the connected components of points closer than `radius`."""


class SortedPoints:
    """Points in few dimensions, sorted along the axis of their largest variance."""

    def __init__(self, points: Array):
        self._axis = int(points.var(axis=0).argmax())
        self._x = np.array(points.T, order="C")
        self._order = self._x[self._axis].argsort()

    def coincident(self, radius: float) -> IntArray:
        from modeseek.selection.bandwidths.blurring_loops import first_within

        first = first_within(self._x, radius, self._axis, self._order, joined=False)
        return first[first]  # the first point of a group may itself be close to an earlier one

    def keep(self, kept: IntArray) -> None:
        self._x = self._x[:, kept]
        self._order = self._x[self._axis].argsort()

    def sweep(self, weights: Array, own_shares: Array) -> float:
        from modeseek.selection.bandwidths.blurring_loops import blur

        return blur(self._x, weights, own_shares, self._axis, self._order)

    def components(self, radius: float) -> IntArray:
        from modeseek.selection.bandwidths.blurring_loops import first_within

        first = first_within(self._x, radius, self._axis, self._order, joined=True)
        return np.unique(first, return_inverse=True)[1].astype(np.int32)


class MatrixPoints:
    """Points in any dimension, whose weights in all means are a matrix product."""

    def __init__(self, points: Array):
        self._x, self._buffer = points, np.empty(len(points) ** 2)
        self._closeness: Array | None = None

    def coincident(self, radius: float) -> IntArray:
        self._closeness = closeness(self._x, self._x, self._buffer)
        first = (self._closeness >= 1.0 - radius**2).argmax(axis=1)
        return first[first]

    def keep(self, kept: IntArray) -> None:
        assert self._closeness is not None
        self._x, self._closeness = self._x[kept], self._closeness[np.ix_(kept, kept)]

    def sweep(self, weights: Array, own_shares: Array) -> float:
        kernel = closeness(self._x, self._x, self._buffer) if self._closeness is None else self._closeness
        self._closeness = None
        np.maximum(kernel, 0.0, out=kernel)
        np.fill_diagonal(kernel, own_shares)
        sums = kernel @ (np.column_stack([self._x, np.ones(len(self._x))]) * weights[:, None])
        moved = sums[:, :-1] / sums[:, -1:]
        largest = float(np.abs(moved - self._x).max())
        self._x = moved
        return largest

    def components(self, radius: float) -> IntArray:
        return labels_of(self._x, radius, self._buffer)


def closeness(queries: Array, points: Array, buffer: Array) -> Array:
    """Return 1 - |query - point|^2 for all pairs, as one matrix product, in the memory of `buffer`."""
    left = np.column_stack([2.0 * queries, 1.0 - np.square(queries).sum(axis=1), np.ones(len(queries))])
    right = np.column_stack([points, np.ones(len(points)), -np.square(points).sum(axis=1)])
    shape = len(queries), len(points)
    return np.matmul(left, right.T, out=buffer[: shape[0] * shape[1]].reshape(shape))


def labels_of(x: Array, radius: float, buffer: Array) -> IntArray:
    """Return the labels of the connected components of points closer than `radius`."""
    near = closeness(x, x, buffer) > 1.0 - radius**2
    return connected_components(near, directed=False)[1].astype(np.int32)
