"""The compiled loop of `sorting`."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray

# bits of a digit
WIDTH = 11


@cached_loop
def _digit_loop(keys, order, shift, count, new_keys, new_order):  # type: ignore[no-untyped-def]
    """Sort by one digit of the keys."""
    size = np.uint64(len(count) - 1)
    for i in range(len(keys)):
        count[(keys[i] >> shift) & size] += 1
    start = 0
    for digit in range(len(count)):
        count[digit], start = start, start + count[digit]
    for i in range(len(keys)):
        digit = (keys[i] >> shift) & size
        new_keys[count[digit]], new_order[count[digit]] = keys[i], order[i]
        count[digit] += 1


def radix_order(keys: Array, bits: int) -> IntArray:
    """Return the indices that sort unsigned integers of 64 bits, by their lowest `bits` bits; stable."""
    order = np.arange(len(keys))
    new_keys, new_order = np.empty_like(keys), np.empty_like(order)
    for shift in range(0, bits, WIDTH):
        count = np.zeros(1 << WIDTH, dtype=np.int64)
        _digit_loop(keys, order, np.uint64(shift), count, new_keys, new_order)
        keys, new_keys, order, new_order = new_keys, keys, new_order, order
    return order
