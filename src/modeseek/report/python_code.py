"""Python code that repeats a fit."""

import inspect
from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator

# parameters that do not influence the result
DISPLAY_PARAMETERS = ("callbacks", "checkpoint", "checkpoint_every", "record", "verbose")
MAX_LINE = 100


def fit_code(estimator: BaseEstimator, data: Sequence[str] = (), *, standardize: bool = False) -> str:
    """Return code that loads data, scales them and fits an estimator with the same parameters.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Parameters that differ from their defaults are written.
    data : (str, str), optional
        An import statement, and an expression for the array. The default assumes that a variable X exists.
    standardize : bool, default=False
        Whether to scale features to mean 0 and standard deviation 1.

    Examples
    --------
    >>> from modeseek import ModeSeek
    >>> source = "from sklearn.datasets import load_iris", "load_iris().data"
    >>> print(fit_code(ModeSeek(random_state=0), source, standardize=True))
    from modeseek import ModeSeek
    from sklearn.datasets import load_iris
    from sklearn.preprocessing import StandardScaler
    <BLANKLINE>
    X = load_iris().data
    X = StandardScaler().fit_transform(X)
    model = ModeSeek(random_state=0).fit(X)
    print(model.labels_)
    """
    parts = type(estimator).__module__.split(".")
    # the public module: the top level of this library, or the path up to the first private module
    module = "modeseek" if parts[0] == "modeseek" else ".".join(part for part in parts if not part.startswith("_"))
    imports = [f"from {module} import {type(estimator).__name__}", *data[:1]]
    body = [f"X = {expression}" for expression in data[1:]]
    if standardize:
        imports.append("from sklearn.preprocessing import StandardScaler")
        body.append("X = StandardScaler().fit_transform(X)")
    return "\n".join(
        [*sorted(imports), "", *body, f"model = {estimator_call(estimator)}.fit(X)", "print(model.labels_)"]
    )


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
    # compared by repr, since 1 == True and the comparison of arrays is an array
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
    name = type(estimator).__name__
    arguments = [f"{key}={value!r}" for key, value in changed_parameters(estimator).items()]
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= MAX_LINE:
        return line
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def list_literal(names: Sequence[str]) -> str:
    """Return names as the code of a list, on several lines if it is long."""
    line = repr(list(names))
    return line if len(line) <= MAX_LINE else "[\n" + "".join(f"    {name!r},\n" for name in names) + "]"
