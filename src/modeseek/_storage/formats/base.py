"""The interface of a file format, and the registry of formats."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.hints import did_you_mean
from modeseek._storage.cells import Content, to_numbers
from modeseek._storage.errors import DataError, SourceChangedError
from modeseek._storage.table import Table

__all__ = [
    "FORMATS",
    "STANDARD_STREAM",
    "Format",
    "InputFile",
    "OutputSpec",
    "Position",
    "ReadOptions",
    "Reader",
    "format_of",
    "register_format",
]


class ReadOptions(NamedTuple):
    """How files are read.

    Attributes
    ----------
    header : bool or None
        Whether the first row of a text file holds names; None detects it.
    chunk_bytes : int
        Approximate size of a chunk in bytes. In formats other than text, a number counts as eight bytes.
    """

    header: bool | None = None
    chunk_bytes: int = 1 << 23


@dataclass(frozen=True, eq=False)
class InputFile:
    """A file to read, or the bytes of a stream.

    Attributes
    ----------
    name : str
        Name in messages.
    path : Path or None
        The file, if it is a regular one, which can be read more than once.
    data : bytes
        The content otherwise.
    suffix : str
        Ending of the name, in lower case.
    """

    name: str
    path: Path | None = None
    data: bytes = b""
    suffix: str = ""

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> InputFile:
        """Return the file at a path; a pipe is read to its end."""
        where, name = Path(path), f"'{os.fspath(path)}'"
        if where.is_file():
            return cls(name, where, suffix=where.suffix.lower())
        return cls(name, None, where.read_bytes(), where.suffix.lower())

    def open(self) -> BinaryIO:
        """Open it for reading from the beginning."""
        return BytesIO(self.data) if self.path is None else self.path.open("rb")

    def stamp(self) -> tuple[int, int]:
        """Return size and modification time."""
        if self.path is None:
            return len(self.data), 0
        found = self.path.stat()
        return found.st_size, found.st_mtime_ns

    def check_unchanged(self, stamp: tuple[int, int]) -> None:
        """Raise `SourceChangedError` if the file has changed since `stamp` was taken."""
        if self.stamp() != stamp:
            raise SourceChangedError(self.name)


class Position(NamedTuple):
    """A position between two chunks of a file.

    Attributes
    ----------
    at : int
        Bytes of a text, rows of an array, or row groups before it.
    within : int
        Lines of a text, or batches of the row group, before it.
    row : int
        Rows of the file before it.
    """

    at: int = 0
    within: int = 0
    row: int = 0


START = Position()


class Reader(ABC):
    """A file that is open for reading in chunks.

    Attributes
    ----------
    file : InputFile
    stamp : tuple of int
        Size and modification time of the file when it was opened.
    columns, row_names : tuple of str
        Names of all columns, and of those that hold row names.
    size : int
        Size in the unit of `chunks`, for progress.
    delimiter : str or None
        Delimiter of a text file. The columns of other files have types.
    schema : object
        Types of the columns, equal for files that can be read as one; None if there are none to compare.
    """

    columns: tuple[str, ...]
    size: int
    row_names: tuple[str, ...] = ()
    delimiter: str | None = None
    schema: Any = None

    def __init__(self, file: InputFile):
        self.file, self.stamp = file, file.stamp()

    @abstractmethod
    def chunks(self, start: Position, only: Sequence[str] | None) -> Iterator[tuple[Table, Position, int]]:
        """Yield the rows from a position on, the position after them, and the part of `size` before that.

        Chunks begin and end at the same rows every time. If `only` is given, other columns may be left out.
        """

    def read(self) -> Table:
        """Return all rows."""
        tables = [table for table, _, _ in self.chunks(START, None)]
        if not tables:
            raise DataError(f"{self.file.name} has no rows: give at least one.")
        return Table.concatenate(tables)


class OutputSpec(NamedTuple):
    """Properties of an output file that a format needs before it writes the first row.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    columns : tuple of str
        Names of the columns of the input.
    added : tuple of str
        Names of the columns that are added after them.
    contents : tuple of Content
        What the columns of the input hold, if the format needs it; else empty.
    delimiter : str
        Delimiter of a text file.
    guard : bool
        Whether cells that look like formulas get an apostrophe, in a text file.
    """

    n_rows: int
    columns: tuple[str, ...]
    added: tuple[str, ...] = ()
    contents: tuple[Content, ...] = ()
    delimiter: str = ","
    guard: bool = False


class Format(ABC):
    """A file format for tables.

    Attributes
    ----------
    name : str
        Name in messages, such as "Parquet".
    suffixes : tuple of str
        Endings of file names, in lower case and with the dot; the first is the usual one.
    magic : bytes
        What files of this format begin with; empty if they have no common beginning.
    chunked : bool
        Whether files larger than memory can be read and written.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    magic: ClassVar[bytes] = b""
    chunked: ClassVar[bool] = True

    @abstractmethod
    def open(self, file: InputFile, options: ReadOptions) -> Reader:
        """Open a file for reading."""

    @abstractmethod
    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        """Write Arrow tables, which hold the columns of the input and the added ones, to an empty file."""

    def needs_contents(self, delimiter: str | None) -> bool:
        """Return whether `OutputSpec.contents` is needed for rows of a file with this delimiter (None: not text)."""
        return False

    def check_contents(self, target: str, spec: OutputSpec) -> None:  # noqa: B027 (not every format needs it)
        """Raise a `DataError` if the format cannot hold the columns without loss."""


class NumericFormat(Format):
    """A format for one array of float64 numbers."""

    def needs_contents(self, delimiter: str | None) -> bool:
        return True

    def check_contents(self, target: str, spec: OutputSpec) -> None:
        for name, content in zip(spec.columns, spec.contents, strict=False):
            instead = "write .csv or .parquet."
            if content & Content.TEXT:
                raise DataError(
                    f"cannot write '{target}': column '{name}' is not numeric, and {self.name} "
                    f"holds numbers only; {instead}"
                )
            if content & Content.BIG_INTEGER:
                raise DataError(
                    f"cannot write '{target}': column '{name}' has integers beyond 2^53, which the numbers of "
                    f"{self.name} (float64) would change; {instead}"
                )


def numbers_of(chunk: Any) -> NDArray[np.float64]:
    """Return the columns of an Arrow table as one array of float64."""
    return np.column_stack([to_numbers(column)[0] for column in chunk.columns])


STANDARD_STREAM = "-"
# formats by the ending of file names
FORMATS: dict[str, Format] = {}
# what to do with files of formats that cannot be read
SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
PANDAS = {".json": "json", ".feather": "feather", ".h5": "hdf", ".hdf5": "hdf", ".pkl": "pickle", ".dta": "stata"}
COMPRESSED = {".gz": "gunzip", ".zip": "unzip", ".xz": "unxz", ".bz2": "bunzip2"}


def register_format(new: Format) -> None:
    """Add a format; it replaces earlier ones for the endings that they share."""
    FORMATS.update(dict.fromkeys(new.suffixes, new))


def format_of(path: str | os.PathLike[str]) -> Format:
    """Return the format of a file by the ending of its name; "-" is text.

    Examples
    --------
    >>> format_of("birds.CSV").name, format_of("-").name, format_of("birds.pq").name
    ('delimited text', 'delimited text', 'Parquet')
    """
    suffix = ".csv" if os.fspath(path) == STANDARD_STREAM else Path(path).suffix.lower()
    if suffix in FORMATS:
        return FORMATS[suffix]
    ending = f"unknown ending '{suffix}'" if suffix else "the name has no ending"
    raise DataError(f"'{path}': {ending}.{_conversion(suffix)} Known: {', '.join(FORMATS)}.")


def _conversion(suffix: str) -> str:
    """Return how to convert a file of a known foreign format."""
    if suffix in SPREADSHEETS:
        return " Save the sheet as CSV (in the spreadsheet: Save as, CSV UTF-8)."
    if suffix in PANDAS:
        return f" Convert it once, in Python: pandas.read_{PANDAS[suffix]}(...).to_parquet('data.parquet')."
    if suffix in COMPRESSED:
        return f" Unpack it first: {COMPRESSED[suffix]}."
    return did_you_mean(suffix, FORMATS)
