"""Python code that repeats a fit."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator

from modeseek.prepare import TablePreparer

# parameters that do not influence the result
DISPLAY_PARAMETERS = ("callbacks", "checkpoint", "checkpoint_every", "record", "verbose")
MAX_LINE = 100


def file_data_code(file: str, *, header: bool | None = None) -> tuple[str, str]:
    """Return an import statement, and an expression that reads a file; `header` is a parameter of `read_table`.

    Examples
    --------
    >>> file_data_code("birds.csv", header=True)[1]
    "read_table('birds.csv', header=True)"
    """
    given = "" if header is None else f", header={header}"
    return "from modeseek.prepare import read_table", f"read_table({file!r}{given})"


def fit_code(estimator: BaseEstimator, data: Sequence[str] = (), preparer: TablePreparer | None = None) -> str:
    """Return code that loads data, prepares them and fits an estimator with the same parameters.

    Parameters
    ----------
    estimator : scikit-learn estimator
        The estimator. The code contains its parameters that differ from their defaults.
    data : (str, str), optional
        An import statement, and an expression for the array or table. The default assumes that a variable X exists.
    preparer : TablePreparer, optional
        How the data are prepared; None uses them as they are.

    Examples
    --------
    >>> from modeseek import ModeSeek
    >>> preparer = TablePreparer(columns=["width", "height"])
    >>> print(fit_code(ModeSeek(random_state=0), file_data_code("birds.csv"), preparer))
    from modeseek import ModeSeek
    from modeseek.prepare import TablePreparer, read_table
    <BLANKLINE>
    preparer = TablePreparer(columns=['width', 'height'])
    X = preparer.fit_transform(read_table('birds.csv'))
    model = ModeSeek(random_state=0).fit(X)
    print(model.labels_)
    """
    parts = type(estimator).__module__.split(".")
    # the module to import from: modeseek or, for other libraries, the module path without its private parts
    module = "modeseek" if parts[0] == "modeseek" else ".".join(part for part in parts if not part.startswith("_"))
    imports, body = {f"from {module} import {type(estimator).__name__}"}, []
    *loading, expression = data or ("X",)
    if preparer is not None:
        imports.add("from modeseek.prepare import TablePreparer")
        body.append(f"preparer = {estimator_call(preparer)}")
        expression = f"preparer.fit_transform({expression})"
    imports.update(loading)
    if expression != "X":
        body.append(f"X = {expression}")
    lines = "\n".join(sorted(imports)).replace(
        "TablePreparer\nfrom modeseek.prepare import read", "TablePreparer, read"
    )
    return "\n".join([lines, "", *body, f"model = {estimator_call(estimator)}.fit(X)", "print(model.labels_)"])


def changed_parameters(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the parameters that differ from their defaults, without `DISPLAY_PARAMETERS`.

    Examples
    --------
    >>> from modeseek import MeanShift
    >>> changed_parameters(MeanShift(bandwidth=2.0, verbose=1))
    {'bandwidth': 2.0}
    """
    defaults = {name: each.default for name, each in inspect.signature(type(estimator)).parameters.items()}
    given = estimator.get_params(deep=False)
    # values are compared by repr: 1 == True is true, and comparing arrays gives an array
    return {
        name: given[name]
        for name, default in defaults.items()
        if name in given and name not in DISPLAY_PARAMETERS and repr(given[name]) != repr(default)
    }


def estimator_call(estimator: BaseEstimator) -> str:
    """Return the call that makes an estimator with the same parameters.

    Examples
    --------
    >>> from modeseek import MeanShift
    >>> estimator_call(MeanShift(bandwidth=2.0, verbose=1))
    'MeanShift(bandwidth=2.0)'
    """
    arguments = [f"{key}={value!r}" for key, value in changed_parameters(estimator).items()]
    return _wrap(f"{type(estimator).__name__}(", arguments, ")")


def list_literal(names: Sequence[str]) -> str:
    """Return names as the code of a list, on several lines if it is long."""
    return _wrap("[", [repr(name) for name in names], "]")


def _wrap(start: str, items: Sequence[str], end: str) -> str:
    """Join items on one line or, if that line would be too long, write each on a separate line."""
    line = f"{start}{', '.join(items)}{end}"
    return line if len(line) <= MAX_LINE else f"{start}\n" + "".join(f"    {item},\n" for item in items) + end
