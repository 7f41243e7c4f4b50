"""Parquet files, read and written with pyarrow; columns keep their types."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import OutputSpec, TypedFormat, typed_chunks
from modeseek._storage.formats.reader import Position, Reader, ReadOptions, check_arrow_types
from modeseek._storage.formats.registry import register_format
from modeseek._storage.input_file import InputFile
from modeseek._storage.pyarrow_modules import pa, pq
from modeseek._storage.table import Table
from modeseek._storage.unpacking import check_unpacked, unpacked_size

# buffer size in bytes, if the file is not read as a whole
BUFFER_BYTES = 1 << 20
# the type of columns of text and bytes, whose values have different sizes
TEXT = "BYTE_ARRAY"


class ParquetReader(Reader):
    """Reads a Parquet file, by batches of its row groups."""

    def __init__(self, file: InputFile, options: ReadOptions):
        super().__init__(file)
        self.size = self.stamp[0]
        with self._open() as opened:
            self.schema, self._rows = opened.schema_arrow, opened.metadata.num_rows
            check_arrow_types(self.schema)
            # columns that are read as indices into their distinct values: their size is known before it is allocated
            self._texts = [each.path for each in opened.schema if each.physical_type == TEXT]
        if not self._rows or not len(self.schema):
            raise DataError(f"{file.name} has no rows: give at least one.")
        self.columns, self.row_names = tuple(self.schema.names), _pandas_index(self.schema)
        self._step = max(1, options.chunk_bytes // (8 * len(self.columns)))

    @contextmanager
    def _open(self, buffer: int = 0, indexed: Sequence[str] = ()) -> Iterator[Any]:
        try:
            # not pyarrow.parquet.read_table, which adds a column if the folder of the file is named "year=2024"
            source = self.file.path or self.file.open()
            with pq.ParquetFile(source, buffer_size=buffer, pre_buffer=not buffer, read_dictionary=indexed) as opened:
                yield opened
        except DataError:
            raise
        except Exception as error:  # of Arrow, or of Python: for dates after the year 9999 and undecodable names
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise DataError(f"{self.file.name} cannot be read as Parquet ({reason}): write the file again.") from None

    def read(self) -> Table:
        unpacked = 0
        batches = []
        with self._open(indexed=self._texts) as opened:
            check_unpacked(self.file.name, _declared_size(opened.metadata), self.size)
            for batch in (each for group in range(opened.num_row_groups) for each in self._batches(opened, group)):
                unpacked += sum(map(unpacked_size, batch.columns))
                check_unpacked(self.file.name, unpacked, self.size)
                batches.append(self._typed(batch))
            return Table(self.file.name, pa.Table.from_batches(batches, self.schema), self.row_names)

    def _batches(self, opened: Any, group: int, columns: list[str] | None = None) -> Iterator[Any]:
        # not several row groups at once: Arrow cannot index text in lists if it has several dictionaries
        return iter(opened.iter_batches(self._step, row_groups=[group], columns=columns))

    def _typed(self, batch: Any) -> Any:
        """Return a batch with the values of the file in place of indices, in the types of the file."""
        schema = self.schema
        if len(schema) > batch.num_columns:  # select by name only if columns are left out: names may occur twice
            schema = schema.empty_table().select(batch.schema.names).schema
        # not `RecordBatch.cast`, which the lowest supported version of pyarrow lacks
        columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def chunks(self, start: Position, only: Sequence[str] | None) -> Iterator[tuple[Table, Position, int]]:
        row = start.row
        with self._open(BUFFER_BYTES, self._texts) as opened:
            for group in range(start.at, opened.num_row_groups):
                check_unpacked(self.file.name, opened.metadata.row_group(group).total_byte_size, self.size)
                for count, batch in enumerate(self._batches(opened, group, None if only is None else list(only))):
                    if group == start.at and count < start.within:
                        continue
                    check_unpacked(self.file.name, sum(map(unpacked_size, batch.columns)), self.size)
                    data = pa.Table.from_batches([self._typed(batch)]).replace_schema_metadata(self.schema.metadata)
                    table = Table(self.file.name, data, self.row_names, first_row=row)
                    row += len(batch)
                    yield table, Position(group, count + 1, row), self.size * row // self._rows
            if row != self._rows:  # Arrow reports no error if a column is cut short
                raise DataError(
                    f"{self.file.name} holds {row:,} of {self._rows:,} rows: it is damaged; write the file again."
                )

    def parts(self, n_bytes: int) -> list[tuple[int, int]]:
        with self._open() as opened:
            groups = map(opened.metadata.row_group, range(opened.num_row_groups))
            ends = np.cumsum([group.total_byte_size for group in groups])
        # the first row group of each part
        firsts = np.unique(ends // n_bytes, return_index=True)[1].tolist()
        return list(pairwise([*firsts, len(ends)]))

    def read_part(self, part: tuple[int, int]) -> Table:
        with self._open() as opened:
            row = sum(opened.metadata.row_group(group).num_rows for group in range(part[0]))
        chunks = self.chunks(Position(part[0], 0, row), None)
        tables = [table for table, _, _ in takewhile(lambda chunk: chunk[1].at < part[1], chunks)]
        return Table.concatenate(tables)


def _declared_size(metadata: Any) -> int:
    """Return the size of all rows in memory as the metadata declares it, with at least eight bytes for each number."""
    size = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            numbers = 0 if column.physical_type == TEXT else 8 * column.num_values
            size += max(column.total_uncompressed_size, numbers)
    return size


def _pandas_index(schema: Any) -> tuple[str, ...]:
    """Return the columns that hold the index of a pandas table; none if the metadata cannot be read."""
    try:
        metadata = schema.pandas_metadata
    except (ValueError, RecursionError):
        return ()
    names = metadata.get("index_columns") if isinstance(metadata, dict) else None
    return tuple(name for name in names if name in schema.names) if isinstance(names, list) else ()


class Parquet(TypedFormat):
    """Apache Parquet."""

    name = "Parquet"
    suffixes = (".parquet", ".pq")
    magic = b"PAR1"

    def open(self, file: InputFile, options: ReadOptions) -> Reader:
        return ParquetReader(file, options)

    def check_types(self, target: str, data: Any) -> None:
        super().check_types(target, data)
        for each, column in zip(data.schema, data.columns, strict=True):
            try:
                pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([each])).close()
                if each.type == pa.timestamp("s"):
                    # Parquet stores seconds as milliseconds, which for some dates are not 64-bit integers
                    column.cast(pa.timestamp("ms"))
            except (NotImplementedError, ValueError, OSError):  # errors that Arrow raises
                raise DataError(
                    f"cannot write '{target}': column '{each.name}' has the type {each.type}, which Parquet does not "
                    "have; write .csv or .arrow."
                ) from None

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        writer = None
        for chunk in typed_chunks(spec, chunks):
            writer = pq.ParquetWriter(path, chunk.schema) if writer is None else writer
            writer.write_table(chunk)
        if writer is not None:
            writer.close()


register_format(Parquet())
