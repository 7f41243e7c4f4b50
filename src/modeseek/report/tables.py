"""What the cells of a table say, and which columns are numbers."""

from __future__ import annotations

import re

from modeseek.report.blocks import CellLines, RowLink, Swatch, TableBlock, TableCell, Verdict
from modeseek.report.inline import plain

__all__ = ["right_aligned", "words"]

NOT_MEASURED = {"", "-", "\N{EN DASH}", "\N{EM DASH}", "nan", "n/a", "inf", "-inf", "∞"}
WORDS = re.compile(r"[^\W\d_]+")


def right_aligned(table: TableBlock) -> tuple[bool, ...]:
    """Tell for each column whether it is aligned on the right.

    Examples
    --------
    >>> rows = [["SMS", "0.91 ± 0.02", "1,200 ms", "holds"], ["DSMS", "**0.95** [0.9, 1]", "—", "5 of 6 lines hold"]]
    >>> right_aligned(TableBlock(["line", "K", "time", "verdict"], rows))
    (False, True, True, False)
    """
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.header)
    return tuple(table.numeric and j > 0 and _is_numeric(column) for j, column in enumerate(columns))


def words(cell: TableCell) -> str:
    """Return what a cell says, without markup; of lines, the longest."""
    match cell:
        case Verdict(text) | Swatch(text) | RowLink(text):
            return text
        case CellLines(lines):
            return max(map(plain, lines), key=len, default="")
        case _:
            return plain(cell)


def _is_numeric(column: tuple[TableCell, ...]) -> bool:
    texts = [words(cell).strip() for cell in column]
    measured = [text for text in texts if text.lower() not in NOT_MEASURED]
    return bool(measured) and all(map(_is_number, measured))


def _is_number(text: str) -> bool:
    # 12, ≈ 0.5, 0.91 ± 0.02, [0.9, 1), 3 of 5, 20 ms: digits, and no words but units
    return bool(re.match(r"\W*\d", text)) and all(len(word) <= 3 for word in WORDS.findall(text))
