"""What the first rows of a text tell: what separates its cells, and whether they begin with names."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import islice

from modeseek._storage.cells import is_missing, is_number

__all__ = ["SAMPLE_ROWS", "WHITESPACE", "column_names", "find_delimiter", "has_header"]

WHITESPACE = " "
# in order of preference where two fit equally well
DELIMITERS = ("\t", ";", ",", "|", WHITESPACE)
SAMPLE_CHARACTERS, SAMPLE_ROWS = 1 << 16, 100


def find_delimiter(text: str, *, prefer_tab: bool) -> str:
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


def has_header(rows: list[list[str]]) -> bool:
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


def column_names(first: list[str], header: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the columns, and those of them that hold row names."""
    if not header:
        return tuple(f"x{j}" for j in range(len(first))), ()
    names = tuple(cell.strip() or f"column{j}" for j, cell in enumerate(first, start=1))
    row_names = names[:1] if len(first) > 1 and not first[0].strip() else ()
    return names, row_names
