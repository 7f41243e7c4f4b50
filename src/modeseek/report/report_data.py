"""The data of a report: the result of a fit, the rows that were clustered, and their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from modeseek._common.sphere import unit_rows
from modeseek._common.text import NameSetting, python_setting
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_state
from modeseek.estimators.base import BaseClusterer
from modeseek.estimators.result import FitResult
from modeseek.estimators.table import DOUBTFUL, ClusterTable, RowCounts
from modeseek.plots.colors import palette
from modeseek.prepare.scaling import FeatureScaling, fit_scaling
from modeseek.report.blocks import RowLink, Swatch

# the `id` of the scatter plot
SCATTER_ANCHOR = "scatter"
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
    X : (n, d) array
        The rows as they were clustered.
    original : (n, d) array
        The same rows in their original units.
    features : tuple of str
        Names of the columns of `X` and `original`.
    row_names : tuple of str or None
        Names of the rows; None if they are numbered.
    first_row : int
        Number of the first row.
    extra : tuple of ExtraColumn
        Columns that were not used for clustering.
    name_setting : callable
        ``name_setting(parameter, value)`` returns the name of a setting in the texts of the report.
    """

    estimator: BaseEstimator
    X: Array
    original: Array
    features: tuple[str, ...]
    row_names: tuple[str, ...] | None
    first_row: int
    extra: tuple[ExtraColumn, ...]
    name_setting: NameSetting = python_setting

    @property
    def result(self) -> FitResult | None:
        """Result of the fit; None for estimators of other libraries, of which only the labels are known."""
        return self.estimator.result_ if isinstance(self.estimator, BaseClusterer) else None

    @property
    def confidence(self) -> Array | None:
        """Confidence of each row, if the estimator computes it."""
        return None if self.result is None else self.result.confidence

    @cached_property
    def cluster_labels(self) -> IntArray:
        """The labels that occur, in ascending order, without noise."""
        labels = np.unique(self.estimator.labels_)
        return labels[labels >= 0]

    @cached_property
    def labels(self) -> IntArray:
        """Index of each row's cluster in `cluster_labels`; -1 for noise."""
        labels = np.asarray(self.estimator.labels_)
        return np.where(labels >= 0, np.searchsorted(self.cluster_labels, labels), -1)

    @cached_property
    def table(self) -> ClusterTable:
        """Sizes, means, mean confidence and stability of the clusters in the order of `cluster_labels`."""
        n = len(self.cluster_labels)
        result = self.result
        stability = None if result is None else result.cluster_stability
        stability = None if stability is None else stability[self.cluster_labels]
        counts = RowCounts().add(self.labels, self.confidence, n)
        table = ClusterTable(np.zeros(n, np.intp), 0, 0, np.zeros((n, 0)), stability=stability).with_counts(counts)
        # of scaled rows, because the sum of huge numbers would overflow
        means = self.cluster_means(self.scaling.apply(self.original), table.sizes)
        return table.with_centers(self.scaling.undo(means))

    @cached_property
    def scaling(self) -> FeatureScaling:
        """Mean and standard deviation of each feature in the original units."""
        return fit_scaling("standard", self.original)

    def cluster_means(self, values: Array, sizes: IntArray) -> Array:
        """Return the mean of the rows of `values` in each cluster."""
        rows = np.flatnonzero(self.labels >= 0)
        if not len(rows):
            return np.zeros((0, values.shape[1]))
        order = rows[np.argsort(self.labels[rows], kind="stable")]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return np.add.reduceat(values[order], starts, axis=0) / sizes[:, None]

    @property
    def doubtful(self) -> NDArray[np.bool_]:
        """Whether each row is in a cluster with a confidence below `DOUBTFUL`."""
        if self.confidence is None:
            return np.zeros(len(self.labels), dtype=bool)
        return (self.confidence < DOUBTFUL) & (self.labels >= 0)

    @cached_property
    def swatches(self) -> list[Swatch]:
        """Label and colour of each cluster."""
        colors = palette(len(self.cluster_labels))
        return [Swatch(str(label), color) for label, color in zip(self.cluster_labels, colors, strict=True)]

    def row_link(self, i: int) -> RowLink:
        """Return the name of a row with a link to its point in the scatter plot."""
        return RowLink(self.row_name(i), SCATTER_ANCHOR, i)

    def row_name(self, i: int) -> str:
        """Return the name of a row."""
        return self.row_names[i] if self.row_names is not None else f"row {i + self.first_row:,}"


def clustered_rows(estimator: BaseEstimator, X: ArrayLike, original: ArrayLike | None) -> tuple[Array, Array]:
    """Return the rows as they were clustered (with unit length for the metric cosine), and those in original units."""
    check_is_fitted(estimator, "labels_")
    rows = check_state(X, name="X").astype(np.float64)
    in_units = rows if original is None else check_state(original, name="original").astype(np.float64)
    if in_units.shape != rows.shape:
        raise ValueError(f"original has shape {in_units.shape}, but X has {rows.shape}: both need the same shape.")
    if np.shape(estimator.labels_) != (len(rows),):
        n = len(estimator.labels_)
        raise ValueError(f"X has {len(rows):,} rows, but the estimator was fitted on {n:,}: pass the rows of the fit.")
    if isinstance(estimator, BaseClusterer) and estimator.metric == "cosine":
        rows = unit_rows(rows)
    return rows, in_units


def check_feature_names(names: Sequence[str] | None, table: Any, n_features: int) -> tuple[str, ...]:
    """Return the given names, or those of the columns of a DataFrame, or numbers."""
    if names is None:
        names = getattr(table, "columns", None)  # the columns of a DataFrame
    if names is None:
        return tuple(f"feature {j}" for j in range(n_features))
    if len(names) != n_features:
        raise ValueError(f"feature_names must name the {n_features} features of X; got {len(names)}.")
    return tuple(str(name) for name in names)


def check_row_names(names: Sequence[Any] | None, table: Any, n_rows: int) -> tuple[str, ...] | None:
    """Return the given names, or those of the index of a DataFrame; None if rows are numbered."""
    if names is None:
        index = getattr(table, "index", None)  # the index of a DataFrame; for a list, this is its method
        if index is None or callable(index) or type(index).__name__ == "RangeIndex":
            return None
        names = list(index)
    if len(names) != n_rows:
        raise ValueError(f"row_names must name the {n_rows:,} rows of X; got {len(names):,}.")
    return tuple(map(_cell_text, names))


def check_extra(columns: Mapping[str, Sequence[Any]] | None, n_rows: int) -> tuple[ExtraColumn, ...]:
    """Return the extra columns as text; raise an error if a column has another number of rows."""
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
