"""Data at the door of an estimator: scikit-learn's check, with errors that name the place and the remedy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from modeseek._common.hints import ScaleWarning
from modeseek._common.scaling import dominant
from modeseek._common.types import Array

__all__ = ["advise_on_scale", "check_rows"]

KINDS = [np.float64, np.float32]


def check_rows(estimator: BaseEstimator, X: ArrayLike, *, reset: bool = True) -> Array:
    """Return the rows of X as floats; raise what scikit-learn raises, with a message that says where and what next."""
    try:
        return validate_data(estimator, X, dtype=KINDS, reset=reset)
    except (ValueError, TypeError) as error:
        message = _explained(X, str(error))
        if message is None:
            raise
        raise ValueError(message) from None


def advise_on_scale(estimator: BaseEstimator, rows: Array) -> None:
    """Warn where one column varies so much more than all others that it alone decides."""
    found = dominant(rows)
    if found is None:
        return
    column, times = found
    names = getattr(estimator, "feature_names_in_", None)
    which = f"column {column}" if names is None else f"column '{names[column]}'"
    warnings.warn(
        f"{which} of X varies {times:,.0f} times as much as the others, so that it alone decides the clusters. "
        "If its units are not those of the others, bring all to one scale first: "
        f"make_pipeline(StandardScaler(), {type(estimator).__name__}()).",
        ScaleWarning,
        stacklevel=4,
    )


def _explained(X: Any, message: str) -> str | None:
    if "Complex data not supported" in message or "'complex'" in message:
        return "Complex data not supported: X must hold real numbers. Give real and imaginary parts as columns."
    if "could not convert string" in message:
        where = _text_column(X)
        return f"X must hold numbers only: {message}{where}. Leave text columns out or encode them (OneHotEncoder)."
    if message.startswith("Expected 2D array, got 1D array") and hasattr(X, "shape"):
        return (
            f"Expected 2D array, got 1D array instead: X has shape {X.shape}. "
            "Reshape your data with X.reshape(-1, 1) if it is one feature, or X.reshape(1, -1) if it is one row."
        )
    if "contains NaN" in message or "contains infinity" in message:
        return _bad_number(X, message)
    return None


def _text_column(X: Any) -> str:
    """Name the first column of a data frame that is not made of numbers."""
    for name in getattr(X, "columns", ()):
        try:
            np.asarray(X[name]).astype(np.float64)
        except (TypeError, ValueError):
            return f" in column {str(name)!r}"
    return ""


def _bad_number(X: Any, message: str) -> str | None:
    what = "NaN" if "contains NaN" in message else "infinity or a value too large"
    values = np.asarray(X, dtype=np.float64)
    bad = np.isnan(values) if what == "NaN" else ~np.isfinite(values)
    if values.ndim != 2 or not bad.any():  # finite, and too large for float32
        return None
    row, column = (int(i) for i in np.argwhere(bad)[0])
    rows = int(bad.any(axis=1).sum())
    names = getattr(X, "columns", None)
    place = f"row {row}, column {column if names is None else repr(str(names[column]))}"
    remedy = "or fill them first (sklearn.impute.SimpleImputer)." if what == "NaN" else "or correct them."
    return (
        f"Input X contains {what}: {place} is the first, in {rows:,} of {len(values):,} rows. "
        f"Drop these rows, X[np.isfinite(X).all(axis=1)], {remedy}"
    )
