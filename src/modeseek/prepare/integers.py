"""Sums, hashes and dates of integers, for the facts of columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from modeseek._common.frame import hashes
from modeseek._common.types import Array, IntArray
from modeseek._storage.cells import is_text, present_cells
from modeseek._storage.pyarrow_modules import pa, pc

# integers that are hashed at once
HASHED_ROWS = 1 << 20
# the last day of each month in leap years, by its number
DAYS_OF_MONTHS = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0])


def hash_sum(integers: IntArray) -> int:
    """Return the sum of hashes of integers, which does not depend on their order."""
    return int(hashes(integers).sum())


def range_hash_sum(low: int, high: int) -> int:
    """Return the sum of hashes of all integers from `low` to `high`."""
    starts = range(low, high + 1, HASHED_ROWS)
    return wrapped(sum(hash_sum(np.arange(each, min(each + HASHED_ROWS, high + 1))) for each in starts))


def wrapped(total: int) -> int:
    """Return an integer modulo 2^64, as a signed number."""
    return (total + (1 << 63)) % (1 << 64) - (1 << 63)


def written_as_integers(column: Any) -> bool:
    """Return whether cells are integers of any size."""
    digits = is_text(column) and pc.all(pc.match_substring_regex(present_cells(column), r"^[+-]?\d+$")).as_py()
    return bool(digits) or pa.types.is_integer(column.type)


def smallest_hashes(integers: Array, most: int) -> tuple[int, ...]:
    """Return the `most` smallest hashes of integers, in order; equal integers have equal hashes."""
    codes = hashes((integers + 0.0).view(np.int64))
    return tuple(np.sort(np.partition(codes, most)[:most] if len(codes) > most else codes).tolist())


def count_days(numbers: Array) -> int:
    """Return how many numbers are dates from 1900 to 2100, written as YYYYMMDD.

    Examples
    --------
    >>> count_days(np.array([20240229.0, 20230229.0, 20231301.0, 20231231.0, 20231231.5]))
    2
    """
    near = numbers[(numbers >= 1900_01_01) & (numbers <= 2100_12_31) & (numbers % 1 == 0)].astype(np.int64)
    year, month, day = near // 10_000, near // 100 % 100, near % 100
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    last = DAYS_OF_MONTHS[np.minimum(month, 13)] - ((month == 2) & ~leap)
    return int(((day >= 1) & (day <= last)).sum())
