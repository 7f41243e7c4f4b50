"""The Python lines that repeat a fit."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator

__all__ = ["SILENT", "changed_parameters", "estimator_call", "fit_lines", "listed", "python_lines"]

# what changes no result
SILENT = ("callbacks", "checkpoint", "checkpoint_every", "record", "verbose")
WIDTH = 100


def python_lines(
    estimator: BaseEstimator,
    file: str,
    columns: Sequence[str] | None = None,
    *,
    standardise: bool = False,
    header: bool | None = None,
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
    header : bool, optional
        Whether the first line of the file holds names; None finds out.

    Examples
    --------
    >>> from modeseek import ModeSeek
    >>> print(python_lines(ModeSeek(random_state=0), "birds.csv", ["width", "height"], standardise=True))
    from modeseek import ModeSeek
    from modeseek._common.scaling import Scaling
    from modeseek._storage import read_table
    <BLANKLINE>
    X = read_table('birds.csv').features(['width', 'height']).values
    X = Scaling.fit(X, standardize=True).apply(X)
    model = ModeSeek(random_state=0).fit(X)
    print(model.labels_)
    """
    name = type(estimator).__name__
    head = [f"from modeseek import {name}"]
    told = "" if header is None else f", header={header}"
    body = [f"X = read_table({file!r}{told}).features({'' if columns is None else listed(columns)}).values"]
    if standardise:
        head.append("from modeseek._common.scaling import Scaling")
        body.append("X = Scaling.fit(X, standardize=True).apply(X)")
    head.append("from modeseek._storage import read_table")
    body += [f"model = {estimator_call(estimator)}.fit(X)", "print(model.labels_)"]
    return "\n".join([*head, "", *body])


def fit_lines(estimator: BaseEstimator) -> str:
    """Return the lines that fit an estimator of the same parameters to X.

    Examples
    --------
    >>> from modeseek import MeanShift
    >>> print(fit_lines(MeanShift(bandwidth=2.0)))
    from modeseek import MeanShift
    <BLANKLINE>
    model = MeanShift(bandwidth=2.0).fit(X)
    print(model.labels_)
    """
    kind = type(estimator)
    parts = kind.__module__.split(".")
    # rooms of this library, and modules that begin with an underscore, are not where users find it
    home = "modeseek" if parts[0] == "modeseek" else ".".join(part for part in parts if not part.startswith("_"))
    return f"from {home} import {kind.__name__}\n\nmodel = {estimator_call(estimator)}.fit(X)\nprint(model.labels_)"


def estimator_call(estimator: BaseEstimator) -> str:
    """Return the call that makes an estimator with the same parameters.

    Examples
    --------
    >>> from modeseek import MeanShift
    >>> estimator_call(MeanShift(bandwidth=2.0, verbose=1))
    'MeanShift(bandwidth=2.0)'
    """
    name = type(estimator).__name__
    arguments = [f"{key}={value!r}" for key, value in changed_parameters(estimator).items()]
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def changed_parameters(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the parameters that differ from their defaults, without those that show on a screen only.

    Examples
    --------
    >>> from modeseek import MeanShift
    >>> changed_parameters(MeanShift(bandwidth=2.0, verbose=1))
    {'bandwidth': 2.0}
    """
    defaults = {key: each.default for key, each in inspect.signature(type(estimator)).parameters.items()}
    given = estimator.get_params(deep=False)
    # by type too: 1 == True, and by repr, because arrays have no single truth
    return {
        key: given[key]
        for key, default in defaults.items()
        if key in given and key not in SILENT and repr(given[key]) != repr(default)
    }


def listed(names: Sequence[str]) -> str:
    """Return names as the code of a list, over several lines if it is long."""
    line = repr(list(names))
    return line if len(line) <= WIDTH else "[\n" + "".join(f"    {name!r},\n" for name in names) + "]"
