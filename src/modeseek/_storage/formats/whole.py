"""Base class of formats whose files other libraries read as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import OutputSpec, TypedFormat
from modeseek._storage.formats.reader import Position, Reader, ReadOptions, check_arrow_types
from modeseek._storage.input_file import InputFile
from modeseek._storage.pyarrow_modules import pa
from modeseek._storage.table import Table
from modeseek._storage.unpacking import check_unpacked, unpacked_size


class WholeReader(Reader):
    """Reads all rows of a file at once, as a single chunk."""

    def __init__(self, file: InputFile, load: Callable[[], Any]):
        # takes the stamp before the file is read, to detect changes during reading
        super().__init__(file)
        data = load()
        if isinstance(data, Table):
            data, self.notes = data.data, data.notes
        check_arrow_types(data.schema)
        if not data.num_rows or not data.num_columns:
            raise DataError(f"{file.name} has no rows: give at least one.")
        data = _nullable(data)
        self._data, self.columns, self.size = data, tuple(data.column_names), self.stamp[0]
        self.schema = data.schema

    def chunks(self, start: Position, only: Sequence[str] | None) -> Iterator[tuple[Table, Position, int]]:
        yield Table(self.file.name, self._data, notes=self.notes), Position(1, 0, self._data.num_rows), self.size


def _nullable(data: Any) -> Any:
    """Return a table that allows missing values in the columns that have some, whatever the file declares."""
    fields = [
        each.with_nullable(True) if column.null_count else each
        for each, column in zip(data.schema, data.columns, strict=True)
    ]
    return pa.Table.from_arrays(data.columns, schema=pa.schema(fields, data.schema.metadata))


class WholeFormat(TypedFormat):
    """A format that is read as a whole."""

    chunked = False

    def load(self, file: InputFile, options: ReadOptions) -> Any:
        """Return the rows as an Arrow table, or a `Table` with notes; any exception means that the file is damaged."""
        raise NotImplementedError

    def open(self, file: InputFile, options: ReadOptions) -> Reader:
        try:
            return WholeReader(file, partial(self.load, file, options))
        except (DataError, ImportError, MemoryError):
            raise
        except Exception as error:  # errors of the libraries that read the formats are of many types
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise DataError(f"{file.name} cannot be read as {self.name} ({reason}): write the file again.") from None

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        raise NotImplementedError


def chosen_part(file: InputFile, names: Sequence[str], what: str, default: Sequence[str]) -> str:
    """Return the name of the part of a file to read: the requested part, or the first entry of `default`."""
    if file.part in names or (not file.part and default):
        return file.part or default[0]
    problem = f"has no {what} '{file.part}'" if file.part else f"has {len(names)} {what}s"
    example = f": name one, as {file.name[1:-1]}::{names[0]}" if names else ""
    raise DataError(f"{file.name} {problem}{example}. There are: {', '.join(names) or 'none'}.")


def bounded(batches: Iterable[Any], file: InputFile) -> Iterator[Any]:
    """Yield valid Arrow batches, and raise `UnpackedSizeError` if their values exceed the bound."""
    unpacked, packed = 0, file.stamp()[0]
    for batch in batches:
        batch.validate()
        unpacked += sum(unpacked_size(each) for each in batch.columns if not pa.types.is_nested(each.type))
        check_unpacked(file.name, unpacked, packed)
        # offsets and indices that point outside of their buffers would crash the process
        batch.validate(full=True)
        unpacked += sum(unpacked_size(each) for each in batch.columns if pa.types.is_nested(each.type))
        check_unpacked(file.name, unpacked, packed)
        yield batch
