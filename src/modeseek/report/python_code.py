"""Python code that repeats a fit."""

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

# parameters that do not influence the result
DISPLAY_PARAMETERS = ("callbacks", "checkpoint", "checkpoint_every", "record", "verbose")
MAX_LINE = 100


class DataCode(NamedTuple):
    """Code that loads the data: an import statement and an expression for the array."""

    import_line: str
    expression: str


def file_data_code(file: str, columns: Sequence[str] | None = None, *, header: bool | None = None) -> DataCode:
    """Return code that reads columns of a file.

    Parameters
    ----------
    file : str
        Path of the file.
    columns : sequence of str, optional
        The columns to read; None reads all.
    header : bool, optional
        Whether the first line of the file holds names; None detects it.

    Examples
    --------
    >>> file_data_code("birds.csv", ["width"], header=True).expression
    "read_table('birds.csv', header=True).features(['width']).values"
    """
    selected = "" if columns is None else list_literal(columns)
    expression = f"read_table({file!r}{_header_argument(header)}).features({selected}).values"
    return DataCode("from modeseek._storage import read_table", expression)


def fit_code(estimator: BaseEstimator, data: DataCode | None = None, *, standardize: bool = False) -> str:
    """Return code that loads data, scales them and fits an estimator with the same parameters.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Parameters that differ from their defaults are written.
    data : DataCode, optional
        Code that loads the data; None assumes a variable X.
    standardize : bool, default=False
        Whether to scale features to mean 0 and standard deviation 1.

    Examples
    --------
    >>> from modeseek import ModeSeek
    >>> print(fit_code(ModeSeek(random_state=0), file_data_code("birds.csv", ["width", "height"]), standardize=True))
    from modeseek import ModeSeek
    from modeseek._common.scaling import Scaling
    from modeseek._storage import read_table
    <BLANKLINE>
    X = read_table('birds.csv').features(['width', 'height']).values
    X = Scaling.fit(X, standardize=True).apply(X)
    model = ModeSeek(random_state=0).fit(X)
    print(model.labels_)
    """
    parts = type(estimator).__module__.split(".")
    # the public module: the top level of this library, or the path up to the first private module
    module = "modeseek" if parts[0] == "modeseek" else ".".join(part for part in parts if not part.startswith("_"))
    imports, body = [f"from {module} import {type(estimator).__name__}"], []
    if data is not None:
        imports.append(data.import_line)
        body.append(f"X = {data.expression}")
    if standardize:
        imports.append("from modeseek._common.scaling import Scaling")
        body.append("X = Scaling.fit(X, standardize=True).apply(X)")
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


def _header_argument(header: bool | None) -> str:
    return "" if header is None else f", header={header}"


def list_literal(names: Sequence[str]) -> str:
    """Return names as the code of a list, on several lines if it is long."""
    line = repr(list(names))
    return line if len(line) <= MAX_LINE else "[\n" + "".join(f"    {name!r},\n" for name in names) + "]"
