"""Fitted estimators in files, and back."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.hints import AdviceWarning
from modeseek._common.scaling import Scaling
from modeseek._common.types import Array, IntArray
from modeseek._common.version import __version__
from modeseek._storage import DataError, read_container, write_container
from modeseek.io.fitted import ESTIMATORS, check_fitted
from modeseek.io.values import decoded, encoded

__all__ = ["MODEL_SUFFIX", "Saved", "load", "read_model", "save"]

MODEL_SUFFIX = ".modeseek"
# no text begins like this, and whoever turns line ends into others breaks it
MAGIC = b"\x89MODESEEK\r\n\x1a"
VERSION = 1
READS = {1}
INSTEAD = "Take a copy of it, or save the model again."


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file of a model holds.

    Attributes
    ----------
    model : estimator
        As it was saved.
    columns : tuple of str or None
        Columns of the data file that it was fitted on, where the command saved it.
    scaling : Scaling or None
        What their numbers went through before the fit, where the command saved it.
    written_by : str
        The version of modeseek that wrote it.
    """

    model: Any
    columns: tuple[str, ...] | None
    scaling: Scaling | None
    written_by: str

    def predict(self, rows: Array) -> IntArray:
        """Return the labels of rows in the data's own units."""
        return self.model.predict(rows if self.scaling is None else self.scaling.apply(rows))


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    scaling: Scaling | None = None,
) -> None:
    """Write a model to a file: arrays and JSON, nothing pickled; the file appears whole or not at all.

    All parameters and all that a fit, or batches of `partial_fit`, have left is in it, so that `load` gives the same
    model: what it predicts, and how a stream goes on.

    Parameters
    ----------
    model : ModeSeek, DoublyStochasticMeanShift, StochasticMeanShift, BlurringMeanShift or MeanShift
        Fitted or not.
    path : str or path-like
        The file; the usual ending is ".modeseek".
    columns, scaling : optional
        What rows go through before the fit, for who labels others later; the command gives both.

    Raises
    ------
    TypeError
        If the model is none of these, or holds what such files do not: functions of one's own, callbacks, generators.
    DataError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from modeseek import MeanShift
    >>> path = os.path.join(tempfile.mkdtemp(), "hills.modeseek")
    >>> save(MeanShift(1.0).fit([[0.0], [0.1], [5.0]]), path)
    >>> load(path).predict([[4.0], [0.3]])
    array([1, 0])
    """
    name = type(model).__name__
    if ESTIMATORS.get(name) is not type(model):
        raise TypeError(f"save takes one of {', '.join(ESTIMATORS)}; got {type(model).__name__}: save its parts.")
    arrays: dict[str, NDArray[Any]] = {}
    params = model.get_params(deep=False)
    params["callbacks"] = params["callbacks"] or None  # none of them is none
    fitted = _state(model, params)
    record = {
        "written_by": __version__,
        "estimator": name,
        "params": {key: encoded(value, key, arrays) for key, value in params.items()},
        "fitted": {key: encoded(value, key, arrays) for key, value in fitted.items()},
        "columns": None if columns is None else [str(column) for column in columns],
        "scaling": encoded(scaling, "scaling", arrays),
    }
    try:
        check_fitted(params, fitted)  # what could not be loaded is not written
    except ValueError as error:
        raise TypeError(f"this {name} cannot be saved: {error} is not as a fit leaves it. Fit it anew.") from None
    write_container(path, MAGIC, VERSION, record, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model that `save` wrote.

    Nothing in a file is run, and it can ask for no more memory than it is long.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    model : estimator

    Raises
    ------
    DataError
        If the file is none of a model, is damaged, or was written by a newer version; the message says which.

    Warns
    -----
    AdviceWarning
        If the command saved the model with its features scaled: `read_model(path).predict` scales rows.
    """
    saved = read_model(path)
    if saved.scaling is not None:
        warnings.warn(
            f"'{path}' was fitted on scaled features: read_model(path).predict(rows) scales rows first.",
            AdviceWarning,
            stacklevel=2,
        )
    return saved.model


def read_model(path: str | os.PathLike[str]) -> Saved:
    """Return all that a file of a model holds: the model, and what rows went through before the fit.

    Raises
    ------
    DataError
        As `load` does.
    """
    _, record, arrays = read_container(path, MAGIC, READS, "a model of modeseek", INSTEAD)
    try:
        # odd numbers are refused below, not complained of
        with np.errstate(all="ignore"):
            return _made(record, arrays)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, ArithmeticError) as error:
        raise DataError(f"'{path}' is no model that modeseek wrote: {error} is wrong. Save the model again.") from None


def _made(record: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Saved:
    kind: Any = ESTIMATORS[record["estimator"]]
    params = {key: decoded(value, arrays) for key, value in record["params"].items()}
    unknown = sorted(set(params) - set(kind().get_params(deep=False)))
    if unknown:
        raise ValueError(f"parameter {unknown[0]}, which this version does not know,")
    fitted = {key: decoded(value, arrays) for key, value in record["fitted"].items()}
    check_fitted(params, fitted)
    # those that an older version did not have are at their defaults
    model = kind(**params)
    result = fitted.get("result_")
    vars(model).update(fitted | ({} if result is None else result.attributes()))
    columns, scaling, written_by = record["columns"], decoded(record["scaling"], arrays), record["written_by"]
    if not isinstance(written_by, str) or not (columns is None or all(isinstance(each, str) for each in columns)):
        raise ValueError("what is said of columns and version")
    if scaling is not None and not (isinstance(scaling, Scaling) and _fits(len(scaling.shift), fitted)):
        raise ValueError("the scaling")
    if columns is not None and not _fits(len(columns), fitted):
        raise ValueError("the number of columns")
    return Saved(model, None if columns is None else tuple(columns), scaling, written_by)


def _state(model: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a fit without those that are made from `result_`."""
    state = {key: value for key, value in vars(model).items() if key not in params}
    if "result_" in state:
        made = model.result_.attributes()
        state = {key: value for key, value in state.items() if key not in made}
        state["result_"] = model.result_.in_memory()
    return state


def _fits(d: int, fitted: dict[str, Any]) -> bool:
    return bool(np.equal(d, fitted.get("n_features_in_", d)))
