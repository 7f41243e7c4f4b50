"""Data and weights: checked, and put in canonical form."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.storable import is_real, is_within, require, storable
from modeseek._common.types import Array, Geometry, IntArray

__all__ = [
    "MAX_EXTENT",
    "MIN_EXTENT",
    "Points",
    "canonical_points",
    "check_state",
    "check_weights",
    "hash_rows",
    "sorted_unique_rows",
    "unique_rows",
    "unit_rows",
]

# lengths whose squares are numbers, with room for sums of a thousand of them
MIN_EXTENT, MAX_EXTENT = 1e-152, 1e152
# the same in single precision, with room for ten thousand columns and bandwidths of a millionth
SHORTEST_SINGLE, LONGEST_SINGLE = 1e-12, 1e15
# an odd number without pattern: 2^64 over the golden ratio
MIXER = np.uint64(0x9E3779B97F4A7C15)


def _check_points(points: Points) -> None:
    n, d = points.values.shape
    require(n and d and is_real(points.values, 2), "the values of points")
    require(points.weights.shape == (n,) and points.offset.shape == (d,) and is_real(points.offset, 1), "points")
    require(is_within(points.weights, np.finfo(float).tiny, np.inf) and is_within(points.inverse, -1, n), "points")


@storable(_check_points)
class Points(NamedTuple):
    """Data in canonical form: centred, sorted, each distinct row once.

    Attributes
    ----------
    values : (n, d) array
        Distinct rows in lexicographic order, with `offset` taken off (Euclidean) or of unit length (cosine). Of the
        data's precision; double, where their squares are no numbers in single.
    weights : (n,) array
        Weight of each distinct row: the sum over its copies.
    inverse : (n_rows,) integer array
        Distinct row of each input row; -1 where the input row has weight 0.
    offset : (d,) array
        What was taken off: the middle of the box around the data, which no order or repetition can change.
    geometry : Geometry
        The space the points live in.
    """

    values: Array
    weights: Array
    inverse: IntArray
    offset: Array
    geometry: Geometry

    def to_canonical(self, rows: Array) -> Array:
        """Bring other rows into the same coordinates."""
        if self.geometry.spherical:
            return unit_rows(rows)
        return (rows.astype(np.float64) - self.offset).astype(self.values.dtype)

    def to_data(self, rows: Array) -> Array:
        """Bring rows of the canonical coordinates back into those of the data."""
        return (rows.astype(np.float64) + self.offset).astype(self.values.dtype)


def canonical_points(X: Array, weights: Array, geometry: Geometry) -> Points:
    """Centre, sort lexicographically and merge equal rows into weighted points.

    The order of rows then changes nothing, identical rows share a label, and a weight of m equals m copies.
    Rows of weight 0 take no part.

    Examples
    --------
    >>> import numpy as np
    >>> data = np.array([[3.0], [1.0], [3.0]])
    >>> points = canonical_points(data, np.ones(3), Geometry())
    >>> points.values.ravel(), points.weights, points.inverse
    (array([-1.,  1.]), array([1., 2.]), array([1, 0, 1]))
    """
    # the usual case, where all take part, needs no copies
    present: Array | slice = slice(None) if (weights > 0).all() else weights > 0
    rows = X[present]
    if geometry.spherical:
        offset = np.zeros(X.shape[1])
        rows = unit_rows(rows)
    else:
        low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
        # halves first: the sum of two huge numbers of one sign may overflow; half of the least number is none
        offset = np.where(low == high, low, low / 2 + high / 2)
        rows = _check_extent(rows.astype(np.float64) - offset)
        rows = rows.astype(_precision(rows, X.dtype))
    first, inverse_present = sorted_unique_rows(rows)
    values = np.take(rows, first, axis=0) + 0.0  # + 0.0: -0.0 and 0.0 are one
    merged = weights[present][first]
    if len(first) < len(rows):
        # sorted by weight within each row, so that the rounding of the sum cannot depend on the order of rows
        order = np.lexsort((weights[present], inverse_present))
        merged = np.bincount(inverse_present[order], weights=weights[present][order], minlength=len(values))
    inverse = np.full(len(X), -1, dtype=np.intp)
    inverse[present] = inverse_present
    return Points(np.ascontiguousarray(values), merged, inverse, offset, geometry)


def sorted_unique_rows(rows: Array) -> tuple[IntArray, IntArray]:
    """Return the first occurrence of each distinct row, in lexicographic order, and the number of each row in it.

    As fast as sorting numbers where the first column tells all rows apart, or where few rows are distinct.

    Examples
    --------
    >>> sorted_unique_rows(np.array([[2, 1], [1, 5], [2, 1], [1, 3]]))
    (array([3, 1, 0]), array([2, 1, 2, 0]))
    """
    some = np.sort(rows[:: max(1, len(rows) // 256), 0])  # a sample, to see whether the first column repeats itself
    if not _steps(some).all():
        first, number = unique_rows(rows)
        if 2 * len(first) < len(rows):
            order, rank = _sorted_rows(rows[first])
            return first[order], rank[number]
    return _sorted_rows(rows)


def _sorted_rows(rows: Array) -> tuple[IntArray, IntArray]:
    """Do the work of `sorted_unique_rows` column by column, each time only for rows that earlier columns leave tied."""
    order = np.argsort(rows[:, 0])
    opens = _steps(rows[order, 0])  # where a new group begins
    if not opens.all():
        order = np.argsort(rows[:, 0], kind="stable")  # slower, and what makes the first of equal rows come first
    for column in rows.T[1:]:
        if opens.all():
            break
        tied = np.flatnonzero(~opens | ~np.append(opens[1:], True))
        values = column[order[tied]]
        again = np.lexsort((values, np.cumsum(opens)[tied]))
        order[tied] = order[tied][again]
        opens[tied] |= _steps(values[again])
    number = np.empty(len(rows), dtype=np.intp)
    number[order] = np.cumsum(opens) - 1
    return order[opens], number


def unique_rows(rows: Array) -> tuple[IntArray, IntArray]:
    """Return the first occurrence of each distinct row, in any order, and the number of each row in it.

    By one sort of hashed rows: what `sorted_unique_rows` does, faster, where the order does not matter.

    Examples
    --------
    >>> first, number = unique_rows(np.array([[2.0, 1.0], [1.0, 5.0], [2.0, 1.0]]))
    >>> sorted(first.tolist()), bool(number[0] == number[2] != number[1])
    ([0, 1], True)
    """
    rows = rows.astype(np.float64)
    key = hash_rows(rows)
    order = np.argsort(key)
    opens = _steps(key[order])
    if opens.all():
        return np.arange(len(rows)), np.arange(len(rows))
    first = np.minimum.reduceat(order, np.flatnonzero(opens))
    number = np.empty(len(rows), dtype=np.intp)
    number[order] = np.cumsum(opens) - 1
    # `take` because NumPy gathers rows by it ten times faster than by brackets
    if not np.array_equal(rows, np.take(rows, first[number], axis=0)):
        return _sorted_rows(rows)  # two rows with one hash: next to never
    return first, number


def hash_rows(rows: Array) -> Array:
    """Return a 64-bit hash of each row of a float64 array; equal rows have equal ones."""
    key = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        key ^= (column + 0.0).view(np.uint64)  # + 0.0: -0.0 and 0.0 are one
        key *= MIXER
        key ^= key >> np.uint64(32)
    return key


def _steps(values: Array) -> Array:
    """Tell where a sorted array takes a new value; its start is one."""
    return np.append(True, values[1:] != values[:-1])


def check_state(points: ArrayLike, *, name: str = "points") -> Array:
    """Check a state of points given by hand; return it as a float64 (or float32) array of shape (n, d).

    Numbers in single precision whose squares are none in it become doubles.
    """
    from sklearn.utils.validation import check_array  # here: the command's help has no need to wait for scikit-learn

    state = check_array(points, dtype=[np.float64, np.float32], input_name=name)
    return state.astype(_precision(state, state.dtype), copy=False)


def check_weights(sample_weight: ArrayLike | None, n: int, *, some: bool = True) -> Array:
    """Check the weights of n rows; None means 1 each. `some`: at least one must be positive."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        weights = np.full(n, float(sample_weight))
    else:
        try:
            weights = np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample_weight must be {n} numbers, one for each row of X: {error}") from None
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; sample_weight has shape {weights.shape}.")
    if len(weights) != n:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}: give one weight for each row of X.")
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight contains NaN or infinity: give finite weights, 0 leaves a row out.")
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(
            f"sample_weight must not be negative, but row {row} has {weights[row]:g}: use 0 to leave a row out."
        )
    if some and not (weights > 0).any():
        raise ValueError("sample_weight is zero for every row: give at least one row a positive weight.")
    return weights


def _check_extent(rows: Array) -> Array:
    """Refuse data whose squared distances are too large or too small to be numbers."""
    extent = float(np.abs(rows).max())
    if 0 < extent < MIN_EXTENT or extent > MAX_EXTENT:
        raise ValueError(
            f"X extends {extent:.3g} from its middle, and squares of such numbers overflow or vanish: "
            f"divide X by {extent:.0e} first."
        )
    return rows


def _precision(rows: Array, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the precision for such rows: double, where squares in single would overflow or vanish."""
    if dtype == np.float64:
        return dtype
    extent = float(np.abs(rows).max())
    return dtype if extent == 0 or SHORTEST_SINGLE <= extent <= LONGEST_SINGLE else np.dtype(np.float64)


def unit_rows(rows: Array) -> Array:
    """Scale rows to unit length; refuse one that is all zeros."""
    largest = np.abs(rows).max(axis=1, keepdims=True).astype(np.float64)
    if not (largest > 0).all():
        row = int(np.argmin(largest))
        raise ValueError(
            f'metric="cosine" needs rows of positive length, but row {row} of X is all zeros: '
            'leave it out or use metric="euclidean".'
        )
    scaled = rows / largest  # squares of huge or tiny coordinates would overflow or vanish
    return (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(rows.dtype)
