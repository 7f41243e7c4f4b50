"""The Python lines that repeat a fit."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator

__all__ = ["python_lines"]

# what changes no result
SILENT = ("callbacks", "record", "verbose")
WIDTH = 100


def python_lines(
    estimator: BaseEstimator, file: str, columns: Sequence[str] | None = None, *, standardise: bool = False
) -> str:
    """Return a script that reads a file, scales its columns as asked and fits an estimator of the same parameters.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Only parameters that differ from their defaults are written.
    file : str
        The file, as a reader of the script will find it.
    columns : sequence of str, optional
        The columns that are clustered; None takes all.
    standardise : bool, default=False
        Whether features are brought to mean 0 and standard deviation 1 first.

    Examples
    --------
    >>> from modeseek import ModeSeek
    >>> print(python_lines(ModeSeek(random_state=0), "birds.csv", ["width", "height"], standardise=True))
    from modeseek import ModeSeek
    from modeseek.scaling import Scaling
    from modeseek.storage import read_table
    <BLANKLINE>
    X = read_table('birds.csv').features(['width', 'height']).values
    X = Scaling.fit(X, standardise=True).apply(X)
    model = ModeSeek(random_state=0).fit(X)
    print(model.labels_)
    """
    name = type(estimator).__name__
    head = [f"from modeseek import {name}"]
    body = [f"X = read_table({file!r}).features({'' if columns is None else _listed(columns)}).values"]
    if standardise:
        head.append("from modeseek.scaling import Scaling")
        body.append("X = Scaling.fit(X, standardise=True).apply(X)")
    head.append("from modeseek.storage import read_table")
    body += [f"model = {_call(estimator, name)}.fit(X)", "print(model.labels_)"]
    return "\n".join([*head, "", *body])


def _call(estimator: BaseEstimator, name: str) -> str:
    arguments = [f"{key}={value!r}" for key, value in _changed(estimator).items()]
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def _changed(estimator: BaseEstimator) -> dict[str, Any]:
    defaults = {key: each.default for key, each in inspect.signature(type(estimator)).parameters.items()}
    given = estimator.get_params(deep=False)
    # by type too: 1 == True, and by repr, because arrays have no single truth
    return {
        key: given[key]
        for key, default in defaults.items()
        if key in given and key not in SILENT and repr(given[key]) != repr(default)
    }


def _listed(names: Sequence[str]) -> str:
    line = repr(list(names))
    return line if len(line) <= WIDTH else "[\n" + "".join(f"    {name!r},\n" for name in names) + "]"
