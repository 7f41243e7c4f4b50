"""Compiled passes over rows: the grid cell of each row, and the sums of each cell.

Cells are found by a hash table with open addressing: a slot holds the index of a cell in `keys`, or -1 if it is free.
"""

import numpy as np

from modeseek._common.jit import cached, inlined


@cached
def fill_slots(keys, slots):  # type: ignore[no-untyped-def]
    """Enter distinct cells into an empty hash table."""
    for number in range(len(keys)):
        slots[_slot(keys[number], slots, keys)] = number


@cached
def add_rows(rows, weights, finest, offset, level, slots, keys, counts, sums, used):  # type: ignore[no-untyped-def]
    """Add rows to their cells until no free cell is left; return the number of added rows and of used cells.

    `finest` and `offset` are `Grid.finest`. An empty array `weights` means that all weights are 1. Distances from the
    lower corner of a cell are rounded down to whole units, so that `sums` are integers if the weights are integers.
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
        slot = _slot(cell, slots, keys)
        number = slots[slot]
        if number == -1:
            if used == len(keys):
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
def find_cells(rows, finest, offset, level, slots, keys, found):  # type: ignore[no-untyped-def]
    """Write the index of each row's cell to `found`, or -1 if the cell is not in `keys`."""
    n, d = rows.shape
    cell = np.empty(d, dtype=np.int64)
    for i in range(n):
        for c in range(d):
            cell[c] = (np.int64(np.floor(np.float64(rows[i, c]) * finest[0])) + offset[c]) >> level
        found[i] = slots[_slot(cell, slots, keys)]


@inlined
def _slot(cell, slots, keys):  # type: ignore[no-untyped-def]
    """Return the slot that holds a cell, or the free slot where it belongs; the number of slots is a power of two."""
    d = len(cell)
    mixed = np.int64(0)
    for c in range(d):
        mixed = (mixed ^ cell[c]) * np.int64(5698744577812945411)  # an odd number near 2^63 over the golden ratio
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
