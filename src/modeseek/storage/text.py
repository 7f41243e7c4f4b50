"""Delimited text: what separates the cells, whether there is a header, and on which line a row begins."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from modeseek.storage.cells import is_missing, is_number
from modeseek.storage.errors import DataError
from modeseek.types import IntArray

__all__ = ["WHITESPACE", "TextTable", "read_text", "write_text"]

WHITESPACE = " "
# in order of preference where two fit equally well
DELIMITERS = ("\t", ";", ",", "|", WHITESPACE)
SAMPLE_CHARACTERS, SAMPLE_ROWS = 1 << 16, 100


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
    text = _decode(data, source)
    delimiter = _find_delimiter(text, prefer_tab=suffix in (".tsv", ".tab"))
    rows: list[list[str]] = []
    starts: list[int] = []
    for line, cells in _records(text, delimiter, source):
        if rows and len(cells) != len(rows[0]):
            raise DataError(
                f"{source} line {line}: expected {len(rows[0])} fields as in line {starts[0]}, "
                f"found {len(cells)}: correct the line (a cell that holds {delimiter!r} needs double quotes)."
            )
        rows.append(cells)
        starts.append(line)
    if not rows:
        raise DataError(f"{source} is empty: give a file with at least one row of numbers.")
    if header is None:
        header = _has_header(rows[: SAMPLE_ROWS + 1])
    if header and len(rows) == 1:
        raise DataError(f"{source} has a header but no rows: give at least one (or --no-header).")
    names, row_names = _names(rows[0], header)
    body = rows[1:] if header else rows
    # fromiter, not array: array would make fixed-width strings, as long as the longest everywhere
    columns = tuple(np.fromiter(column, dtype=object, count=len(body)) for column in zip(*body, strict=True))
    return TextTable(names, columns, np.array(starts[header:]), delimiter, row_names)


def write_text(stream: TextIO, names: Sequence[str], columns: Iterable[Iterable[Any]], delimiter: str) -> None:
    r"""Write columns as delimited text, with a header.

    Examples
    --------
    >>> out = io.StringIO()
    >>> write_text(out, ["a", "b"], [[1, 2], ["x", "y,z"]], ",")
    >>> out.getvalue()
    'a,b\n1,x\n2,"y,z"\n'
    """
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))


def _decode(data: bytes, source: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError(
            f"{source} line {line}: byte 0x{data[error.start]:02x} is not UTF-8 text: "
            "save the file as UTF-8 (spreadsheets call it 'CSV UTF-8')."
        ) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise DataError(f"{source} line {line}: there is a zero byte, so this is not a text file.")
    return text


def _records(text: str, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each row begins, and its cells; blank lines are passed over."""
    stream = io.StringIO(text, newline="")
    if delimiter == WHITESPACE:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line.split()
        return
    # strict: a quote that is never closed is an error instead of one cell that holds the rest of the file
    reader = csv.reader(stream, delimiter=delimiter, strict=True)
    start = 1
    try:
        for cells in reader:
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{source} line {start}: {error}: check the double quotes of this row.") from None


def _find_delimiter(text: str, *, prefer_tab: bool) -> str:
    """Choose what cuts most rows into the same number of cells, and leaves most of them numbers."""
    sample = text[:SAMPLE_CHARACTERS]
    if len(sample) < len(text):
        sample = sample[: sample.rfind("\n") + 1] or sample
    best, best_score = ",", 0.0
    for delimiter in DELIMITERS:
        rows = _sample_rows(sample, delimiter)
        if not rows:
            continue
        width, count = Counter(map(len, rows)).most_common(1)[0]
        if width == 1:
            continue
        if prefer_tab and delimiter == "\t":
            return delimiter
        # below the first row, which may be a header; a decimal comma counts, so that ';' wins over it
        cells = [cell for row in rows[1:] or rows if len(row) == width for cell in row]
        numbers = sum(is_number(cell if delimiter == "," else cell.replace(",", ".", 1)) for cell in cells)
        score = count / len(rows) * (0.1 + numbers / max(len(cells), 1))
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _sample_rows(sample: str, delimiter: str) -> list[list[str]]:
    if delimiter == WHITESPACE:
        return [line.split() for line in sample.splitlines()[:SAMPLE_ROWS] if line.strip()]
    try:
        # not strict: the sample may end within quotes
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        return [row for row in islice(reader, SAMPLE_ROWS) if row]
    except csv.Error:
        return []


def _has_header(rows: list[list[str]]) -> bool:
    """Decide whether the first row holds names.

    It does if none of its cells is a number, or if a cell that is no number stands over numbers only. An
    empty cell followed by 0, 1, 2, ... is what pandas writes over a table without names.
    """
    first, rest = rows[0], rows[1:]
    if len(first) > 1 and first == ["", *map(str, range(len(first) - 1))]:
        return True
    texts = [j for j, cell in enumerate(first) if not is_number(cell) and not is_missing(cell)]
    if not texts:
        return False
    if not any(is_number(cell) for cell in first):
        return True
    below = ([row[j] for row in rest if not is_missing(row[j])] for j in texts)
    return any(cells and all(map(is_number, cells)) for cells in below)


def _names(first: list[str], header: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not header:
        return tuple(f"x{j}" for j in range(len(first))), ()
    names = tuple(cell.strip() or f"column{j}" for j, cell in enumerate(first, start=1))
    row_names = names[:1] if len(first) > 1 and not first[0].strip() else ()
    return names, row_names
