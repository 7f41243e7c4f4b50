"""What is done with one partition of a larger data set, wherever it lies: checked, looked at, surveyed, labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from modeseek._common.neighbors import nearest
from modeseek._common.points import Points, unit_rows
from modeseek._common.types import Array
from modeseek._common.validation import check_weights
from modeseek.sketches.grid import GridCells
from modeseek.sketches.sketch import Sketch, SketchLayout, SketchPoints

__all__ = ["Block", "Head", "Labeler", "head_of", "label_part", "level_of", "merge_all", "numbers_of", "survey_of"]


class Block(NamedTuple):
    """Which partition it is.

    Attributes
    ----------
    number : int
    start : int or None
        Row of the whole that it begins with, where that is known.
    names : tuple of str or None
        Names of the columns.
    spherical : bool
        Whether rows are scaled to unit length.
    """

    number: int
    start: int | None
    names: tuple[str, ...] | None
    spherical: bool

    def check(self, rows: Any, weights: Any = None) -> tuple[Array, Array | None]:
        """Return rows and weights as arrays; raise where a number is missing, with its place."""
        rows = np.asarray(rows)
        if not np.isfinite(rows).all():
            raise ValueError(self._bad_number(rows))
        if weights is None:
            return rows, None
        try:
            return rows, check_weights(np.asarray(weights), len(rows), some=False)
        except ValueError as error:
            raise ValueError(f"partition {self.number}: {error}") from None

    def place(self, rows: Array) -> Array:
        """Return rows as they are counted: of unit length under cosine."""
        if not self.spherical or not len(rows):
            return rows
        try:
            return unit_rows(rows)
        except ValueError as error:
            raise ValueError(f"partition {self.number}: {error}") from None

    def _bad_number(self, rows: Array) -> str:
        missing = np.isnan(rows)
        what, bad = ("NaN", missing) if missing.any() else ("infinity", ~np.isfinite(rows))
        row, column = (int(i) for i in np.argwhere(bad)[0])
        whole = "" if self.start is None else f", which is row {self.start + row:,} of all,"
        name = str(column) if self.names is None else repr(self.names[column])
        return (
            f"Input X contains {what}: row {row:,} of partition {self.number:,}{whole} column {name} is the first "
            f"there, in {int(bad.any(axis=1).sum()):,} of its {len(rows):,} rows. Drop these rows or fill them first, "
            "with dropna() or fillna() of a Dask data frame."
        )


class Head(NamedTuple):
    """How a partition begins: rows that it has, those that weigh anything, and the first of them."""

    n: int
    n_present: int
    rows: Array
    weights: Array | None


def numbers_of(part: Any, dtype: np.dtype) -> Array:
    """Return a partition of a data frame, or of objects, as numbers."""
    try:
        return part.to_numpy(dtype, na_value=np.nan) if hasattr(part, "to_numpy") else np.asarray(part).astype(dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X must hold numbers only: {error}. Leave text columns out or encode them (OneHotEncoder)."
        ) from None


def head_of(part: Block, most: int, rows: Any, weights: Any = None) -> Head:
    """Return the first rows, `most` of which weigh anything if there are so many."""
    rows, weights = part.check(rows, weights)
    if weights is None:
        return Head(len(rows), len(rows), rows[:most], None)
    present = np.cumsum(weights > 0)
    cut = int(np.searchsorted(present, most)) + 1 if most else 0
    return Head(len(rows), int(present[-1]) if len(rows) else 0, rows[:cut], weights[:cut])


def survey_of(part: Block, plan: SketchLayout, level: int, rows: Any, weights: Any = None) -> Sketch:
    """Return the survey of a partition, with cells of at least this level; rows of weight 0 take no part."""
    rows, weights = part.check(rows, weights)
    rows, survey = part.place(rows), plan.begin()
    if survey.cells is not None:
        survey = replace(survey, cells=replace(survey.cells, level=level))
    if weights is None:
        return survey.add(rows)
    present = weights > 0
    return survey.add(rows[present], weights[present])


def level_of(survey: Sketch) -> int:
    """Return how coarse the cells had to be: more rows take no finer ones."""
    return 0 if survey.cells is None else survey.cells.level


def merge_all(surveys: Sequence[Sketch]) -> Sketch:
    """Return the survey of the rows of all."""
    merged = surveys[0]
    for survey in surveys[1:]:
        merged = merged.merge(survey)
    return merged


@dataclass(frozen=True, eq=False)
class Labeler:
    """What a fit knows of labels, small enough to be sent around: an entry for each point that rows are brought to.

    Attributes
    ----------
    finder : SketchPoints or Points
        A row goes to the point that stands for it, or to the nearest.
    values : (m,) array
        The entries.
    """

    finder: SketchPoints | Points
    values: Array

    def label(self, part: Block, rows: Array) -> Array:
        """Return the entry of each row."""
        if not len(rows):
            return self.values[:0]
        if isinstance(self.finder, SketchPoints):
            return self.values[self.finder.find(part.place(rows))]
        # under cosine these are scaled already, and once more is once too often for the last bit
        placed = part.place(rows) if part.spherical else self.finder.to_canonical(rows)
        return self.values[nearest(self.finder.values, placed)]

    def __getstate__(self) -> dict[str, Any]:
        finder = self.finder
        if isinstance(finder, Points):
            finder = finder._replace(inverse=np.empty(0, np.intp), weights=np.empty(0))
        elif isinstance(finder.source, GridCells):
            # what cells hold is no longer asked for, only where they are
            keys = finder.source.keys
            low = keys.min(axis=0)
            small = (keys - low).astype(np.min_scalar_type(int((keys - low).max())))
            cells = replace(finder.source, keys=small, counts=low, sums=np.empty(0))
            finder = replace(finder, source=cells, weights=np.empty(0))
        return {"finder": finder, "values": self.values}

    def __setstate__(self, state: dict[str, Any]) -> None:
        finder = state["finder"]
        if isinstance(finder, SketchPoints) and isinstance(finder.source, GridCells):
            cells = finder.source
            keys = cells.keys.astype(np.int64) + cells.counts
            cells = replace(cells, keys=keys, counts=np.zeros(len(keys)), sums=np.zeros(keys.shape))
            finder = replace(finder, source=cells)
        object.__setattr__(self, "finder", finder)
        object.__setattr__(self, "values", state["values"])


def label_part(
    rows: Any, labeller: Labeler, names: tuple[str, ...] | None, spherical: bool, block_id: tuple[int, ...] = (0,)
) -> Array:
    """Return the entries of a partition's rows."""
    part = Block(block_id[0], None, names, spherical)
    return labeller.label(part, part.check(rows)[0])
