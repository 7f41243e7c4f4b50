"""Dask: workers survey their partitions, surveys are merged in a tree, and labels are lazy arrays.

Dask is imported only once something of its kind comes in.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from joblib import parallel_config

from modeseek._common.types import Array
from modeseek.sketches.blocks import (
    Block,
    Head,
    Labeler,
    head_of,
    label_part,
    level_of,
    merge_all,
    numbers_of,
    survey_of,
)
from modeseek.sketches.sketch import LAYOUT_ROWS, MOST_DIMENSIONS, Sketch, SketchLayout

__all__ = ["DaskError", "DaskRows", "First", "dask_errors", "is_dask", "joblib_on_dask"]

# so many surveys are merged by one task
MERGED = 8
PACKAGES = ("dask", "dask_expr")
# errors of dask.distributed, by name: it need not be there
LOST = ("FutureCancelledError", "CancelledError", "CommClosedError", "TimeoutError", "ClosedClientError")


MESSAGES = {
    "scheduler": "Dask's scheduler is gone or was restarted, and with it what workers had counted. Start it again, "
    "connect (dask.distributed.Client(address)), and call fit again: it begins anew, with the same result.",
    "workers": "Dask's workers died again and again over one partition, most likely for want of memory. Take smaller "
    "partitions (X.rechunk, X.repartition) or give workers more memory, and call fit again.",
    "modeseek": "Dask's scheduler or its workers cannot read the tasks: install the same modeseek there as here.",
}


class DaskError(RuntimeError):
    """Dask's workers or their scheduler are gone, or lack modeseek; the message says which, and what to do.

    Attributes
    ----------
    what : str
        "scheduler", "workers" or "modeseek".
    """

    def __init__(self, message: str, what: str):
        super().__init__(message)
        self.what = what


def is_dask(X: object) -> bool:
    """Tell whether something comes from Dask, by the names of its classes: who has no Dask need not have it.

    Examples
    --------
    >>> is_dask(np.zeros(3))
    False
    """
    return any(kind.__module__.partition(".")[0] in PACKAGES for kind in type(X).__mro__)


class First(NamedTuple):
    """The first rows of a distributed data set.

    Attributes
    ----------
    rows : (m, d) array
    weights : (m,) array or None
    whole : bool
        Whether these are all rows.
    """

    rows: Array
    weights: Array | None
    whole: bool


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Rows in partitions, and their weights.

    Attributes
    ----------
    rows : dask.array of shape (n, d)
        Chunked by rows; n may be unknown.
    weights : dask.array of shape (n,) or None
        In the same chunks.
    names : tuple of str or None
        Names of the columns.
    spherical : bool
        Whether rows are scaled to unit length.
    """

    rows: Any
    weights: Any
    names: tuple[str, ...] | None
    spherical: bool

    @classmethod
    def of(cls, X: Any, sample_weight: Any = None, *, spherical: bool = False) -> DaskRows:
        """Return the rows of a `dask.array` or `dask.dataframe`."""
        kinds = {kind.__name__ for kind in type(X).__mro__}
        if "DataFrame" in kinds:
            rows, names = _rows_of_frame(X), tuple(str(name) for name in X.columns)
        elif "Array" in kinds:
            rows, names = _rows_of_array(X), None
        else:
            raise TypeError(f"X must be a dask.array or a dask.dataframe; got Dask's {type(X).__name__}.")
        return cls(rows, _weights(sample_weight, rows), names, spherical)

    def first(self, many: int) -> First:
        """Return all rows if there are no more than `many`, or else those that a plan is made from.

        Only as many partitions are read as it takes. Above six dimensions a plan needs no rows, and there are none.
        """
        most = max(LAYOUT_ROWS, many) if self.rows.shape[1] <= MOST_DIMENSIONS else 0
        parts = self.parts()
        heads: list[Head] = []
        ahead = 1
        while len(heads) < len(parts) and (
            sum(head.n for head in heads) <= many or sum(head.n_present for head in heads) < min(most, LAYOUT_ROWS)
        ):
            heads += _apply(head_of, parts[len(heads) : len(heads) + ahead], most)
            ahead *= 2
        whole = len(heads) == len(parts) and sum(head.n for head in heads) <= many
        if whole and not most:
            heads = _apply(head_of, parts, many)
        weights = None if self.weights is None else np.concatenate([head.weights for head in heads])
        return First(np.concatenate([head.rows for head in heads]), weights, whole)

    def survey(self, plan: SketchLayout) -> Sketch:
        """Return the survey of all rows: one for each partition, merged in a tree by the workers."""
        from dask import delayed

        (part, *rows), *others = self.parts()
        first = delayed(partial(survey_of, part, plan, 0), pure=False)(*rows)
        # the first partition finds out how coarse cells must be, so that the others need not go all the way
        level = delayed(level_of, pure=False)(first)
        work = [delayed(partial(survey_of, part, plan), pure=False) for part, *_ in others]
        surveys = [first, *(survey(level, *rows) for survey, (_, *rows) in zip(work, others, strict=True))]
        merge = delayed(merge_all, pure=False)
        while len(surveys) > 1:
            surveys = [merge(surveys[at : at + MERGED]) for at in range(0, len(surveys), MERGED)]
        return surveys[0].compute()

    def label(self, labeller: Labeler) -> Any:
        """Return a lazy array with an entry for each row, in the chunks of the rows."""
        from dask import delayed

        # a task of its own: it is sent to each worker once, and not with each chunk
        shared = delayed(labeller, name=f"labeller-{uuid4().hex}", traverse=False)
        kind = labeller.values.dtype
        return self.rows.map_blocks(
            label_part, shared, self.names, self.spherical, drop_axis=1, dtype=kind, meta=np.empty(0, kind)
        )

    def parts(self) -> list[tuple[Any, ...]]:
        """Return for each partition its place, its rows and its weights, the last two to come."""
        rows = self.rows.to_delayed()[:, 0]
        weights = [()] * len(rows) if self.weights is None else [(each,) for each in self.weights.to_delayed()]
        starts = np.concatenate([[0.0], np.cumsum(self.rows.chunks[0])[:-1]])
        places = [
            Block(number, None if np.isnan(start) else int(start), self.names, self.spherical)
            for number, start in enumerate(starts)
        ]
        return [(place, block, *weight) for place, block, weight in zip(places, rows, weights, strict=True)]


@contextmanager
def dask_errors() -> Iterator[None]:
    """Turn what Dask raises where workers or schedulers die into `DaskError`."""
    try:
        yield
    except Exception as error:
        what = _blamed(error)
        if what is None:
            raise
        raise DaskError(f"{MESSAGES[what]} What Dask says: {error}", what) from error


def _blamed(error: Exception) -> str | None:
    """Return what is to blame for an error, None if it is not Dask's."""
    if "deserialization of the task graph" in str(error) or getattr(error, "name", None) == "modeseek":
        return "modeseek"
    if not type(error).__module__.startswith(("distributed", "asyncio", "concurrent")):
        return None
    if type(error).__name__ == "KilledWorker":
        return "workers"
    return "scheduler" if type(error).__name__ in LOST else None


def joblib_on_dask() -> AbstractContextManager[Any]:
    """Have joblib's jobs go to Dask's workers, where there is a client."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return nullcontext()
    try:
        distributed.get_client()
    except ValueError:
        return nullcontext()
    return parallel_config("dask")


def _apply(function: Any, parts: list[tuple[Any, ...]], argument: Any) -> list[Any]:
    from dask import compute, delayed

    return list(compute(*[delayed(partial(function, part, argument), pure=False)(*rows) for part, *rows in parts]))


def _rows_of_array(X: Any) -> Any:
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead: X has shape {X.shape}. "
            "Reshape your data with X.reshape(-1, 1) if it is one feature."
        )
    if np.isnan(X.shape[1]) or not X.shape[1]:
        raise ValueError(f"X has shape {X.shape}: the number of columns must be known, and not 0.")
    if X.dtype.kind not in "fiubO":
        raise ValueError(f"X must hold real numbers; it is of dtype {X.dtype}. Leave other columns out or encode them.")
    rows = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    kind = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    if X.dtype.kind == "O":
        return rows.map_blocks(numbers_of, kind, dtype=kind, meta=np.empty((0, 0), kind))
    return rows.astype(kind)


def _rows_of_frame(X: Any) -> Any:
    from pandas.api.types import is_complex_dtype, is_numeric_dtype, is_object_dtype

    kinds = dict(X.dtypes.items())
    if not kinds:
        raise ValueError("X has no columns: give it at least one.")
    for name, kind in kinds.items():
        # objects may be numbers: partitions will tell
        if not is_object_dtype(kind) and (not is_numeric_dtype(kind) or is_complex_dtype(kind)):
            raise ValueError(
                f"X must hold numbers only: column {str(name)!r} is of type {kind}. "
                "Leave text columns out or encode them (OneHotEncoder)."
            )
    # as NumPy and scikit-learn would have it for the whole frame in memory
    found = np.result_type(*[getattr(kind, "numpy_dtype", kind) for kind in kinds.values()])
    dtype = found if found in (np.float32, np.float64) else np.dtype(np.float64)
    return X.map_partitions(numbers_of, dtype, meta=np.empty((0, len(kinds)), dtype))


def _weights(given: Any, rows: Any) -> Any:
    """Return weights in the chunks of the rows."""
    if given is None:
        return None
    import dask.array as da

    known = not np.isnan(rows.shape[0])
    if isinstance(given, Real):
        return rows[:, 0].map_blocks(np.full_like, float(given), dtype=np.float64)
    if hasattr(given, "to_dask_array"):
        given = given.to_dask_array()
    if not is_dask(given):
        if not known:
            raise ValueError("sample_weight must be of Dask too where the partitions of X have no known length.")
        given = da.from_array(np.asarray(given), chunks=-1)
    if given.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; sample_weight has shape {given.shape}.")
    if known and not np.isnan(given.shape[0]):
        if given.shape[0] != rows.shape[0]:
            raise ValueError(
                f"sample_weight.shape == {given.shape}, expected {rows.shape[:1]}: give one weight for each row of X."
            )
        return given.rechunk(rows.chunks[:1])
    if given.numblocks[0] != rows.numblocks[0]:
        raise ValueError(
            f"sample_weight has {given.numblocks[0]} partitions where X has {rows.numblocks[0]}: "
            "cut both in the same way."
        )
    return given
