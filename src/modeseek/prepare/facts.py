"""Facts about the cells of a column, collected chunk by chunk, so that files may have any size."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from modeseek._common.storable import storable
from modeseek._storage.cells import (
    STYLES,
    is_text,
    mixed_units,
    number_styles,
    plain_column,
    present_cells,
    same_unit,
    to_numbers,
    units_of,
)
from modeseek._storage.contents import EXACT
from modeseek._storage.pyarrow_modules import pa, pc
from modeseek.prepare.config import PrepareConfig
from modeseek.prepare.integers import (
    count_days,
    hash_sum,
    range_hash_sum,
    smallest_hashes,
    wrapped,
    written_as_integers,
)

# removes k, K, M and B from the unit of 68.4k
NO_FACTORS = str.maketrans("", "", "kKMB")
# texts that are dates in all their cells
DATE = (
    r"^(?:\d{4}[-/]\d{1,2}(?:[-/]\d{1,2})?(?:[T ]\d.*)?|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}(?: \d.*)?"
    r"|[A-Z][a-z]{2,8}\.? \d{1,2},? \d{4}|\d{1,2}[- ][A-Z][a-z]{2,8}\.?[- ,]{1,2}\d{2,4}|\d{1,2}:\d\d(?::\d\d.*)?)$"
)


@storable()
class ColumnFacts(NamedTuple):
    """Facts about a column.

    Attributes
    ----------
    rows, missing : int
        Number of cells, and of those that are missing or not finite.
    kind : str
        "number", "text", "date", "mixed" (numbers and text), "units" (numbers in different units), "nested", or "" if
        all cells are missing.
    styles : tuple of str
        How the cells can be read as numbers: keys of `STYLES`, "plain" for columns that are not text.
    symbol : str
        The currency or unit of the cells, or "".
    low, high, first, last : float
        Smallest, largest, first and last number.
    step : float
        Difference of each number from its predecessor, if it is always the same whole number; 0 otherwise, and NaN for
        a single number.
    levels : tuple of str
        The distinct texts; empty if there are too many.
    values : tuple of float
        The distinct numbers; empty if there are too many.
    code : int
        Sum of hashes of the numbers, modulo 2^64, if all cells are integers; 0 otherwise.
    distinct : bool
        Whether no text occurs twice and at most half of them are numbers.
    counted : int
        Number of cells that are one more than the cell before, if all cells are integers; 0 otherwise.
    padded : bool
        Whether the text of a number has leading zeros, as postal codes have.
    words : tuple of str
        The few texts in a column that otherwise holds numbers; empty if there are none or many.
    days : int
        Number of cells that are a date from 1900 to 2100 written as an integer, YYYYMMDD.
    hashed : tuple of int
        The smallest hashes of the cells, in order, if all cells are integers; equal cells have equal hashes.
    rises : int
        Number of cells that are larger than the cell before, less the number of those that are smaller, if all cells
        are integers.
    squares : float
        Sum of the squared differences of each cell from the one before, if all cells are integers.
    total : float
        Sum of the numbers.
    """

    rows: int
    missing: int
    kind: str
    styles: tuple[str, ...]
    symbol: str = ""
    low: float = np.inf
    high: float = -np.inf
    last: float = np.nan
    step: float = 0.0
    levels: tuple[str, ...] = ()
    distinct: bool = False
    values: tuple[float, ...] = ()
    code: int = 0
    first: float = np.nan
    counted: int = 0
    padded: bool = False
    words: tuple[str, ...] = ()
    days: int = 0
    hashed: tuple[int, ...] = ()
    rises: int = 0
    squares: float = 0.0
    total: float = 0.0

    @property
    def ends_with_sum(self) -> bool:
        """Whether the last of at least five numbers is the largest one, and the sum of the others up to rounding."""
        others = self.total - self.last
        return self.rows - self.missing >= 5 and 0 < self.high == self.last and abs(others - self.last) <= 1e-3 * others

    @property
    def all_different(self) -> bool:
        """Whether all cells are integers, and no two of those with the smallest hashes are equal."""
        return len({*self.hashed}) == len(self.hashed) > 0

    def steady(self, config: PrepareConfig) -> bool:
        """Whether the cells are integers that increase, or decrease, in each row by similar steps.

        The steps of sorted measurements are less even, because few measurements are extreme.
        """
        steps, reach = self.rows - 1, self.high - self.low
        monotone = self.rows >= config.min_steady_rows and abs(self.rises) == steps
        return monotone and steps * self.squares <= config.steady_ratio * reach * reach

    @property
    def fills_range(self) -> bool:
        """Whether the numbers are the integers from the smallest to the largest one, each once, in any order."""
        if not self.code or self.high - self.low + 1 != self.rows:
            return False
        return range_hash_sum(int(self.low), int(self.high)) == self.code

    @property
    def constant(self) -> bool:
        """Whether all numbers, or all texts, are the same."""
        return self.low == self.high if self.styles else len(self.levels) == 1 and self.kind == "text"

    def join(self, other: ColumnFacts, config: PrepareConfig) -> ColumnFacts:
        """Return the facts of this column continued by another one."""
        styles = tuple(style for style in self.styles if style in other.styles)
        kinds = {self.kind, other.kind} - {""}
        kind = next(iter(kinds), "") if len(kinds) < 2 else "mixed" if kinds & {"number", "mixed"} else "text"
        levels = tuple(sorted({*self.levels, *other.levels}))
        values = tuple(sorted({*self.values, *other.values}))
        known = [
            all(getattr(each, name) or each.missing == each.rows for each in (self, other))
            for name in ("levels", "values")
        ]
        words = {*self.words, *other.words}
        worded = all(each.words or each.kind in ("number", "") for each in (self, other))
        whole, between = self.hashed and other.hashed, other.first - self.last
        symbol = self.symbol or other.symbol
        if self.kind == other.kind == "number" and not same_unit((self.symbol, other.symbol)):
            # 12k and 9 can be compared, 12 kg and 9 cannot
            bare = [each.translate(NO_FACTORS) for each in (self.symbol, other.symbol)]
            styles, symbol = ("factor",) if "factor" in styles and same_unit(bare) else (), max(bare)
            kind = "number" if styles else "units"
        elif kinds == {"number", "units"}:
            kind = "units"
        return ColumnFacts(
            self.rows + other.rows,
            self.missing + other.missing,
            kind,
            styles,
            symbol,
            min(self.low, other.low),
            max(self.high, other.high),
            other.last,
            self._common_step(other),
            levels if known[0] and len(levels) <= config.max_levels else (),
            values=values if known[1] and len(values) <= config.few_values else (),
            code=wrapped(self.code + other.code) if self.code and other.code else 0,
            first=self.first,
            counted=self.counted + other.counted + (between == 1) if self.code and other.code else 0,
            padded=self.padded or other.padded,
            words=tuple(sorted(words)) if worded and len(words) <= config.max_words else (),
            days=self.days + other.days,
            hashed=tuple(sorted(self.hashed + other.hashed)[: config.hashed_cells] if whole else ()),
            rises=int(self.rises + other.rises + np.sign(between)) if whole else 0,
            squares=self.squares + other.squares + between * between if whole else 0.0,
            total=self.total + other.total,
        )

    def _common_step(self, other: ColumnFacts) -> float:
        step = (other.high if other.step < 0 else other.low) - self.last
        return step if all(each.step == step or np.isnan(each.step) for each in (self, other)) else 0.0


def column_facts(column: Any, config: PrepareConfig) -> ColumnFacts:
    """Return the facts of an Arrow column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column_facts(pa.chunked_array([["1", "2", None]]), PrepareConfig()).kind
    'number'
    >>> facts = column_facts(pa.chunked_array([["b", "a", "b"]]), PrepareConfig())
    >>> facts.kind, facts.levels, facts.distinct
    ('text', ('a', 'b'), False)
    """
    column = plain_column(column)
    rows, kind = len(column), column.type
    if pa.types.is_null(kind):
        return ColumnFacts(rows, rows, "", tuple(STYLES))
    if pa.types.is_temporal(kind):
        return ColumnFacts(rows, column.null_count, "date", ())
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return ColumnFacts(rows, column.null_count, "nested", ())
    if not is_text(column):
        return _of_numbers(column, ("plain",), config)
    if styles := number_styles(column):
        return _of_numbers(column, styles, config)
    return _of_text(column, config)


def _of_numbers(column: Any, styles: tuple[str, ...], config: PrepareConfig) -> ColumnFacts:
    style = styles[0]
    values, bad = to_numbers(column, style)
    if bad is not None:  # decimals and other objects beyond float64
        return ColumnFacts(len(values), 0, "nested", ())
    finite = values[np.isfinite(values)]
    missing = len(values) - len(finite)
    if not len(finite):
        return ColumnFacts(len(values), missing, "", styles)
    with np.errstate(over="ignore"):
        steps = np.diff(finite)
        squares, total = float(np.square(steps).sum()), float(finite.sum())
    even = not missing and bool((steps == steps[:1]).all() and (finite % 1 == 0).all())
    step = 0.0 if not even else float(steps[0]) if len(steps) else np.nan
    symbol = max(units_of(column, style), default="") if style in ("point", "comma", "factor") else ""
    low, high, last = float(finite.min()), float(finite.max()), float(finite[-1])
    # the first values show that most columns have many
    few = len(np.unique(finite[:1000])) <= config.few_values and np.unique(finite)
    distinct = tuple(few.tolist()) if few is not False and len(few) <= config.few_values else ()
    whole = not missing and bool((finite % 1 == 0).all()) and max(abs(low), abs(high)) < EXACT
    code = hash_sum(finite.astype(np.int64)) if whole else 0
    integers = whole or (not missing and written_as_integers(column))
    # the levels, in case that later chunks have text
    levels = _levels(present_cells(column), config) if distinct and is_text(column) else ()
    return ColumnFacts(
        rows=len(values),
        missing=missing,
        kind="number",
        styles=styles,
        symbol=symbol,
        low=low,
        high=high,
        last=last,
        step=step,
        levels=levels,
        values=distinct,
        code=code,
        first=float(finite[0]),
        counted=int((steps == 1).sum()) if whole else 0,
        padded=whole and is_text(column) and bool(pc.any(pc.match_substring_regex(column, r"^\s*0\d+\s*$")).as_py()),
        days=count_days(finite),
        hashed=smallest_hashes(finite, config.hashed_cells) if integers else (),
        rises=int(np.sign(steps).sum()) if integers else 0,
        squares=squares if integers else 0.0,
        total=total,
    )


def _levels(cells: Any, config: PrepareConfig) -> tuple[str, ...]:
    """Return the distinct texts, or () if there are too many."""
    unique = pc.unique(cells)
    return tuple(sorted(unique.to_pylist())) if len(unique) <= config.max_levels else ()


def _of_text(column: Any, config: PrepareConfig) -> ColumnFacts:
    present = present_cells(column)
    unique = pc.unique(present)
    numbers = pc.sum(pc.match_substring_regex(unique, STYLES["plain"])).as_py() or 0
    dates = pc.all(pc.match_substring_regex(unique, DATE)).as_py()
    units = mixed_units(column)
    words = () if dates or units else _words(present, unique, config)
    kind = "date" if dates else "units" if units else "mixed" if numbers or words else "text"
    levels = () if dates else _levels(unique, config)
    distinct = len(unique) == len(column) and 2 * numbers <= len(unique) and not words
    missing = len(column) - len(present)
    return ColumnFacts(len(column), missing, kind, (), levels=levels, distinct=distinct, words=words)


def _words(present: Any, unique: Any, config: PrepareConfig) -> tuple[str, ...]:
    """Return the few texts in a column of numbers: in less than half of the cells, and numbers are of one style."""
    for style in ("plain", "point", "comma"):
        is_number = pc.match_substring_regex(unique, STYLES[style])
        numbers, words = unique.filter(is_number), unique.filter(pc.invert(is_number))
        # codes of missing values are separated by commas
        named = len(words) <= config.max_words and not any("," in word for word in words.to_pylist())
        many = len(numbers) < config.min_counted_rows or not named
        if not many and 2 * pc.sum(pc.is_in(present, words)).as_py() < len(present) and number_styles(numbers):
            return tuple(sorted(words.to_pylist()))
    return ()
