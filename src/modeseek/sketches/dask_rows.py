"""Rows of Dask collections: workers sketch their chunks, sketches are merged in a tree, labels are lazy arrays.

Dask is imported only if a Dask collection is passed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any
from uuid import uuid4

import numpy as np
from joblib import parallel_config

from modeseek.sketches.dask_chunks import (
    DaskChunk,
    FirstRows,
    Labeler,
    first_rows,
    frame_values,
    grid_level,
    label_chunk,
    merge_sketches,
    object_values,
    sketch_chunk,
)
from modeseek.sketches.sketch import DEFAULT, Sketch, SketchConfig, SketchLayout

# number of sketches that one task merges
MERGED_TOGETHER = 8
DASK_PACKAGES = ("dask", "dask_expr")
# names of the errors that a lost scheduler causes; the classes cannot be imported without dask.distributed
LOST = ("FutureCancelledError", "CancelledError", "CommClosedError", "TimeoutError", "ClosedClientError")
MESSAGES = {
    "scheduler": "Dask's scheduler stopped or was restarted, and the work of its workers is lost. Start it again, "
    "connect with dask.distributed.Client(address), and call fit again; the result will be the same.",
    "workers": "Dask's workers died repeatedly on one partition, probably for lack of memory. Use smaller partitions "
    "(X.rechunk, X.repartition) or give the workers more memory, and call fit again.",
    "modeseek": "Dask's scheduler or workers cannot load the tasks: install the same version of modeseek there.",
}


class DaskError(RuntimeError):
    """Dask's workers or scheduler failed, or cannot import modeseek.

    Attributes
    ----------
    what : str
        What failed: "scheduler", "workers" or "modeseek".
    """

    def __init__(self, message: str, what: str):
        super().__init__(message)
        self.what = what


def is_dask(X: object) -> bool:
    """Return whether an object is a Dask collection, without importing Dask.

    Examples
    --------
    >>> is_dask(np.zeros(3))
    False
    """
    return any(cls.__module__.partition(".")[0] in DASK_PACKAGES for cls in type(X).__mro__)


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Rows of a Dask collection and their weights.

    Attributes
    ----------
    rows : dask.array of shape (n, d)
        Chunked by rows; n may be unknown.
    weights : dask.array of shape (n,) or None
        Weights of the rows, in the same chunks.
    names : tuple of str or None
        Names of the columns; None for arrays.
    metric : str
        Metric of the estimator. Under "cosine" and "haversine", rows become unit vectors.
    """

    rows: Any
    weights: Any
    names: tuple[str, ...] | None
    metric: str

    @classmethod
    def of(cls, X: Any, sample_weight: Any = None, *, metric: str = "euclidean") -> DaskRows:
        """Return the rows of a `dask.array` or a `dask.dataframe`."""
        classes = _class_names(X)
        if "DataFrame" in classes:
            rows, names = _frame_rows(X), tuple(str(name) for name in X.columns)
        elif "Array" in classes:
            rows, names = _array_rows(X), None
        else:
            raise TypeError(f"X must be a dask.array or a dask.dataframe; got Dask's {type(X).__name__}.")
        return cls(rows, _chunked_weights(sample_weight, rows), names, metric)

    def first(self, config: SketchConfig = DEFAULT) -> FirstRows:
        """Return all rows if there are at most `config.max_rows`; otherwise the first rows, which set the layout.

        Only as many chunks are read as necessary. In more than `config.max_dimensions` dimensions the layout
        (`SketchLayout`) has no grid and needs no rows; the result is then either all rows or none.
        """
        max_rows = config.max_rows
        n_layout = config.layout_rows if self.rows.shape[1] <= config.max_dimensions else 0
        n, chunks = max(n_layout, max_rows) if n_layout else 0, self.chunks()
        found: list[FirstRows] = []
        n_rows = n_present = 0
        while len(found) < len(chunks) and (n_rows <= max_rows or n_present < n_layout):
            # each step reads twice as many chunks as the one before
            found += _compute(first_rows, chunks[len(found) : 2 * len(found) + 1], n)
            n_rows, n_present = sum(each.n_rows for each in found), sum(each.n_present for each in found)
        whole = len(found) == len(chunks) and n_rows <= max_rows
        if whole and not n:
            found = _compute(first_rows, chunks, max_rows)
        weights = None if self.weights is None else np.concatenate([each.weights for each in found])
        return FirstRows(np.concatenate([each.rows for each in found]), weights, n_rows, n_present, whole)

    def sketch(self, layout: SketchLayout) -> Sketch:
        """Return the sketch of all rows: workers sketch each chunk, and merge the sketches in a tree."""
        from dask import delayed

        (chunk, *rows), *others = self.chunks()
        first = delayed(partial(sketch_chunk, chunk, layout, 0), pure=False)(*rows)
        # other chunks start at the level of the first one, instead of coarsening their cells from the finest level
        level = delayed(grid_level, pure=False)(first)
        sketches = [first]
        for chunk, *rows in others:
            sketches.append(delayed(partial(sketch_chunk, chunk, layout), pure=False)(level, *rows))
        merge = delayed(merge_sketches, pure=False)
        while len(sketches) > 1:
            sketches = [merge(sketches[at : at + MERGED_TOGETHER]) for at in range(0, len(sketches), MERGED_TOGETHER)]
        return sketches[0].compute()

    def label(self, labeler: Labeler, dtype: np.dtype) -> Any:
        """Return a lazy array with the value of each row, with the same chunks as the rows."""
        from dask import delayed

        # as a task of its own, the labeler is sent to each worker once, and not with every chunk
        shared = delayed(labeler, name=f"labeler-{uuid4().hex}", traverse=False)
        return self.rows.map_blocks(
            label_chunk, shared, self.names, self.metric, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype)
        )

    def chunks(self) -> list[tuple[Any, ...]]:
        """Return (chunk, rows) or (chunk, rows, weights) for each chunk; rows and weights are delayed."""
        rows = self.rows.to_delayed()[:, 0]
        weights = [()] * len(rows) if self.weights is None else [(each,) for each in self.weights.to_delayed()]
        starts = np.concatenate([[0.0], np.cumsum(self.rows.chunks[0])[:-1]])
        return [
            (DaskChunk(number, None if np.isnan(start) else int(start), self.names, self.metric), block, *weight)
            for number, (start, block, weight) in enumerate(zip(starts, rows, weights, strict=True))
        ]


@contextmanager
def dask_errors() -> Iterator[None]:
    """Turn the errors that Dask raises when workers or schedulers fail into `DaskError`."""
    try:
        yield
    except Exception as error:
        what = _cause(error)
        if what is None:
            raise
        raise DaskError(f"{MESSAGES[what]} Dask reports: {error}", what) from error


def _cause(error: Exception) -> str | None:
    """Return what failed, as in `DaskError.what`; None if the error does not come from Dask."""
    # Dask has no error type for a graph that the scheduler cannot load: it raises RuntimeError with this text
    if isinstance(error, RuntimeError) and "deserialization of the task graph" in str(error):
        return "modeseek"
    if isinstance(error, ModuleNotFoundError) and error.name == "modeseek":
        return "modeseek"
    if not type(error).__module__.startswith(("distributed", "asyncio", "concurrent")):
        return None
    if type(error).__name__ == "KilledWorker":
        return "workers"
    return "scheduler" if type(error).__name__ in LOST else None


def joblib_on_dask() -> AbstractContextManager[Any]:
    """Return a context in which joblib sends its jobs to Dask's workers, if a Dask client exists."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return nullcontext()
    try:
        distributed.get_client()
    except ValueError:
        return nullcontext()
    return parallel_config("dask")


def _class_names(X: Any) -> set[str]:
    return {cls.__name__ for cls in type(X).__mro__}


def _compute(function: Any, chunks: list[tuple[Any, ...]], argument: Any) -> list[Any]:
    from dask import compute, delayed

    return list(compute(*[delayed(partial(function, chunk, argument), pure=False)(*rows) for chunk, *rows in chunks]))


def _array_rows(X: Any) -> Any:
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead: X has shape {X.shape}. "
            "Reshape your data with X.reshape(-1, 1) if it is one feature."
        )
    if np.isnan(X.shape[1]) or not X.shape[1]:
        raise ValueError(f"X has shape {X.shape}: the number of columns must be known and positive.")
    if X.dtype.kind not in "fiubO":
        raise ValueError(f"X must contain real numbers; it has dtype {X.dtype}. Drop other columns or encode them.")
    rows = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    dtype = _float_dtype(X.dtype)
    if X.dtype.kind == "O":
        return rows.map_blocks(object_values, dtype, dtype=dtype, meta=np.empty((0, 0), dtype))
    return rows.astype(dtype)


def _frame_rows(X: Any) -> Any:
    from pandas.api.types import is_complex_dtype, is_numeric_dtype, is_object_dtype

    dtypes = dict(X.dtypes.items())
    if not dtypes:
        raise ValueError("X has no columns: give it at least one.")
    for name, dtype in dtypes.items():
        # a column of objects may contain numbers; this is checked when its chunks are read
        if not is_object_dtype(dtype) and (not is_numeric_dtype(dtype) or is_complex_dtype(dtype)):
            raise ValueError(
                f"X must contain only numbers: column {str(name)!r} has type {dtype}. "
                "Drop text columns or encode them (OneHotEncoder)."
            )
    # extension types of pandas have the NumPy type of their values as an attribute
    common = _float_dtype(np.result_type(*[getattr(dtype, "numpy_dtype", dtype) for dtype in dtypes.values()]))
    return X.map_partitions(frame_values, common, meta=np.empty((0, len(dtypes)), common))


def _float_dtype(dtype: Any) -> np.dtype:
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)


def _chunked_weights(weights: Any, rows: Any) -> Any:
    """Return the weights as a Dask array with the same chunks as `rows`, or None."""
    if weights is None:
        return None
    import dask.array as da

    known = not np.isnan(rows.shape[0])
    if isinstance(weights, Real):
        return rows[:, 0].map_blocks(np.full_like, float(weights), dtype=np.float64)
    if not is_dask(weights):
        if not known:
            raise ValueError("sample_weight must be a Dask collection if the partitions of X have unknown lengths.")
        weights = da.from_array(np.asarray(weights), chunks=-1)
    elif "Array" not in _class_names(weights):
        weights = weights.to_dask_array()
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; sample_weight has shape {weights.shape}.")
    if known and not np.isnan(weights.shape[0]):
        if weights.shape[0] != rows.shape[0]:
            raise ValueError(
                f"sample_weight.shape == {weights.shape}, expected {rows.shape[:1]}: give one weight for each row of X."
            )
        return weights.rechunk(rows.chunks[:1])
    if weights.numblocks[0] != rows.numblocks[0]:
        raise ValueError(
            f"sample_weight has {weights.numblocks[0]} partitions and X has {rows.numblocks[0]}: "
            "partition both in the same way."
        )
    return weights
