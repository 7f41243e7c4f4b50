"""Tables to explore, from a file, an upload or an example, and the roles of their columns."""

import os
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from modeseek._common.text import printable
from modeseek._common.types import IntArray
from modeseek._storage.errors import DataError
from modeseek._storage.reading import parse_table, read_table
from modeseek._storage.table import Table, unique_names
from modeseek.explorer.config import DEFAULT, ExplorerConfig
from modeseek.prepare import TablePreparer

# columns with these names are assumed to hold known groups
GROUP_NAMES = ("label", "class", "target", "component", "cluster")


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table and the roles of its columns.

    Attributes
    ----------
    name : str
        Name on the page, and in the names of exported files.
    table : Table
    numeric : tuple of str
        Columns that can be clustered.
    group_columns : tuple of str
        Columns that may hold known groups, to compare the clusters with.
    notes : tuple of str
        Sentences about columns that are left out, and about missing values.
    kept : tuple of str
        Numeric columns that are clustered by default, unless they hold the known groups.
    standardize : bool
        Whether columns are standardized by default.
    python_source : (str, str) or None
        For an example: the import statement and the expression that give its values in Python.
    """

    name: str
    table: Table
    numeric: tuple[str, ...]
    group_columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    standardize: bool = True
    python_source: tuple[str, str] | None = None

    @property
    def default_columns(self) -> tuple[str, ...]:
        """The columns that are clustered by default: those in `kept`, without the known groups."""
        return tuple(name for name in self.kept if name != self.default_groups)

    @property
    def default_groups(self) -> str | None:
        """The column with known groups: the only text column, or the only one with a typical name."""
        text = [name for name in self.group_columns if name not in self.numeric]
        named = [name for name in self.group_columns if name.lower() in GROUP_NAMES]
        return next((found[0] for found in (text, named) if len(found) == 1), None)

    def group_labels(self, column: str) -> IntArray:
        """Return the known groups of a column as integers."""
        cells = self.table.cells[unique_names(self.table.columns).index(column)]
        return np.unique(cells.astype(str), return_inverse=True)[1]


def inspect_table(table: Table, name: str, config: ExplorerConfig = DEFAULT) -> Dataset:
    """Determine the roles of the columns of a table."""
    preparer = TablePreparer().fit(table)
    groups = [
        column
        for column, cells in zip(unique_names(table.columns), table.cells, strict=True)
        if 2 <= len(set(cells[:10_000].tolist())) <= config.max_groups
    ]
    kept = preparer.kept_columns_
    # columns that are not clustered by default, such as identifiers, can still be selected on the page
    numeric = [column for column, each in preparer.facts_.items() if column in kept or (each.styles and each.kind)]
    notes = [f"{str(note)[:1].upper()}{str(note)[1:]}." for note in (*table.notes, *preparer.notes_)]
    return Dataset(name, table, tuple(numeric), tuple(groups), tuple(notes), kept)


def from_file(path: str | os.PathLike[str]) -> Dataset:
    """Read a data file."""
    return inspect_table(read_table(path), printable(os.fspath(path)))


def from_bytes(name: str, content: bytes, config: ExplorerConfig = DEFAULT) -> Dataset:
    r"""Read an uploaded data file, in the format of the suffix of `name`; nothing is written to disk.

    Examples
    --------
    >>> from_bytes("birds.csv", b"mass,species\n3750,Adelie\n5000,Gentoo\n").default_columns
    ('mass',)
    """
    plain = Path(name.replace("\\", "/")).name
    if len(content) > config.max_upload_bytes:
        raise DataError(
            f"'{plain}' has {len(content) / 1e6:,.0f} MB, but the page accepts {config.max_upload_bytes / 1e6:,.0f} MB "
            "at most: pass the file to the command, as in modeseek explore FILE."
        )
    return inspect_table(parse_table(plain, content), plain, config)


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
