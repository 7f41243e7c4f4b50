"""Sketches: summaries of many rows, made in one pass, and the weighted points that stand for these rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from modeseek._common.neighbors import nearest
from modeseek._common.storable import is_real, require, storable
from modeseek._common.types import Array, IntArray
from modeseek.sketches.grid import Grid, GridCells
from modeseek.sketches.sample import Sample


@dataclass(frozen=True)
class SketchConfig:
    """Settings of sketches.

    Attributes
    ----------
    max_rows : int
        Number of rows above which `sketch="auto"` uses a sketch.
    layout_rows : int
        Number of first rows from which the grid is derived.
    max_dimensions : int
        Largest number of dimensions with a grid. In more dimensions, most cells would have one row.
    max_cells : int
        Largest number of cells.
    sample_rows : int
        Largest number of sampled rows.
    max_cell_width : float
        Largest side of a cell, as a multiple of the smallest bandwidth. If cells are wider, a sample is more accurate.

    Examples
    --------
    >>> SketchConfig().max_rows
    50000
    """

    max_rows: int = 50_000
    layout_rows: int = 65_536
    max_dimensions: int = 6
    max_cells: int = 200_000
    sample_rows: int = 20_000
    max_cell_width: float = 1 / 4


DEFAULT = SketchConfig()


class SketchLayout(NamedTuple):
    """The grid and the sample size that all parts of a data set share, so that their sketches can be merged.

    Attributes
    ----------
    grid : Grid or None
        None if there are more features than `SketchConfig.max_dimensions`.
    sample_size : int
        Largest number of sampled rows.
    n_features : int
    """

    grid: Grid | None
    sample_size: int
    n_features: int

    @classmethod
    def of(cls, first: Array, config: SketchConfig = DEFAULT) -> SketchLayout:
        """Return the layout for data that start with the rows `first`."""
        d = first.shape[1]
        grid = Grid.of(first[: config.layout_rows], config.max_cells) if d <= config.max_dimensions else None
        return cls(grid, config.sample_rows, d)

    def empty(self) -> Sketch:
        """Return a sketch without rows."""
        sample = Sample.empty(self.sample_size, self.n_features)
        return Sketch(None if self.grid is None else self.grid.empty(), sample)


def _check_sketch(sketch: Sketch) -> None:
    d = sketch.sample.rows.shape[1]
    require(
        sketch.cells is None or sketch.cells.keys.shape[1] == d <= DEFAULT.max_dimensions, "the dimensions of a sketch"
    )


@storable(_check_sketch)
@dataclass(frozen=True, eq=False)
class Sketch:
    """A summary of rows: grid cells and a random sample.

    Attributes
    ----------
    cells : GridCells or None
        None if there are more features than `SketchConfig.max_dimensions`.
    sample : Sample

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> layout = SketchLayout.of(rows, SketchConfig())
    >>> one, two = layout.empty().add(rows[:400]), layout.empty().add(rows[400:])
    >>> one.merge(two).weight
    1000.0
    """

    cells: GridCells | None
    sample: Sample

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return self.sample.weight

    def add(self, rows: Array, weights: Array | None = None) -> Sketch:
        """Return the sketch after rows are added."""
        cells = None if self.cells is None else self.cells.add(rows, weights)
        return Sketch(cells, self.sample.add(rows, weights))

    def merge(self, other: Sketch) -> Sketch:
        """Return the sketch of the rows of both sketches; their order does not matter."""
        cells = None if self.cells is None or other.cells is None else self.cells.merge(other.cells)
        return Sketch(cells, self.sample.merge(other.sample))

    def discounted(self, factor: float) -> Sketch:
        """Return the sketch with weights multiplied by `factor`; weights that fall below 0.5 are dropped."""
        cells = None if self.cells is None else self.cells.discounted(factor)
        return Sketch(cells, self.sample.discounted(factor))

    def points(self, h: float, resolution: float, kind: str = "auto", config: SketchConfig = DEFAULT) -> SketchPoints:
        """Return weighted points that stand for all rows.

        Parameters
        ----------
        h : float
            The smallest bandwidth.
        resolution : float
            Largest side of a cell, as a multiple of h. Cells are joined up to this side. They may be wider because of
            the limit on the number of cells; `SketchPoints.resolution` is the actual side.
        kind : {"auto", "grid", "sample"}
            "auto" uses the sample if it has all distinct rows, if there are no cells, or if cells are wider than
            `config.max_cell_width` * h.
        config : SketchConfig
        """
        cells, sample = self.cells, self.sample
        if cells is not None:
            while 2 * cells.side <= resolution * h:
                cells = cells.coarser()
        if kind == "grid" and cells is None:
            raise ValueError(
                f'sketch="grid" supports up to {config.max_dimensions} features: with more, most cells would have one '
                'row. Use sketch="sample".'
            )
        if kind == "auto" and cells is not None:
            kind = "sample" if sample.whole or cells.side > config.max_cell_width * h else "grid"
        if cells is None or kind == "sample":
            return SketchPoints(sample, sample.rows, sample.counts, None, self.weight)
        return SketchPoints(cells, cells.means, cells.counts, cells.side / h, self.weight)


@dataclass(frozen=True, eq=False)
class SketchPoints:
    """Weighted points that stand for many rows.

    Attributes
    ----------
    source : GridCells or Sample
        The cells or the sample that the points are made from.
    points : (m, d) array
        Means of cells, or sampled rows.
    weights : (m,) array
        Weight of the rows in each cell, or of the copies of each sampled row.
    resolution : float or None
        Side of a cell, as a multiple of the smallest bandwidth; None for a sample.
    weight : float
        Weight of all rows.

    Examples
    --------
    >>> rows = np.array([[0.0], [0.0], [1.0]])
    >>> points = SketchLayout.of(rows, SketchConfig()).empty().add(rows).points(1.0, 1.0, "sample")
    >>> points.points.shape, sorted(points.weights.tolist())
    ((2, 1), [1.0, 2.0])
    """

    source: GridCells | Sample
    points: Array
    weights: Array
    resolution: float | None
    weight: float

    def find(self, rows: Array, n_jobs: int | None = None) -> IntArray:
        """Return the index of the point that stands for each row: the point of its cell, or the nearest point."""
        if isinstance(self.source, Sample):
            return self.source.find(rows, n_jobs)
        found = self.source.find(rows)
        outside = np.flatnonzero(found < 0)
        if len(outside):
            found[outside] = nearest(self.points, rows[outside].astype(np.float64), n_jobs=n_jobs)
        return found

    def without_weights(self) -> SketchPoints:
        """Return a smaller copy with only what `find` needs."""
        empty = np.empty(0)
        source = self.source
        if isinstance(source, GridCells):
            source = replace(source, counts=empty, sums=empty)
        return replace(self, source=source, weights=empty)

    def __str__(self) -> str:
        if self.resolution is None:
            return f"a random sample of {len(self.points):,} of {self.weight:,.0f} rows"
        return f"{len(self.points):,} cells for {self.weight:,.0f} rows, each h_min / {1 / self.resolution:.0f} wide"


def _restore_points(source: GridCells | Sample, resolution: float | None, weight: float) -> SketchPoints:
    points = source.rows if isinstance(source, Sample) else source.means
    require(is_real(points, 2), "the points of a sketch")
    return SketchPoints(source, points, source.counts, resolution, weight)


# only these parts are stored, because points and weights are computed from the source
STORED_PARTS = {"source": GridCells | Sample, "resolution": float | None, "weight": float}
storable(parts=STORED_PARTS, make=_restore_points)(SketchPoints)
