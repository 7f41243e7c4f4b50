"""Files of any size, block by block: from any block on, again and again, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from modeseek._storage import binary
from modeseek._storage.errors import DataError
from modeseek._storage.kinds import STANDARD_STREAM, kind_of
from modeseek._storage.reading import check_source
from modeseek._storage.table import Table
from modeseek._storage.text_chunks import TextFile

__all__ = ["BLOCK", "CHUNKED", "Chunk", "Chunks", "Place", "open_chunks"]

# bytes of a block: of a text as they are, else at eight to a number
BLOCK = 1 << 23
# kinds of file that can be read so; an archive is packed, and a pipe is gone once read
CHUNKED = ("text", "parquet", "npy")


class Place(NamedTuple):
    """Between two blocks.

    Attributes
    ----------
    file : int
        The file that goes on here.
    at : int
        Bytes of a text, rows of an array, or row groups that lie before.
    within : int
        Lines of a text, or batches of the row group, that lie before.
    row : int
        Rows of this file that lie before.
    """

    file: int = 0
    at: int = 0
    within: int = 0
    row: int = 0


BEGIN = Place()


class Chunk(NamedTuple):
    """A block of rows.

    Attributes
    ----------
    table : Table
        The rows: all columns, or only those asked for.
    after : Place
        Where the next block begins.
    done : int
        Bytes of all files that lie before that.
    lines : list of str or None
        The rows as they stand in a text, where asked for and where a row is a line without quotes; `table` may then
        hold only the columns asked for.
    """

    table: Table
    after: Place
    done: int
    lines: list[str] | None = None


class BlockFile(Protocol):
    """A file that can be read in blocks."""

    name: str
    columns: tuple[str, ...]
    row_names: tuple[str, ...]
    size: int
    # what separates the cells of a text
    delimiter: str | None

    def blocks(
        self, start: tuple[int, int, int], only: Sequence[str] | None, lines: bool
    ) -> Iterator[tuple[Table, tuple[int, int, int], int, list[str] | None]]:
        """Yield blocks from a place (at, within, row) on: rows, the place after, bytes before it, lines."""


@dataclass(frozen=True, eq=False)
class Chunks:
    """Files one after the other, as blocks of rows.

    Attributes
    ----------
    files : tuple of BlockFile
    kind : str
    """

    files: tuple[BlockFile, ...]
    kind: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, the same in all files."""
        return self.files[0].columns

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def read(self, start: Place = BEGIN, only: Sequence[str] | None = None, *, lines: bool = False) -> Iterator[Chunk]:
        """Yield the blocks from a place on; blocks begin and end at the same rows every time.

        Parameters
        ----------
        start : Place
            Where to begin: the `after` of a block.
        only : sequence of str, optional
            The columns that are wanted; others may then be left out.
        lines : bool
            Whether the lines of a text are wanted.
        """
        # two columns of a name cannot be told apart by it
        names = only if only is not None and len(set(self.columns)) == len(self.columns) else None
        for number in range(start.file, len(self.files)):
            file, before = self.files[number], sum(each.size for each in self.files[:number])
            within = start[1:] if number == start.file else BEGIN[1:]
            for table, after, done, kept in file.blocks(within, names, lines):
                yield Chunk(table, Place(number, *after), before + done, kept)


def open_chunks(paths: Sequence[str | os.PathLike[str]], *, header: bool | None = None, block: int = BLOCK) -> Chunks:
    r"""Open CSV or other delimited text, Parquet or NPY files, to be read in blocks one after the other.

    Parameters
    ----------
    paths : sequence of str or path-like
        The files, all of one kind and with the same columns.
    header : bool or None
        Whether the first row of a text holds names; None finds out, for each file.
    block : int
        Bytes of a block, about.

    Raises
    ------
    DataError
        If a file is missing, damaged or not like the first.

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
    files: list[BlockFile] = []
    for each in paths:
        path, name = Path(each), f"'{os.fspath(each)}'"
        if os.fspath(each) == STANDARD_STREAM:
            raise DataError("standard input is read once only, and so in memory: give files by their names.")
        check_source(path, name)
        kind = kind_of(path)
        if kind not in CHUNKED:
            raise DataError(f"{name} is a packed archive, which is read in memory only: save X as .npy.")
        with _readable(name):
            file: BlockFile
            if kind == "text":
                file = TextFile(path, name, header, block)
            else:
                file = _NpyFile(path, name, block) if kind == "npy" else _ParquetFile(path, name, block)
        if files:
            _check_alike(files[0], file, kind_of(paths[0]), kind)
        files.append(file)
    return Chunks(tuple(files), kind_of(paths[0]))


def _check_alike(first: BlockFile, other: BlockFile, kind: str, other_kind: str) -> None:
    if kind != other_kind:
        raise DataError(f"{first.name} and {other.name} are not of one kind: give files that are.")
    if first.columns != other.columns:
        at = next((j for j, (a, b) in enumerate(zip(first.columns, other.columns, strict=False)) if a != b), None)
        what = (
            f"{len(first.columns)} and {len(other.columns)} columns"
            if at is None
            else f"'{first.columns[at]}' and '{other.columns[at]}' as column {at + 1}"
        )
        raise DataError(f"{first.name} and {other.name} have {what}: give files with the same columns in one order.")
    one, two = getattr(first, "schema", None), getattr(other, "schema", None)
    if one is not None and two is not None and not one.equals(two):
        changed = next(a for a, b in zip(one, two, strict=True) if not a.equals(b))
        raise DataError(
            f"{first.name} and {other.name} have column '{changed.name}' as {changed.type} and as "
            f"{two.field(changed.name).type}: write them with the same types."
        )


class _NpyFile:
    """Rows of an array on the disk."""

    row_names: tuple[str, ...] = ()
    delimiter: str | None = None

    def __init__(self, path: Path, name: str, block: int):
        self._path, self.name = path, name
        matrix = self._open()
        self._rows = len(matrix)
        self.columns = tuple(f"x{j}" for j in range(matrix.shape[1]))
        self.size = matrix.nbytes
        self._step = max(1, block // (8 * matrix.shape[1]))

    def _open(self) -> Any:
        try:
            array = np.load(self._path, mmap_mode="r", allow_pickle=False)
        except Exception as error:  # numpy raises whatever the bytes led it to
            if "Object arrays" not in str(error) and "Array can't be memory-mapped" not in str(error):
                raise DataError(
                    f"{self.name} cannot be read: it is cut short or is no NumPy file; save it again with numpy.save."
                ) from None
            raise DataError(f"{self.name} holds Python objects, which are never loaded: save numbers.") from None
        if not isinstance(array, np.ndarray):
            array.close()
            raise DataError(f"{self.name} is an archive of arrays, not one array: rename it to end in .npz.")
        return binary.check_matrix(array, self.name)

    def blocks(
        self, start: tuple[int, int, int], only: Sequence[str] | None, lines: bool
    ) -> Iterator[tuple[Table, tuple[int, int, int], int, list[str] | None]]:
        for low in range(start[0], self._rows, self._step):
            high = min(low + self._step, self._rows)
            # mapped anew each time: pages that were read stay in memory as long as the map
            rows = np.array(self._open()[low:high])
            table = Table(self.name, self.columns, tuple(rows.T), first_row=low)
            yield table, (high, 0, high), self.size * high // self._rows, None


class _ParquetFile:
    """Batches of the row groups of a Parquet file."""

    delimiter: str | None = None

    def __init__(self, path: Path, name: str, block: int):
        self._path, self.name, self.size = path, name, path.stat().st_size
        with self._open() as file:
            self.schema, self._rows = file.schema_arrow, file.metadata.num_rows
        if not self._rows or not len(self.schema):
            raise DataError(f"{name} has no rows: give at least one.")
        self.columns, self.row_names = tuple(self.schema.names), binary.pandas_index(self.schema)
        self._step = max(1, block // (8 * len(self.columns)))

    def _open(self) -> Any:
        # buffered: whole columns of a row group would be read otherwise, however long
        return binary.opened_parquet(self._path, self.name, buffer=1 << 20)

    def blocks(
        self, start: tuple[int, int, int], only: Sequence[str] | None, lines: bool
    ) -> Iterator[tuple[Table, tuple[int, int, int], int, list[str] | None]]:
        import pyarrow as pa

        group, skip, row = start
        with self._open() as file:
            for number in range(group, file.num_row_groups):
                batches = file.iter_batches(
                    self._step, row_groups=[number], columns=None if only is None else list(only)
                )
                for count, batch in enumerate(batches):
                    if number == group and count < skip:
                        continue
                    arrow = pa.Table.from_batches([batch]).replace_schema_metadata(self.schema.metadata)
                    columns = tuple(binary.from_arrow(column) for column in arrow.columns)
                    table = Table(
                        self.name, tuple(arrow.column_names), columns, self.row_names, arrow=arrow, first_row=row
                    )
                    row += len(batch)
                    yield table, (number, count + 1, row), self.size * row // self._rows, None
            if row != self._rows:  # Arrow ends a column that is cut short without a word
                raise DataError(
                    f"{self.name} holds {row:,} of {self._rows:,} rows: it is damaged; write the file again."
                )


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror or error}.") from None
