"""`TablePreparer`: converts a table to a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from modeseek._common.types import Array
from modeseek._storage.pyarrow_modules import pa
from modeseek._storage.table import Table, unique_names
from modeseek._storage.values import arrow_table
from modeseek.prepare.config import PrepareOptions
from modeseek.prepare.plan import Note
from modeseek.prepare.preparation import Preparation, Prepared, Statistics


class TablePreparer(TransformerMixin, BaseEstimator):
    r"""Turn a table into a matrix that estimators accept, as the command `modeseek cluster` does.

    Columns that cannot be clustered are left out: text, dates, identifiers (row numbers, texts that are all different,
    and different integers in a column that is named like an identifier), constant columns, and columns with more than
    half of their values missing. Booleans become 0 and 1. Text
    such as "$1,250" or "12 %" is read as a number if all cells of a column have this form. Rows with missing values are
    removed, and features are scaled. The notes say what was done.

    Parameters
    ----------
    columns : sequence of str, optional
        The columns to use. The default is all columns that can be clustered. Columns that are named here are used
        even if they are constant, are identifiers or have few different values; text is an error unless it is encoded.
    ignore : sequence of str, default=()
        Columns to leave out.
    encode : {"drop", "onehot"}, default="drop"
        What to do with text columns that have at most 20 different values: leave them out, or make a feature with
        values 0 and 1 for each value (a single one for two values without missing cells). All features of a missing
        cell are 0, so that its row is kept.
    missing : {"drop", "median", "error"}, default="drop"
        What to do with rows that have missing or infinite values: remove them, replace the values by the median of
        their column, or raise an error.
    scale : {"standard", "robust", "log", "none"}, default="standard"
        "standard": mean 0 and standard deviation 1. "robust": median 0, and the quartile range of a normal
        distribution with standard deviation 1. "log": the logarithm sign(x) log(1 + |x| / u) of heavily skewed
        features without many zeros, where u is the smallest positive magnitude, and then as "standard". "none": no
        scaling.
    missing_values : sequence of str or float, default=()
        Cells that stand for missing values, such as -999, in any column. Empty cells, "NA", "NaN", "null", "None", "?",
        "-" and "." always do.
    strict : bool, default=False
        Raise an error for text and missing values in any column that is not ignored, and leave nothing else out.

    Attributes
    ----------
    kept_columns_ : tuple of str
        The columns of the table that are used.
    notes_ : tuple of Note
        What was left out or changed, and what to try instead; `str(note)` is the text.
    spreads_ : array of shape (n_features,)
        Standard deviation of each feature, in the units of the table.
    n_samples_seen_ : int
        Number of rows of the table, including those with missing values.
    n_dropped_ : int
        Number of rows that the fit removed because of missing values.
    facts_ : dict of str to ColumnFacts
        Facts about the columns that could be used.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : array of str
        Their names.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"name": ["Ada", "Bob", "Cleo"], "mass": [3.0, 5.0, None], "grown": [True, False, True]})
    >>> preparer = TablePreparer()
    >>> preparer.fit_transform(table)
    array([[-1.,  1.],
           [ 1., -1.]])
    >>> preparer.kept_columns_
    ('mass', 'grown')
    >>> print(*preparer.notes_, sep="\n")
    left out: name (text); one-hot encoding can use name
    missing values in 1 of 3 rows (mass 1), which get no cluster; medians can replace the values
    """

    def __init__(
        self,
        *,
        columns: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        encode: str = "drop",
        missing: str = "drop",
        scale: str = "standard",
        missing_values: Sequence[str | float] = (),
        strict: bool = False,
    ):
        self.columns = columns
        self.ignore = ignore
        self.encode = encode
        self.missing = missing
        self.scale = scale
        self.missing_values = missing_values
        self.strict = strict

    def fit(self, X: Any, y: object = None) -> TablePreparer:
        """Choose the columns, and compute medians and scaling.

        Parameters
        ----------
        X : DataFrame (pandas, polars), Arrow table, dict of columns, or array of shape (n, d)
            The table.
        y : ignored
        """
        self.fit_table(as_table(X))
        return self

    def fit_transform(self, X: Any, y: object = None, **ignored: Any) -> Array:
        """Fit, and return the matrix of the complete rows."""
        return self.fit_table(as_table(X)).X

    def fit_table(self, table: Table, metric: str = "euclidean") -> Prepared:
        """Fit, and return the complete rows; `metric` is the metric of the clustering, which some notes depend on."""
        options = self.options()
        statistics, values = Statistics.start(table, options).add(table, options, known=True)
        self.finish(statistics, table, metric)
        return self.preparation_.apply(table, values)

    def transform(self, X: Any) -> Array:
        """Return the matrix of the complete rows of a table, prepared like the table of the fit.

        With `missing="drop"`, rows with missing values are removed; `complete_rows` says which rows remain.
        """
        return self.prepare(X).X

    def complete_rows(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows of a table `transform` keeps."""
        return self.prepare(X).complete

    def prepare(self, X: Any) -> Prepared:
        """Return the complete rows of a table, in its units and scaled."""
        check_is_fitted(self, "preparation_")
        return self.preparation_.apply(as_table(X))

    def inverse_transform(self, X: Array) -> Array:
        """Convert rows of the matrix back to the units of the table."""
        check_is_fitted(self, "preparation_")
        return self.preparation_.scaling.undo(np.asarray(X, dtype=np.float64))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the features: columns, or "column=value" for encoded text."""
        check_is_fitted(self, "preparation_")
        return np.array(self.preparation_.names, dtype=object)

    @property
    def changes_numbers(self) -> bool:
        """Whether the matrix differs from the columns of the table that it is made from."""
        features, _, scaling, _, _ = self.preparation_
        plain = all(feature.level is None for feature in features)
        return not (plain and (scaling.factor == 1).all() and not scaling.shift.any() and not scaling.unit.any())

    def options(self) -> PrepareOptions:
        """Return the parameters as a value, checked."""
        options = PrepareOptions(**self.get_params(deep=False))
        options.check()
        return options

    def finish(self, statistics: Statistics, table: Table, metric: str) -> None:
        """Set the fitted attributes from statistics of all rows; `table` is the table or its first chunk."""
        self.preparation_, notes = statistics.fit(table, self.options(), metric)
        self.notes_: tuple[Note, ...] = tuple(notes)
        self.facts_, self.kept_columns_ = statistics.facts, statistics.columns
        self.spreads_ = statistics.spreads(self.preparation_)
        self.n_samples_seen_ = statistics.sample.seen
        self.n_dropped_ = statistics.incomplete if self.missing == "drop" else 0
        self.n_features_in_ = len(table.columns)
        self.feature_names_in_ = np.array(table.columns, dtype=object)


def as_table(X: Any) -> Table:
    """Return a DataFrame, an Arrow table, a dict of columns or an array as a `Table`."""
    source = "the table"  # its name in messages
    if isinstance(X, Table):
        return X
    if isinstance(X, pa.Table):
        return Table(source, X)
    if hasattr(X, "iloc"):  # pandas
        names = unique_names([*map(str, X.columns)])
        return Table(source, arrow_table(names, (X.iloc[:, j] for j in range(len(names)))))
    if hasattr(X, "__arrow_c_stream__"):
        return Table(source, pa.table(X))
    if isinstance(X, dict):
        return Table(source, arrow_table(list(map(str, X)), X.values()))
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X must be a table or a two-dimensional array; got an array of shape {rows.shape}.")
    return Table.from_arrays(source, [f"x{j}" for j in range(rows.shape[1])], rows.T)


def restored(preparation: Preparation) -> TablePreparer:
    """Return the fitted preparer of a model file."""
    preparer = TablePreparer(missing=preparation.missing, missing_values=preparation.missing_values)
    preparer.preparation_, preparer.notes_ = preparation, ()
    preparer.kept_columns_ = tuple(dict.fromkeys(feature.column for feature in preparation.features))
    return preparer
