"""Which columns of a table become features, and notes on those that do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.storable import storable
from modeseek._common.text import listed
from modeseek._common.types import Array
from modeseek._storage.cells import main_style, missing_cells, plain_column, same_unit, to_numbers, units_of
from modeseek._storage.errors import NoColumnsError
from modeseek._storage.pyarrow_modules import pc
from modeseek._storage.table import Table, unique_names
from modeseek.prepare.config import PrepareConfig, PrepareOptions
from modeseek.prepare.earlier_output import earlier_output
from modeseek.prepare.facts import ColumnFacts
from modeseek.prepare.identifiers import integer_reason, possible_reason

# reasons to leave out columns that one-hot encoding can use if they have few different values
TEXTS = ("text", "numbers and text", "numbers in different units")
# reasons by kind of column
REASONS = {
    "date": "dates",
    "nested": "nested values",
    "mixed": "numbers and text",
    "units": "numbers in different units",
}
# how numbers without a unit are written, for notes
WRITTEN = {
    "point": "thousands separators",
    "comma": "decimal commas",
    "factor": "k, M and B for thousands, millions and billions",
}


class Note(NamedTuple):
    """A remark about the data or the result.

    Attributes
    ----------
    text : str
        The remark, a sentence without a full stop.
    option : str
        The parameter of `TablePreparer` that addresses the remark, or "metric" of the estimator, or "".
    value : str
        The value of this parameter to try, or "".

    Examples
    --------
    >>> note = Note("2 of 9 rows have missing values", "missing", "median")
    >>> str(note), note.option
    ('2 of 9 rows have missing values', 'missing')
    """

    text: str
    option: str = ""
    value: str = ""

    def __str__(self) -> str:
        return self.text


@storable()
class MatrixColumn(NamedTuple):
    """One column of the matrix.

    Attributes
    ----------
    column : str
        The column of the table.
    style : str
        How its text cells are read as numbers, a key of `STYLES`.
    level : str or None
        For one-hot encoding: the text for which the feature is 1.
    unit : str
        The currency or unit of the cells in the fit, or "".
    """

    column: str
    style: str = "plain"
    level: str | None = None
    unit: str = ""

    @property
    def name(self) -> str:
        """Name of the feature."""
        return self.column if self.level is None else f"{self.column}={self.level}"


class Plan(NamedTuple):
    """The columns that become features, and the notes on all columns.

    Attributes
    ----------
    features : tuple of MatrixColumn
    notes : tuple of Note
    """

    features: tuple[MatrixColumn, ...]
    notes: tuple[Note, ...]


def candidates(table: Table, options: PrepareOptions) -> tuple[str, ...]:
    """Return the columns that may become features, by unique names.

    Raises
    ------
    UnknownColumnError
        If a column that is chosen or ignored does not exist.
    """
    names = unique_names(table.columns)
    ignored = {names[table.position(name)] for name in options.ignore}
    chosen = names
    if options.columns is not None:
        chosen = tuple(names[table.position(name)] for name in dict.fromkeys(options.columns))
    return tuple(name for name in chosen if name not in ignored)


def make_plan(table: Table, facts: Mapping[str, ColumnFacts], options: PrepareOptions) -> Plan:
    """Decide which columns become features.

    Parameters
    ----------
    table : Table
        The table, or its first chunk.
    facts : mapping of str to ColumnFacts
        Facts of the candidates, over all rows.
    options : PrepareOptions

    Raises
    ------
    TextColumnError
        If a column that is chosen by name cannot be used.
    NoColumnsError
        If no column can be used.
    """
    reasons = {name: _reason(name, each, table, options.config) for name, each in facts.items()}
    if options.columns is not None:
        _refuse_chosen(table, facts, reasons, options)
        reasons = {name: reason if reason in (*TEXTS, "all missing") else "" for name, reason in reasons.items()}
    else:
        reasons |= dict.fromkeys(earlier_output(unique_names(table.columns), facts), "output of an earlier run")
        reasons |= _few_values(facts, [name for name, reason in reasons.items() if not reason], options.config)
    encodable = [name for name, each in facts.items() if reasons[name] in TEXTS and len(each.levels) >= 2]
    features: list[MatrixColumn] = []
    for name, each in facts.items():
        if options.encode == "onehot" and name in encodable:
            # one of two levels determines the other, unless a missing cell has neither
            levels = each.levels if len(each.levels) > 2 or each.missing else each.levels[1:]
            features += [MatrixColumn(name, level=level) for level in levels]
            reasons[name] = ""
        elif not reasons[name]:
            features.append(MatrixColumn(name, preferred_style(each.styles, table.delimiter), unit=each.symbol))
    if not features:
        # a table of constants is one cluster
        constant = [name for name, reason in reasons.items() if reason == "constant" and facts[name].styles]
        features = [MatrixColumn(name, facts[name].styles[0]) for name in constant]
        reasons |= dict.fromkeys(constant, "")
    left_out = {name: reason for name, reason in reasons.items() if reason}
    if not features:
        usable = encodable if options.encode == "drop" else ()
        raise NoColumnsError(table.source, _grouped(left_out), usable, *_texts_among_numbers(table, left_out, facts))
    notes = _notes(left_out, encodable, features, facts)
    renamed = [
        unique for unique, name in zip(unique_names(table.columns), table.columns, strict=True) if unique != name
    ]
    if renamed:
        notes.append(Note(f"columns with the name of another column are called {listed(renamed)}"))
    if options.columns is None:
        notes += _doubtful(facts, features, options.config)
    sums = [name for name in dict.fromkeys(each.column for each in features) if facts[name].ends_with_sum]
    if sums:
        notes.append(Note(f"the last row may be a total, because it has the sums of the other rows: {listed(sums)}"))
    return Plan(tuple(features), tuple(notes))


def _texts_among_numbers(
    table: Table, left_out: Mapping[str, str], facts: Mapping[str, ColumnFacts]
) -> tuple[str, tuple[str, ...]]:
    """Return where the first column of numbers and text has a text, and the few texts of all such columns."""
    mixed = [name for name, reason in left_out.items() if reason == "numbers and text"]
    # a text after the first chunk has no place here
    at = [j for j in map(table.position, mixed) if to_numbers(table.data.column(j))[1] is not None]
    words = dict.fromkeys(word for name in mixed for word in facts[name].words)
    return table.text_error(at[:1]).where if at else "", tuple(words)


def preferred_style(styles: Sequence[str], delimiter: str | None) -> str:
    """Return the style in which a column is read; 12,500 is decimal if commas do not delimit the cells."""
    if "plain" not in styles and delimiter not in (",", None) and "comma" in styles:
        return "comma"
    return styles[0]


def _reason(name: str, facts: ColumnFacts, table: Table, config: PrepareConfig) -> str:
    """Return why a column is left out, or ""."""
    if name in table.row_names:
        return "row names"
    if facts.missing == facts.rows:
        return "all missing"
    if not facts.styles:
        if facts.constant:
            return "constant"
        if facts.missing > config.max_missing * facts.rows:
            return "mostly missing"
        if facts.kind in ("text", "mixed") and facts.distinct and facts.rows >= config.min_counted_rows:
            return "unique texts"
        if str(table.data.schema.field(table.position(name)).type).startswith("struct"):
            return "nested values, which pandas.json_normalize flattens"
        return REASONS.get(facts.kind, "text")
    if facts.constant and facts.rows > 1:
        return "constant"
    if facts.padded:
        return "codes with leading zeros"
    if facts.step and facts.rows >= config.min_counted_rows and len(table.columns) > 1:
        return "row numbers" if facts.step == 1 else "equal steps from row to row"
    if facts.rows >= config.min_counted_rows and len(table.columns) > 1 and facts.fills_range:
        return "row numbers in another order"
    if facts.rows >= config.min_counted_rows and facts.counted >= config.counted_share * (facts.rows - 1):
        return "row numbers that restart"
    if len(table.columns) > 1 and (reason := integer_reason(name, facts, config)):
        return reason
    return "mostly missing" if facts.missing > config.max_missing * facts.rows else ""


def _few_values(facts: Mapping[str, ColumnFacts], kept: Sequence[str], config: PrepareConfig) -> dict[str, str]:
    """Return numeric columns that are left out like text: codes of categories, each of which would become a cluster.

    Nothing is left out if half of the columns or more are of this kind, as in tables of ratings.
    """
    few = {}
    for name in kept:
        count, rows = len(facts[name].values), facts[name].rows - facts[name].missing
        if count > 1 and rows >= config.min_rows_per_value * count:
            few[name] = "few different values"
    return few if 2 * len(few) < len(kept) else {}


def _refuse_chosen(
    table: Table, facts: Mapping[str, ColumnFacts], reasons: Mapping[str, str], options: PrepareOptions
) -> None:
    bad = [name for name, each in facts.items() if not each.styles]
    if options.encode == "onehot":
        bad = [name for name in bad if reasons[name] not in TEXTS or len(facts[name].levels) < 2]
    if bad:
        at = [table.position(name) for name in bad]
        error = table.text_error(at, style=main_style(table.data.column(at[0])))
        if all(facts[name].words for name in bad):
            error.words = tuple(dict.fromkeys(word for name in bad for word in facts[name].words))
        error.encodable = all(reasons[name] in TEXTS and len(facts[name].levels) >= 2 for name in bad)
        raise error


def _grouped(left_out: Mapping[str, str]) -> str:
    """Return names with their reasons: "a, b (text), c (constant)"."""
    groups: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        groups.setdefault(reason, []).append(name)
    return ", ".join(f"{listed(names)} ({reason})" for reason, names in groups.items())


def _notes(
    left_out: Mapping[str, str],
    encodable: Sequence[str],
    features: Iterable[MatrixColumn],
    facts: Mapping[str, ColumnFacts],
) -> list[Note]:
    notes = []
    if left_out:
        text = f"left out: {_grouped(left_out)}"
        usable = [name for name in encodable if left_out.get(name)]
        if usable:
            notes.append(Note(f"{text}; one-hot encoding can use {listed(usable)}", "encode", "onehot"))
        else:
            notes.append(Note(text))
    worded = {name: facts[name].words for name in left_out if facts[name].words}
    if worded:
        codes = dict.fromkeys(word for words in worded.values() for word in words)
        named = listed([f"{name} ({', '.join(words)})" for name, words in worded.items()])
        notes.append(Note(f"may stand for missing values: {named}", "missing_values", ",".join(codes)))
    read = []
    for feature in features:
        if what := WRITTEN.get(feature.style):
            each = facts[feature.column]
            negative = " or negative numbers in brackets" if each.low < 0 and feature.style == "point" else ""
            read.append(f"{feature.column} ({each.symbol or what + negative})")
        elif feature.style == "boolean":
            read.append(f"{feature.column} (yes or no, as 1 or 0)")
    if read:
        notes.append(Note(f"read as numbers: {listed(read)}"))
    return notes


def _doubtful(facts: Mapping[str, ColumnFacts], features: Sequence[MatrixColumn], config: PrepareConfig) -> list[Note]:
    """Return notes on numbers that are used and may be identifiers or times."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(feature.column for feature in features if feature.level is None):
        if reason := possible_reason(name, facts[name], config):
            found.setdefault(reason, []).append(name)
    return [Note(f"may be {reason}: {listed(names)}", "ignore", ",".join(names)) for reason, names in found.items()]


def unit_notes(table: Table, features: Sequence[MatrixColumn]) -> list[Note]:
    """Return notes on columns whose currency or unit is another one than in the fit."""
    notes = []
    for feature in features:
        found = max(units_of(table.data.column(table.position(feature.column)), feature.style), default="")
        if feature.level is None and feature.style != "boolean" and found != feature.unit:
            old, new = (f"'{unit}'" if unit else "no unit" for unit in (feature.unit, found))
            notes.append(Note(f"column '{feature.column}' has {new}, and {old} in the model; no values are converted"))
    return notes


def feature_values(table: Table, features: Sequence[MatrixColumn], *, refuse: bool = True) -> Array:
    """Return the features of a table, with NaN for missing numbers, and 0 for all levels of a missing text.

    Raises
    ------
    TextColumnError
        If a cell of a feature is not a number and `refuse` is true.
    """
    n_levels = Counter(feature.column for feature in features)
    values: list[Array] = []
    bad: list[int] = []
    style = "plain"
    for feature in features:
        at = table.position(feature.column)
        column = table.data.column(at)
        if feature.level is not None:
            texts = pc.utf8_trim_whitespace(plain_column(column))
            numbers = pc.fill_null(pc.equal(texts, feature.level), False).cast("float64").to_numpy()
            # 0 would be the other one of two levels
            unknown = missing_cells(texts) & (n_levels[feature.column] == 1)
            values.append(np.where(unknown, np.nan, numbers))
            continue
        numbers, row = to_numbers(column, feature.style)
        values.append(np.where(np.isfinite(numbers), numbers, np.nan))
        mixed = refuse and feature.style in WRITTEN and not same_unit(units_of(column, feature.style))
        if row is not None or mixed:
            style = style if bad else feature.style
            bad.append(at)
    if bad and refuse:
        raise table.text_error(bad, style=style)
    return np.column_stack(values) if values else np.empty((table.n_rows, 0))
