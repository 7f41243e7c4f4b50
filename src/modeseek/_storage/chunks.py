"""Reading of data files in chunks, for files larger than memory. Reading can start at any chunk, and be repeated."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from modeseek._common.storable import storable
from modeseek._storage.errors import DataError
from modeseek._storage.formats.reader import Position, Reader, ReadOptions
from modeseek._storage.formats.registry import input_format
from modeseek._storage.input_file import STANDARD_STREAM
from modeseek._storage.reading import check_source, open_reader, readable
from modeseek._storage.table import Table


@storable()
class Place(NamedTuple):
    """A position between two chunks of several files.

    Attributes
    ----------
    file : int
        Index of the file.
    at, within, row : int
        Position in this file; see `Position`.
    """

    file: int = 0
    at: int = 0
    within: int = 0
    row: int = 0


class Chunk(NamedTuple):
    """A chunk of rows.

    Attributes
    ----------
    table : Table
        The rows, with all columns or only those that are needed.
    after : Place
        Where the next chunk begins.
    done : int
        How much of `Chunks.size` has been read, including this chunk.
    """

    table: Table
    after: Place
    done: int


@dataclass(frozen=True, eq=False)
class Chunks:
    """Several files of one format, read one after the other in chunks.

    Attributes
    ----------
    readers : tuple of Reader
    """

    readers: tuple[Reader, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, the same in all files."""
        return self.readers[0].columns

    @property
    def delimiter(self) -> str | None:
        """Delimiter of the first file, if it is text."""
        return self.readers[0].delimiter

    @property
    def size(self) -> int:
        """Total size of the files, in the unit of `Chunk.done`."""
        return sum(reader.size for reader in self.readers)

    def read(self, start: Place = Place(), only: Sequence[str] | None = None) -> Iterator[Chunk]:  # noqa: B008
        """Yield the chunks that follow a place. Every call divides the rows into the same chunks.

        Parameters
        ----------
        start : Place
            Where to begin: the `after` of a chunk.
        only : sequence of str, optional
            The columns that are needed; a chunk may lack the other columns.

        Raises
        ------
        SourceChangedError
            If the size or the modification time of a file has changed since it was opened.
        """
        # a name that occurs twice does not identify a column
        names = only if only is not None and len(set(self.columns)) == len(self.columns) else None
        for number, reader in enumerate(self.readers[start.file :], start.file):
            before = sum(each.size for each in self.readers[:number])
            position = Position(*start[1:]) if number == start.file else Position()
            with readable(reader.file.name):
                reader.file.check_unchanged(reader.stamp)
                for table, after, done in reader.chunks(position, names):
                    yield Chunk(table, Place(number, *after), before + done)
                reader.file.check_unchanged(reader.stamp)


def open_chunks(
    paths: Sequence[str | os.PathLike[str]], *, header: bool | None = None, chunk_bytes: int | None = None
) -> Chunks:
    r"""Open data files to read them in chunks, one after the other.

    Parameters
    ----------
    paths : sequence of str or path-like
        The files, all of one format and with the same columns.
    header : bool or None
        Whether the first row of a text file holds names; None detects it, for each file.
    chunk_bytes : int, optional
        Approximate size of a chunk.

    Raises
    ------
    DataError
        If a file is missing, damaged, cannot be read in chunks, or differs from the first in format or columns.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in "ab":
    ...     _ = (folder / f"{name}.csv").write_text("x,y\n1,2\n3,4\n")
    >>> chunks = open_chunks([folder / "a.csv", folder / "b.csv"])
    >>> [chunk.table.features().values.tolist() for chunk in chunks.read()]
    [[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]]
    """
    if not paths:
        raise DataError("there is no file to read: give at least one.")
    options = ReadOptions(header) if chunk_bytes is None else ReadOptions(header, chunk_bytes)
    readers: list[Reader] = []
    for path in paths:
        if os.fspath(path) == STANDARD_STREAM:
            raise DataError("standard input can be read only once, and so only in memory: give files by their names.")
        check_source(path)
        if not Path(path).is_file():
            raise DataError(f"'{path}' is not a regular file: it can be read only once, and so only in memory.")
        if not input_format(path).chunked:
            raise DataError(f"'{path}': {input_format(path).name} is read in memory only: save it in another format.")
        readers.append(open_reader(path, options))
        _check_alike(readers[0], readers[-1], input_format(path) is input_format(paths[0]))
    return Chunks(tuple(readers))


def _check_alike(first: Reader, other: Reader, same_format: bool) -> None:
    names, columns, others = f"{first.file.name} and {other.file.name}", first.columns, other.columns
    if not same_format:
        raise DataError(f"{names} have different formats: give files of one format.")
    if columns != others:
        at = next((j for j, pair in enumerate(zip(columns, others, strict=False)) if pair[0] != pair[1]), None)
        what = f"{len(columns)} and {len(others)} columns"
        if at is not None:
            what = f"'{columns[at]}' and '{others[at]}' as column {at + 1}"
        raise DataError(f"{names} have {what}: give files with the same columns in the same order.")
    if first.schema is not None and not first.schema.equals(other.schema):
        one, two = next(pair for pair in zip(first.schema, other.schema, strict=True) if not pair[0].equals(pair[1]))
        raise DataError(
            f"{names} have column '{one.name}' as {one.type} and as {two.type}: write them with the same types."
        )
