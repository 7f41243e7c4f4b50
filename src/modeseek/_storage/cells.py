"""What a cell is: a number, a gap, or text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.types import Array

__all__ = ["is_missing", "is_number", "rewriting", "to_numbers"]

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", "."})


def is_missing(cell: str) -> bool:
    """Return whether a cell says that there is no value.

    Examples
    --------
    >>> is_missing(" NA "), is_missing("0")
    (True, False)
    """
    return cell.strip().lower() in MISSING


def is_number(cell: str) -> bool:
    """Return whether a cell holds a number; NaN is a missing value, not a number.

    Examples
    --------
    >>> is_number(" -1.5e3 "), is_number("nan"), is_number("1_000")
    (True, False, False)
    """
    try:
        return float(cell) == float(cell) and "_" not in cell
    except ValueError:
        return False


def rewriting(cell: object) -> str:
    """Return how to write a cell so that it is a number; an empty string where it is none.

    Examples
    --------
    >>> rewriting("0,5"), rewriting("12 %"), rewriting("Adelie")
    ('write decimal points instead of decimal commas', "write numbers without '%'", '')
    >>> rewriting("12,500")
    'write 12500 (or 12.500): no commas in numbers'
    """
    if not isinstance(cell, str):
        return ""
    text = cell.strip()
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+", text):
        point = f" (or {text.replace(',', '.')})" if text.count(",") == 1 else ""
        return f"write {text.replace(',', '')}{point}: no commas in numbers"
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+\.\d*", text):
        return f"write {text.replace(',', '')}: no commas in numbers"
    if is_number(text.replace(",", ".", 1)):
        return "write decimal points instead of decimal commas"
    if text.lower() in ("true", "false", "yes", "no"):
        return "write 1 and 0 instead of true and false"
    unit = re.fullmatch(r"([$€£]?)\s*[+-]?[\d.]+(?:e[+-]?\d+)?\s*(%|[a-zA-Zµ°]{1,3}|[$€£])?", text)
    if unit and (unit[1] or unit[2]):
        return f"write numbers without {unit[1] or unit[2]!r}"
    if re.fullmatch(r"\d{4}-\d\d-\d\d([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}", text):
        return "turn dates into numbers, such as days since the first"
    return ""


def to_numbers(column: NDArray[Any]) -> tuple[Array, int | None]:
    """Return a column as float64 with NaN for gaps, and the first row that is neither a number nor a gap.

    Examples
    --------
    >>> to_numbers(np.array(["1.5", "NA"], dtype=object))
    (array([1.5, nan]), None)
    >>> to_numbers(np.array(["1.5", "Adelie"], dtype=object))[1]
    1
    """
    if column.dtype.kind in "biuf":
        # what is no number after the cast, such as a long double beyond a double, is refused with its place
        with np.errstate(invalid="ignore", over="ignore"):
            return column.astype(np.float64), None
    try:
        values = column.astype(np.float64)
        # Python reads 1_000 as a number; people do not write it
        if not any(isinstance(cell, str) and "_" in cell for cell in column):
            return values, None
    except (TypeError, ValueError, OverflowError):
        pass
    values = np.full(len(column), np.nan)
    for row, cell in enumerate(column):
        if cell is None or (isinstance(cell, str) and is_missing(cell)):
            continue
        try:
            values[row] = float(cell)
        except (TypeError, ValueError, OverflowError):
            return values, row
        if isinstance(cell, str) and "_" in cell:
            return values, row
    return values, None
