"""A clustering to report on: the fitted model, its rows as clustered and as they came, and what they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_integer, check_state
from modeseek.estimators.display import DOUBTFUL

__all__ = ["Extra", "Subject", "subject_of"]

# a cell is cut beyond this: a page is no place for whole texts
LONGEST_CELL = 80


class Extra(NamedTuple):
    """A column that was not clustered by, as text."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Subject:
    """A clustering to report on.

    Attributes
    ----------
    model : object
        The fitted estimator.
    X : (n, d) array
        Rows as they were clustered; under cosine, of length 1.
    original : (n, d) array
        The same rows in their own units.
    features : tuple of str
        Names of the columns of both.
    row_names : tuple of str or None
        Names of the rows; None where they are numbers.
    first_row : int
        Number of the first row.
    extra : tuple of Extra
        Columns to show that were not clustered by.
    clusters : tuple of str
        Names of the clusters.
    labels : (n,) integer array
        Place of each row's cluster in `clusters`; -1 is noise.
    confidence : (n,) array or None
        How sure each row is of its cluster, where the model tells.
    """

    model: Any
    X: Array
    original: Array
    features: tuple[str, ...]
    row_names: tuple[str, ...] | None
    first_row: int
    extra: tuple[Extra, ...]
    clusters: tuple[str, ...]
    labels: IntArray
    confidence: Array | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def sizes(self) -> IntArray:
        """Rows of each cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self.clusters))

    @property
    def n_noise(self) -> int:
        """Rows of no cluster."""
        return int((self.labels < 0).sum())

    @property
    def doubtful(self) -> NDArray[np.bool_]:
        """Rows of a cluster that are not sure of it; none where nothing tells."""
        if self.confidence is None:
            return np.zeros(self.n_rows, dtype=bool)
        return (self.confidence < DOUBTFUL) & (self.labels >= 0)

    def row(self, i: int) -> str:
        """Return what a row is called."""
        return self.row_names[i] if self.row_names is not None else f"row {i + self.first_row:,}"


def subject_of(
    model: Any,
    X: ArrayLike,
    *,
    original: ArrayLike | None,
    feature_names: Sequence[str] | None,
    row_names: Sequence[Any] | None,
    extra: Mapping[str, Sequence[Any]] | None,
    first_row: int,
) -> Subject:
    """Check what `write_report` was given, and put it together."""
    check_is_fitted(model, "labels_")
    named = X if original is None else original
    rows = check_state(X, name="X").astype(np.float64)
    own = rows if original is None else check_state(original, name="original").astype(np.float64)
    if own.shape != rows.shape:
        raise ValueError(f"original has shape {own.shape}, but X {rows.shape}: give the same rows and columns.")
    given = np.asarray(model.labels_)
    if given.shape != (len(rows),):
        raise ValueError(
            f"X has {len(rows):,} rows, but the model was fitted on {len(given):,}: give those that it was fitted on."
        )
    if getattr(model, "metric", None) == "cosine":
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(length > 0, length, 1.0)
    found = np.unique(given[given >= 0])
    confidence = getattr(model, "confidence_", None)
    return Subject(
        model,
        rows,
        own,
        _features(feature_names, named, rows.shape[1]),
        _rows(row_names, named, len(rows)),
        check_integer("first_row", first_row, low=0),
        _extra(extra, len(rows)),
        tuple(str(label) for label in found),
        np.where(given >= 0, np.searchsorted(found, given), -1),
        None if confidence is None else np.asarray(confidence, dtype=np.float64),
    )


def _features(names: Sequence[str] | None, table: Any, n_features: int) -> tuple[str, ...]:
    if names is None:
        # of a DataFrame
        names = getattr(table, "columns", None)
    if names is None:
        return tuple(f"feature {j}" for j in range(n_features))
    if len(names) != n_features:
        raise ValueError(f"feature_names must name the {n_features} features of X; got {len(names)}.")
    return tuple(str(name) for name in names)


def _rows(names: Sequence[Any] | None, table: Any, n_rows: int) -> tuple[str, ...] | None:
    if names is None:
        index = getattr(table, "index", None)
        # a DataFrame's own index, unless it only counts
        if index is None or callable(index) or type(index).__name__ == "RangeIndex":
            return None
        names = list(index)
    if len(names) != n_rows:
        raise ValueError(f"row_names must name the {n_rows:,} rows of X; got {len(names):,}.")
    return tuple(map(_cell, names))


def _extra(columns: Mapping[str, Sequence[Any]] | None, n_rows: int) -> tuple[Extra, ...]:
    if columns is None:
        return ()
    if not hasattr(columns, "items"):
        raise TypeError(f"extra must be a dict of columns or a pandas DataFrame; got {type(columns).__name__}.")
    taken = []
    for name, column in columns.items():
        cells = list(column)
        if len(cells) != n_rows:
            raise ValueError(f"extra[{name!r}] must have {n_rows:,} entries, one for each row; got {len(cells):,}.")
        taken.append(Extra(str(name), tuple(map(_cell, cells))))
    return tuple(taken)


def _cell(value: Any) -> str:
    # NaN is the only value that differs from itself
    if value is None or (isinstance(value, float | np.floating) and value != value):
        return ""
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"
