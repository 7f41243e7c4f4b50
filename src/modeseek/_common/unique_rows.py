"""Distinct rows of an array, by sorting or by hashing.

`numpy.unique(axis=0)` gives the same rows. It compares whole rows as bytes, which is about ten times slower.
"""

import numpy as np

from modeseek._common.types import Array, IntArray

# 2^64 divided by the golden ratio: an odd multiplier without a pattern in its bits
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
# size of the sample of rows that shows whether the first column has repeated values
SAMPLED_ROWS = 256


def sorted_unique_rows(rows: Array) -> tuple[IntArray, IntArray]:
    """Return the index of the first copy of each distinct row, and the rank of each row among the distinct rows.

    Distinct rows are in lexicographic order. If the first column has no equal values, or if few rows are distinct, this
    is as fast as sorting one column.

    Examples
    --------
    >>> sorted_unique_rows(np.array([[2, 1], [1, 5], [2, 1], [1, 3]]))
    (array([3, 1, 0]), array([2, 1, 2, 0]))
    """
    sample = np.sort(rows[:: max(1, len(rows) // SAMPLED_ROWS), 0])
    if not _starts(sample).all():
        first, number = unique_rows(rows)
        if 2 * len(first) < len(rows):
            order, rank = ranked_rows(rows[first])
            return first[order], rank[number]
    return ranked_rows(rows)


def ranked_rows(rows: Array) -> tuple[IntArray, IntArray]:
    """Return the result of `sorted_unique_rows` for any dtype: sort by the first column, then ties by the next, ...

    Examples
    --------
    >>> ranked_rows(np.array([[2, 1], [1, 5], [2, 1]], dtype=np.uint64))
    (array([1, 0]), array([1, 0, 1]))
    """
    order = np.argsort(rows[:, 0])
    starts = _starts(rows[order, 0])
    if not starts.all():
        order = np.argsort(rows[:, 0], kind="stable")  # slower; puts the first of equal rows first
    for column in rows.T[1:]:
        if starts.all():
            break
        tied = np.flatnonzero(~starts | ~np.append(starts[1:], True))
        values = column[order[tied]]
        again = np.lexsort((values, np.cumsum(starts)[tied]))
        order[tied] = order[tied][again]
        starts[tied] |= _starts(values[again])
    number = np.empty(len(rows), dtype=np.intp)
    number[order] = np.cumsum(starts) - 1
    return order[starts], number


def unique_rows(rows: Array) -> tuple[IntArray, IntArray]:
    """Return the index of the first copy of each distinct row, and the position of each row among the distinct rows.

    Distinct rows are in arbitrary order. This is faster than `sorted_unique_rows`, because only a hash of each row is
    sorted.

    Examples
    --------
    >>> first, number = unique_rows(np.array([[2.0, 1.0], [1.0, 5.0], [2.0, 1.0]]))
    >>> sorted(first.tolist()), bool(number[0] == number[2] != number[1])
    ([0, 1], True)
    """
    key = hash_rows(rows)
    order = np.argsort(key)
    starts = _starts(key[order])
    if starts.all():
        return np.arange(len(rows)), np.arange(len(rows))
    first = np.minimum.reduceat(order, np.flatnonzero(starts))
    number = np.empty(len(rows), dtype=np.intp)
    number[order] = np.cumsum(starts) - 1
    # `take` gathers rows about ten times faster than indexing with brackets
    if not np.array_equal(rows, np.take(rows, first[number], axis=0)):
        return ranked_rows(rows)  # two different rows have the same hash
    return first, number


def hash_rows(rows: Array) -> Array:
    """Return a 64-bit hash of each row, taken as double-precision numbers; equal rows have equal hashes."""
    key = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        key ^= np.add(column, 0.0, dtype=np.float64).view(np.uint64)  # + 0.0 turns -0.0 into 0.0
        key *= HASH_MULTIPLIER
        key ^= key >> np.uint64(32)
    return key


def _starts(values: Array) -> Array:
    """Return a boolean array that marks the first of each run of equal values in a sorted array."""
    return np.append(True, values[1:] != values[:-1])[: len(values)]
