"""Formats that other libraries read as a whole: Arrow, JSON, spreadsheets and databases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from modeseek._storage.cells import arrow_column, is_number
from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import Format, InputFile, OutputSpec, Position, Reader, ReadOptions, register_format
from modeseek._storage.formats.declared_size import CELL_BYTES, arrow_bytes, sheet_bytes
from modeseek._storage.formats.dialect import has_header
from modeseek._storage.table import Table
from modeseek._storage.unpacking import check_unpacked, unpacked_bound

# rows that are read at once from a database
BATCH_ROWS = 1 << 14


class WholeReader(Reader):
    """All rows of a file as one Arrow table."""

    def __init__(self, file: InputFile, data: Any):
        super().__init__(file)
        if not data.num_rows or not data.num_columns:
            raise DataError(f"{file.name} has no rows: give at least one.")
        self._data, self.columns, self.size = data, tuple(data.column_names), self.stamp[0]
        self.schema = data.schema

    def chunks(self, start: Position, only: Sequence[str] | None) -> Iterator[tuple[Table, Position, int]]:
        yield Table(self.file.name, self._data), Position(1, 0, self._data.num_rows), self.size


class WholeFormat(Format):
    """A format that is read as a whole."""

    chunked = False

    def load(self, file: InputFile, options: ReadOptions) -> Any:
        """Return the rows as an Arrow table; any exception means that the file is damaged."""
        raise NotImplementedError

    def open(self, file: InputFile, options: ReadOptions) -> Reader:
        try:
            return WholeReader(file, self.load(file, options))
        except (DataError, ImportError, MemoryError):
            raise
        except Exception as error:  # errors of the libraries that read the formats are of many types
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise DataError(f"{file.name} cannot be read as {self.name} ({reason}): write the file again.") from None

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        raise NotImplementedError


class Arrow(WholeFormat):
    """Arrow IPC files and streams, and Feather, by pyarrow."""

    name = "Arrow"
    suffixes = (".arrow", ".feather", ".ipc", ".arrows")
    magic = b"ARROW1"

    def load(self, file: InputFile, options: ReadOptions) -> Any:
        import pyarrow as pa

        with file.open() as stream:
            check_unpacked(file.name, arrow_bytes(stream), file.stamp()[0])
            stream.seek(0)
            is_file = stream.read(len(self.magic)) == self.magic
            stream.seek(0)
            opened = pa.ipc.open_file(stream) if is_file else pa.ipc.open_stream(stream)
            batches = map(opened.get_batch, range(opened.num_record_batches)) if is_file else opened
            return pa.Table.from_batches(_bounded(batches, file), opened.schema)

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        import pyarrow as pa
        from pyarrow.feather import write_feather

        write_feather(pa.concat_tables(chunks), str(path), compression="uncompressed")


class Json(WholeFormat):
    """JSON lines, one object for each row; or one JSON list of objects, or object of lists."""

    name = "JSON"
    suffixes = (".jsonl", ".ndjson", ".json")

    def load(self, file: InputFile, options: ReadOptions) -> Any:
        import json

        import pyarrow as pa

        with file.open() as stream:
            text = stream.read()
        try:
            found = json.loads(text)
        except json.JSONDecodeError:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        if isinstance(found, dict) and all(isinstance(each, list) for each in found.values()):
            return pa.table({name: arrow_column(each) for name, each in found.items()})
        rows = [found] if isinstance(found, dict) else found
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError("rows must be objects")
        names = dict.fromkeys(name for row in rows for name in row)
        # rows with different names make a table that is far larger than the file
        check_unpacked(file.name, CELL_BYTES * len(rows) * len(names), file.stamp()[0])
        return pa.table({name: arrow_column([row.get(name) for row in rows]) for name in names})

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        import json

        with path.open("w", encoding="utf-8") as stream:
            for chunk in chunks:
                stream.writelines(f"{json.dumps(row, default=str)}\n" for row in chunk.to_pylist())


class Spreadsheet(WholeFormat):
    """A sheet of an Excel or OpenDocument file, by python-calamine: the first one, or FILE::SHEET."""

    name = "a spreadsheet"
    suffixes: ClassVar[tuple[str, ...]] = (".xlsx", ".ods", ".xlsm", ".xlsb")
    magic = b"PK\x03\x04"
    writable = False
    part = "sheet"

    def load(self, file: InputFile, options: ReadOptions) -> Any:
        import pyarrow as pa

        try:
            from python_calamine import CalamineWorkbook
        except ImportError:
            raise ImportError(f"{file.name} needs python-calamine: pip install 'modeseek[spreadsheets]'") from None
        self.check_size(file)
        with file.open() as stream:
            book = CalamineWorkbook.from_filelike(stream)
        sheet = chosen_part(file, book.sheet_names, "sheet", book.sheet_names[:1])
        rows: list[list[Any]] = book.get_sheet_by_name(sheet).to_python(skip_empty_area=True)
        rows = [row for row in rows if any(cell != "" for cell in row)]
        others = [name for name in book.sheet_names if name != sheet]
        if others and not file.part and not any(is_number(str(cell)) for row in rows for cell in row):
            example = f"name another sheet, as {file.name[1:-1]}::{others[0]}"
            raise DataError(f"{file.name}: sheet '{sheet}' has no numbers: {example}. There are: {', '.join(others)}.")
        header = has_header([[str(cell) for cell in row] for row in rows[:100]]) if rows else False
        header = header if options.header is None else options.header
        names = [str(cell).strip() or f"column{j}" for j, cell in enumerate(rows[0] if rows else (), start=1)]
        names = names if header else [f"x{j}" for j in range(len(names))]
        columns = zip(*rows[1 if header else 0 :], strict=True)
        return pa.table([arrow_column([None if cell == "" else cell for cell in each]) for each in columns], names)

    def check_size(self, file: InputFile) -> None:
        """Raise `UnpackedSizeError` if the file unpacks to more than the bound."""
        import zipfile

        with file.open() as stream, zipfile.ZipFile(stream) as archive:
            packed = file.stamp()[0]
            check_unpacked(file.name, sum(member.file_size for member in archive.infolist()), packed)
            check_unpacked(file.name, sheet_bytes(archive), packed)


class OldSpreadsheet(Spreadsheet):
    """A sheet of an Excel file of before 2007."""

    suffixes = (".xls",)
    magic = b"\xd0\xcf\x11\xe0"

    def check_size(self, file: InputFile) -> None:
        """Files of this format are not compressed."""


class Database(WholeFormat):
    """A table of an SQLite or DuckDB file: FILE::TABLE, or the only one."""

    name = "a database"
    suffixes = (".db", ".sqlite", ".sqlite3", ".duckdb")
    magic = b"SQLite format 3\0"
    writable = False
    part = "table"

    def load(self, file: InputFile, options: ReadOptions) -> Any:
        with file.open() as stream:
            sqlite = stream.read(len(self.magic)) == self.magic
        return _read_sqlite(file) if sqlite else _read_duckdb(file)


def _read_sqlite(file: InputFile) -> Any:
    import sqlite3
    from contextlib import closing

    import pyarrow as pa

    where = ":memory:" if file.path is None else f"{file.path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(where, uri=file.path is not None)) as connection:
        if file.path is None:
            connection.deserialize(file.data)
        # a file that is cut short is otherwise read as rows without values
        state = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if state != "ok":
            raise ValueError(f"it is cut short or damaged: {state.splitlines()[-1]}")
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")
        names = [str(name) for (name,) in found]
        table = chosen_part(file, names, "table", names if len(names) == 1 else [])
        # computed columns can be far larger than the file
        packed = file.stamp()[0]
        most = min(unpacked_bound(packed), connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH))
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, int(most))
        cursor = connection.execute(f"SELECT * FROM {quoted(table)}")
        columns: list[list[Any]] = [[] for _ in cursor.description]
        unpacked = 0
        for row in cursor:
            unpacked += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
            check_unpacked(file.name, unpacked, packed)
            for column, cell in zip(columns, row, strict=True):
                column.append(cell)
        return pa.table(list(map(arrow_column, columns)), [each[0] for each in cursor.description])


def _read_duckdb(file: InputFile) -> Any:
    import pyarrow as pa

    try:
        import duckdb
    except ImportError:
        raise ImportError(f"{file.name} needs duckdb: pip install 'modeseek[databases]'") from None
    if file.path is None:
        raise DataError(f"{file.name}: DuckDB files are read by their names, not from a stream.")
    # a file must not make the library read others or load extensions
    safe: Any = {"enable_external_access": False, "autoload_known_extensions": False}
    with duckdb.connect(str(file.path), read_only=True, config=safe) as connection:
        names = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        table = chosen_part(file, names, "table", names if len(names) == 1 else [])
        reader: Any = connection.sql(f"SELECT * FROM {quoted(table)}").to_arrow_reader(BATCH_ROWS)
        return pa.Table.from_batches(_bounded(reader, file), reader.schema)


def chosen_part(file: InputFile, names: Sequence[str], what: str, default: Sequence[str]) -> str:
    """Return the name of the part of a file to read: the given one, or the only entry of `default`."""
    if file.part in names or (not file.part and default):
        return file.part or default[0]
    problem = f"has no {what} '{file.part}'" if file.part else f"has {len(names)} {what}s"
    example = f": name one, as {file.name[1:-1]}::{names[0]}" if names else ""
    raise DataError(f"{file.name} {problem}{example}. There are: {', '.join(names) or 'none'}.")


def quoted(name: str) -> str:
    """Return a name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _bounded(batches: Iterable[Any], file: InputFile) -> Iterator[Any]:
    """Yield Arrow batches, and raise `UnpackedSizeError` if they exceed the bound."""
    unpacked, packed = 0, file.stamp()[0]
    for batch in batches:
        unpacked += batch.nbytes
        check_unpacked(file.name, unpacked, packed)
        yield batch


for _format in (Arrow(), Json(), Spreadsheet(), OldSpreadsheet(), Database()):
    register_format(_format)
