"""What is explored: tables from files, from a browser's upload or from examples, and the columns that are clustered."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np

from modeseek._common.points import Points, canonical_points
from modeseek._common.scaling import Scaling
from modeseek._common.types import Array, Geometry, IntArray
from modeseek._storage import DataError, MissingValueError, Table, TextColumnError, read_table
from modeseek.datasets import paper_mixture
from modeseek.plots.projection import project
from modeseek.selection.bandwidths import Range, automatic_range

__all__ = ["EXAMPLES", "LARGEST_FILE", "MOST_SHOWN", "Data", "Subject", "example", "from_bytes", "from_file"]

# bytes of an upload, which is held in memory several times over; larger files are for the command
LARGEST_FILE = 128 * 1024 * 1024
# what a browser redraws many times a second
MOST_SHOWN = 20_000
# a column with more distinct values names rows, not groups
MOST_LABELS = 100


@dataclass(frozen=True, eq=False)
class Data:
    """A table with what can be done with its columns.

    Attributes
    ----------
    name : str
        How the page calls it, and what files are named after.
    table : Table
    numeric : tuple of str
        Columns that can be clustered by.
    known : tuple of str
        Columns that may hold known groups, to compare with.
    notes : tuple of str
        What had to be left out, in words.
    standardise : bool
        Whether features should be brought to one scale, as far as anyone knows.
    lines : tuple of str
        For an example: the import and the expression that give its numbers in Python.
    """

    name: str
    table: Table
    numeric: tuple[str, ...]
    known: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    standardise: bool = True
    lines: tuple[str, str] | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that are clustered by where nobody chooses: numeric ones that are not the known groups."""
        guess = self.truth
        return tuple(name for name in self.numeric if name != guess and name not in self.table.row_names)

    @property
    def truth(self) -> str | None:
        """The column that most likely holds known groups: the only one of words, if there is one."""
        words = [name for name in self.known if name not in self.numeric]
        if len(words) == 1:
            return words[0]
        named = [name for name in self.known if name.lower() in ("label", "class", "target", "component", "cluster")]
        return named[0] if len(named) == 1 else None

    def truth_labels(self, column: str) -> IntArray:
        """Return the known groups of a column as numbers."""
        cells = self.table.cells[self.table.columns.index(column)]
        return np.unique(cells.astype(str), return_inverse=True)[1]


def describe(table: Table, name: str) -> Data:
    """Look through the columns of a table."""
    numeric, known, notes = [], [], []
    for column, cells in zip(table.columns, table.cells, strict=True):
        if table.columns.count(column) > 1:
            notes.append(f"Several columns are named '{column}', so none of them is offered.")
            continue
        try:
            table.features([column])
            numeric.append(column)
        except MissingValueError:
            notes.append(f"Column '{column}' has missing or infinite values, so it is not offered.")
        except TextColumnError:
            pass
        if 2 <= len(set(cells[:10_000].tolist())) <= MOST_LABELS:
            known.append(column)
    if not numeric:
        raise DataError(f"{table.source} has no column of numbers without gaps: fill the gaps or choose another file.")
    return Data(name, table, tuple(numeric), tuple(known), tuple(dict.fromkeys(notes)))


def from_file(path: str | os.PathLike[str]) -> Data:
    """Read a data file."""
    return describe(read_table(path), os.fspath(path))


def from_bytes(name: str, content: bytes) -> Data:
    r"""Read a data file that came as bytes, by the ending of its name; no other part of the name names a file.

    Examples
    --------
    >>> from_bytes("birds.csv", b"mass,species\n3750,Adelie\n5000,Gentoo\n").features
    ('mass',)
    """
    plain = Path(name.replace("\\", "/")).name
    if len(content) > LARGEST_FILE:
        raise DataError(
            f"'{plain}' has {len(content) / 1e6:,.0f} MB, and the page takes {LARGEST_FILE / 1e6:,.0f} MB: give it to "
            "the command, as in modeseek explore FILE or modeseek cluster FILE."
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"upload{Path(plain).suffix}")
        path.write_bytes(content)
        try:
            table = read_table(path)
        except DataError as error:
            raise DataError(str(error).replace(str(path), plain)) from None
    return describe(replace(table, source=f"'{plain}'"), plain)


class _Example(NamedTuple):
    load: Callable[[], tuple[Array, IntArray, Sequence[str]]]
    head: str
    expression: str
    standardise: bool = False


def _plane(X: Array, y: IntArray) -> tuple[Array, IntArray, Sequence[str]]:
    return X, y, ("x", "y")


def _mixture() -> tuple[Array, IntArray, Sequence[str]]:
    return _plane(*paper_mixture(50, random_state=0))


def _moons() -> tuple[Array, IntArray, Sequence[str]]:
    from sklearn.datasets import make_moons

    return _plane(*make_moons(600, noise=0.07, random_state=0))


def _blobs(n: int) -> Callable[[], tuple[Array, IntArray, Sequence[str]]]:
    def load() -> tuple[Array, IntArray, Sequence[str]]:
        from sklearn.datasets import make_blobs

        return _plane(*make_blobs(n, centers=10, random_state=0))

    return load


def _bundled(name: str) -> Callable[[], tuple[Array, IntArray, Sequence[str]]]:
    def load() -> tuple[Array, IntArray, Sequence[str]]:
        from sklearn import datasets

        bunch = getattr(datasets, f"load_{name}")()
        return bunch.data, np.asarray(bunch.target_names)[bunch.target], [str(each) for each in bunch.feature_names]

    return load


def _sklearn(call: str) -> tuple[str, str]:
    return f"from sklearn.datasets import {call.partition('(')[0]}", call


EXAMPLES: dict[str, _Example] = {
    "the paper's mixture (150 points)": _Example(
        _mixture, "from modeseek.datasets import paper_mixture", "paper_mixture(50, random_state=0)[0]"
    ),
    "two moons (600)": _Example(_moons, *_sklearn("make_moons(600, noise=0.07, random_state=0)[0]")),
    "iris (150, four features)": _Example(_bundled("iris"), *_sklearn("load_iris().data")),
    "wine (178, thirteen features)": _Example(_bundled("wine"), *_sklearn("load_wine().data"), standardise=True),
    "digits (1,797, 64 features)": _Example(_bundled("digits"), *_sklearn("load_digits().data")),
    "ten blobs (20,000)": _Example(_blobs(20_000), *_sklearn("make_blobs(20_000, centers=10, random_state=0)[0]")),
}


def example(name: str) -> Data:
    """Return an example that ships, by its name in `EXAMPLES`.

    Examples
    --------
    >>> example("the paper's mixture (150 points)").features
    ('x', 'y')
    """
    chosen = EXAMPLES[name]
    X, y, names = chosen.load()
    table = Table.from_arrays(f"'{name}'", (*names, "label"), (*X.T, y))
    known = describe(table, name.partition(" (")[0])
    return replace(known, standardise=chosen.standardise, lines=(chosen.head, chosen.expression))


@dataclass(frozen=True, eq=False)
class Subject:
    """The numbers that runs work on, and how they are shown: as they are up to two features, else two components.

    Attributes
    ----------
    data : Data
    columns : tuple of str
    standardise : bool
    raw, X : (n, d) array
        The columns as they came, and as they are clustered.
    shown : integer array
        The rows that are drawn: all, or a sample of `MOST_SHOWN`, in increasing order.
    """

    data: Data
    columns: tuple[str, ...]
    standardise: bool
    raw: Array = field(repr=False)
    X: Array = field(repr=False)
    shown: IntArray = field(repr=False)
    _ranges: dict[str, Range] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def of(cls, data: Data, columns: Sequence[str], *, standardise: bool) -> Subject:
        """Take columns of the data."""
        if not columns:
            raise DataError("columns: none is chosen, so there is nothing to cluster by; tick at least one.")
        raw = data.table.features(list(columns)).values
        X = Scaling.fit(raw, standardize=standardise).apply(raw)
        shown = np.arange(len(X))
        if len(X) > MOST_SHOWN:
            shown = np.sort(np.random.default_rng(0).choice(len(X), MOST_SHOWN, replace=False))
        return cls(data, tuple(columns), standardise, raw, X, shown)

    @property
    def sampled(self) -> bool:
        """Whether only some of the rows are drawn."""
        return len(self.shown) < len(self.X)

    def points(self, metric: str) -> Points:
        """Return the rows in canonical form."""
        return canonical_points(self.X, np.ones(len(self.X)), Geometry(metric))

    def automatic(self, points: Points) -> Range:
        """Return the range of bandwidths that the data suggest, worked out once for each metric."""
        with self._lock:
            metric = points.geometry.metric
            if metric not in self._ranges:
                self._ranges[metric] = automatic_range(points.values, points.weights, geometry=points.geometry)
            return self._ranges[metric]

    def eye(self, points: Points) -> Eye:
        """Return how states of these points are seen."""
        return Eye(points, points.inverse[self.shown], self.columns)


class Eye:
    """Sees a state as places in the plane, on axes that the original data fix, so that movement is movement."""

    def __init__(self, points: Points, rows: IntArray, names: Sequence[str]):
        self._points, self.rows = points, rows
        start = points.to_data(points.values).astype(np.float64)
        # `project` draws whatever is given as centres with the components of the data: zero and the unit vectors tell
        # the whole map, which is affine
        d = start.shape[1]
        probe = project(start, np.concatenate([np.zeros((1, d)), np.eye(d)]), list(names))
        self._base, self._map = probe.centers[0], probe.centers[1:] - probe.centers[0]
        self.axes = probe.axes if d > 1 else (probe.axes[0], "")
        self.start = self(points.values)

    def __call__(self, state: Array) -> Array:
        """Return the places, (m, 2) float32, of the rows that are drawn."""
        rows = self._points.to_data(state[self.rows]).astype(np.float64)
        places = np.zeros((len(rows), 2), dtype=np.float32)
        if self._map.shape[1] == 1:  # one feature: rows are spread at random across, so that they can be told apart
            places[:, 0] = rows[:, 0]
            places[:, 1] = np.random.default_rng(1).uniform(-1, 1, len(rows))
        else:
            places[:] = rows @ self._map + self._base
        return places
