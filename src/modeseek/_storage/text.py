"""Delimited text: what separates the cells, whether there is a header, and on which line a row begins."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from modeseek._common.types import IntArray
from modeseek._storage.cells import is_missing, is_number
from modeseek._storage.errors import DataError, HeaderOnlyError
from modeseek._storage.sniffing import SAMPLE_ROWS, WHITESPACE, column_names, find_delimiter, has_header

__all__ = [
    "WHITESPACE",
    "Layout",
    "TextTable",
    "decode_text",
    "find_layout",
    "guarded",
    "read_block",
    "read_text",
    "whole_rows",
    "write_text",
]

# how a cell begins that spreadsheets compute instead of showing it
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


class TextTable(NamedTuple):
    """Cells as they stand in the file.

    Attributes
    ----------
    names : tuple of str
        Names of the columns; x0, x1, ... where there is no header.
    columns : tuple of (n,) object arrays
        The cells, as strings.
    lines : (n,) integer array
        The line on which each row begins, counted from 1.
    delimiter : str
        What separates the cells; a space stands for any run of blanks.
    row_names : tuple of str
        The column without a name that some programs put first for row names, if it is there.
    """

    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]
    lines: IntArray
    delimiter: str
    row_names: tuple[str, ...]


def read_text(data: bytes, source: str, *, suffix: str = "", header: bool | None = None) -> TextTable:
    r"""Read delimited text.

    Parameters
    ----------
    data : bytes
        The file, in UTF-8 with or without a byte order mark.
    source : str
        How messages call the file.
    suffix : str
        The file's ending: under ".tsv" and ".tab" a tab wins wherever there is one.
    header : bool or None
        Whether the first row holds names; None finds out.

    Returns
    -------
    TextTable
        The cells as they stand.

    Examples
    --------
    >>> table = read_text(b"a;b\n1;2\n3;4\n", "data")
    >>> table.names, table.delimiter, table.columns[1], table.lines
    (('a', 'b'), ';', array(['2', '4'], dtype=object), array([2, 3]))
    """
    text = decode_text(data, source)
    delimiter = find_delimiter(text, prefer_tab=suffix in (".tsv", ".tab"))
    rows, starts = _gather(_records(text, delimiter, source), source, delimiter)
    layout = _layout(rows, starts, source, delimiter, header)
    return _table(rows, starts, layout, skip=int(layout.header))


class Layout(NamedTuple):
    """How the lines of a text are cut into columns.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    delimiter : str
        What separates the cells.
    row_names : tuple of str
        The column of row names, if there is one.
    header : bool
        Whether the first row holds names.
    line : int
        The line of the first row, which every other must match.
    """

    names: tuple[str, ...]
    delimiter: str
    row_names: tuple[str, ...]
    header: bool
    line: int


def find_layout(data: bytes, source: str, *, suffix: str = "", header: bool | None = None) -> Layout:
    r"""Find out from the beginning of a text, cut behind a line, what `read_text` would from all of it.

    Examples
    --------
    >>> find_layout(b"a;b\n1;2\n", "data")
    Layout(names=('a', 'b'), delimiter=';', row_names=(), header=True, line=1)
    """
    text = decode_text(data, source)
    delimiter = find_delimiter(text, prefer_tab=suffix in (".tsv", ".tab"))
    rows, starts = _gather(islice(_records(text, delimiter, source), SAMPLE_ROWS + 1), source, delimiter)
    return _layout(rows, starts, source, delimiter, header)


def whole_rows(data: bytes, delimiter: str) -> int:
    r"""Return how many bytes of a text that goes on are whole rows; line ends within quotes end none.

    Examples
    --------
    >>> whole_rows(b'1,2\n3,"4\n', ","), whole_rows(b'1,2\n3,4', ",")
    (4, 4)
    """
    # a lone carriage return ends a line too; the last byte may be half of a pair
    end = (data.rfind(b"\n") + 1) or (data.rfind(b"\r", 0, -1) + 1)
    if delimiter == WHITESPACE or data.find(b'"', 0, end) < 0:
        return end
    # as Latin-1 a byte is a character; what is looked for is the same in UTF-8
    lines = _Counted(io.StringIO(data[:end].decode("latin-1"), newline=""))
    done = 0
    try:
        for _ in csv.reader(lines, delimiter=delimiter, strict=True):
            done = lines.characters
    except csv.Error as error:
        # any other complaint is for whoever reads the row
        return done if "unexpected end" in str(error) else end
    return done


def read_block(data: bytes, source: str, layout: Layout, line: int) -> tuple[TextTable, int]:
    r"""Read whole rows from the middle of a text; return them, and the line after them.

    Parameters
    ----------
    data : bytes
        The rows, the header among them if they are the first.
    source : str
        How messages call the file.
    layout : Layout
        How rows are cut.
    line : int
        The line on which they begin, counted from 1.

    Examples
    --------
    >>> layout = find_layout(b"a,b\n1,2\n", "data")
    >>> block, line = read_block(b"3,4\n5,6\n", "data", layout, 3)
    >>> block.columns[1], block.lines, line
    (array(['4', '6'], dtype=object), array([3, 4]), 5)
    """
    text = decode_text(data, source, line)
    records = _records(text, layout.delimiter, source, line)
    rows, starts = _gather(records, source, layout.delimiter, (len(layout.names), layout.line))
    after = line + text.count("\n") + text.count("\r") - text.count("\r\n")
    return _table(rows, starts, layout, skip=int(layout.header and starts[:1] == [layout.line])), after


def guarded(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: text that begins like one gets an apostrophe in front.

    Numbers, and text that is a number or a gap, stay as they are.

    Examples
    --------
    >>> [guarded(cell) for cell in ("=1+1", "@SUM(A1)", "-x", "-1.5", "-", "+1e3", "plain", -2.0)]
    ["'=1+1", "'@SUM(A1)", "'-x", '-1.5', '-', '+1e3', 'plain', -2.0]
    """
    if not isinstance(cell, str) or not cell.lstrip(" ").startswith(FORMULAS):
        return cell
    return cell if is_number(cell) or is_missing(cell) else f"'{cell}"


def write_text(
    stream: TextIO,
    names: Sequence[str] | None,
    columns: Iterable[Iterable[Any]],
    delimiter: str,
    *,
    guard: bool = False,
) -> None:
    r"""Write columns as delimited text, with a header unless there are no names; `guard` keeps out formulas.

    Examples
    --------
    >>> out = io.StringIO()
    >>> write_text(out, ["a", "b"], [[1, 2], ["x", "y,z"]], ",")
    >>> out.getvalue()
    'a,b\n1,x\n2,"y,z"\n'
    """
    # before Python 3.13 a carriage return is put in quotes only where it ends lines; bare, it would cut the row
    writer = csv.writer(_Newlines(stream), delimiter=delimiter, lineterminator="\r\n")
    if guard:
        names = None if names is None else [guarded(name) for name in names]
        columns = [[guarded(cell) for cell in column] for column in columns]
    if names is not None:
        writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))


class _Newlines:
    """Takes rows that end in CR LF, and ends them in LF."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, row: str) -> int:
        return self._stream.write(f"{row[:-2]}\n")


class _Counted:
    """Lines, and the characters of those that have been taken."""

    def __init__(self, stream: TextIO):
        self._stream, self.characters = stream, 0

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self.characters += len(line)
            yield line


def _gather(
    records: Iterable[tuple[int, list[str]]], source: str, delimiter: str, like: tuple[int, int] | None = None
) -> tuple[list[list[str]], list[int]]:
    """Return all rows and the line of each; all must be as wide as the first, or as (width, its line) says."""
    rows: list[list[str]] = []
    starts: list[int] = []
    for line, cells in records:
        if like is None:
            like = len(cells), line
        if len(cells) != like[0]:
            raise DataError(
                f"{source} line {line}: expected {like[0]} fields as in line {like[1]}, "
                f"found {len(cells)}: correct the line (a cell that holds {delimiter!r} needs double quotes)."
            )
        rows.append(cells)
        starts.append(line)
    return rows, starts


def _layout(rows: list[list[str]], starts: list[int], source: str, delimiter: str, header: bool | None) -> Layout:
    if not rows:
        raise DataError(f"{source} is empty: give a file with at least one row of numbers.")
    if header is None:
        header = has_header(rows[: SAMPLE_ROWS + 1])
    if header and len(rows) == 1:
        raise HeaderOnlyError(source)
    names, row_names = column_names(rows[0], header)
    return Layout(names, delimiter, row_names, header, starts[0])


def _table(rows: list[list[str]], starts: list[int], layout: Layout, skip: int) -> TextTable:
    body = rows[skip:]
    # fromiter, not array: array would make fixed-width strings, as long as the longest everywhere
    cut = zip(*body, strict=True) if body else ((),) * len(layout.names)
    columns = tuple(np.fromiter(column, dtype=object, count=len(body)) for column in cut)
    return TextTable(layout.names, columns, np.array(starts[skip:], np.intp), layout.delimiter, layout.row_names)


def decode_text(data: bytes, source: str, first: int = 1) -> str:
    """Return UTF-8 as text; refuse anything else, by the line, the first being `first`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + first
        raise DataError(
            f"{source} line {line}: byte 0x{data[error.start]:02x} is not UTF-8 text: "
            "save the file as UTF-8 (spreadsheets call it 'CSV UTF-8')."
        ) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + first
        raise DataError(f"{source} line {line}: there is a zero byte, so this is not a text file.")
    return text


def _records(text: str, delimiter: str, source: str, first: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each row begins, and its cells; blank lines are passed over."""
    stream = io.StringIO(text, newline="")
    if delimiter == WHITESPACE:
        for number, line in enumerate(stream, start=first):
            if line.strip():
                yield number, line.split()
        return
    # strict: a quote that is never closed is an error instead of one cell that holds the rest of the file
    reader = csv.reader(stream, delimiter=delimiter, strict=True)
    start = first
    try:
        for cells in reader:
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield start, cells
            start = reader.line_num + first
    except csv.Error as error:
        raise DataError(f"{source} line {start}: {error}: check the double quotes of this row.") from None
