"""A data file in memory: its rows as they came, the features taken from them, and the way back to a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek._common.types import Array, IntArray
from modeseek._storage import binary
from modeseek._storage.atomic import atomic_path
from modeseek._storage.cells import is_number, rewriting, to_numbers
from modeseek._storage.errors import (
    DataError,
    MissingValueError,
    NameTakenError,
    NoColumnsError,
    TextColumnError,
    UnknownColumnError,
)
from modeseek._storage.kinds import STANDARD_STREAM, kind_of
from modeseek._storage.text import WHITESPACE, write_text

__all__ = ["Features", "Table"]


class Features(NamedTuple):
    """The numbers to work on.

    Attributes
    ----------
    values : (n, d) float64 array
        Finite numbers, a row for each row of the table.
    names : tuple of str
        The column that each feature came from.
    """

    values: Array
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a data file, as they came.

    Attributes
    ----------
    source : str
        How messages call the file.
    columns : tuple of str
        Names of the columns.
    cells : tuple of (n,) arrays
        The columns: strings where the file is text, else numbers or objects.
    row_names : tuple of str
        Columns that hold row names; they are features only when asked for by name.
    lines : (n,) integer array or None
        The line of the text file on which each row begins.
    delimiter : str or None
        What separates the cells of the text file.
    first_row : int or None
        In a block of a file, how many rows come before it; None where all are here.
    """

    source: str
    columns: tuple[str, ...]
    cells: tuple[NDArray[Any], ...] = field(repr=False)
    row_names: tuple[str, ...] = ()
    lines: IntArray | None = field(default=None, repr=False)
    delimiter: str | None = None
    arrow: Any = field(default=None, repr=False)
    first_row: int | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.cells[0])

    def features(self, columns: Sequence[str] | None = None, ignore: Iterable[str] = ()) -> Features:
        """Take columns as numbers.

        Parameters
        ----------
        columns : sequence of str or None
            The columns to take, in this order; None takes all but row names.
        ignore : iterable of str
            Columns to leave out.

        Returns
        -------
        Features
            The numbers, and the names of their columns.

        Raises
        ------
        DataError
            If a name is unknown or a cell is no finite number.
        """
        dropped = {self._position(name) for name in ignore}
        if columns is None:
            dropped |= {self.columns.index(name) for name in self.row_names}
            chosen = [j for j in range(len(self.columns)) if j not in dropped]
        else:
            chosen = [j for j in map(self._position, dict.fromkeys(columns)) if j not in dropped]
        if not chosen:
            raise NoColumnsError(self.source)
        taken = [to_numbers(self.cells[j]) for j in chosen]
        self._refuse_text([(j, bad) for j, (_, bad) in zip(chosen, taken, strict=True) if bad is not None])
        values = np.column_stack([numbers for numbers, _ in taken])
        self._refuse_gaps(values, chosen)
        return Features(values, tuple(self.columns[j] for j in chosen))

    def check_free(self, name: str) -> None:
        """Check that no column has this name, so that one can be added."""
        if name in self.columns:
            raise NameTakenError(self.source, name)

    def check_writable(self, path: str | os.PathLike[str]) -> None:
        """Check that this table fits the kind of file: NPY and NPZ hold numbers only."""
        if kind_of(path) in ("npy", "npz"):
            for name, column in zip(self.columns, self.cells, strict=True):
                if to_numbers(column)[1] is not None:
                    raise DataError(
                        f"cannot write '{path}': column '{name}' is not numeric, "
                        "and NumPy files hold numbers only; write .csv or .parquet."
                    )

    def write(self, path: str | os.PathLike[str], extra: Mapping[str, ArrayLike], *, guard: bool = False) -> None:
        """Write the rows, in their order, with extra columns at the end; "-" writes text to standard output.

        Parameters
        ----------
        path : str or path-like
            The file; its ending says which kind.
        extra : mapping of str to (n,) array
            The columns to add.
        guard : bool
            In text, put an apostrophe in front of cells that a spreadsheet would take for formulas: those that begin
            with =, +, -, @, a tab or a carriage return and are no numbers.

        Raises
        ------
        DataError
            If a column of that name is there already, or the file cannot be written.
        """
        for name in extra:
            self.check_free(name)
        self.check_writable(path)
        added = {name: np.asarray(values) for name, values in extra.items()}
        if os.fspath(path) == STANDARD_STREAM:
            self._write_text(sys.stdout, self.delimiter_for(""), added, guard)
            return
        kind = kind_of(path)
        with atomic_path(path) as part:
            if kind == "text":
                with part.open("w", encoding="utf-8", newline="") as stream:
                    self._write_text(stream, self.delimiter_for(part.suffix.lower()), added, guard)
            elif kind == "parquet":
                binary.write_parquet(part, self.columns, self.cells, added, self.arrow)
            else:
                numbers = np.column_stack([to_numbers(column)[0] for column in self.cells])
                (binary.write_npy if kind == "npy" else binary.write_npz)(part, self.columns, numbers, added)

    def _write_text(self, stream: Any, delimiter: str, added: dict[str, NDArray[Any]], guard: bool) -> None:
        write_text(stream, [*self.columns, *added], self.plain_columns(added), delimiter, guard=guard)

    def plain_columns(self, added: Mapping[str, NDArray[Any]]) -> list[list[Any]]:
        """Return the columns and those added as Python's values, which print as they read back."""
        # tolist: Python's numbers print the shortest digits that read back as the same number
        return [column.tolist() for column in (*self.cells, *added.values())]

    def delimiter_for(self, suffix: str) -> str:
        """Return what separates the cells in a text file with this ending."""
        if suffix in (".tsv", ".tab"):
            return "\t"
        if self.delimiter in (None, WHITESPACE) or (suffix == ".csv" and self.delimiter == "\t"):
            return ","
        return str(self.delimiter)

    def _position(self, name: str) -> int:
        places = [j for j, column in enumerate(self.columns) if column == name]
        if len(places) == 1:
            return places[0]
        raise UnknownColumnError(self.source, name, self.columns)

    def _refuse_text(self, bad: list[tuple[int, int]]) -> None:
        if not bad:
            return
        j, row = bad[0]
        example, corrections = self.cells[j][row], []
        numbers = sum(is_number(str(cell)) for cell in self.cells[j])
        if 2 * numbers > self.n_rows:
            corrections.append(f"correct it ({numbers:,} of {self.n_rows:,} rows{self._here} have a number there)")
        if better := rewriting(example):
            corrections.append(better)
        names = [self.columns[k] for k, _ in bad]
        raise TextColumnError(self.source, names, example, self.place(row), corrections)

    def _refuse_gaps(self, values: Array, chosen: list[int]) -> None:
        finite = np.isfinite(values)
        if finite.all():
            return
        row, at = (int(i) for i in np.argwhere(~finite)[0])
        count, infinite = int((~finite).any(axis=1).sum()), not np.isnan(values[row, at])
        raise MissingValueError(
            self.source, self.columns[chosen[at]], self.place(row), count, infinite=bool(infinite), scope=self._here
        )

    @property
    def _here(self) -> str:
        return "" if self.first_row is None else " of this chunk"

    def place(self, row: int) -> str:
        """Say where a row (counted from 0) is, as an editor counts."""
        return f"row {row + 1 + (self.first_row or 0)}" + (
            f" (line {self.lines[row]})" if self.lines is not None else ""
        )
