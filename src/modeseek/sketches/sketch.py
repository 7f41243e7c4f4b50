"""One pass over rows, and the weighted points that stand for them afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modeseek._common.neighbors import nearest
from modeseek._common.storable import is_real, require, storable
from modeseek._common.types import Array, IntArray
from modeseek.sketches.grid import Grid, GridCells
from modeseek.sketches.sample import Sample

__all__ = ["LAYOUT_ROWS", "Sketch", "SketchLayout", "SketchPoints"]

# so many of the first rows say how fine the finest cells are
LAYOUT_ROWS = 65_536
# a grid in more dimensions has hardly two rows in a cell
MOST_DIMENSIONS = 6
# cells, and rows of the sample, at most
CELLS, ROWS = 200_000, 20_000
# cells that are wider than this, over the smallest bandwidth, say less than a sample does
WIDEST = 1 / 4


class SketchLayout(NamedTuple):
    """What all parts of the data are counted in, so that what is counted can be added up.

    Attributes
    ----------
    grid : Grid or None
        The finest cells; None above six dimensions.
    rows : int
        Size of the sample.
    dimensions : int
    """

    grid: Grid | None
    rows: int
    dimensions: int

    @classmethod
    def of(cls, first: Array, *, cells: int = CELLS, rows: int = ROWS) -> SketchLayout:
        """Return the plan for data that begin with these rows."""
        d = first.shape[1]
        return cls(Grid.of(first[:LAYOUT_ROWS], cells) if d <= MOST_DIMENSIONS else None, rows, d)

    def begin(self) -> Sketch:
        """Return a survey of no rows."""
        return Sketch(None if self.grid is None else self.grid.empty(), Sample.empty(self.rows, self.dimensions))


def _check_sketch(sketch: Sketch) -> None:
    d = sketch.sample.rows.shape[1]
    require(sketch.cells is None or sketch.cells.keys.shape[1] == d <= MOST_DIMENSIONS, "the dimensions of a sketch")


@storable(_check_sketch)
@dataclass(frozen=True, eq=False)
class Sketch:
    """What a pass over rows has counted; whole numbers, so that no order changes anything.

    Attributes
    ----------
    cells : GridCells or None
        Where the rows lie.
    sample : Sample
        Some of them.
    """

    cells: GridCells | None
    sample: Sample

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return self.sample.weight

    def add(self, rows: Array, weights: Array | None = None) -> Sketch:
        """Return the survey with more rows in it."""
        cells = None if self.cells is None else self.cells.add(rows, weights)
        return Sketch(cells, self.sample.add(rows, weights))

    def merge(self, other: Sketch) -> Sketch:
        """Return the survey of the rows of both; which is merged into which makes no difference."""
        if self.cells is None or other.cells is None:
            return Sketch(None, self.sample.merge(other.sample))
        return Sketch(self.cells.merge(other.cells), self.sample.merge(other.sample))

    def faded(self, share: float) -> Sketch:
        """Return the survey with every weight times `share`; what falls below half a row is dropped."""
        return Sketch(None if self.cells is None else self.cells.faded(share), self.sample.faded(share))

    def summary(self, h: float, resolution: float, kind: str = "auto") -> SketchPoints:
        """Return the points that stand for all rows.

        Parameters
        ----------
        h : float
            The smallest bandwidth.
        resolution : float
            How wide a cell may be, over h. GridCells that are finer are joined, but none are cut: where there were more
            than could be kept, they are wider, and `SketchPoints.resolution` tells.
        kind : {"auto", "grid", "sample"}
            "auto" takes the sample where it has all distinct rows, where there are no cells, or where these are wider
            than h / 4.
        """
        cells = self.cells
        if cells is not None:
            while 2 * cells.side <= resolution * h:
                cells = cells.coarser()
        if kind == "grid" and cells is None:
            raise ValueError(
                f'sketch="grid" is for up to {MOST_DIMENSIONS} features: in more, a cell has hardly two rows in it. '
                'Take sketch="sample".'
            )
        if cells is None or kind == "sample" or (kind == "auto" and (self.sample.whole or cells.side > WIDEST * h)):
            return SketchPoints(self.sample, self.sample.rows, self.sample.counts, None, self.weight)
        return SketchPoints(cells, cells.means, cells.counts, cells.side / h, self.weight)


@dataclass(frozen=True, eq=False)
class SketchPoints:
    """Weighted points that stand for many rows.

    Attributes
    ----------
    source : GridCells or Sample
        Where they come from.
    points : (m, d) array
        Means of cells, or rows of a sample.
    weights : (m,) array
        Weight of the rows in each cell, or of the copies of each row.
    resolution : float or None
        Side of a cell over the smallest bandwidth; None for a sample.
    weight : float
        Weight of all rows that are stood for.
    """

    source: GridCells | Sample
    points: Array
    weights: Array
    resolution: float | None
    weight: float

    def find(self, rows: Array, n_jobs: int | None = None) -> IntArray:
        """Return for each row the number of the point that stands for it: that of its cell, or else the nearest."""
        if isinstance(self.source, Sample):
            return self.source.find(rows, n_jobs)
        found = self.source.find(rows)
        strange = np.flatnonzero(found < 0)
        if len(strange):
            found[strange] = nearest(self.points, rows[strange].astype(np.float64), n_jobs=n_jobs)
        return found

    def __str__(self) -> str:
        if self.resolution is None:
            return f"{len(self.points):,} of {self.weight:,.0f} rows, drawn by a hash"
        return f"{len(self.points):,} cells for {self.weight:,.0f} rows, each h_min / {1 / self.resolution:.0f} wide"


def _restore_points(source: GridCells | Sample, resolution: float | None, weight: float) -> SketchPoints:
    points = source.rows if isinstance(source, Sample) else source.means
    require(is_real(points, 2), "the points of a sketch")
    return SketchPoints(source, points, source.counts, resolution, weight)


# points and weights are computed from the source
STORED_PARTS = {"source": GridCells | Sample, "resolution": float | None, "weight": float}
storable(parts=STORED_PARTS, make=_restore_points)(SketchPoints)
