"""A summary of rows: the cells of a grid, each with its weight and mean.

Sides of cells are powers of two, and 2^d cells make one of the next level. Sums are kept in whole units of the finest
side / 2^12. So a summary is made of whole numbers, and no order of rows, of chunks or of merging changes a bit of it,
as long as no cell holds more than 2^(41 - level) rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from modeseek._common.storable import is_real, require, storable
from modeseek._common.types import Array, IntArray

__all__ = ["Grid", "GridCells"]

# units in a side of the finest level
UNITS = 2.0**12
# the finest level has about 2^FINEST sides in the extent of the first rows
FINEST = 16
# cells are counted from so far below the first rows: whoever counted from the middle would never get across it by
# joining cells in pairs
FAR = 1 << 56
NO_WEIGHTS = np.empty(0)
# the largest limit on cells that a file may declare
MOST_CELLS = 1 << 20
# a free slot
EMPTY = -1


def _check_grid(grid: Grid) -> None:
    require(grid.offset and all(abs(each) < 32 * FAR for each in grid.offset), "the offsets of a grid")
    # tables get `limit` entries
    require(1 <= grid.limit <= MOST_CELLS and abs(grid.exponent) < 1000, "the size of a grid")


@storable(_check_grid)
@dataclass(frozen=True)
class Grid:
    """The finest grid, and how many cells there may be.

    Attributes
    ----------
    exponent : int
        The finest side is 2^exponent.
    offset : tuple of int
        What is added to floor(x / side) in each column.
    limit : int
        With more cells than this, the next coarser level is taken.
    """

    exponent: int
    offset: tuple[int, ...]
    limit: int

    @classmethod
    def of(cls, rows: Array, limit: int) -> Grid:
        """Return the finest grid for data of which these rows are the first.

        Summaries can be merged only if they have the same grid: take it from the same rows for all of them.
        """
        low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
        # a single place has no extent, but a size; nothing but zeros has neither, and any grid will do
        extent = float(np.max(high - low)) or float(np.abs(high).max()) or 1.0
        exponent = int(np.ceil(np.log2(extent))) - FINEST
        corner = np.floor(low * 2.0**-exponent)
        if not (np.abs(corner) < FAR).all():
            raise ValueError(
                "the first rows of X lie too far from the origin for their extent: take off their mean first."
            )
        return cls(exponent, tuple(FAR - int(place) for place in corner), limit)

    def empty(self) -> GridCells:
        """Return a summary of no rows."""
        d = len(self.offset)
        return GridCells(self, 0, np.empty((0, d), np.int64), np.empty(0), np.empty((0, d)))

    @property
    def finest(self) -> Array:
        """One over the finest side, and the units in it."""
        return np.array([2.0**-self.exponent, UNITS])


def _check_cells(cells: GridCells) -> None:
    m, d = cells.keys.shape
    require(d == len(cells.grid.offset) and m <= cells.grid.limit and 0 <= cells.level < 62, "the cells of a grid")
    require(cells.keys.dtype == np.int64 and cells.counts.shape == (m,) and cells.sums.shape == (m, d), "cells")
    require(is_real(cells.sums, 2) and is_real(cells.counts, 1) and (cells.counts > 0).all(), "the weights of cells")


@storable(_check_cells)
@dataclass(frozen=True, eq=False)
class GridCells:
    """A summary: which cells hold rows, and what they hold.

    Attributes
    ----------
    grid : Grid
        What it is counted in.
    level : int
        Sides are 2^(grid.exponent + level).
    keys : (m, d) integer array
        The cells, each by the number of its lower corner, in lexicographic order.
    counts : (m,) array
        The weight of the rows in each.
    sums : (m, d) array
        The weighted sum of the rows' places from the lower corner, in units.
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
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.counts.sum())

    @property
    def means(self) -> Array:
        """Mean of the rows of each cell, to within a unit."""
        corners = (self.keys << self.level) - np.array(self.grid.offset)
        # + 1/2: units were rounded down
        return (corners + (self.sums / self.counts[:, None] + 0.5) / UNITS) * 2.0**self.grid.exponent

    def add(self, rows: Array, weights: Array | None = None) -> GridCells:
        """Return the summary with more rows in it.

        Raises
        ------
        ValueError
            If rows lie so far from those that the grid was made for that their cells have no number.
        """
        grid = self._checked(rows)
        table, done = _Table.of(self), 0
        weights = NO_WEIGHTS if weights is None else weights
        while True:
            where = (grid.finest, np.array(grid.offset), table.level)
            done += table.add(rows[done:], weights[done:], *where)
            if done == len(rows):
                return table.cells()
            table = _Table.of(table.cells().coarser())

    def merge(self, other: GridCells) -> GridCells:
        """Return the summary of the rows of both."""
        if self.grid != other.grid:
            raise ValueError("summaries of different grids cannot be merged: make both by the same Grid.")
        one, two = (self, other) if self.level >= other.level else (other, self)
        while True:
            two, table = two.at_level(one.level), _Table.of(one)
            if table.insert(two.keys, two.counts, two.sums) == len(two.keys):
                return table.cells()
            one = one.coarser()

    def at_level(self, level: int) -> GridCells:
        """Return the summary with cells of a coarser level."""
        cells = self
        while cells.level < level:
            cells = cells.coarser()
        return cells

    def coarser(self) -> GridCells:
        """Return the summary with sides twice as long."""
        odd = (self.keys & 1) * self.counts[:, None]
        table = _Table(replace(self, level=self.level + 1))
        table.insert(self.keys >> 1, self.counts, self.sums + odd * (UNITS * 2.0**self.level))
        return table.cells()

    def faded(self, share: float) -> GridCells:
        """Return the summary with every weight times `share`; cells of less than half a row are dropped."""
        kept = self.counts * share >= 0.5
        return replace(self, keys=self.keys[kept], counts=self.counts[kept] * share, sums=self.sums[kept] * share)

    def find(self, rows: Array) -> IntArray:
        """Return the number of each row's cell, -1 where there is none."""
        grid = self._checked(rows)
        table, found = _Table.of(self), np.empty(len(rows), np.intp)
        table.find(rows, grid.finest, np.array(grid.offset), self.level, found)
        return found

    def _checked(self, rows: Array) -> Grid:
        if len(rows):
            for place in (rows.min(axis=0), rows.max(axis=0)):
                with np.errstate(over="ignore"):  # too far, then
                    cell = place.astype(np.float64) * 2.0**-self.grid.exponent + np.array(self.grid.offset, np.float64)
                if not ((cell > 0) & (cell < 32 * FAR)).all():
                    raise ValueError(
                        "a row lies too far from the first rows to be counted in cells of their size: "
                        f"look for a wrong value near {float(np.abs(place).max()):.3g}."
                    )
        return self.grid


class _Table:
    """GridCells with their slots: an open table that is at most half full."""

    def __init__(self, cells: GridCells):
        self.grid, self.level, self.used = cells.grid, cells.level, 0
        d, limit = len(cells.grid.offset), cells.grid.limit
        self.slots = np.full(1 << int(np.ceil(np.log2(2 * limit + 2))), EMPTY, np.int64)
        self.keys = np.empty((limit, d), np.int64)
        self.counts, self.sums = np.zeros(limit), np.zeros((limit, d))

    @classmethod
    def of(cls, cells: GridCells) -> _Table:
        table = cls(cells)
        table.insert(cells.keys, cells.counts, cells.sums)
        return table

    # kernels are imported where they are called, because Numba takes longer to import than all the rest

    def add(self, rows: Array, weights: Array, finest: Array, offset: IntArray, level: int) -> int:
        """Put rows in until all are in or the table is full; return how many are."""
        from modeseek.sketches.grid_kernels import add_rows

        done, self.used = add_rows(rows, weights, finest, offset, level, *self._arrays, self.used, self.grid.limit)
        return int(done)

    def insert(self, keys: IntArray, counts: Array, sums: Array) -> int:
        """Put cells in until all are in or the table is full; return how many are."""
        from modeseek.sketches.grid_kernels import insert_cells

        done, self.used = insert_cells(keys, counts, sums, *self._arrays, self.used, self.grid.limit)
        return int(done)

    def find(self, rows: Array, finest: Array, offset: IntArray, level: int, found: IntArray) -> None:
        """Write the number of each row's cell."""
        from modeseek.sketches.grid_kernels import find_cells

        find_cells(rows, finest, offset, level, self.slots, self.keys, found)

    @property
    def _arrays(self) -> tuple[IntArray, IntArray, Array, Array]:
        return self.slots, self.keys, self.counts, self.sums

    def cells(self) -> GridCells:
        m = self.used
        order = np.lexsort(self.keys[:m].T[::-1])
        return GridCells(self.grid, self.level, self.keys[:m][order], self.counts[:m][order], self.sums[:m][order])
