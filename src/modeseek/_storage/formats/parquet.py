"""Parquet, by pyarrow: columns keep their types."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from modeseek._storage.cells import to_typed
from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import Format, InputFile, OutputSpec, Position, Reader, ReadOptions, register_format
from modeseek._storage.table import Table

# buffer size in bytes, if the file is not read as a whole
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

        try:
            # not pyarrow.parquet.read_table, which makes a column of a folder called "year=2024"
            source = self.file.path or self.file.open()
            with pq.ParquetFile(source, buffer_size=buffer, pre_buffer=not buffer) as opened:
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


class Parquet(Format):
    """Apache Parquet."""

    name = "Parquet"
    suffixes = (".parquet", ".pq")
    magic = b"PAR1"

    def open(self, file: InputFile, options: ReadOptions) -> Reader:
        return ParquetReader(file, options)

    def needs_contents(self, delimiter: str | None) -> bool:
        return delimiter is not None

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        import pyarrow.parquet as pq

        writer = None
        for chunk in chunks:
            for j, content in enumerate(spec.contents):
                # columns of text get the types that their contents allow
                chunk = chunk.set_column(j, spec.columns[j], to_typed(chunk.column(j), content))
            writer = pq.ParquetWriter(path, chunk.schema) if writer is None else writer
            writer.write_table(chunk)
        if writer is not None:
            writer.close()


register_format(Parquet())
