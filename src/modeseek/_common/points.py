"""Data in canonical form: centred, sorted, and with equal rows merged."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from modeseek._common.frame import DATA_FRAME, Frame, frame_of
from modeseek._common.sphere import place_on_sphere, to_degrees
from modeseek._common.storable import is_real, is_within, require, storable
from modeseek._common.types import Array, Geometry, IntArray
from modeseek._common.unique_rows import sorted_unique_rows, unique_rows

# sums of a thousand squares of lengths in this range neither overflow nor vanish
MIN_EXTENT = 1e-152
MAX_EXTENT = 1e152
# the same in single precision, for ten thousand columns and bandwidths down to a millionth of the extent
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
        `frame`, in the order of their distances from their mean; equal distances in lexicographic order. The precision
        is that of the data, except that single becomes double where squares would overflow or vanish.
    weights : (n,) array
        Weight of each distinct row: the sum over its copies.
    inverse : (n_rows,) integer array
        Index into `values` of each input row; -1 for a row of weight 0.
    offset : (d,) array
        The centre of the bounding box of the data. It depends neither on the order nor on the number of copies of rows.
    geometry : Geometry
        The space that contains the points.
    frame : Frame
        Order and signs of the columns of `values`, so that those of the data have no effect.
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
        """Convert rows in the units of the data to canonical coordinates."""
        if self.geometry.spherical:
            return self.frame.apply(place_on_sphere(rows, self.geometry.metric))
        return self.frame.apply((rows.astype(np.float64) - self.offset).astype(self.values.dtype))

    def to_data(self, rows: Array) -> Array:
        """Convert rows in canonical coordinates to the units of the data; the last axis has the columns."""
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
        rows = _check_extent(rows.astype(np.float64) - offset)
        rows = rows.astype(needed_precision(rows, X.dtype))
    first, number = unique_rows(rows)
    distinct, merged = np.take(rows, first, axis=0), weights[present][first]
    if len(first) < len(rows):
        # sorted by weight within each row, so that the rounding of the sum does not depend on the order of rows
        order = np.lexsort((weights[present], number))
        merged = np.bincount(number[order], weights=weights[present][order], minlength=len(first))
    frame = frame_of(distinct, merged)
    values = frame.apply(distinct) + 0.0  # + 0.0 turns -0.0 into 0.0
    order = _canonical_order(values)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    inverse = np.full(len(X), -1, dtype=np.intp)
    inverse[present] = rank[number]
    return Points(np.take(values, order, axis=0), merged[order], inverse, offset, geometry, frame)


def _canonical_order(values: Array) -> IntArray:
    """Return the order of distinct rows by distance from their mean, which no rotation changes."""
    order, _ = sorted_unique_rows(values)
    centered = np.take(values, order, axis=0).astype(np.float64)
    # divided by their extent, because squares of small numbers would vanish
    centered /= float(np.abs(centered).max()) or 1.0
    centered -= centered.mean(axis=0)
    # in single precision, so that rounding errors do not decide between equal distances
    distances = np.einsum("ij,ij->i", centered, centered).astype(np.float32)
    return order[np.argsort(distances, kind="stable")]


def _check_extent(rows: Array) -> Array:
    """Raise an error if squared distances would overflow or vanish."""
    extent = float(np.abs(rows).max())
    if 0 < extent < MIN_EXTENT or extent > MAX_EXTENT:
        raise ValueError(
            f"X extends {extent:.3g} from its centre, and the squares of such numbers overflow or vanish: "
            f"divide X by {extent:.0e} first."
        )
    return rows


def needed_precision(rows: Array, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return `dtype`, or float64 if squares of the rows would overflow or vanish in single precision."""
    if dtype == np.float64:
        return dtype
    extent = float(np.abs(rows).max())
    return dtype if extent == 0 or MIN_EXTENT_SINGLE <= extent <= MAX_EXTENT_SINGLE else np.dtype(np.float64)
