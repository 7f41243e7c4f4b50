"""Saving estimators to model files, and loading them."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modeseek._common.hints import AdviceWarning
from modeseek._common.storable import require, storable
from modeseek._common.types import IntArray
from modeseek._common.version import __version__
from modeseek._storage.container import read_container, write_container
from modeseek.estimators import ESTIMATORS
from modeseek.estimators.state import FittedState, fitted_state, restore_state
from modeseek.prepare.preparation import Preparation
from modeseek.prepare.preparer import TablePreparer, restored

CLASSES = {kind.__name__: kind for kind in ESTIMATORS.values()}
MODEL_SUFFIX = ".modeseek"
REMEDY = "Use a copy of it, or save the model again."
# largest `n_jobs` in a file: an estimator starts this number of threads
MOST_JOBS = 1024


def _check_model(stored: StoredModel) -> None:
    known = CLASSES[stored.estimator]().get_params(deep=False)
    unknown = sorted(stored.params.keys() - known.keys())
    require(not unknown, f"parameters that this version does not have, {', '.join(unknown)}")
    jobs, d = stored.params.get("n_jobs"), stored.state.n_features
    require(jobs is None or (isinstance(jobs, int) and abs(jobs) <= MOST_JOBS), f"n_jobs beyond {MOST_JOBS}")
    require(stored.preparation is None or d in (None, len(stored.preparation.features)), "the preparation")


@storable(_check_model)
class StoredModel(NamedTuple):
    """Content of a model file; see `Saved`."""

    written_by: str
    estimator: str
    params: dict[str, Any]
    state: FittedState
    preparation: Preparation | None


@dataclass(frozen=True, eq=False)
class Saved:
    """A model that was read from a file.

    Attributes
    ----------
    model : estimator
        The estimator, as it was saved.
    preparer : TablePreparer or None
        Prepares tables for the model; None if `save` was called without a preparer.
    written_by : str
        The version of modeseek that wrote the file.

    Examples
    --------
    >>> import tempfile
    >>> from modeseek import MeanShift
    >>> path = os.path.join(tempfile.mkdtemp(), "hills.modeseek")
    >>> save(MeanShift(1.0).fit([[0.0], [0.1], [5.0]]), path)
    >>> read_model(path).predict([[4.0], [0.3]])
    array([1, 0])
    """

    model: Any
    preparer: TablePreparer | None
    written_by: str

    def predict(self, table: Any) -> IntArray:
        """Return the labels of the rows of a table; -1 for rows with missing values.

        Parameters
        ----------
        table : DataFrame, Arrow table, dict of columns, or array
            The columns of the fit, in any order and in the same units. An array must have exactly these columns, in the
            order of the fit.
        """
        if self.preparer is None:
            return self.model.predict(table)
        kept = self.preparer.kept_columns_
        if isinstance(table, np.ndarray | list) and np.shape(table)[1:] == (len(kept),):
            table = dict(zip(kept, np.asarray(table).T, strict=True))
        prepared = self.preparer.prepare(table)
        labels = np.full(len(prepared.complete), -1)
        if prepared.complete.any():
            labels[prepared.complete] = self.model.predict(prepared.X)
        return labels


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    preparer: TablePreparer | None = None,
) -> None:
    """Write an estimator to a file of arrays and JSON; nothing is pickled.

    The file holds all parameters and everything that `fit` or `partial_fit` have computed. The model that `load`
    returns makes the same predictions, and `partial_fit` can continue. The file appears complete or not at all.

    Parameters
    ----------
    model : ModeSeek, DoublyStochasticMeanShift, StochasticMeanShift, BlurringMeanShift or MeanShift
        The estimator, fitted or not.
    path : str or path-like
        The file; the usual ending is ".modeseek".
    preparer : TablePreparer, optional
        The fitted preparer of the table that the model was fitted on. `Saved.predict` then accepts tables.

    Raises
    ------
    TypeError
        If the model is of another class, or has a parameter that a file cannot contain: a function, a callback or a
        random generator.
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
    if CLASSES.get(name) is not type(model):
        raise TypeError(f"save takes one of {', '.join(CLASSES)}; got {name}: save the estimator itself.")
    params = model.get_params(deep=False)
    params["callbacks"] = params["callbacks"] or None
    preparation = None if preparer is None else preparer.preparation_
    stored = StoredModel(__version__, name, params, fitted_state(model), preparation)
    try:
        _check_model(stored)
    except ValueError as error:
        raise TypeError(f"this {name} cannot be saved; wrong part: {error}.") from None
    write_container(path, "model", stored)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the estimator that `save` wrote.

    Nothing in a file is executed. Reading takes no more memory than the size of the file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    model : estimator

    Raises
    ------
    DataError
        If the file is not a model file, is damaged, or is of another version of the format.

    Warns
    -----
    AdviceWarning
        If the model was fitted on prepared features, such as scaled ones. Use `read_model(path).predict` for a table
        with the original columns.

    Examples
    --------
    >>> import tempfile
    >>> from modeseek import MeanShift
    >>> path = os.path.join(tempfile.mkdtemp(), "hills.modeseek")
    >>> save(MeanShift(1.0).fit([[0.0], [0.1], [5.0]]), path)
    >>> load(path)
    MeanShift(bandwidth=1.0)
    """
    saved = read_model(path)
    if saved.preparer is not None and saved.preparer.changes_numbers:
        warnings.warn(
            f"the model in '{path}' was fitted on prepared features, and its predict takes such features. "
            "read_model(path).predict(table) prepares the rows of a table first.",
            AdviceWarning,
            stacklevel=2,
        )
    return saved.model


def read_model(path: str | os.PathLike[str]) -> Saved:
    """Return the content of a model file: the estimator, and the preparer for its tables.

    Raises
    ------
    DataError
        If the file is not a model file, is damaged, or is of another version of the format.

    Examples
    --------
    >>> import tempfile
    >>> from modeseek import MeanShift
    >>> path = os.path.join(tempfile.mkdtemp(), "hills.modeseek")
    >>> save(MeanShift(1.0).fit([[0.0], [0.1], [5.0]]), path)
    >>> saved = read_model(path)
    >>> saved.model, saved.preparer is None
    (MeanShift(bandwidth=1.0), True)
    """
    stored: StoredModel = read_container(path, "model", StoredModel, REMEDY)
    # parameters that an older version did not have get their defaults
    model = CLASSES[stored.estimator](**stored.params)
    restore_state(model, stored.state)
    preparer = None if stored.preparation is None else restored(stored.preparation)
    return Saved(model, preparer, stored.written_by)
