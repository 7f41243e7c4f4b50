"""Cells and columns: what is a number, and what is missing."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.types import Array
from modeseek._storage.pyarrow_modules import pa, pc

MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?", "-", "."})
# parts of the patterns of STYLES, which are regular expressions of RE2
BLANKS = "\\s'\u2019\u00a0\u202f"
CURRENCY_CODE = r"^[A-Z]{3}\s"
UNIT = r"(?:[$€£¥%]|[A-Za-zµμ°][A-Za-z/°²³]{0,4})$"
DIGITS = r"(?:\d{1,3}(?:GROUP\d{3})+(?:POINT\d*)?|\d+(?:POINT\d*)?|POINT\d+)(?:[eE][+-]?\d+)?"
# SIGNS is the end of the pattern, a unit; negative numbers may be in round brackets
NUMBER = (
    rf"(?:{CURRENCY_CODE}|^)(?:(?:[+-]?\s?[$€£¥]?|[$€£¥]\s?[+-]?)\s?{DIGITS}"
    rf"|[$€£¥]?\s?\([$€£¥]?\s?{DIGITS}\s?[$€£¥%]?\))(?:SIGNS|$)"
)
POINTS = NUMBER.replace("GROUP", f"[,{BLANKS}]").replace("POINT", r"\.")
COMMAS = NUMBER.replace("GROUP", f"[.{BLANKS}]").replace("POINT", ",")
# factors of numbers such as 68.4k, without a blank before them
FACTORS = {"[kK]": "e3", "M": "e6", "B": "e9"}
# how numbers are written as text, in order of preference
STYLES = {
    "plain": r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$",
    "boolean": "(?i)^(?:true|false|yes|no|t|f|y|n|ja|nein|oui|non|si|sí|sì)$",
    "point": POINTS.replace("SIGNS", rf"\s?{UNIT}"),
    "comma": COMMAS.replace("SIGNS", rf"\s?{UNIT}"),
    "factor": POINTS.replace("SIGNS", r"[kKMB]?\s?[$€£¥]?$"),
}


def is_missing(cell: str) -> bool:
    """Return whether a cell stands for a missing value.

    Examples
    --------
    >>> is_missing(" NA "), is_missing("#N/A"), is_missing("0")
    (True, True, False)
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


def correction(cell: object) -> str:
    """Return how to rewrite a cell as a number; an empty string if there is no obvious way.

    Examples
    --------
    >>> correction("0,5"), correction("12 %"), correction("Adelie")
    ('write decimal points instead of decimal commas', "write numbers without '%'", '')
    >>> correction("12,500")
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
        return "convert dates to numbers, such as days since the first"
    return ""


def to_array(column: Any) -> NDArray[Any]:
    """Return an Arrow column as a NumPy array: of numbers, or of objects if a value is missing or not a number."""
    column = plain_column(column)
    numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_boolean(column.type)
    if numeric and not column.null_count:
        return column.to_numpy()
    return np.fromiter(to_objects(column), dtype=object, count=len(column))


def to_objects(column: Any) -> list[Any]:
    """Return an Arrow column as Python objects, or as text if Python cannot represent its dates or times."""
    try:
        return list(plain_column(column).to_pylist())
    except (OverflowError, ValueError):
        return list(column.cast(pa.string()).to_pylist())


def to_numbers(column: Any, style: str = "plain") -> tuple[Array, int | None]:
    """Return an Arrow column as float64, and the index of the first cell that is not a number (None: there is none).

    Missing values are NaN. If a cell is not a number, the values after this cell may be NaN as well.

    Parameters
    ----------
    column : Arrow array
    style : str
        How numbers are written in a column of text, a key of `STYLES`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> to_numbers(pa.chunked_array([["1.5", "NA"]]))
    (array([1.5, nan]), None)
    >>> to_numbers(pa.chunked_array([["1.5", "Adelie"]]))[1]
    1
    >>> to_numbers(pa.chunked_array([["($1,250.50)", "NA"]]), "point")[0]
    array([-1250.5,     nan])
    >>> to_numbers(pa.chunked_array([["$68.4k", "$950"]]), "factor")[0]
    array([68400.,   950.])
    """
    column = plain_column(column)
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif is_text(column):
        column = _plain_numbers(column, style)
        try:
            values = pc.cast(pc.utf8_trim_whitespace(column), pa.float64()).to_numpy()
            if np.isfinite(values).all():
                return values, None
        except pa.ArrowInvalid:
            pass
        return _cell_by_cell(column.to_pylist())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return _cell_by_cell(to_objects(column))
    # without a warning for a signalling NaN, which callers report like other missing values
    with np.errstate(invalid="ignore", over="ignore"):
        return column.to_numpy().astype(np.float64), None


def number_styles(column: Any) -> tuple[str, ...]:
    """Return the keys of `STYLES` that fit all cells of a column of text; missing cells fit every style.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = (["1.5", "NA"], ["yes", "no"], ["12,500", "9,100"], ["0,5", "12,25"], ["$5", "12%"])
    >>> [number_styles(pa.chunked_array([each])) for each in texts]
    [('plain', 'point', 'factor'), ('boolean',), ('point', 'comma', 'factor'), ('comma',), ()]
    >>> texts = (["1.5 kg", "2 kg"], ["500 g", "2 kg"], ["12k", "9"], ["(9.50)", "8"])
    >>> [number_styles(pa.chunked_array([each])) for each in texts]
    [('point',), (), ('factor',), ('point', 'factor')]
    """
    column = plain_column(column)
    values, bad = to_numbers(column)
    if bad is None:
        if np.isnan(values).all():
            return tuple(STYLES)
        comma = () if pc.any(pc.match_substring(column, ".")).as_py() else ("comma",)
        return ("plain", "point", *comma, "factor")
    present = pc.unique(present_cells(column))
    found = [style for style, pattern in STYLES.items() if pc.all(pc.match_substring_regex(present, pattern)).as_py()]
    if "boolean" in found or same_unit(_units(present)):
        return tuple(found)
    return ("factor",) if "factor" in found and same_unit(_units(present, "factor")) else ()


def count_numbers(column: Any, style: str = "plain") -> int:
    """Return the number of cells of a column that are numbers in a style."""
    column = plain_column(column)
    if style == "plain" or not is_text(column):
        return sum(is_number(str(cell)) for cell in to_objects(column))
    return pc.sum(pc.match_substring_regex(present_cells(column), STYLES[style])).as_py() or 0


def main_style(column: Any) -> str:
    """Return the style in which most cells of a column are numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [main_style(pa.chunked_array([each])) for each in (["1", "2", "x"], ["1,5 kg", "2,5 kg", "x"], ["x"])]
    ['plain', 'comma', 'plain']
    """
    return max(STYLES, key=lambda style: count_numbers(column, style))


def _units(present: Any, style: str = "point") -> list[str]:
    """Return the distinct currencies and units of numeric cells; "" stands for cells without a unit."""
    factors = "kKMB" if style == "factor" else ""
    numbers = rf"\d[eE][+-]?\d+|[\d.,+\-(){BLANKS}{factors}]"
    return list(pc.unique(pc.replace_substring_regex(present, numbers, "")).to_pylist())


def same_unit(units: Iterable[str]) -> bool:
    """Return whether units can be ignored: all are the same, or some cells lack a sign such as $ (12k and 9 differ)."""
    found = {*units}
    return len(found) <= 1 or (len(found - {""}) == 1 and not any(map(str.isalpha, "".join(found))))


def present_cells(column: Any) -> Any:
    """Return the cells of a column of text that are not missing, without blanks around them."""
    trimmed, missing = trimmed_cells(column)
    return trimmed.filter(pc.invert(missing))


def missing_cells(column: Any) -> NDArray[np.bool_]:
    """Return a boolean array: whether each cell of a column of text is missing."""
    return np.asarray(trimmed_cells(column)[1])


def units_of(column: Any, style: str = "point") -> list[str]:
    """Return the currencies and units that the cells of a column of numbers have; "" for cells that have none."""
    column = plain_column(column)
    return _units(present_cells(column), style) if is_text(column) else [""]


def mixed_units(column: Any) -> list[str]:
    """Return the units of a column of numbers that cannot be compared because their units differ; empty otherwise.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [mixed_units(pa.chunked_array([each])) for each in (["$5", "€7"], ["$5", "7"], ["u", "v"])]
    [['$', '€'], [], []]
    """
    if not is_text(column := plain_column(column)):
        return []
    present = pc.unique(present_cells(column))
    fits = any(pc.all(pc.match_substring_regex(present, STYLES[style])).as_py() for style in ("point", "comma"))
    units = _units(present) if fits else []
    return [] if same_unit(units) else units


def _plain_numbers(column: Any, style: str) -> Any:
    """Rewrite the cells that fit `style` in the style "plain"; leave other cells unchanged."""
    if style == "plain":
        return column
    trimmed, _ = trimmed_cells(column)
    fits = pc.match_substring_regex(trimmed, STYLES[style])
    if style == "boolean":
        yes = pc.match_substring_regex(trimmed, "(?i)^(true|yes|t|y|ja|oui|si|sí|sì)$")
        plain = pc.if_else(yes, pa.scalar("1", trimmed.type), pa.scalar("0", trimmed.type))
    else:
        grouping = f"[.{BLANKS}]" if style == "comma" else f"[,{BLANKS}]"
        plain = pc.replace_substring_regex(trimmed, r"\(([^)]*)\)", r"-\1")
        symbols = "[$€£¥]" if style == "factor" else f"[$€£¥]|{UNIT}"
        plain = pc.replace_substring_regex(plain, rf"{CURRENCY_CODE}|{grouping}|{symbols}", "")
        plain = pc.replace_substring(plain, ",", ".") if style == "comma" else plain
        for factor, exponent in FACTORS.items() if style == "factor" else ():
            plain = pc.replace_substring_regex(plain, f"{factor}$", exponent)
    return pc.if_else(fits, plain, column)


def _cell_by_cell(cells: list[Any]) -> tuple[Array, int | None]:
    values = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is None or (isinstance(cell, str) and is_missing(cell)):
            continue
        # Python reads 1_000 as a number, other programs do not
        if isinstance(cell, bytes) or (isinstance(cell, str) and "_" in cell):
            return values, row
        try:
            values[row] = float(cell)
        except (TypeError, ValueError, OverflowError):
            return values, row
    return values, None


def trimmed_cells(column: Any) -> tuple[Any, Any]:
    """Return the cells without blanks around them, and which of them stand for missing values."""
    trimmed = pc.utf8_trim_whitespace(pc.fill_null(column, ""))
    return trimmed, pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(sorted(MISSING), trimmed.type))


def without_codes(column: Any, codes: Sequence[str]) -> Any:
    """Return a column in which cells that equal one of `codes`, as text or as a number, are missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> without_codes(pa.chunked_array([[1.5, -999.0]]), ["-999"]).to_pylist()
    [1.5, None]
    >>> without_codes(pa.chunked_array([["a", " x ", "-999.0"]]), ["-999", "x"]).to_pylist()
    ['a', None, None]
    """
    column = plain_column(column)
    numbers = [float(code) for code in codes if is_number(code)]
    if is_text(column):
        cells = pc.utf8_trim_whitespace(column)
        found = [
            cell
            for cell in pc.unique(cells).drop_null().to_pylist()
            if cell in codes or (is_number(cell) and float(cell) in numbers)
        ]
        mask = pc.is_in(cells, value_set=pa.array(found, cells.type))
    elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        mask = pc.is_in(column.cast(pa.float64(), safe=False), value_set=pa.array(numbers, pa.float64()))
    else:
        return column
    return pc.if_else(mask, pa.scalar(None, column.type), column)


def plain_column(column: Any) -> Any:
    """Return a dictionary-encoded Arrow column as a column of its values; return other columns unchanged."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def is_text(column: Any) -> bool:
    """Return whether a column holds text."""
    return pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
