"""The data of a report: the result of a fit, the rows that were clustered, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from modeseek._common.points import unit_rows
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_integer, check_state
from modeseek.estimators.base import BaseClusterer
from modeseek.estimators.result import FitResult
from modeseek.estimators.table import DOUBTFUL

__all__ = ["ExtraColumn", "ReportData", "make_report_data"]

MAX_CELL_LENGTH = 80


class ExtraColumn(NamedTuple):
    """A column that was not used for clustering, as text."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ReportData:
    """A clustering to report on.

    Attributes
    ----------
    estimator : BaseEstimator
        The fitted estimator.
    result : FitResult or None
        Its result; None for estimators of other libraries, of which only the labels are known.
    X : (n, d) array
        The rows as they were clustered; of unit length if the metric is cosine.
    original : (n, d) array
        The same rows in their original units.
    features : tuple of str
        Names of the columns of both.
    row_names : tuple of str or None
        Names of the rows; None if they are numbered.
    first_row : int
        Number of the first row.
    extra : tuple of ExtraColumn
        Columns that were not used for clustering.
    cluster_labels : (n_clusters,) integer array
        The labels that occur, in ascending order, without noise.
    labels : (n,) integer array
        Index of each row's cluster in `cluster_labels`; -1 for noise.
    confidence : (n,) array or None
        Confidence of each row, if the estimator computes it.
    """

    estimator: BaseEstimator
    result: FitResult | None
    X: Array
    original: Array
    features: tuple[str, ...]
    row_names: tuple[str, ...] | None
    first_row: int
    extra: tuple[ExtraColumn, ...]
    cluster_labels: IntArray
    labels: IntArray
    confidence: Array | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.cluster_labels)

    @property
    def sizes(self) -> IntArray:
        """Number of rows of each cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @property
    def n_noise(self) -> int:
        """Number of noise rows."""
        return int((self.labels < 0).sum())

    @property
    def doubtful(self) -> NDArray[np.bool_]:
        """Whether each row is in a cluster with a confidence below `DOUBTFUL`."""
        if self.confidence is None:
            return np.zeros(self.n_rows, dtype=bool)
        return (self.confidence < DOUBTFUL) & (self.labels >= 0)

    def row_name(self, i: int) -> str:
        """Return the name of a row."""
        return self.row_names[i] if self.row_names is not None else f"row {i + self.first_row:,}"


def make_report_data(
    estimator: BaseEstimator,
    X: ArrayLike,
    *,
    original: ArrayLike | None,
    feature_names: Sequence[str] | None,
    row_names: Sequence[Any] | None,
    extra: Mapping[str, Sequence[Any]] | None,
    first_row: int,
) -> ReportData:
    """Check the arguments of `write_report` and combine them."""
    check_is_fitted(estimator, "labels_")
    named = X if original is None else original
    rows = check_state(X, name="X").astype(np.float64)
    in_units = rows if original is None else check_state(original, name="original").astype(np.float64)
    if in_units.shape != rows.shape:
        raise ValueError(f"original has shape {in_units.shape}, but X has {rows.shape}: both need the same shape.")
    result = estimator.result_ if isinstance(estimator, BaseClusterer) else None
    labels = np.asarray(estimator.labels_)
    if labels.shape != (len(rows),):
        raise ValueError(
            f"X has {len(rows):,} rows, but the estimator was fitted on {len(labels):,}: pass the rows of the fit."
        )
    if result is not None and result.index.points.geometry.spherical:
        rows = unit_rows(rows)
    confidence = None if result is None else result.confidence
    cluster_labels = np.unique(labels[labels >= 0])
    return ReportData(
        estimator,
        result,
        rows,
        in_units,
        _feature_names(feature_names, named, rows.shape[1]),
        _row_names(row_names, named, len(rows)),
        check_integer("first_row", first_row, low=0),
        _extra_columns(extra, len(rows)),
        cluster_labels,
        np.where(labels >= 0, np.searchsorted(cluster_labels, labels), -1),
        None if confidence is None else np.asarray(confidence, dtype=np.float64),
    )


def _feature_names(names: Sequence[str] | None, table: Any, n_features: int) -> tuple[str, ...]:
    if names is None:
        names = getattr(table, "columns", None)  # of a DataFrame
    if names is None:
        return tuple(f"feature {j}" for j in range(n_features))
    if len(names) != n_features:
        raise ValueError(f"feature_names must name the {n_features} features of X; got {len(names)}.")
    return tuple(str(name) for name in names)


def _row_names(names: Sequence[Any] | None, table: Any, n_rows: int) -> tuple[str, ...] | None:
    if names is None:
        index = getattr(table, "index", None)  # of a DataFrame; lists have a method of this name
        if index is None or callable(index) or type(index).__name__ == "RangeIndex":
            return None
        names = list(index)
    if len(names) != n_rows:
        raise ValueError(f"row_names must name the {n_rows:,} rows of X; got {len(names):,}.")
    return tuple(map(_cell_text, names))


def _extra_columns(columns: Mapping[str, Sequence[Any]] | None, n_rows: int) -> tuple[ExtraColumn, ...]:
    if columns is None:
        return ()
    if not hasattr(columns, "items"):
        raise TypeError(f"extra must be a dict of columns or a pandas DataFrame; got {type(columns).__name__}.")
    checked = []
    for name, column in columns.items():
        cells = list(column)
        if len(cells) != n_rows:
            raise ValueError(f"extra[{name!r}] must have {n_rows:,} entries, one for each row; got {len(cells):,}.")
        checked.append(ExtraColumn(str(name), tuple(map(_cell_text, cells))))
    return tuple(checked)


def _cell_text(value: Any) -> str:
    # NaN is the only value that differs from itself
    if value is None or (isinstance(value, float | np.floating) and value != value):
        return ""
    text = " ".join(str(value).split())
    return text if len(text) <= MAX_CELL_LENGTH else text[: MAX_CELL_LENGTH - 1] + "…"
