"""Validation of X by scikit-learn, with error messages that name the row, the column and a remedy."""

from __future__ import annotations

import copy
import datetime
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from modeseek._common.sphere import check_two_columns
from modeseek._common.types import Array
from modeseek._common.validation import masked_as_nan
from modeseek.estimators.precomputed import check_distances

# dates and times of Python and pandas
TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def seen_columns(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the attributes in which scikit-learn stores the number of features, and their names if X has names."""
    return {name: vars(estimator)[name] for name in ("n_features_in_", "feature_names_in_") if name in vars(estimator)}


def check_rows(estimator: BaseEstimator, X: ArrayLike) -> tuple[Array, dict[str, Any]]:
    """Check X for a fit; return its rows as floats, and `seen_columns`. The estimator is not changed."""
    seen = copy.copy(estimator)  # scikit-learn sets n_features_in_ before the fit has succeeded
    rows = _validate(seen, X, reset=True)
    if estimator.metric == "haversine":
        check_two_columns(rows.shape[1])
    return rows, seen_columns(seen)


def check_new_rows(estimator: BaseEstimator, X: ArrayLike) -> Array:
    """Check X for an estimator that has seen data, with the same columns; return its rows as floats."""
    return _validate(estimator, X, reset=False)


def _validate(estimator: BaseEstimator, X: ArrayLike, *, reset: bool) -> Array:
    X = masked_as_nan(X)
    if estimator.metric == "precomputed":
        return check_distances(estimator, X, reset=reset)
    try:
        return validate_data(estimator, X, dtype=[np.float64, np.float32], reset=reset)
    except (ValueError, TypeError):
        message = _explain(X)
        if message is None:
            raise
        raise ValueError(message) from None


def _explain(X: Any) -> str | None:
    """Return what is wrong with X, in more detail than scikit-learn does; None if nothing is found."""
    if hasattr(X, "collect"):
        return f"X must hold its rows, but a {type(X).__name__} is a query: pass X.collect()."
    values = np.asarray(X)
    if values.dtype.kind == "O" and values.ndim:  # NumPy converts a sparse array into an object without dimensions
        values = np.frompyfunc(_none_for_na, 1, 1)(values)
    if values.dtype.kind == "c":
        return "Complex data not supported: X must hold real numbers. Pass real and imaginary parts as columns."
    if values.ndim == 1 and len(values):
        return (
            f"Expected 2D array, got 1D array instead: X has shape {values.shape}. "
            "Reshape your data with X.reshape(-1, 1) if it is one feature, or X.reshape(1, -1) if it is one row."
        )
    if values.ndim != 2:
        return None
    columns = getattr(X, "columns", None)
    names = [str(i) for i in range(values.shape[1])] if columns is None else [repr(str(name)) for name in columns]
    for column, name in zip(values.T, names, strict=True):
        try:
            column.astype(object).astype(np.float64)
        except TypeError:
            if not any(isinstance(value, TIMES) for value in column):
                return None  # scikit-learn's message is as good
            remedy = "Convert them to numbers, such as days since the first, or use modeseek.prepare.TablePreparer"
            return f"X must hold numbers only: column {name} has dates or times. {remedy}, which leaves them out."
        except ValueError as error:
            remedy = "Drop text columns, encode them (OneHotEncoder), or use modeseek.prepare.TablePreparer"
            return f"X must hold numbers only: {error} in column {name}. {remedy}."
    return _explain_numbers(values.astype(np.float64), names)


def _none_for_na(value: Any) -> Any:
    """Return None for the missing value of pandas, which cannot be converted to a number."""
    pandas = sys.modules.get("pandas")
    return None if pandas is not None and value is pandas.NA else value


def _explain_numbers(values: Array, names: list[str]) -> str | None:
    what, bad = "NaN", np.isnan(values)
    if not bad.any():
        what, bad = "infinity or a value too large", np.isinf(values)
    if not bad.any():
        return None
    row, column = np.argwhere(bad)[0].tolist()
    fill = "fill them (sklearn.impute.SimpleImputer), or use modeseek.prepare.TablePreparer"
    remedy = fill if what == "NaN" else "or correct them"
    return (
        f"Input X contains {what} in {int(bad.any(axis=1).sum()):,} of {len(values):,} rows; the first is row {row}, "
        f"column {names[column]}. Drop these rows, X[np.isfinite(X).all(axis=1)], {remedy}."
    )
