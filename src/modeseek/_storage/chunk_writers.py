"""Results written block by block, so that a run that was cut short goes on behind its last whole block."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TextIO

import numpy as np
from numpy.typing import NDArray

from modeseek._storage import binary
from modeseek._storage.atomic import PRIVATE, atomic_path, create, put_in_place
from modeseek._storage.cells import to_numbers
from modeseek._storage.errors import DataError, WriteError
from modeseek._storage.kinds import STANDARD_STREAM, kind_of
from modeseek._storage.table import Table
from modeseek._storage.text import write_text

__all__ = ["ChunkWriter", "Outline", "check_chunk_target", "open_writer"]


class Outline(NamedTuple):
    """What is known of the whole before the first block is written.

    Attributes
    ----------
    rows : int
        How many there are.
    columns : tuple of str
        Names of all columns, added ones at the end.
    kinds : tuple of str or None
        What strings of each column of a text are written as in Parquet; None for columns that have a type.
    delimiter : str
        What separates the cells of a text.
    guard : bool
        Whether formulas are kept out of a text.
    """

    rows: int
    columns: tuple[str, ...]
    kinds: tuple[str | None, ...]
    delimiter: str
    guard: bool = False


class ChunkWriter(Protocol):
    """Takes blocks in order."""

    def write(self, table: Table, added: Mapping[str, NDArray[Any]], lines: list[str] | None = None) -> int:
        """Write a block; return where it ends, from which a writer can go on. `lines` are its rows as they stood."""

    def keep(self) -> None:
        """Bring to the disk what was written."""

    def close(self) -> None:
        """Let go of files."""

    def finish(self, target: str) -> None:
        """Put the whole in place, in one step."""


def check_chunk_target(path: str) -> None:
    """Refuse a kind of file that cannot be written block by block."""
    if path != STANDARD_STREAM and kind_of(path) == "npz":
        raise DataError(
            f"cannot write '{path}' block by block: NPZ is packed as a whole; write .npy, .parquet or .csv."
        )


def open_writer(target: str, folder: Path | None, outline: Outline, at: int) -> ChunkWriter:
    """Return what writes blocks for a target; they wait in `folder`, and begin where `at` says.

    Raises
    ------
    DataError
        If what was written up to `at` is no longer there.
    """
    if target == STANDARD_STREAM:
        return _StandardOutput(outline)
    assert folder is not None
    kind = kind_of(target)
    if kind == "text":
        return _TextWriter(folder, outline, at)
    return _NpyWriter(folder, outline, at) if kind == "npy" else _ParquetWriter(folder, outline, at)


class _TextWriter:
    """One text that grows; `at` counts its bytes."""

    def __init__(self, folder: Path, outline: Outline, at: int):
        self._path, self._outline = folder / "rows.txt", outline
        if at > (self._path.stat().st_size if self._path.exists() else 0):
            raise DataError(f"'{self._path}' is shorter than it was.")
        if not at:
            _empty(self._path)
        self._stream: TextIO = self._path.open("r+", encoding="utf-8", newline="")
        # what a killed run had begun to write
        self._stream.truncate(at)
        self._stream.seek(at)
        self._begun = at > 0

    def write(self, table: Table, added: Mapping[str, NDArray[Any]], lines: list[str] | None = None) -> int:
        write_rows(self._stream, self._outline, table, added, lines, header=not self._begun)
        self._begun = True
        self._stream.flush()
        return self._stream.buffer.tell()

    def keep(self) -> None:
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        self._stream.close()

    def finish(self, target: str) -> None:
        self.close()
        put_in_place(self._path, target)


class _NpyWriter:
    """An array whose size is known; `at` counts rows."""

    def __init__(self, folder: Path, outline: Outline, at: int):
        self._path, self._at = folder / "rows.npy", at
        shape = outline.rows, len(outline.columns)
        if at and not self._path.exists():
            raise DataError(f"'{self._path}' is gone.")
        if not at:
            _empty(self._path)
            np.lib.format.open_memmap(self._path, "w+", np.float64, shape)
        with self._path.open("rb") as file:
            np.lib.format.read_magic(file)
            np.lib.format.read_array_header_1_0(file)
            self._start = file.tell()
        self._stream = self._path.open("r+b")
        self._stream.seek(self._start + 8 * at * shape[1])

    def write(self, table: Table, added: Mapping[str, NDArray[Any]], lines: list[str] | None = None) -> int:
        # by the file, not by a map: pages of a map would stay in memory
        rows = np.column_stack([*(to_numbers(column)[0] for column in table.cells), *added.values()])
        self._stream.write(np.ascontiguousarray(rows, np.float64).tobytes())
        self._at += len(rows)
        return self._at

    def keep(self) -> None:
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        self._stream.close()

    def finish(self, target: str) -> None:
        self.close()
        put_in_place(self._path, target)


class _ParquetWriter:
    """A file for each block, joined at the end; `at` counts them."""

    def __init__(self, folder: Path, outline: Outline, at: int):
        self._folder, self._outline, self._at = folder, outline, at
        if not all(self._part(number).exists() for number in range(at)):
            raise DataError(f"a part in '{folder}' is gone.")

    def _part(self, number: int) -> Path:
        return self._folder / f"part-{number:07d}.parquet"

    def write(self, table: Table, added: Mapping[str, NDArray[Any]], lines: list[str] | None = None) -> int:
        import pyarrow.parquet as pq

        with atomic_path(self._part(self._at), PRIVATE) as part:
            pq.write_table(
                binary.arrow_table(table.columns, table.cells, added, table.arrow, self._outline.kinds), part
            )
        self._at += 1
        return self._at

    def keep(self) -> None:
        # each part is on the disk already
        pass

    def close(self) -> None:
        pass

    def finish(self, target: str) -> None:
        import pyarrow.parquet as pq

        whole = self._folder / "rows.parquet"
        try:
            _empty(whole)
            with pq.ParquetWriter(whole, pq.read_schema(self._part(0))) as writer:
                for number in range(self._at):
                    with pq.ParquetFile(self._part(number)) as part:
                        writer.write_table(part.read())
        except OSError as error:
            raise WriteError(whole, error) from error
        put_in_place(whole, target)


def _empty(path: Path) -> None:
    """Replace a file, or a link, by an empty file that only its owner can read."""
    path.unlink(missing_ok=True)
    create(path, PRIVATE)


class _StandardOutput:
    """Text to whoever listens; nothing can go on after it."""

    def __init__(self, outline: Outline):
        self._outline, self._begun = outline, False

    def write(self, table: Table, added: Mapping[str, NDArray[Any]], lines: list[str] | None = None) -> int:
        write_rows(sys.stdout, self._outline, table, added, lines, header=not self._begun)
        self._begun = True
        return 0

    def keep(self) -> None:
        pass

    def close(self) -> None:
        pass

    def finish(self, target: str) -> None:
        pass


def write_rows(
    stream: TextIO,
    outline: Outline,
    table: Table,
    added: Mapping[str, NDArray[Any]],
    lines: Sequence[str] | None,
    *,
    header: bool,
) -> None:
    """Write a block as text: by its cells, or behind its lines as they stood, which gives the same bytes."""
    names = outline.columns if header else None
    if lines is None:
        write_text(stream, names, table.plain_columns(added), outline.delimiter, guard=outline.guard)
        return
    if names is not None:
        write_text(stream, names, [[] for _ in names], outline.delimiter)
    tails = zip(*(map(str, column.tolist()) for column in added.values()), strict=True)
    stream.writelines(
        f"{line}{outline.delimiter}{outline.delimiter.join(tail)}\n" for line, tail in zip(lines, tails, strict=True)
    )
