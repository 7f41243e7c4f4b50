"""Reading of a file in chunks: the interface of the readers of all formats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from modeseek._storage.errors import DataError
from modeseek._storage.input_file import InputFile
from modeseek._storage.pyarrow_modules import pa
from modeseek._storage.table import Table

# digits of Arrow's longest decimals
MAX_DECIMAL_SCALE = 76


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


class Position(NamedTuple):
    """A position between two chunks of a file.

    Attributes
    ----------
    at : int
        Bytes of a text, rows of an array, or row groups of a Parquet file before the position.
    within : int
        Lines of a text, or batches of the current row group, before the position.
    row : int
        Rows of the file before the position.
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
        Size of the file, in the unit in which `chunks` reports progress.
    delimiter : str or None
        Delimiter of a text file. The columns of other files have types.
    notes : tuple of str
        Remarks on how the file is read.
    schema : object
        Types of the columns, which must be equal in files that are read together; None if they are not compared.
    """

    columns: tuple[str, ...]
    size: int
    row_names: tuple[str, ...] = ()
    delimiter: str | None = None
    notes: tuple[str, ...] = ()
    schema: Any = None

    def __init__(self, file: InputFile):
        self.file, self.stamp = file, file.stamp()

    @abstractmethod
    def chunks(self, start: Position, only: Sequence[str] | None) -> Iterator[tuple[Table, Position, int]]:
        """Yield the chunks after a position: a table, the position after it, and how much of `size` has been read.

        Every call divides the rows into the same chunks. If `only` is given, a table may lack the other columns.
        """

    def parts(self, n_bytes: int) -> list[tuple[int, int]]:
        """Divide the file into parts of about `n_bytes`, which different processes can read with `read_part`."""
        raise NotImplementedError

    def read_part(self, part: tuple[int, int]) -> Table:
        """Return the rows of a part."""
        raise NotImplementedError

    def read(self) -> Table:
        """Return all rows."""
        tables = [table for table, _, _ in self.chunks(START, None)]
        if not tables:
            raise DataError(f"{self.file.name} has no rows: give at least one.")
        return Table.concatenate(tables)


def check_arrow_types(types: Iterable[Any]) -> None:
    """Raise a `ValueError` if an Arrow field, or a nested one, has an invalid name or decimals of too large a scale.

    Arrow opens such files, but fails when the values are converted.
    """
    for each in types:
        name, kind = each.name, each.type
        if pa.types.is_decimal(kind) and abs(kind.scale) > MAX_DECIMAL_SCALE:
            raise ValueError(f"the decimals of {name} have the scale {kind.scale}")
        value = [pa.field(name, kind.value_type)] if pa.types.is_dictionary(kind) else []
        check_arrow_types([*map(kind.field, range(kind.num_fields)), *value])
