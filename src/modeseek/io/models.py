"""Model files: fitted estimators that are written to a file and read again."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from modeseek._common.hints import AdviceWarning
from modeseek._common.scaling import Scaling
from modeseek._common.storable import require, storable
from modeseek._common.types import Array, IntArray
from modeseek._common.version import __version__
from modeseek._storage import read_container, write_container
from modeseek.estimators import ESTIMATORS
from modeseek.estimators.state import FittedState, fitted_state, restore_state

CLASSES = {kind.__name__: kind for kind in ESTIMATORS.values()}
MODEL_SUFFIX = ".modeseek"
REMEDY = "Use a copy of it, or save the model again."
# an estimator starts as many threads as `n_jobs` says
MOST_JOBS = 1024


def _check_model(stored: StoredModel) -> None:
    known = CLASSES[stored.estimator]().get_params(deep=False)
    unknown = sorted(stored.params.keys() - known.keys())
    require(not unknown, f"parameters that this version does not have, {', '.join(unknown)}")
    jobs, d = stored.params.get("n_jobs"), stored.state.n_features
    require(jobs is None or (isinstance(jobs, int) and abs(jobs) <= MOST_JOBS), f"n_jobs beyond {MOST_JOBS}")
    require(stored.columns is None or d in (None, len(stored.columns)), "the number of columns")
    require(stored.scaling is None or d in (None, len(stored.scaling.shift)), "the scaling")


@storable(_check_model)
class StoredModel(NamedTuple):
    """What a model file holds; see `Saved`."""

    written_by: str
    estimator: str
    params: dict[str, Any]
    state: FittedState
    columns: tuple[str, ...] | None
    scaling: Scaling | None


@dataclass(frozen=True, eq=False)
class Saved:
    """A model that was read from a file.

    Attributes
    ----------
    model : estimator
        The estimator, as it was saved.
    columns : tuple of str or None
        Columns of the data file that it was fitted on, if the command saved it.
    scaling : Scaling or None
        Scaling of these columns before the fit, if the command saved it.
    written_by : str
        The version of modeseek that wrote the file.
    """

    model: Any
    columns: tuple[str, ...] | None
    scaling: Scaling | None
    written_by: str

    def predict(self, rows: Array) -> IntArray:
        """Return the labels of rows in the units of the data file."""
        return self.model.predict(rows if self.scaling is None else self.scaling.apply(rows))


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    scaling: Scaling | None = None,
) -> None:
    """Write an estimator to a file of arrays and JSON; nothing is pickled.

    The file holds all parameters and everything that `fit` or `partial_fit` have computed, so that `load` returns the
    same model: its predictions, and the state of a stream. The file appears complete or not at all.

    Parameters
    ----------
    model : ModeSeek, DoublyStochasticMeanShift, StochasticMeanShift, BlurringMeanShift or MeanShift
        The estimator, fitted or not.
    path : str or path-like
        The file; the usual ending is ".modeseek".
    columns, scaling : optional
        Names and scaling of the columns of the data file, for `Saved.predict`; the command passes both.

    Raises
    ------
    TypeError
        If the model is of another class, or holds what files cannot hold: functions, callbacks, random generators.
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
        raise TypeError(f"save takes one of {', '.join(CLASSES)}; got {name}: save the estimators in it.")
    params = model.get_params(deep=False)
    params["callbacks"] = params["callbacks"] or None
    names = None if columns is None else tuple(str(column) for column in columns)
    stored = StoredModel(__version__, name, params, fitted_state(model), names, scaling)
    try:
        _check_model(stored)
    except ValueError as error:
        raise TypeError(f"this {name} cannot be saved; wrong part: {error}.") from None
    write_container(path, "model", stored)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the estimator that `save` wrote.

    Nothing in a file is executed, and reading takes no more memory than the file is long.

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
        If the command scaled the features before the fit: `read_model(path).predict` scales rows.
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
    """Return everything that a model file holds: the estimator, and the columns and scaling of its data.

    Raises
    ------
    DataError
        As `load` does.
    """
    stored: StoredModel = read_container(path, "model", StoredModel, REMEDY)
    # parameters that an older version did not have get their defaults
    model = CLASSES[stored.estimator](**stored.params)
    restore_state(model, stored.state)
    return Saved(model, stored.columns, stored.scaling, stored.written_by)
