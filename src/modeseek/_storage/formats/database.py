"""Tables of SQLite and DuckDB files: FILE::TABLE names the table, unless a file has only one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from modeseek._storage.errors import DataError
from modeseek._storage.formats.reader import ReadOptions
from modeseek._storage.formats.registry import register_format
from modeseek._storage.formats.whole import WholeFormat, bounded, chosen_part
from modeseek._storage.input_file import InputFile
from modeseek._storage.pyarrow_modules import pa
from modeseek._storage.unpacking import check_unpacked, unpacked_bound
from modeseek._storage.values import arrow_table

# rows that are read at once from a DuckDB file: as many as DuckDB computes at once
BATCH_ROWS = 1 << 11
# bytes that DuckDB needs for any file
MIN_MEMORY = 1 << 28
# position in the header of an SQLite file at which a 2 says that a write-ahead log is used
WAL_MODE = 18
DUCKDB_TABLES = "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database()"


class Database(WholeFormat):
    """A table of a database file."""

    name = "a database"
    suffixes = (".db", ".sqlite", ".sqlite3", ".duckdb")
    magic = b"SQLite format 3\0"
    writable = False
    part = "table"

    def load(self, file: InputFile, options: ReadOptions) -> Any:
        with file.open() as stream:
            head = stream.read(WAL_MODE + 1)
        if not head.startswith(self.magic):
            return _read_duckdb(file)
        return _read_sqlite(file, log=head[WAL_MODE:] == b"\2")


def _read_sqlite(file: InputFile, *, log: bool) -> Any:
    import sqlite3
    from contextlib import closing

    where = ":memory:" if file.path is None else f"{file.path.absolute().as_uri()}?mode=ro"
    if file.path is not None and log and not Path(f"{os.path.realpath(file.path)}-wal").exists():
        # SQLite would make an empty log next to the file; without a log, no other program has the file open
        where += "&immutable=1"
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
        return arrow_table([each[0] for each in cursor.description], columns)


def _read_duckdb(file: InputFile) -> Any:
    try:
        import duckdb
    except ImportError:
        raise ImportError(f"{file.name} needs duckdb: pip install 'modeseek[databases]'") from None
    if file.path is None:
        raise DataError(f"{file.name}: DuckDB files are read by their names, not from a stream.")
    try:
        where = os.fsencode(file.path).decode()
    except UnicodeDecodeError:
        raise DataError(f"{file.name} has a name that is not UTF-8, which DuckDB cannot open: rename it.") from None
    # a file must not make DuckDB read other files, load extensions or use more memory than the bound
    safe: Any = {"enable_external_access": False, "autoload_known_extensions": False, "threads": 1}
    bound = max(unpacked_bound(file.stamp()[0]), MIN_MEMORY)
    if bound < float("inf"):
        safe["memory_limit"] = f"{bound / 1e6:.0f}MB"
    with duckdb.connect(where, read_only=True, config=safe) as connection:
        found = {_full_name(*names): names for names in connection.execute(DUCKDB_TABLES).fetchall()}
        table = chosen_part(file, list(found), "table", list(found) if len(found) == 1 else [])
        source = ".".join(map(quoted, found[table]))
        types = connection.execute(f"DESCRIBE {source}").fetchall()
        # intervals are read as text, because Python and most formats have no such type
        texts = [f"{quoted(name)}::VARCHAR AS {quoted(name)}" for name, kind, *_ in types if kind == "INTERVAL"]
        chosen = f"* REPLACE ({', '.join(texts)})" if texts else "*"
        reader: Any = connection.sql(f"SELECT {chosen} FROM {source}").to_arrow_reader(BATCH_ROWS)
        return pa.Table.from_batches(bounded(reader, file), reader.schema)


def _full_name(schema: str, table: str) -> str:
    return table if schema == "main" else f"{schema}.{table}"


def quoted(name: str) -> str:
    """Return a name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


register_format(Database())
