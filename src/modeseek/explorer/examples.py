"""Example datasets of the explorer."""

from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from modeseek._storage import Table
from modeseek.explorer.dataset import Dataset, inspect_table


class Example(NamedTuple):
    """A function that returns (X, y) or a Bunch of scikit-learn, with its keyword arguments."""

    function: str
    arguments: dict[str, Any]
    module: str = "sklearn.datasets"
    standardize: bool = False


EXAMPLES = {
    "the paper's mixture (150 points)": Example(
        "paper_mixture", {"n_per_cluster": 50, "random_state": 0}, "modeseek.datasets"
    ),
    "two moons (600)": Example("make_moons", {"n_samples": 600, "noise": 0.07, "random_state": 0}),
    "iris (150, four features)": Example("load_iris", {}),
    "wine (178, thirteen features)": Example("load_wine", {}, standardize=True),
    "digits (1,797, 64 features)": Example("load_digits", {}),
    "ten blobs (20,000)": Example("make_blobs", {"n_samples": 20_000, "centers": 10, "random_state": 0}),
}


def load_example(name: str) -> Dataset:
    """Return an example dataset, by its name in `EXAMPLES`.

    Examples
    --------
    >>> load_example("the paper's mixture (150 points)").default_columns
    ('x', 'y')
    """
    function, arguments, module, standardize = EXAMPLES[name]
    loaded = getattr(import_module(module), function)(**arguments)
    expression = f"{function}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    if isinstance(loaded, Bunch):
        X, labels, names = loaded.data, np.asarray(loaded.target_names)[loaded.target], loaded.feature_names
        expression += ".data"
    else:
        (X, labels), names = loaded, ("x", "y")
        expression += "[0]"
    table = Table.from_arrays(f"'{name}'", (*map(str, names), "label"), (*X.T, labels))
    source = f"from {module} import {function}", expression
    return replace(inspect_table(table, name.partition(" (")[0]), standardize=standardize, python_source=source)
