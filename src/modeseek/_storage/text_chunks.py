"""Delimited text of any size, in blocks of whole rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from modeseek._common.types import Array
from modeseek._storage.errors import DataError
from modeseek._storage.table import Table
from modeseek._storage.text import WHITESPACE, Layout, decode_text, find_layout, read_block, whole_rows

__all__ = ["TextFile"]

MARK = b"\xef\xbb\xbf"
# bytes by which delimiter and header are found
HEAD = 1 << 23


class TextFile:
    """A text whose rows are read in blocks."""

    def __init__(self, path: Path, name: str, header: bool | None, block: int):
        self._path, self.name, self._block = path, name, block
        self.size = path.stat().st_size
        with path.open("rb") as stream:
            head = stream.read(HEAD)
        self._begin = len(MARK) if head.startswith(MARK) else 0
        if len(head) < self.size:
            head = head[: max(head.rfind(b"\n"), head.rfind(b"\r", 0, -1)) + 1]
        self.layout: Layout = find_layout(head, name, suffix=path.suffix.lower(), header=header)
        self.columns, self.row_names = self.layout.names, self.layout.row_names
        self.delimiter: str | None = self.layout.delimiter

    def blocks(
        self, start: tuple[int, int, int], only: Sequence[str] | None, lines: bool
    ) -> Iterator[tuple[Table, tuple[int, int, int], int, list[str] | None]]:
        """Yield blocks from a place on: rows, the place after, bytes before it, lines where a row is one."""
        at, before, row = start
        try:
            with self._path.open("rb") as stream:
                at = max(at, self._begin)
                stream.seek(at)
                while data := self._next(stream, at):
                    table, after, kept = self._read(data, before + 1, row, only, lines)
                    at, before, row = at + len(data), after - 1, row + table.n_rows
                    if table.n_rows:
                        yield table, (at, before, row), at, kept
        except OSError as error:
            raise DataError(f"cannot read {self.name}: {error.strerror or error}.") from None

    def _next(self, stream: BinaryIO, at: int) -> bytes:
        """Return whole rows, and leave the stream behind them."""
        wanted = self._block
        while True:
            data = stream.read(wanted)
            if len(data) < wanted:
                return data
            end = whole_rows(data, self.layout.delimiter)
            if end:
                stream.seek(at + end)
                return data[:end]
            # a row that is longer than a block
            wanted *= 2
            stream.seek(at)

    def _read(
        self, data: bytes, line: int, row: int, only: Sequence[str] | None, lines: bool
    ) -> tuple[Table, int, list[str] | None]:
        if only is not None and row and self.layout.delimiter != WHITESPACE and b'"' not in data:
            text = decode_text(data, self.name, line)
            end = "\r\n" if "\r" in text else "\n"
            count = text.count(end) + (not text.endswith(end))
            if text.count("\r") in (0, text.count("\n")):
                numbers = self._numbers(data, only)
                if numbers is not None and len(numbers) == count:
                    at = line + np.arange(count)
                    table = Table(
                        self.name, tuple(only), tuple(numbers.T), (), at, self.layout.delimiter, first_row=row
                    )
                    return table, line + count, text.removesuffix(end).split(end) if lines else None
        block, after = read_block(data, self.name, self.layout, line)
        table = Table(
            self.name, block.names, block.columns, block.row_names, block.lines, block.delimiter, first_row=row
        )
        return table, after, None

    def _numbers(self, data: bytes, only: Sequence[str]) -> Array | None:
        """Return columns as numbers by a fast reader; None where it does not take every cell for a finite number.

        Where it does, it reads what Python reads: the nearest double.
        """
        import pyarrow as pa
        import pyarrow.csv as pc

        try:
            table = pc.read_csv(
                pa.BufferReader(data),
                read_options=pc.ReadOptions(
                    column_names=list(self.columns), use_threads=False, block_size=len(data) + 1
                ),
                parse_options=pc.ParseOptions(delimiter=self.layout.delimiter, quote_char=False),
                convert_options=pc.ConvertOptions(
                    include_columns=list(only), column_types=dict.fromkeys(only, pa.float64()), null_values=[]
                ),
            )
        except pa.ArrowException:
            return None
        values = np.column_stack([column.to_numpy() for column in table.columns])
        return values if np.isfinite(values).all() else None
