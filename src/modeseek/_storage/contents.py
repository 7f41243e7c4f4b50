"""Kinds of values in columns, and the types to which columns of text can be converted."""

from decimal import Decimal
from enum import IntFlag
from typing import Any

import numpy as np

from modeseek._common.storable import storable
from modeseek._storage.cells import is_text, plain_column, present_cells, to_numbers, trimmed_cells
from modeseek._storage.pyarrow_modules import pa, pc

# float64 represents all integers up to this magnitude
EXACT = 1 << 53
# decimal numbers with at most this many digits stay different as float64
EXACT_DIGITS = 15
# Python writes smaller numbers with an exponent
MIN_FIXED = 1e-4


@storable()
class Content(IntFlag):
    """Kinds of values in a column, apart from missing ones; `|` combines the contents of two chunks."""

    EMPTY = 0
    INTEGER = 1
    BIG_INTEGER = 2  # beyond 2^53: float64 cannot represent all of them
    FRACTION = 4
    TEXT = 8
    WHOLE_FRACTION = 16  # such as 5.0; if the column also has integers such as 5, floats change their text
    RESPELLED = 32  # such as 1.10 and +5, whose text changes when they are read as numbers and written again

    @property
    def is_text(self) -> bool:
        """Whether no numeric type can hold the values of all cells."""
        return bool(self & Content.TEXT) or (Content.BIG_INTEGER | Content.FRACTION) in self

    @property
    def is_respelled(self) -> bool:
        """Whether the text of some cell changes when the column is read as numbers and written again."""
        return bool(self & Content.RESPELLED) or (Content.INTEGER | Content.WHOLE_FRACTION) in self


def content_of(column: Any) -> Content:
    """Return the kinds of values in an Arrow column.

    Numbers count as text if every numeric type would change them, such as 007 and integers beyond 64 bits.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [content_of(pa.chunked_array([each])).name for each in (["1", "NA"], ["2.5"], ["007"], ["?"], [2**60])]
    ['INTEGER', 'FRACTION', 'TEXT', 'EMPTY', 'BIG_INTEGER']
    >>> [content_of(pa.chunked_array([each])).is_respelled for each in (["2.0", "0.5"], ["2.50"], ["2", "2.0"], ["+2"])]
    [False, True, True, True]
    """
    column = plain_column(column)
    if column.null_count == len(column):
        return Content.EMPTY
    if pa.types.is_boolean(column.type):
        return Content.INTEGER
    if pa.types.is_integer(column.type):
        ends = pc.min_max(column).as_py()
        return Content.INTEGER if ends["min"] >= -EXACT and ends["max"] <= EXACT else Content.BIG_INTEGER
    if pa.types.is_floating(column.type):
        return Content.FRACTION
    if pa.types.is_decimal(column.type):
        return _content_of_decimals(column)
    return _content_of_text(column) if is_text(column) else Content.TEXT


def _content_of_decimals(column: Any) -> Content:
    exact = column.type.precision <= EXACT_DIGITS or all(
        each is None or Decimal(repr(float(each))) == each for each in column.to_pylist()
    )
    if column.type.scale <= 0:
        return Content.INTEGER if exact else Content.BIG_INTEGER
    return Content.FRACTION if exact else Content.TEXT | Content.RESPELLED


def _content_of_text(column: Any) -> Content:
    present = present_cells(column)
    whole = pc.match_substring_regex(present, r"^(0|-?[1-9][0-9]{0,18})$")
    integers, others = present.filter(whole), present.filter(pc.invert(whole))
    content = Content.EMPTY
    if len(others):
        content = _content_of_fractions(others)
    if len(integers):
        try:
            content |= content_of(integers.cast(pa.int64()))
        except pa.ArrowInvalid:
            content = Content.TEXT
    trimmed, missing = trimmed_cells(column)
    if content and pc.any(pc.and_(pc.invert(missing), pc.not_equal(column, trimmed))).as_py():
        content |= Content.RESPELLED  # blanks around a number
    return content


def _content_of_fractions(cells: Any) -> Content:
    """Return the kinds of values in cells of text, none of which is missing or an integer."""
    # numbers with leading zeros and integers of many digits are taken for identifiers, which a float would change
    changed = pc.any(pc.match_substring_regex(cells, r"^[+-]?(0[0-9]|[0-9]{16,}$)")).as_py()
    cells = pc.unique(cells)
    values, bad = to_numbers(cells)
    if changed or bad is not None:
        return Content.TEXT
    content = Content.FRACTION
    texts = cells.to_pylist()
    if any(text.endswith(".0") for text in texts):
        content |= Content.WHOLE_FRACTION
    # compared with the shortest digits that restore the number: Arrow writes them faster, but not for all numbers
    same = np.asarray(pc.equal(pc.cast(pa.array(values), pa.string()), cells)) & (np.abs(values) >= MIN_FIXED)
    if all(texts[at] == repr(float(values[at])) for at in np.flatnonzero(~same)):
        return content
    content |= Content.RESPELLED
    # numbers that become infinite, and different numbers of many digits that become equal, must stay text
    long = np.asarray(pc.match_substring_regex(cells, rf"([0-9]\.?){{{EXACT_DIGITS + 1}}}"))
    infinite = np.isinf(values) & np.asarray(pc.match_substring_regex(cells, "[0-9]"))
    if infinite.any() or len(np.unique(values[long])) < long.sum():
        content |= Content.TEXT
    return content


def to_typed(column: Any, content: Content, *, feature: bool) -> Any:
    """Convert a column of text to integers or floats, if its content allows it; return other columns unchanged.

    A column with numbers such as 1.10 and +5 remains text, unless it is a feature: a column that was clustered.
    """
    if not is_text(column) or content.is_text or not content or (content.is_respelled and not feature):
        return column
    trimmed, missing = trimmed_cells(column)
    if content & Content.FRACTION:
        return pa.array(to_numbers(column)[0], pa.float64(), from_pandas=True)
    return pc.if_else(missing, pa.scalar(None, trimmed.type), trimmed).cast(pa.int64())
