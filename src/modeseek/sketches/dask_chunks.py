"""Functions that Dask's workers run on one chunk of a collection: check its values, sketch it, label its rows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from modeseek._common.sphere import place_on_sphere
from modeseek._common.types import Array
from modeseek._common.validation import check_weights
from modeseek.sketches.sketch import Sketch, SketchLayout

# returns a value for each row, for example its label
Labeler: TypeAlias = Callable[[Array], Array]


class DaskChunk(NamedTuple):
    """The position of a chunk in its collection, for error messages, and the settings for its rows.

    Attributes
    ----------
    number : int
        Index of the chunk in its collection.
    start : int or None
        Index of the first row of the chunk in the collection; None if unknown.
    names : tuple of str or None
        Names of the columns; None for arrays.
    metric : str
        Metric of the estimator. Under "cosine" and "haversine", rows become unit vectors.
    """

    number: int
    start: int | None
    names: tuple[str, ...] | None
    metric: str

    def check(self, rows: Any, weights: Any = None) -> tuple[Array, Array | None]:
        """Return rows and weights as arrays; raise ValueError for values that are missing or infinite."""
        rows = np.asarray(rows)
        if not np.isfinite(rows).all():
            raise ValueError(self._bad_value(rows))
        if weights is None:
            return rows, None
        with self.named():
            return rows, check_weights(np.asarray(weights), len(rows), some=False)

    def prepare(self, rows: Array) -> Array:
        """Return rows as they are clustered: unit vectors under `metric="cosine"` and "haversine"."""
        if self.metric == "euclidean" or not len(rows):
            return rows
        with self.named():
            return place_on_sphere(rows, self.metric)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Name the partition in the message of a `ValueError`."""
        try:
            yield
        except ValueError as error:
            raise ValueError(f"partition {self.number}: {error}") from None

    def _bad_value(self, rows: Array) -> str:
        missing = np.isnan(rows)
        what, bad = ("NaN", missing) if missing.any() else ("infinity", ~np.isfinite(rows))
        row, column = (int(i) for i in np.argwhere(bad)[0])
        place = f"row {row:,} of partition {self.number:,}"
        if self.start is not None:
            place += f" (row {self.start + row:,} of all)"
        name = str(column) if self.names is None else repr(self.names[column])
        return (
            f"Input X contains {what}: {place}, column {name}, is the first in this partition, in "
            f"{int(bad.any(axis=1).sum()):,} of its {len(rows):,} rows. Drop these rows or fill them first, with "
            "dropna() or fillna() of a Dask data frame."
        )


class FirstRows(NamedTuple):
    """The first rows of a chunk or of a collection.

    Attributes
    ----------
    rows : (m, d) array
    weights : (m,) array or None
    n_rows : int
        Number of rows of the chunk, or of all chunks that were read, which may be more than m.
    n_present : int
        Number of the `n_rows` rows that have a positive weight.
    whole : bool
        Whether `rows` has all rows of the collection.
    """

    rows: Array
    weights: Array | None
    n_rows: int
    n_present: int
    whole: bool = False


def frame_values(chunk: Any, dtype: np.dtype) -> Array:
    """Return a pandas data frame as an array of numbers."""
    try:
        return chunk.to_numpy(dtype, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise _not_numbers(error) from None


def object_values(chunk: Any, dtype: np.dtype) -> Array:
    """Return an array of objects as an array of numbers."""
    try:
        return np.asarray(chunk).astype(dtype)
    except (TypeError, ValueError) as error:
        raise _not_numbers(error) from None


def _not_numbers(error: Exception) -> ValueError:
    return ValueError(f"X must contain only numbers: {error}. Drop text columns or encode them (OneHotEncoder).")


def first_rows(chunk: DaskChunk, n: int, rows: Any, weights: Any = None) -> FirstRows:
    """Return the first rows of a chunk, up to the n-th row with a positive weight."""
    rows, weights = chunk.check(rows, weights)
    if weights is None:
        return FirstRows(rows[:n], None, len(rows), len(rows))
    present = np.cumsum(weights > 0)
    cut = int(np.searchsorted(present, n)) + 1 if n else 0
    return FirstRows(rows[:cut], weights[:cut], len(rows), int(present[-1]) if len(rows) else 0)


def sketch_chunk(chunk: DaskChunk, layout: SketchLayout, level: int, rows: Any, weights: Any = None) -> Sketch:
    """Return the sketch of a chunk, with grid cells of the given level or coarser; rows of weight 0 are left out."""
    rows, weights = chunk.check(rows, weights)
    rows, sketch = chunk.prepare(rows), layout.empty()
    if sketch.cells is not None:
        sketch = replace(sketch, cells=replace(sketch.cells, level=level))
    if weights is None:
        return sketch.add(rows)
    return sketch.add(rows[weights > 0], weights[weights > 0])


def grid_level(sketch: Sketch) -> int:
    """Return the level of the grid cells, 0 without a grid. Adding rows can only increase it."""
    return 0 if sketch.cells is None else sketch.cells.level


def merge_sketches(sketches: Sequence[Sketch]) -> Sketch:
    """Merge several sketches into one sketch of all their rows."""
    return reduce(Sketch.merge, sketches)


def label_chunk(
    rows: Any, labeler: Labeler, names: tuple[str, ...] | None, metric: str, block_id: tuple[int, ...] = (0,)
) -> Array:
    """Return `labeler(rows)` for the rows of a chunk; Dask passes the index of the chunk as `block_id`."""
    chunk = DaskChunk(block_id[0], None, names, metric)
    rows, _ = chunk.check(rows)
    with nullcontext() if metric == "euclidean" else chunk.named():
        return labeler(rows)
