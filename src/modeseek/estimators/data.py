"""Data at the door of an estimator: scikit-learn's check, with errors that name the place and the remedy."""

from __future__ import annotations

import copy
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from modeseek._common.hints import ScaleWarning
from modeseek._common.scaling import dominant
from modeseek._common.types import Array
from modeseek.estimators.advice import caller_level

__all__ = ["Columns", "advise_on_scale", "check_new_rows", "check_rows"]

KINDS = [np.float64, np.float32]


class Columns(NamedTuple):
    """Number and names of the features of X; names is None if X has none."""

    n: int
    names: Array | None

    def attributes(self) -> dict[str, Any]:
        """Return scikit-learn's attributes for them."""
        names = {} if self.names is None else {"feature_names_in_": self.names}
        return {"n_features_in_": self.n, **names}

    @classmethod
    def of(cls, estimator: BaseEstimator) -> Columns:
        """Return those of an estimator that has seen data."""
        return cls(estimator.n_features_in_, vars(estimator).get("feature_names_in_"))


def check_rows(estimator: BaseEstimator, X: ArrayLike) -> tuple[Array, Columns]:
    """Return the rows of X for a fit, as floats, and their columns; the estimator is not changed.

    Raises
    ------
    ValueError
        As scikit-learn does, with a message that names the row, the column and a remedy.
    """
    seen = copy.copy(estimator)  # scikit-learn sets n_features_in_ before the fit has succeeded
    return _validated(seen, X, reset=True), Columns.of(seen)


def check_new_rows(estimator: BaseEstimator, X: ArrayLike) -> Array:
    """Return the rows of X for a fitted estimator, as floats; they must have the columns of the fit."""
    return _validated(estimator, X, reset=False)


def _validated(estimator: BaseEstimator, X: ArrayLike, *, reset: bool) -> Array:
    try:
        return validate_data(estimator, X, dtype=KINDS, reset=reset)
    except (ValueError, TypeError) as error:
        message = _explained(X, str(error))
        if message is None:
            raise
        raise ValueError(message) from None


def advise_on_scale(estimator: str, rows: Array, names: Array | None) -> None:
    """Warn if one column varies so much more than the others that it alone determines the clusters."""
    found = dominant(rows)
    if found is None:
        return
    column, times = found
    which = f"column {column}" if names is None else f"column '{names[column]}'"
    warnings.warn(
        f"{which} of X varies {times:,.0f} times as much as the others, so that it alone decides the clusters. "
        "If its units are not those of the others, bring all to one scale first: "
        f"make_pipeline(StandardScaler(), {estimator}()).",
        ScaleWarning,
        stacklevel=caller_level(),
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
