"""Delimited text: CSV, TSV and similar files. All cells are kept as text.

pyarrow.csv splits rows into cells. It accepts quotes that are not closed, does not report the line numbers of errors,
and does not split at runs of blanks. Therefore the csv module checks rows with quotes and finds line numbers, and runs
of blanks are replaced by a separator before pyarrow.csv splits the rows.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from io import BufferedReader, StringIO
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from modeseek._common.text import counted
from modeseek._common.types import IntArray
from modeseek._storage.cells import is_missing, is_number
from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import Format, OutputSpec
from modeseek._storage.formats.dialect import WHITESPACE, Dialect, QuoteError, find_dialect, rows_of
from modeseek._storage.formats.encodings import ENCODING_BYTES, ENCODINGS, UTF8, Recoded, find_encoding, unpacking
from modeseek._storage.formats.reader import Position, Reader, ReadOptions
from modeseek._storage.formats.registry import register_format
from modeseek._storage.input_file import InputFile
from modeseek._storage.pyarrow_modules import pa, pa_csv
from modeseek._storage.table import Table
from modeseek._storage.values import to_cells

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# bytes from which delimiter and header are detected
HEAD_BYTES = 1 << 23
# rows that are formatted at once
ROWS_TOGETHER = 1 << 14
# separator that replaces runs of blanks; `str.split` takes it for a blank, so no cell contains it
SEPARATOR = "\x1f"
# first characters of cells that spreadsheets run as formulas
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


class DelimitedReader(Reader):
    """Reads a text file in chunks of whole rows."""

    def __init__(self, file: InputFile, options: ReadOptions):
        super().__init__(file)
        self.size, self._chunk_bytes = self.stamp[0], options.chunk_bytes
        with unpacking(file), file.open() as stream:
            self._encoding = find_encoding(stream.read(ENCODING_BYTES))
        if self._encoding != UTF8:
            self.notes = (f"the text is read as {ENCODINGS[self._encoding]}",)
        with unpacking(file), self._open(file.open_raw()) as stream:
            head = stream.read(HEAD_BYTES)
            if stream.read(1):
                head = head[: max(head.rfind(b"\n"), head.rfind(b"\r", 0, -1)) + 1]
        self._skip = len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0
        text = decoded(head[self._skip :], file.name)
        self._dialect = find_dialect(text, file.name, suffix=file.suffix, header=options.header)
        if self._dialect.skipped:
            self.notes += (f"{counted(self._dialect.skipped, 'line')} above the table skipped",)
        self.columns, self.row_names = self._dialect.names, self._dialect.row_names
        if self._dialect.units:
            self.notes += (f"line {self._dialect.units} has units instead of numbers and is skipped",)
        lines = [bool(line.strip()) for line in text.splitlines()]
        if len(self.columns) == 1 and not all(lines[: len(lines) - lines[::-1].index(True)]):
            self.notes += ("blank lines skipped: in a table with one column they are not rows",)
        self.delimiter: str = self._dialect.delimiter

    def chunks(self, start: Position, only: Sequence[str] | None) -> Iterator[tuple[Table, Position, int]]:
        at, lines, row = max(start, self._dialect.start._replace(at=self._dialect.start.at + self._skip))
        raw, rest = self.file.open_raw(), b""
        with unpacking(self.file), self._open(raw) as stream:
            if stream is raw:
                stream.seek(at)
            else:
                for skipped in range(0, at, self._chunk_bytes):
                    stream.read(min(self._chunk_bytes, at - skipped))
            while True:
                data, rest = self._next_rows(stream, rest)
                if not data:
                    return
                table = self._parsed(data, lines, row, only)
                at, lines, row = at + len(data), lines + _count_lines(data), row + table.n_rows
                if table.n_rows:
                    yield table, Position(at, lines, row), at if stream is raw else raw.tell()

    def parts(self, n_bytes: int) -> list[tuple[int, int]]:
        start = self._dialect.start.at + self._skip
        if self.file.compression or self._encoding != UTF8:
            # a position in the file is not a position in the text
            return [(start, -1)]
        cuts = [start, *range(start + n_bytes, self.size, n_bytes), self.size]
        return list(pairwise(cuts))

    def read_part(self, part: tuple[int, int]) -> Table:
        """Return the rows that begin in a part.

        Raises
        ------
        DataError
            If the part ends within a cell that holds a line end.
        """
        start, stop = part
        if stop < 0:
            return self.read()
        with self.file.open_raw() as stream:
            stream.seek(start)
            if start > self._dialect.start.at + self._skip:
                # a row that begins in the previous part may end in this part
                stream.seek(start - 1)
                stream.readline()
            data = stream.read(max(0, stop - stream.tell()))
            if data and not data.endswith(b"\n"):
                data += stream.readline()
        try:
            return replace(self._parsed(data, 0, 0, None), find_lines=None)
        except QuoteError as error:
            if not error.at_end:
                raise
            raise DataError(
                f"{self.file.name} cannot be read in parts: a cell with a line end in double quotes begins before byte "
                f"{stop:,} and ends after it; convert the file to Parquet."
            ) from None

    def _open(self, raw: BinaryIO) -> BinaryIO:
        """Return a stream of the decompressed text in UTF-8; `raw` is the open file."""
        stream = self.file.unpack(raw)
        return stream if self._encoding == UTF8 else BufferedReader(Recoded(stream, self._encoding))

    def _next_rows(self, stream: BinaryIO, rest: bytes) -> tuple[bytes, bytes]:
        """Return about `chunk_bytes` of whole rows, and the bytes read beyond them; `rest` are bytes already read."""
        wanted = self._chunk_bytes
        while True:
            data = rest + stream.read(max(0, wanted - len(rest)))
            if len(data) < wanted:
                return data, b""
            if end := whole_rows(data[:wanted], self.delimiter):
                return data[:end], data[end:]
            # a row that is longer than a chunk
            wanted, rest = wanted * 2, data

    def _parsed(self, data: bytes, lines: int, row: int, only: Sequence[str] | None) -> Table:
        source, dialect = self.file.name, self._dialect
        text = decoded(data, source, lines + 1)
        if b'"' in data and dialect.delimiter != WHITESPACE:
            _check_rows(text, dialect, source, lines + 1)
        chosen = [j for j, name in enumerate(self.columns) if only is None or name in only]
        parsed = _split(data, text, dialect, chosen)
        if parsed is None:
            _check_rows(text, dialect, source, lines + 1)
            raise DataError(f"{source} cannot be read as delimited text: write the file again.")
        find_lines = partial(_lines, text, dialect.delimiter, lines + 1)
        row_names = tuple(name for name in self.row_names if only is None or name in only)
        return Table(source, parsed, row_names, self.delimiter, row, find_lines, self.notes)


def _split(data: bytes, text: str, dialect: Dialect, chosen: list[int]) -> Any:
    """Return the chosen columns as an Arrow table of strings; None if a row has too many or too few cells."""
    delimiter, quote = dialect.delimiter, '"' if b'"' in data else False
    if delimiter == WHITESPACE:
        delimiter, quote = SEPARATOR, False
        data = "\n".join(SEPARATOR.join(row.cells) for row in rows_of(text, WHITESPACE)).encode()
    elif data.startswith(BYTE_ORDER_MARK):
        # a byte order mark inside a file is text; the blank line keeps pyarrow from removing it
        data = b"\n" + data
    # columns are named by their numbers, because names may occur twice
    names = [str(j) for j in range(len(dialect.names))]
    try:
        table = pa_csv.read_csv(
            pa.BufferReader(data or b"\n"),
            read_options=pa_csv.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1),
            parse_options=pa_csv.ParseOptions(
                delimiter=delimiter,
                quote_char=quote,
                newlines_in_values=bool(quote),
                invalid_row_handler=lambda row: "skip" if _is_blank(row, quote) else "error",
            ),
            convert_options=pa_csv.ConvertOptions(
                include_columns=[str(j) for j in chosen],
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if len(names) == 1 and chosen:
        table = table.filter(pa.array([bool(cell.strip()) for cell in table.column(0).to_pylist()], pa.bool_()))
    return table.rename_columns([dialect.names[j] for j in chosen])


def _is_blank(row: Any, quote: str | bool) -> bool:
    return row.actual_columns == 1 and not row.text.strip().strip(quote or None).strip()


def whole_rows(data: bytes, delimiter: str) -> int:
    r"""Return how many bytes at the beginning of a text are whole rows; line ends within quotes do not end rows.

    Examples
    --------
    >>> whole_rows(b'1,2\n3,"4\n', ","), whole_rows(b'1,2\n3,4', ",")
    (4, 4)
    """
    # a carriage return alone ends a line, too; if it is the last byte, a line feed may follow
    end = (data.rfind(b"\n") + 1) or (data.rfind(b"\r", 0, -1) + 1)
    if delimiter == WHITESPACE or data.find(b'"', 0, end) < 0:
        return end
    done = 0
    try:
        # in Latin-1 a byte is a character, and quotes, delimiters and line ends are the same as in UTF-8
        for row in rows_of(data[:end].decode("latin-1"), delimiter):
            done = row.end
    except QuoteError as error:
        # wrong quotes before the end are reported when the row is parsed
        return done if error.at_end else end
    return end


def decoded(data: bytes, source: str, first: int = 1) -> str:
    """Decode UTF-8, or raise a `DataError` with the line; `first` is the number of the first line of `data`."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + first
        raise DataError(
            f"{source} line {line}: byte 0x{data[error.start]:02x} is not UTF-8 text: "
            "save the file as UTF-8 (spreadsheets call it 'CSV UTF-8')."
        ) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + first
        raise DataError(f"{source} line {line} has a zero byte, so this is not a text file.")
    return text


def _check_rows(text: str, dialect: Dialect, source: str, first: int) -> None:
    """Raise a `DataError` with the line of the first row that has wrong quotes or a wrong number of cells."""
    width = len(dialect.names)
    for row in rows_of(text, dialect.delimiter, source, first):
        if len(row.cells) != width:
            raise DataError(
                f"{source} line {row.line}: expected {width} fields as in line {dialect.line}, found "
                f"{len(row.cells)}: correct the line (a cell that holds {dialect.delimiter!r} needs double quotes)."
            )


def _lines(text: str, delimiter: str, first: int) -> IntArray:
    return np.array([row.line for row in rows_of(text, delimiter, first=first)], dtype=np.intp)


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def write_rows(stream: TextIO, spec: OutputSpec, chunks: Iterable[Any], *, header: bool = True) -> None:
    """Write Arrow tables as delimited text."""
    names: list[Iterable[Any]] = [(name,) for name in (*spec.columns, *spec.added)]
    # cells are Python numbers, which are printed with the fewest digits that restore the number
    parts = (chunk.slice(at, ROWS_TOGETHER) for chunk in chunks for at in range(0, len(chunk), ROWS_TOGETHER))
    tables: Iterator[list[Iterable[Any]]] = ([to_cells(column) for column in part.columns] for part in parts)
    for columns in chain([names] if header else [], tables):
        if spec.guard:
            columns = [[guarded(cell) for cell in column] for column in columns]
        rows = list(zip(*columns, strict=True))
        # before Python 3.13, csv quotes carriage returns only if the line terminator has one; unquoted, they split rows
        text = _lines_of(rows, spec.delimiter)
        if text.count("\r\n") == len(rows):
            stream.write(text.replace("\r\n", "\n"))
        else:
            stream.writelines(f"{_lines_of([row], spec.delimiter)[:-2]}\n" for row in rows)


def _lines_of(rows: Sequence[tuple[Any, ...]], delimiter: str) -> str:
    buffer = StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return buffer.getvalue()


def guarded(cell: Any) -> Any:
    """Put an apostrophe in front of a text that spreadsheets would run as a formula.

    Numbers, and texts that are numbers or stand for missing values, stay as they are.

    Examples
    --------
    >>> [guarded(cell) for cell in ("=1+1", "@SUM(A1)", "-x", "-1.5", "-", "+1e3", "plain", -2.0)]
    ["'=1+1", "'@SUM(A1)", "'-x", '-1.5', '-', '+1e3', 'plain', -2.0]
    """
    if not isinstance(cell, str) or not cell.lstrip(" ").startswith(FORMULAS):
        return cell
    return cell if is_number(cell) or is_missing(cell) else f"'{cell}"


def output_delimiter(suffix: str, delimiter: str | None) -> str:
    """Return the delimiter of an output file.

    `suffix` is the ending of the output file. `delimiter` is the delimiter of the input; None if the input is not text.
    """
    if suffix in (".tsv", ".tab"):
        return "\t"
    if delimiter in (None, WHITESPACE) or (suffix == ".csv" and delimiter == "\t"):
        return ","
    return str(delimiter)


class Delimited(Format):
    """CSV, TSV and other delimited text."""

    name = "delimited text"
    suffixes = (".csv", ".tsv", ".tab", ".txt", ".dat")

    def open(self, file: InputFile, options: ReadOptions) -> Reader:
        return DelimitedReader(file, options)

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        with path.open("w", encoding="utf-8", newline="") as stream:
            write_rows(stream, spec, chunks)


register_format(Delimited())
