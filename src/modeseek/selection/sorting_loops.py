"""The compiled loop of `sorting`."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray

# number of bits in a digit
WIDTH = 11


@cached_loop
def _digits_loop(keys, orders, count, bits):  # type: ignore[no-untyped-def]
    """Sort by each digit of the keys, from the lowest to the highest; return the row that holds the result.

    Rows 0 and 1 of `keys` and `orders` alternate as source and target.
    """
    size, now, shift = np.uint64(len(count) - 1), 0, 0
    while shift < bits:
        own, order, new, new_order = keys[now], orders[now], keys[1 - now], orders[1 - now]
        for digit in range(len(count)):
            count[digit] = 0
        for i in range(len(own)):
            count[(own[i] >> np.uint64(shift)) & size] += 1
        start = 0
        for digit in range(len(count)):
            count[digit], start = start, start + count[digit]
        for i in range(len(own)):
            digit = (own[i] >> np.uint64(shift)) & size
            new[count[digit]], new_order[count[digit]] = own[i], order[i]
            count[digit] += 1
        now, shift = 1 - now, shift + WIDTH
    return now


def radix_order(keys: Array, bits: int) -> IntArray:
    """Return the indices that sort unsigned 64-bit integers by their lowest `bits` bits; the sort is stable."""
    both, orders = np.empty((2, len(keys)), dtype=np.uint64), np.empty((2, len(keys)), dtype=np.int64)
    both[0], orders[0] = keys, np.arange(len(keys))
    return orders[_digits_loop(both, orders, np.empty(1 << WIDTH, dtype=np.int64), bits)]
