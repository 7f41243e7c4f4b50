"""Compiled passes over rows: which cell each lies in, and what the cells hold."""

from __future__ import annotations

import numpy as np
from numba import njit

from modeseek._common.jit import FAST_MATH, cached

__all__ = ["add_rows", "find_cells", "insert_cells"]


@cached
def add_rows(rows, weights, finest, offset, level, slots, keys, counts, sums, used, limit):  # type: ignore[no-untyped-def]
    """Put rows into their cells until all are in or more than `limit` cells are used; return rows done and cells.

    `finest` holds one over the finest side and its units; `weights` may be empty, which stands for ones. Sums are in
    units from the cell's lower corner, rounded down, so they are whole numbers where weights are.
    """
    n, d = rows.shape
    cell = np.empty(d, dtype=np.int64)
    units = np.empty(d)
    for i in range(n):
        for c in range(d):
            at = np.float64(rows[i, c]) * finest[0]
            below = np.floor(at)
            place = np.int64(below) + offset[c]
            cell[c] = place >> level
            units[c] = np.float64(place - (cell[c] << level)) * finest[1] + np.floor((at - below) * finest[1])
        slot = _slot_of(cell, slots, keys)
        number = slots[slot]
        if number == -1:
            if used == limit:
                return i, used
            number = used
            slots[slot] = number
            for c in range(d):
                keys[number, c] = cell[c]
            used += 1
        weight = weights[i] if len(weights) else 1.0
        counts[number] += weight
        for c in range(d):
            sums[number, c] += weight * units[c]
    return n, used


@cached
def insert_cells(new_keys, new_counts, new_sums, slots, keys, counts, sums, used, limit):  # type: ignore[no-untyped-def]
    """Put whole cells into the table, as `add_rows` does with rows."""
    n, d = new_keys.shape
    for i in range(n):
        slot = _slot_of(new_keys[i], slots, keys)
        number = slots[slot]
        if number == -1:
            if used == limit:
                return i, used
            number = used
            slots[slot] = number
            for c in range(d):
                keys[number, c] = new_keys[i, c]
            used += 1
        counts[number] += new_counts[i]
        for c in range(d):
            sums[number, c] += new_sums[i, c]
    return n, used


@cached
def find_cells(rows, finest, offset, level, slots, keys, found):  # type: ignore[no-untyped-def]
    """Write the cell of each row, or -1 where there is none."""
    n, d = rows.shape
    cell = np.empty(d, dtype=np.int64)
    for i in range(n):
        for c in range(d):
            cell[c] = (np.int64(np.floor(np.float64(rows[i, c]) * finest[0])) + offset[c]) >> level
        found[i] = slots[_slot_of(cell, slots, keys)]


@njit(**FAST_MATH)
def _slot_of(cell, slots, keys):  # type: ignore[no-untyped-def]
    """Return where a cell is, or the free slot where it goes; the number of slots is a power of two."""
    d = len(cell)
    mixed = np.int64(0)
    for c in range(d):
        mixed = (mixed ^ cell[c]) * np.int64(5698744577812945411)  # odd, without pattern: 2^63 over the golden ratio
        mixed ^= mixed >> np.int64(29)
    mask = len(slots) - 1
    slot = mixed & mask
    while slots[slot] != -1:
        number = slots[slot]
        same = True
        for c in range(d):
            if keys[number, c] != cell[c]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & mask
    return slot
