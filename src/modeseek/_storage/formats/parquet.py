"""Parquet, by pyarrow: columns keep their types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from modeseek._storage.atomic import PRIVATE, atomic_path, put_in_place
from modeseek._storage.cells import to_typed
from modeseek._storage.errors import DataError, WriteError
from modeseek._storage.formats.base import (
    ChunkWriter,
    Columns,
    Format,
    InputFile,
    OutputSpec,
    Position,
    Reader,
    ReadOptions,
    new_file,
)
from modeseek._storage.formats.registry import register_format
from modeseek._storage.table import Table

__all__ = ["Parquet"]

# columns are read in pieces of so many bytes, if not the whole file is read
BUFFER_BYTES = 1 << 20


class ParquetReader(Reader):
    """Batches of the row groups of a Parquet file."""

    def __init__(self, file: InputFile, options: ReadOptions):
        super().__init__(file)
        self.size = self.stamp[0]
        with self._open() as opened:
            self.schema, self._rows = opened.schema_arrow, opened.metadata.num_rows
        if not self._rows or not len(self.schema):
            raise DataError(f"{file.name} has no rows: give at least one.")
        self.columns, self.row_names = tuple(self.schema.names), _pandas_index(self.schema)
        self._step = max(1, options.chunk_bytes // (8 * len(self.columns)))

    @contextmanager
    def _open(self, buffer: int = 0) -> Iterator[Any]:
        import pyarrow.parquet as pq

        if self.file.path is None:
            raise DataError(f"{self.file.name} is not a regular file: give a Parquet file by its name.")
        try:
            # not pyarrow.parquet.read_table, which makes a column of a folder called "year=2024"
            with pq.ParquetFile(self.file.path, buffer_size=buffer, pre_buffer=not buffer) as opened:
                yield opened
        except DataError:
            raise
        except Exception as error:  # errors of Arrow, and of Python for dates beyond the year 9999 and bad names
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise DataError(f"{self.file.name} cannot be read as Parquet ({reason}): write the file again.") from None

    def read(self) -> Table:
        with self._open() as opened:
            return Table(self.file.name, opened.read(), self.row_names)

    def chunks(self, start: Position, only: Sequence[str] | None) -> Iterator[tuple[Table, Position, int]]:
        import pyarrow as pa

        row = start.row
        with self._open(BUFFER_BYTES) as opened:
            for group in range(start.at, opened.num_row_groups):
                batches = opened.iter_batches(
                    self._step, row_groups=[group], columns=None if only is None else list(only)
                )
                for count, batch in enumerate(batches):
                    if group == start.at and count < start.within:
                        continue
                    data = pa.Table.from_batches([batch]).replace_schema_metadata(self.schema.metadata)
                    table = Table(self.file.name, data, self.row_names, first_row=row)
                    row += len(batch)
                    yield table, Position(group, count + 1, row), self.size * row // self._rows
            if row != self._rows:  # Arrow ends a column that is cut short without an error
                raise DataError(
                    f"{self.file.name} holds {row:,} of {self._rows:,} rows: it is damaged; write the file again."
                )


def _pandas_index(schema: Any) -> tuple[str, ...]:
    """Return the columns that hold the index of a pandas table; none if the metadata cannot be read."""
    try:
        metadata = schema.pandas_metadata
    except (ValueError, RecursionError):
        return ()
    names = metadata.get("index_columns") if isinstance(metadata, dict) else None
    return tuple(name for name in names if name in schema.names) if isinstance(names, list) else ()


def _output(spec: OutputSpec, table: Table, added: Columns) -> Any:
    """Return a table with added columns; columns of text get the types that their contents allow."""
    import pyarrow as pa

    data = table.data
    for j, content in enumerate(spec.contents):
        data = data.set_column(j, data.column_names[j], to_typed(data.column(j), content))
    for name, values in added.items():
        data = data.append_column(name, pa.array(values))
    return data


class ParquetWriter(ChunkWriter):
    """A file for each chunk, joined at the end; positions count these files."""

    def __init__(self, folder: Path, spec: OutputSpec, at: int):
        self._folder, self._spec, self._at = folder, spec, at
        if not all(self._part(number).exists() for number in range(at)):
            raise DataError(f"a part in '{folder}' is missing.")

    def _part(self, number: int) -> Path:
        return self._folder / f"rows-{number:07d}.parquet"

    def write(self, table: Table, added: Columns) -> int:
        import pyarrow.parquet as pq

        with atomic_path(self._part(self._at), PRIVATE) as part:
            pq.write_table(_output(self._spec, table, added), part)
        self._at += 1
        return self._at

    def finish(self, target: str) -> None:
        import pyarrow.parquet as pq

        whole = self._folder / "rows.parquet"
        try:
            new_file(whole)
            with pq.ParquetWriter(whole, pq.read_schema(self._part(0))) as writer:
                for number in range(self._at):
                    with pq.ParquetFile(self._part(number)) as part:
                        writer.write_table(part.read())
        except OSError as error:
            raise WriteError(whole, error) from error
        put_in_place(whole, target)


class Parquet(Format):
    """Apache Parquet."""

    name = "Parquet"
    suffixes = (".parquet", ".pq")
    magic = b"PAR1"

    def open(self, file: InputFile, options: ReadOptions) -> Reader:
        return ParquetReader(file, options)

    def needs_contents(self, delimiter: str | None) -> bool:
        return delimiter is not None

    def write(self, path: Path, spec: OutputSpec, table: Table, added: Columns) -> None:
        import pyarrow.parquet as pq

        pq.write_table(_output(spec, table, added), path)

    def writer(self, folder: Path, spec: OutputSpec, at: int) -> ChunkWriter:
        return ParquetWriter(folder, spec, at)


register_format(Parquet())
