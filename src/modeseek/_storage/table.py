"""The rows of a data file in memory: the columns of the file, and the features taken from these columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek._common.types import Array, IntArray
from modeseek._storage.cells import (
    correction,
    count_numbers,
    mixed_units,
    to_array,
    to_numbers,
    to_objects,
    without_codes,
)
from modeseek._storage.contents import Content, content_of
from modeseek._storage.errors import (
    MissingValueError,
    NameTakenError,
    NoColumnsError,
    TextColumnError,
    UnknownColumnError,
    place_of,
)
from modeseek._storage.pyarrow_modules import pa


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names with numbers appended to repeated names.

    Examples
    --------
    >>> unique_names(["a", "b", "a"]), unique_names(["a", "a.2", "a"])
    (('a', 'b', 'a.2'), ('a', 'a.2', 'a.3'))
    """
    seen: dict[str, int] = {}
    found, taken = [], set(names)
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique = name
        if seen[name] > 1:
            while (unique := f"{name}.{seen[name]}") in taken:
                seen[name] += 1
            taken.add(unique)
        found.append(unique)
    return tuple(found)


class Features(NamedTuple):
    """The numbers to cluster.

    Attributes
    ----------
    values : (n, d) float64 array
        Finite numbers, a row for each row of the table.
    names : tuple of str
        Name of the column of each feature; names are unique.
    """

    values: Array
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a data file.

    Attributes
    ----------
    source : str
        Name of the file in messages.
    data : pyarrow.Table
        The columns, with the types of the file; those of a text file are strings.
    row_names : tuple of str
        Names of the columns that hold row names. `features` takes these columns only if its argument lists them.
    delimiter : str or None
        Delimiter of a text file.
    first_row : int or None
        Number of rows of the file before this chunk; None if the table holds the whole file.
    find_lines : callable or None
        Computes `lines`.
    notes : tuple of str
        Remarks on how the file was read.
    """

    source: str
    data: Any = field(repr=False)
    row_names: tuple[str, ...] = ()
    delimiter: str | None = None
    first_row: int | None = None
    find_lines: Callable[[], IntArray] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # polars exports text as string_view, which few functions of Arrow accept
        for j, each in enumerate(self.data.schema):
            if str(each.type) == "string_view":
                data = self.data.set_column(j, each.name, self.data.column(j).cast(pa.large_string()))
                object.__setattr__(self, "data", data)

    @classmethod
    def from_arrays(cls, source: str, columns: Sequence[str], arrays: Iterable[ArrayLike], **more: Any) -> Table:
        """Make a table from arrays, one for each column.

        Examples
        --------
        >>> table = Table.from_arrays("example", ["x", "y"], [[1.0, 2.0], ["a", "b"]])
        >>> table.columns, table.n_rows
        (('x', 'y'), 2)
        """
        return cls(source, pa.table([pa.array(np.asarray(each)) for each in arrays], names=list(columns)), **more)

    @classmethod
    def concatenate(cls, tables: Sequence[Table]) -> Table:
        """Join the chunks of a file into one table of the whole file."""
        first = tables[0]
        finders = [table.find_lines for table in tables if table.find_lines is not None]
        return cls(
            first.source,
            pa.concat_tables([table.data for table in tables]),
            first.row_names,
            first.delimiter,
            find_lines=(lambda: np.concatenate([find() for find in finders])) if finders else None,
            notes=first.notes,
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.data.column_names)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(unique_names(self.columns))}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.data.num_rows)

    @cached_property
    def cells(self) -> tuple[NDArray[Any], ...]:
        """The columns as NumPy arrays: numbers, or objects if a column has other or missing values."""
        return tuple(map(to_array, self.data.columns))

    @cached_property
    def lines(self) -> IntArray | None:
        """Numbers of the lines on which the rows of a text file begin, from 1; None if they are not known."""
        return None if self.find_lines is None else self.find_lines()

    def contents(self) -> tuple[Content, ...]:
        """Return the kinds of values in each column."""
        return tuple(map(content_of, self.data.columns))

    def features(self, columns: Sequence[str] | None = None, ignore: Iterable[str] = ()) -> Features:
        """Return columns as a matrix of numbers.

        Parameters
        ----------
        columns : sequence of str or None
            The columns to take, in this order; None takes all columns except those of row names.
        ignore : iterable of str
            Columns to leave out.

        Returns
        -------
        Features
            The numbers, and the names of their columns.

        Raises
        ------
        DataError
            If a column does not exist, or a cell is not a finite number.
        """
        dropped = {self.position(name) for name in ignore}
        if columns is None:
            dropped |= {self.columns.index(name) for name in self.row_names}
            chosen = [j for j in range(len(self.columns)) if j not in dropped]
        else:
            chosen = [j for j in map(self.position, dict.fromkeys(columns)) if j not in dropped]
        if not chosen:
            raise NoColumnsError(self.source)
        taken = [to_numbers(self.data.column(j)) for j in chosen]
        values, unique = np.column_stack([numbers for numbers, _ in taken]), [*self._positions]
        names = tuple(unique[j] for j in chosen)
        if any(bad is not None for _, bad in taken):
            text = [j for j, (_, bad) in zip(chosen, taken, strict=True) if bad is not None]
            gaps = zip(chosen, names, (~np.isfinite(values)).sum(axis=0).tolist(), strict=True)
            raise self.text_error(text, {name: count for j, name, count in gaps if count and j not in text})
        if not np.isfinite(values).all():
            self.refuse_gaps(values, names)
        return Features(values, names)

    def with_missing(self, codes: Sequence[str | float]) -> Table:
        """Return the table with missing values in place of cells that equal one of `codes`."""
        if not codes:
            return self

        columns = [without_codes(column, [*map(str, codes)]) for column in self.data.columns]
        return replace(self, data=pa.table(columns, names=list(self.columns)))

    def check_free(self, name: str) -> None:
        """Raise `NameTakenError` if a column has this name."""
        if name in self.columns:
            raise NameTakenError(self.source, name)

    def place(self, row: int) -> str:
        """Return the place of a row (counted from 0) in the file for messages, such as "row 2 (line 3)"."""
        return place_of(*self._row_and_line(row))

    def _row_and_line(self, row: int) -> tuple[int, int | None]:
        return row + 1 + (self.first_row or 0), None if self.lines is None else int(self.lines[row])

    def position(self, name: str) -> int:
        """Return the number of a column by its unique name; raise `UnknownColumnError` if there is none."""
        if name in self._positions:
            return self._positions[name]
        raise UnknownColumnError(self.source, name, tuple(self._positions))

    def text_error(
        self, columns: Sequence[int], missing: Mapping[str, int] | None = None, style: str = "plain"
    ) -> TextColumnError:
        """Return the error about columns with text.

        `missing` counts the missing values of numeric columns, and `style` is how the numbers of the first column
        should be written.
        """
        column = self.data.column(columns[0])
        row = to_numbers(column, style)[1]
        if row is None:  # numbers of different units
            row = to_numbers(column)[1]
        names = [[*self._positions][j] for j in columns]
        if row is None:  # a chunk after this one has text
            return TextColumnError(self.source, names, None, self.n_rows + (self.first_row or 0), None, (), missing)
        cells = to_objects(column)
        numbers, corrections = count_numbers(column, style), []
        if 2 * numbers > self.n_rows:
            corrections.append(f"correct it ({numbers:,} of {self.n_rows:,} rows{self._scope} have a number there)")
        if units := mixed_units(column):
            corrections.append(f"write all cells in the same unit ({', '.join(map(repr, units))})")
        elif better := correction(cells[row]):
            corrections.append(better)
        return TextColumnError(self.source, names, cells[row], *self._row_and_line(row), corrections, missing)

    def refuse_gaps(self, values: Array, names: Sequence[str]) -> NoReturn:
        """Raise a `MissingValueError` about features with values that are not finite."""
        bad = ~np.isfinite(values)
        row, at = (int(i) for i in np.argwhere(bad)[0])
        counts = {name: int(count) for name, count in zip(names, bad.sum(axis=0), strict=True) if count}
        # the column of the first such value comes first
        counts = {names[at]: counts[names[at]], **counts}
        n_rows, infinite = int(bad.any(axis=1).sum()), not np.isnan(values[row, at])
        place = self._row_and_line(row)
        raise MissingValueError(self.source, counts, *place, n_rows, infinite=infinite, scope=self._scope)

    @property
    def _scope(self) -> str:
        return "" if self.first_row is None else " of this chunk"
