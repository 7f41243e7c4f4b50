"""A sketch of rows in few dimensions: the cells of a grid, with the weight and the mean of the rows in each.

Cells are cubes, and the length of their sides is a power of two. Level 0 has the finest cells, and 2^d cells of one
level form a cell of the next level. Sums of coordinates are integers, in units of the finest side / 2^12. Therefore the
result does not depend on the order of rows, on chunks or on the order of merging, as long as no cell has more than
2^(41 - level) rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from modeseek._common.frame import frame_of
from modeseek._common.storable import is_real, require, storable
from modeseek._common.types import Array, IntArray
from modeseek._common.unique_rows import ranked_rows, unique_rows

# number of units in a side of the finest level
UNITS = 2.0**12
# the extent of the first rows is about 2^FINEST_LEVELS sides of the finest level
FINEST_LEVELS = 16
# cell number of the smallest coordinate of the first rows; it is large, so that all cell numbers are positive and
# halving them joins two neighbouring cells everywhere
MAX_OFFSET = 1 << 56
# the largest limit on cells that a file may declare
MAX_LIMIT = 1 << 20
NO_WEIGHTS = np.empty(0)
EMPTY_SLOT = -1


def _check_grid(grid: Grid) -> None:
    require(grid.offset and all(abs(each) < 32 * MAX_OFFSET for each in grid.offset), "the offsets of a grid")
    require(len(grid.signs) in (0, len(grid.offset)), "the signs of a grid")
    require(all(abs(sign) == 1 for sign in grid.signs), "the signs of a grid")
    # the limit sets the size of the hash tables
    require(1 <= grid.limit <= MAX_LIMIT and abs(grid.exponent) < 1000, "the size of a grid")


@storable(_check_grid)
@dataclass(frozen=True)
class Grid:
    """The finest grid, and the largest number of cells.

    Attributes
    ----------
    exponent : int
        The finest side is 2^exponent.
    offset : tuple of int
        Number for each column. The cell number of a coordinate x is floor(x / 2^exponent) + offset.
    limit : int
        Largest number of cells. If there are more, the next coarser level is used.
    signs : tuple of int
        Factor 1 or -1 of each column, chosen so that negating a column of the data does not change the cells. An empty
        tuple stands for ones.
    """

    exponent: int
    offset: tuple[int, ...]
    limit: int
    signs: tuple[int, ...] = ()

    @classmethod
    def of(cls, rows: Array, limit: int) -> Grid:
        """Return the grid for data that start with `rows`.

        Only cells of the same grid can be merged: pass the same rows for all parts of a data set.
        """
        low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
        distinct = rows[unique_rows(rows)[0]] - (low / 2 + high / 2)
        signs = frame_of(distinct, np.ones(len(distinct))).undo(np.ones((1, rows.shape[1])))[0]
        low, high = np.minimum(low * signs, high * signs), np.maximum(low * signs, high * signs)
        # equal rows have no extent: use their largest absolute value, or 1 if they are zero
        extent = float(np.max(high - low)) or float(np.abs(high).max()) or 1.0
        exponent = int(np.ceil(np.log2(extent))) - FINEST_LEVELS
        corner = np.floor(low * 2.0**-exponent)
        if not (np.abs(corner) < MAX_OFFSET).all():
            raise ValueError("the first rows of X lie too far from the origin for their extent: subtract their mean.")
        offset = tuple(MAX_OFFSET - int(place) for place in corner)
        return cls(exponent, offset, limit, tuple(int(sign) for sign in signs))

    def signed(self, rows: Array) -> Array:
        """Return rows multiplied by `signs`; applied twice, it returns the rows unchanged."""
        return rows if min(self.signs, default=1) > 0 else rows * np.array(self.signs, dtype=rows.dtype)

    def empty(self) -> GridCells:
        """Return cells without rows."""
        d = len(self.offset)
        return GridCells(self, 0, np.empty((0, d), np.int64), np.empty(0), np.empty((0, d)))

    @property
    def finest(self) -> tuple[Array, IntArray]:
        """Two arrays for compiled code: (1 / finest side, units in that side), and the offsets."""
        return np.array([2.0**-self.exponent, UNITS]), np.array(self.offset)


def _check_cells(cells: GridCells) -> None:
    m, d = cells.keys.shape
    require(d == len(cells.grid.offset) and m <= cells.grid.limit and 0 <= cells.level < 62, "the cells of a grid")
    require(cells.keys.dtype == np.int64 and cells.counts.shape == (m,) and cells.sums.shape == (m, d), "cells")
    require(is_real(cells.sums, 2) and is_real(cells.counts, 1) and (cells.counts > 0).all(), "the weights of cells")


@storable(_check_cells)
@dataclass(frozen=True, eq=False)
class GridCells:
    """The cells of a grid that contain rows.

    Attributes
    ----------
    grid : Grid
    level : int
        Level of the cells; their sides are 2^(grid.exponent + level).
    keys : (m, d) integer array
        Number of each cell in each column; cells are in lexicographic order.
    counts : (m,) array
        Weight of the rows in each cell.
    sums : (m, d) array
        Weighted sum of the rows' distances from the lower corner of their cell, in units.
    """

    grid: Grid
    level: int
    keys: IntArray
    counts: Array
    sums: Array

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def side(self) -> float:
        """Side of a cell."""
        return 2.0 ** (self.grid.exponent + self.level)

    @property
    def means(self) -> Array:
        """Mean of the rows of each cell, to within one unit."""
        corners = (self.keys << self.level) - np.array(self.grid.offset)
        # + 0.5 because distances were rounded down to whole units
        means = (corners + (self.sums / self.counts[:, None] + 0.5) / UNITS) * 2.0**self.grid.exponent
        return self.grid.signed(means)

    def add(self, rows: Array, weights: Array | None = None) -> GridCells:
        """Return the cells after rows are added.

        Raises
        ------
        ValueError
            If a row is outside of the range of the grid, which is set by the first rows.
        """
        from modeseek.sketches.grid_loops import add_rows

        rows = self.grid.signed(rows)
        self._check_rows(rows)
        weights = NO_WEIGHTS if weights is None else weights
        cells, done = self, 0
        while True:
            free = self.grid.limit - len(cells)
            sums = [np.pad(each, [(0, free), (0, 0)][: each.ndim]) for each in (cells.keys, cells.counts, cells.sums)]
            table = (cells.level, cells._slots(), *sums, len(cells))
            added, used = add_rows(rows[done:], weights[done:], *self.grid.finest, *table)
            cells = _grouped(cells, *(each[:used] for each in sums))
            done += added
            if done == len(rows):
                return cells
            cells = cells.coarser()

    def merge(self, other: GridCells) -> GridCells:
        """Return cells with the rows of both objects."""
        if self.grid != other.grid:
            raise ValueError("cells of different grids cannot be merged: use the same Grid for both.")
        one, two = (self, other) if self.level >= other.level else (other, self)
        while True:
            two = two.at_level(one.level)
            pairs = ((one.keys, two.keys), (one.counts, two.counts), (one.sums, two.sums))
            merged = _grouped(one, *(np.concatenate(pair) for pair in pairs))
            if len(merged) <= self.grid.limit:
                return merged
            one = one.coarser()

    def at_level(self, level: int) -> GridCells:
        """Return the cells joined into cells of a coarser level."""
        cells = self
        while cells.level < level:
            cells = cells.coarser()
        return cells

    def coarser(self) -> GridCells:
        """Return the cells joined into cells with sides twice as long."""
        odd = (self.keys & 1) * self.counts[:, None]
        sums = self.sums + odd * (UNITS * 2.0**self.level)
        return _grouped(replace(self, level=self.level + 1), self.keys >> 1, self.counts, sums)

    def discounted(self, factor: float) -> GridCells:
        """Return the cells with weights multiplied by `factor`; cells whose weight falls below 0.5 are dropped."""
        kept = self.counts * factor >= 0.5
        return replace(self, keys=self.keys[kept], counts=self.counts[kept] * factor, sums=self.sums[kept] * factor)

    def find(self, rows: Array) -> IntArray:
        """Return the index of each row's cell, or -1 if that cell contains no rows of the sketch."""
        from modeseek.sketches.grid_loops import find_cells

        rows = self.grid.signed(rows)
        self._check_rows(rows)
        found = np.empty(len(rows), np.intp)
        find_cells(rows, *self.grid.finest, self.level, self._slots(), self.keys, found)
        return found

    def _slots(self) -> IntArray:
        """Return a hash table of the cells. It is at most half full, even with `grid.limit` cells."""
        from modeseek.sketches.grid_loops import fill_slots

        slots = np.full(1 << int(np.ceil(np.log2(2 * self.grid.limit + 2))), EMPTY_SLOT, np.int64)
        fill_slots(self.keys, slots)
        return slots

    def _check_rows(self, rows: Array) -> None:
        for place in (rows.min(axis=0), rows.max(axis=0)) if len(rows) else ():
            with np.errstate(over="ignore"):
                number = place.astype(np.float64) * 2.0**-self.grid.exponent + np.array(self.grid.offset, np.float64)
            if not ((number > 0) & (number < 32 * MAX_OFFSET)).all():
                raise ValueError(
                    "a row lies too far from the first rows for a grid of their scale: "
                    f"check for a wrong value near {float(np.abs(place).max()):.3g}."
                )


def _grouped(cells: GridCells, keys: IntArray, counts: Array, sums: Array) -> GridCells:
    """Return cells of the same grid and level, with counts and sums of equal keys added up in the order given."""
    first, number = ranked_rows(keys)
    count, *columns = (np.bincount(number, weights=column) for column in (counts, *sums.T))
    return replace(cells, keys=keys[first], counts=count, sums=np.column_stack(columns))
