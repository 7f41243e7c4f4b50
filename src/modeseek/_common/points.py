"""Data in canonical form: centred, sorted, and with equal rows merged."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from modeseek._common.blocks import row_blocks
from modeseek._common.frame import DATA_FRAME, Frame, frame_of
from modeseek._common.sphere import place_on_sphere, to_degrees
from modeseek._common.storable import is_real, is_within, require, storable
from modeseek._common.types import Array, Geometry, IntArray
from modeseek._common.unique_rows import sorted_unique_rows, unique_rows

# sums of a thousand squares of lengths in this range neither overflow nor vanish
MIN_EXTENT = 1e-152
MAX_EXTENT = 1e152
# the same in single precision, for up to ten thousand columns and bandwidths of at least a millionth of the extent
MIN_EXTENT_SINGLE = 1e-12
MAX_EXTENT_SINGLE = 1e15


def _check_points(points: Points) -> None:
    n, d = points.values.shape
    require(n and (d or points.geometry.metric == "precomputed") and is_real(points.values, 2), "the values of points")
    require(points.weights.shape == (n,) and points.offset.shape == (d,) and is_real(points.offset, 1), "points")
    require(points.frame.columns.shape in ((0,), (d,)), "the frame of points")
    require(is_within(points.weights, np.finfo(float).tiny, np.inf) and is_within(points.inverse, -1, n), "points")


@storable(_check_points)
class Points(NamedTuple):
    """Data in canonical form: centred, sorted, with each distinct row once.

    Attributes
    ----------
    values : (n, d) array
        Distinct rows minus `offset` (Euclidean) or unit vectors (cosine and haversine), with the columns and signs of
        `frame`. Rows are sorted by their distance from the mean of all rows, and lexicographically among equal
        distances. The precision is that of the data, but single precision becomes double precision where squares would
        overflow or vanish.
    weights : (n,) array
        Weight of each distinct row: the sum over its copies.
    inverse : (n_rows,) integer array
        Index into `values` of each input row; -1 for a row of weight 0.
    offset : (d,) array
        The centre of the bounding box of the data. It depends neither on the order nor on the number of copies of rows.
    geometry : Geometry
        The space that contains the points.
    frame : Frame
        Canonical order and signs of the columns of `values`; the order and signs of the data columns have no effect.
    """

    values: Array
    weights: Array
    inverse: IntArray
    offset: Array
    geometry: Geometry
    frame: Frame = DATA_FRAME

    @property
    def n_features(self) -> int:
        """Number of columns of the data."""
        d: int = self.values.shape[1]
        given = {"haversine": 2, "precomputed": len(self.inverse)}
        return given.get(self.geometry.metric, d)

    def to_canonical(self, rows: Array) -> Array:
        """Convert rows in the units of the data to the coordinates of `values`."""
        if self.geometry.spherical:
            return self.frame.apply(place_on_sphere(rows, self.geometry.metric))
        return self.frame.apply((rows.astype(np.float64) - self.offset).astype(self.values.dtype))

    def to_data(self, rows: Array) -> Array:
        """Convert rows in the coordinates of `values` to the units of the data; columns are on the last axis."""
        if self.geometry.metric == "haversine":
            return to_degrees(self.frame.undo(rows.astype(np.float64))).astype(self.values.dtype)
        return (self.frame.undo(rows.astype(np.float64)) + self.offset).astype(self.values.dtype)


def canonical_points(X: Array, weights: Array, geometry: Geometry) -> Points:
    """Centre and sort rows, and merge equal rows into weighted points.

    Afterwards the order of rows and the order and sign of columns have no effect, identical rows share a label, and a
    weight of m equals m copies. Rows of weight 0 are left out.

    Examples
    --------
    >>> import numpy as np
    >>> data = np.array([[3.0], [1.0], [3.0]])
    >>> points = canonical_points(data, np.ones(3), Geometry())
    >>> points.values.ravel(), points.weights, points.inverse
    (array([-1.,  1.]), array([1., 2.]), array([1, 0, 1]))
    """
    # a slice avoids a copy in the usual case that all weights are positive
    present: Array | slice = slice(None) if (weights > 0).all() else weights > 0
    rows = X[present]
    if geometry.spherical:
        rows = place_on_sphere(rows, geometry.metric)
        offset = np.zeros(rows.shape[1])
    else:
        low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
        # halved before they are added, because the sum could overflow
        offset = np.where(low == high, low, low / 2 + high / 2)
        rows = _centered(rows, offset, _needed_dtype(float((high - offset).max()), X.dtype))
    first, number = unique_rows(rows)
    merged = weights[present][first]
    if len(first) < len(rows):
        # sorted by weight within each row, so that the rounding of the sum does not depend on the order of rows
        order = np.lexsort((weights[present], number))
        merged = np.bincount(number[order], weights=weights[present][order], minlength=len(first))
        rows = np.take(rows, first, axis=0)
    frame = frame_of(rows, merged)
    values = frame.apply(rows)
    values += 0.0  # turns -0.0 into 0.0
    del rows  # saves memory
    order = _canonical_order(values)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    inverse = np.full(len(X), -1, dtype=np.intp)
    inverse[present] = rank[number]
    return Points(np.take(values, order, axis=0), merged[order], inverse, offset, geometry, frame)


def _centered(rows: Array, offset: Array, dtype: np.dtype[Any]) -> Array:
    """Return rows minus an offset, computed in double precision."""
    centered = np.empty(rows.shape, dtype=dtype)
    for block in row_blocks(rows):
        centered[block] = rows[block].astype(np.float64) - offset
    return centered


def _canonical_order(values: Array) -> IntArray:
    """Return the order of distinct rows by distance from their mean; a rotation does not change these distances."""
    order, _ = sorted_unique_rows(values)
    # divided by their extent, because squares of small numbers would vanish
    extent = max(float(values.max()), -float(values.min())) or 1.0

    def scaled(block: slice) -> Array:
        return np.take(values, order[block], axis=0).astype(np.float64) / extent

    mean = sum(scaled(block).sum(axis=0) for block in row_blocks(values)) / len(values)
    # in single precision, so that rounding errors do not decide between equal distances
    distances = np.empty(len(values), dtype=np.float32)
    for block in row_blocks(values):
        centered = scaled(block) - mean
        distances[block] = np.einsum("ij,ij->i", centered, centered)
    return order[np.argsort(distances, kind="stable")]


def _needed_dtype(extent: float, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return `needed_precision`; raise an error if squared distances would overflow or vanish in double precision."""
    if 0 < extent < MIN_EXTENT or extent > MAX_EXTENT:
        raise ValueError(
            f"X extends {extent:.3g} from its centre, and the squares of such numbers overflow or vanish: "
            f"divide X by {extent:.0e} first."
        )
    return needed_precision(extent, dtype)


def needed_precision(extent: float, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return `dtype`, or float64 if squares of numbers up to `extent` would overflow or vanish in single precision."""
    if dtype == np.float64:
        return dtype
    return dtype if extent == 0 or MIN_EXTENT_SINGLE <= extent <= MAX_EXTENT_SINGLE else np.dtype(np.float64)
