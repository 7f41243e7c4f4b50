"""Errors about files and tables. Their fields describe the problem, and callers can add remedies to the message."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from modeseek._common.hints import did_you_mean
from modeseek._common.resources import format_bytes


class DataError(ValueError):
    """A file that cannot be read, written or used; the message names the file, the place and the remedy.

    Examples
    --------
    >>> issubclass(DataError, ValueError)
    True
    """

    def __reduce__(self) -> Any:
        # exceptions are pickled between processes (joblib, Dask), and the arguments of subclasses are not their message
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[DataError], args: tuple[Any, ...], fields: dict[str, Any]) -> DataError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


def place_of(row: int, line: int | None) -> str:
    """Return a description of a row, with its line if the file is text.

    Examples
    --------
    >>> place_of(2, 3), place_of(2, None)
    ('row 2 (line 3)', 'row 2')
    """
    return f"row {row}" if line is None else f"row {row} (line {line})"


class WriteError(DataError):
    """A file that the operating system failed to write, for example because the disk is full.

    Attributes
    ----------
    path : str
    reason : str
        The reason, as given by the operating system.
    """

    def __init__(self, path: str | os.PathLike[str], error: OSError):
        self.path, self.reason = os.fspath(path), error.strerror or str(error)
        super().__init__(f"cannot write '{self.path}': {self.reason}.")


class SourceChangedError(DataError):
    """A file that has changed since it was opened."""

    def __init__(self, source: str):
        self.source = source
        super().__init__(f"{source} has changed while it was being read: run again when it is complete.")


class UnpackedSizeError(DataError):
    """A compressed file that would take far more memory than its size.

    Attributes
    ----------
    problem : str
        What is wrong, without a full stop.
    unpacked : int
        Bytes after decompression, of the whole file or up to the place where reading stopped.
    packed : int
        Bytes of the file.
    bound : float
        Largest allowed number of bytes after decompression.
    """

    def __init__(self, source: str, unpacked: int, packed: int, bound: float):
        self.source, self.unpacked, self.packed, self.bound = source, unpacked, packed, bound
        self.problem = (
            f"{source} has {format_bytes(packed)} and unpacks to {format_bytes(unpacked)} or more, above the bound of "
            f"{format_bytes(bound)}"
        )
        super().__init__(f"{self.problem}: if you trust the file, raise the bound with modeseek.limit_unpacked.")


class UnknownFormatError(DataError):
    """A file whose name has an ending that no format has.

    Attributes
    ----------
    path, suffix : str
        The file, and its ending.
    known : tuple of str
        The endings that formats have.
    """

    def __init__(self, path: str, suffix: str, known: Iterable[str], remedy: str):
        self.path, self.suffix, self.known = path, suffix, tuple(known)
        ending = f"unknown ending '{suffix}'" if suffix else "the name has no ending"
        if suffix in self.known:
            super().__init__(f"'{path}': {remedy}")
        else:
            super().__init__(f"'{path}': {ending}. {remedy} Known: {', '.join(self.known)}.".replace("  ", " "))


class HeaderOnlyError(DataError):
    """A text file with a header and no rows."""

    def __init__(self, source: str):
        self.source = source
        super().__init__(f"{source} has a header but no rows: give at least one row.")


class UnknownColumnError(DataError):
    """A column that the table does not have.

    Attributes
    ----------
    name : str
        The requested column.
    columns : tuple of str
        The columns of the table, by their unique names.
    """

    def __init__(self, source: str, name: str, columns: Sequence[str]):
        self.source, self.name, self.columns = source, name, tuple(columns)
        listed = ", ".join(columns[:12]) + (", ..." if len(columns) > 12 else "")
        super().__init__(f"{source} has no column '{name}'.{did_you_mean(name, columns)} The columns are: {listed}.")


class NoColumnsError(DataError):
    """A selection of columns that is empty.

    Attributes
    ----------
    left_out : str
        Columns that cannot be used, with the reasons; "" if none was left out for a reason.
    encodable : tuple of str
        The left-out columns that one-hot encoding could use.
    where : str
        A cell that is not a number in a column of numbers, and its place; "" if there is none.
    words : tuple of str
        Texts in columns of numbers, which may stand for missing values.
    """

    def __init__(
        self,
        source: str,
        left_out: str = "",
        encodable: Sequence[str] = (),
        where: str = "",
        words: Sequence[str] = (),
    ):
        self.source, self.left_out, self.encodable = source, left_out, tuple(encodable)
        self.where, self.words = where, tuple(words)
        remedy = "one-hot encode " + ", ".join(encodable) if encodable else "choose at least one"
        super().__init__(self.explain(remedy))

    def explain(self, remedy: str) -> str:
        """Return the message; `remedy`, an imperative, says what to do."""
        why = f" Left out: {self.left_out}." if self.left_out else ""
        why += f" For example, {self.where}." if self.where else ""
        return f"{self.source}: no column is left to cluster.{why} To continue, {remedy}."


class IncompleteRowsError(DataError):
    """A table in which every row has a missing value.

    Attributes
    ----------
    columns : dict of str to int
        The number of missing values of each column.
    """

    def __init__(self, source: str, columns: dict[str, int]):
        self.source, self.columns = source, columns
        super().__init__(self.explain("fill them in with medians"))

    def explain(self, remedy: str) -> str:
        """Return the message; `remedy`, an imperative, says what to do."""
        worst = sorted(self.columns.items(), key=lambda each: -each[1])[:12]
        counts = ", ".join(f"{name} {count:,}" for name, count in worst)
        return (
            f"{self.source}: no row is complete. Missing values: {counts}. To continue, {remedy}, or leave columns out."
        )


class NameTakenError(DataError):
    """A column to be added whose name the table already has."""

    def __init__(self, source: str, name: str):
        self.source, self.name = source, name
        super().__init__(f"{source} already has a column '{name}': choose another name for the new column.")


class TextColumnError(DataError):
    """A column that should hold numbers and holds something else.

    Attributes
    ----------
    where : str
        The first cell that is not a number, and its column, as a sentence without a full stop.
    problem : str
        What is wrong and where, as sentences.
    corrections : tuple of str
        Ways to turn `example` into a number, as imperatives; often empty.
    columns : tuple of str
        All columns that are not numeric.
    example : object
        The first cell of the first of these columns that is not a number; None if it is below the rows at hand.
    row : int
        Row of `example`, counted from 1; the last row at hand if `example` is None.
    line : int or None
        Line of `example`, if the file is text.
    missing : dict of str to int
        Number of missing values of each numeric column that has some.
    encodable : bool
        Whether one-hot encoding could use all these columns.
    words : tuple of str
        Texts among the numbers, which may stand for missing values.
    """

    encodable = False
    words: tuple[str, ...] = ()

    def __init__(
        self,
        source: str,
        columns: Sequence[str],
        example: object,
        row: int,
        line: int | None,
        corrections: Sequence[str] = (),
        missing: Mapping[str, int] | None = None,
    ):
        self.source, self.columns, self.example, self.row, self.line = source, tuple(columns), example, row, line
        self.corrections, self.missing = tuple(corrections), dict(missing or {})
        shown = repr(example)
        shown = shown if len(shown) <= 40 else shown[:36] + "...'"
        found = f"a row after row {row:,} has text" if example is None else f"{place_of(row, line)} has {shown}"
        self.where = f"column '{columns[0]}' is not numeric: {found}"
        self.problem = f"{source}: {self.where}."
        if len(columns) > 1:
            self.problem += f" Not numeric either: {', '.join(columns[1:])}."
        if missing:
            self.problem += f" Missing values: {', '.join(f'{name} {count:,}' for name, count in missing.items())}."
        super().__init__(self.explain(f"leave {'the columns' if len(columns) > 1 else 'the column'} out"))

    def explain(self, omission: str) -> str:
        """Return the message; `omission`, an imperative, says how to leave the columns out."""
        return f"{self.problem} To continue, {', or '.join([*self.corrections, omission])}."


class MissingValueError(DataError):
    """A missing or infinite value in a column that should hold finite numbers.

    Attributes
    ----------
    problem : str
        What is wrong and where, without a full stop.
    columns : dict of str to int
        Number of missing and infinite values of each column that has some. The column of the first such value comes
        first.
    row : int
        Row of the first such value, counted from 1.
    line : int or None
        Line of this row, if the file is text.
    count : int
        Number of rows with such values.
    infinite : bool
        Whether the first such value is infinite instead of missing.
    """

    def __init__(
        self,
        source: str,
        columns: dict[str, int],
        row: int,
        line: int | None,
        count: int,
        *,
        infinite: bool,
        scope: str = "",
    ):
        self.source, self.columns, self.row, self.line, self.count = source, columns, row, line, count
        self.infinite = infinite
        what = "an infinite" if infinite else "a missing"
        self.problem = f"{source}: {place_of(row, line)} has {what} value in column '{next(iter(columns))}'"
        if count > 1:
            counts = ", ".join(f"{name} {each:,}" for name, each in columns.items())
            among = f": {counts}" if len(columns) > 1 else ""
            self.problem += f" ({count:,} rows{scope} have such values{among})"
        super().__init__(self.explain("leave the column out" if len(columns) == 1 else "leave the columns out"))

    def explain(self, omission: str) -> str:
        """Return the message; `omission`, an imperative, says how to leave the columns out."""
        return f"{self.problem}: correct it, remove the row, or {omission}."
