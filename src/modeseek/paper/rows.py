"""Result tables of experiments, in tidy form: one row for each measurement."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from modeseek._common.types import Array

Value: TypeAlias = str | int | float | None
Row: TypeAlias = dict[str, Value]


class Rows:
    """A table of rows with the same columns.

    Examples
    --------
    >>> rows = Rows(["line", "N", "k"], [{"line": "SMS", "N": 10, "k": 0.5}, {"line": "DSMS", "N": 10, "k": 0.75}])
    >>> rows.where(line="DSMS")["k"]
    array([0.75])
    >>> rows.distinct("line")
    ['SMS', 'DSMS']
    >>> print(rows.csv())
    line,N,k
    SMS,10,0.5
    DSMS,10,0.75
    <BLANKLINE>
    """

    def __init__(self, columns: Sequence[str], rows: Iterable[Row]):
        self.columns, self._rows = tuple(columns), list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, column: str) -> Array:
        """Return a column of numbers; missing values are NaN."""
        return np.array([np.nan if row[column] is None else row[column] for row in self._rows], dtype=np.float64)

    def where(self, **conditions: Value) -> Rows:
        """Return the rows whose columns have the given values."""
        kept = [row for row in self._rows if all(row[name] == value for name, value in conditions.items())]
        return Rows(self.columns, kept)

    def halves(self) -> tuple[Rows, Rows]:
        """Return the rows of the first and of the second half of the runs; if there is one run, both are its rows."""
        runs = self.distinct("run")
        first = set(runs[: len(runs) // 2] or runs)
        kept = ([row for row in self._rows if (row["run"] in first) == early] for early in (True, False))
        early, late = (Rows(self.columns, rows) for rows in kept)
        return early, late if len(late) else early

    def distinct(self, column: str) -> list[Value]:
        """Return the distinct values of a column, in order of first occurrence."""
        return list(dict.fromkeys(row[column] for row in self._rows))

    def sorted(self, column: str) -> list[float]:
        """Return the distinct numbers of a column, in increasing order."""
        return np.unique(self[column]).tolist()

    def csv(self) -> str:
        """Return the rows as CSV with a header; floats have all digits and can be read back exactly."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self._rows)
        return text.getvalue()
