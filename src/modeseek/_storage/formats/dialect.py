"""Detection of the delimiter and the header of a text file, from its beginning.

csv.Sniffer is not used: it cannot split at runs of blanks, and fails for files with one column or decimal commas.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from modeseek._storage.cells import is_missing, is_number
from modeseek._storage.errors import DataError, HeaderOnlyError
from modeseek._storage.formats.reader import Position

WHITESPACE = " "
# in order of preference if several fit equally well
DELIMITERS = ("\t", ";", ",", "|", WHITESPACE)
SAMPLE_CHARACTERS = 1 << 16
SAMPLE_ROWS = 100
# largest number of lines above a table that are skipped, and smallest number of regular rows below them
MAX_LINES_ABOVE = 20
MIN_ROWS_BELOW = 4
# largest number of characters of a unit below the header, and the beginning of a number or a date
MAX_UNIT = 12
BEGINS_NUMBER = re.compile(r"\s*[-+(.,$€£¥]?\s?\d")


class Dialect(NamedTuple):
    """How the rows of a text file are split into columns.

    Attributes
    ----------
    names, row_names : tuple of str
        Names of the columns, and of the column of row names if there is one.
    delimiter : str
        Delimiter; WHITESPACE is any run of blanks.
    line : int
        Line of the first row, counted from 1. All rows must have as many fields as this one.
    start : Position
        Where the rows begin, after the header.
    skipped : int
        Number of lines above the table, which are not read.
    units : int
        Line of a row of units below the header, which is not read; 0 if there is none.
    """

    names: tuple[str, ...]
    row_names: tuple[str, ...]
    delimiter: str
    line: int
    start: Position
    skipped: int = 0
    units: int = 0


class Row(NamedTuple):
    """A row of a text: the line on which it begins (from 1), its cells, and the number of characters up to its end."""

    line: int
    cells: list[str]
    end: int


def rows_of(text: str, delimiter: str, source: str = "", first: int = 1) -> Iterator[Row]:
    r"""Yield the rows of a text; blank lines are skipped.

    Raises
    ------
    DataError
        If a quote is not closed, or text follows a closing quote.

    Examples
    --------
    >>> list(rows_of('a,"b\nc"\n\n1,2', ","))
    [Row(line=1, cells=['a', 'b\nc'], end=8), Row(line=4, cells=['1', '2'], end=12)]
    """
    lines = _Lines(text)
    if delimiter == WHITESPACE:
        for number, each in enumerate(lines, start=first):
            if each.strip():
                yield Row(number, each.split(), lines.end)
        return
    # raise the limit on the size of cells: it protects against quotes that are never closed, but `strict` reports these
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader, start = csv.reader(lines, delimiter=delimiter, strict=True), first
    try:
        for cells in reader:
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield Row(start, cells, lines.end)
            start = reader.line_num + first
    except csv.Error as error:
        raise QuoteError(source, start, str(error), at_end=lines.end == len(text)) from None


class QuoteError(DataError):
    """A row with wrong quotes; `at_end` is true if the text ends in the row, and more text could close the quote."""

    def __init__(self, source: str, line: int, reason: str, *, at_end: bool):
        self.at_end = at_end
        super().__init__(f"{source} line {line}: {reason}: check the double quotes of this row.")


class _Lines:
    """The lines of a text; `end` is the number of characters up to the end of the last line that was yielded."""

    def __init__(self, text: str):
        self._stream, self.end = io.StringIO(text, newline=""), 0

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self.end += len(line)
            yield line


def find_dialect(text: str, source: str, *, suffix: str = "", header: bool | None = None) -> Dialect:
    r"""Detect the dialect of a file from its first lines.

    Parameters
    ----------
    text : str
    source : str
        Name of the file in messages.
    suffix : str
        Ending of the file's name: in ".tsv" and ".tab" files a tab is preferred to other delimiters.
    header : bool or None
        Whether the first row holds names; None detects it.

    Examples
    --------
    >>> find_dialect("a;b\n1;2\n", "data")[:5]
    (('a', 'b'), (), ';', 1, Position(at=4, within=1, row=0))
    """
    delimiter = find_delimiter(text, prefer_tab=suffix in (".tsv", ".tab"))
    rows: list[Row] = []
    try:
        rows.extend(islice(rows_of(text, delimiter, source), SAMPLE_ROWS + 1))
    except QuoteError:
        # two rows are enough, and the text may end within a row; a real fault is reported when the row is parsed
        if len(rows) < 2:
            raise
    if not rows:
        raise DataError(f"{source} is empty: give a file with at least one row of numbers.")
    skipped = lines_before(rows)
    above = text[: rows[skipped - 1].end] if skipped else ""
    rows = rows[skipped:]
    first = rows[0]
    if header is None:
        header = has_header([row.cells for row in rows if len(row.cells) == len(first.cells)])
    if not header:
        names = tuple(f"x{j}" for j in range(len(first.cells)))
        start = Position(len(above.encode()), len(list(_Lines(above))))
        return Dialect(names, (), delimiter, first.line, start, skipped)
    if len(rows) == 1:
        raise HeaderOnlyError(source)
    names = tuple(cell.strip() or f"column{j}" for j, cell in enumerate(first.cells, start=1))
    row_names = names[:1] if len(names) > 1 and not first.cells[0].strip() else ()
    units = has_units([row.cells for row in rows[1:] if len(row.cells) == len(first.cells)])
    before = text[: rows[units].end]
    start = Position(len(before.encode()), len(list(_Lines(before))))
    return Dialect(names, row_names, delimiter, first.line, start, skipped, rows[1].line if units else 0)


def lines_before(rows: list[Row]) -> int:
    """Return the number of rows above a table, such as a title; their number of cells differs from that of the table.

    Rows in which all cells but the first are empty are above the table, too, if a header follows.

    Examples
    --------
    >>> rows = [["title"], ["a", "b"], ["1", "2"], ["3", "4"], ["5", "6"]]
    >>> lines_before([Row(i, cells, 0) for i, cells in enumerate(rows)])
    1
    """
    width, _ = Counter(len(row.cells) for row in rows).most_common(1)[0]
    first = next(i for i, row in enumerate(rows) if len(row.cells) == width)
    below = [len(row.cells) == width for row in rows[first:]]
    regular = width > 1 and len(below) >= MIN_ROWS_BELOW and all(below)
    if not regular or first > MAX_LINES_ABOVE:
        return 0
    titles = next((i for i, row in enumerate(rows[first:]) if any(cell.strip() for cell in row.cells[1:])), 0)
    table = rows[first + titles :]
    header = [cell for cell in table[0].cells if cell.strip()]
    titled = len(table) >= MIN_ROWS_BELOW and len(header) > 1 and not any(map(is_number, header))
    return first + titles if titles and titled and first + titles <= MAX_LINES_ABOVE else first


def has_units(rows: list[list[str]]) -> bool:
    """Return whether the first row below a header holds units.

    It does if at least two of its cells are short texts above numbers or dates, and the others are empty.

    Examples
    --------
    >>> has_units([["", "mm", "%"], ["a", "2.5", "7"], ["b", "2", "9"], ["c", "", "8"]])
    True
    >>> has_units([["", "2", "%"], ["a", "2.5", "7"], ["b", "2", "9"], ["c", "", "8"]])
    False
    """
    if len(rows) < MIN_ROWS_BELOW:
        return False
    first, rest = rows[0], rows[1:]
    units = [j for j, cell in enumerate(first) if not is_missing(cell)]
    for j in units:
        below = [row[j] for row in rest if not is_missing(row[j])]
        values = sum(BEGINS_NUMBER.match(cell) is not None for cell in below)
        if BEGINS_NUMBER.match(first[j]) or len(first[j]) > MAX_UNIT or first[j] in below or 2 * values <= len(below):
            return False
    return len(units) > 1


def find_delimiter(text: str, *, prefer_tab: bool) -> str:
    """Return the delimiter that splits most rows into the same number of cells, most of them numbers."""
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
        # the first row may be a header; numbers with decimal commas count for ';', which is then preferred to ','
        cells = [cell for row in rows[1:] or rows if len(row) == width for cell in row]
        numbers = sum(is_number(cell if delimiter == "," else cell.replace(",", ".", 1)) for cell in cells)
        score = count / len(rows) * (0.1 + numbers / max(len(cells), 1))
        if len(rows[0]) != width:
            score /= 4  # the header has another number of cells than the rows, as with blanks in "Jan 1 2000"
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


def has_header(rows: list[list[str]]) -> bool:
    """Return whether the first row holds names.

    It does if none of its cells is a number, if all cells below one of its texts are numbers, or if its numbers
    increase by 1, as years do. An empty cell followed by 0, 1, 2, ... is the header that pandas writes for a table
    without names.
    """
    first, rest = rows[0], rows[1:]
    if len(first) > 1 and first == ["", *map(str, range(len(first) - 1))]:
        return True
    texts = [j for j, cell in enumerate(first) if not is_number(cell) and not is_missing(cell)]
    if not texts:
        return False
    numbers = [float(cell) for cell in first if is_number(cell)]
    if not numbers or (len(numbers) > 2 and all(b - a == 1 for a, b in pairwise(numbers))):
        return True
    below = ([row[j] for row in rest if not is_missing(row[j])] for j in texts)
    return any(cells and all(map(is_number, cells)) for cells in below)
