"""`TablePreparer`: which columns are kept, how cells are read, what is missing, and how features are scaled."""

import functools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from modeseek._storage.errors import DataError, IncompleteRowsError, MissingValueError, NoColumnsError, TextColumnError
from modeseek._storage.table import Table
from modeseek.prepare import TablePreparer
from modeseek.prepare.config import PrepareConfig, PrepareOptions
from modeseek.prepare.facts import column_facts
from modeseek.prepare.preparation import Statistics

N = 40
RNG = np.random.default_rng(0)
NUMBERS = {"a": RNG.normal(size=N), "b": RNG.normal(size=N)}


def fitted(cells, **options):
    preparer = TablePreparer(**options)
    return preparer, preparer.fit_transform({**NUMBERS, **cells})


def text_table(cells, delimiter=","):
    """A table as a text file gives it: all cells are strings."""
    return Table("file", pa.table({name: pa.array(each) for name, each in cells.items()}), delimiter=delimiter)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (["u", "v", "w", "v"] * 10, "text"),
        ([f"name {i}" for i in range(N)], "unique texts"),
        (pd.date_range("2026-01-01", periods=N), "dates"),
        ([f"2026-01-{i % 28 + 1:02}" for i in range(N)], "dates"),
        ([f"Jan {i % 28 + 1} 2026" for i in range(N)], "dates"),
        (list(range(7, 7 + N)), "row numbers"),
        (RNG.permutation(N) + 1001, "row numbers in another order"),
        (list(range(60 * N, 0, -60)), "equal steps from row to row"),
        ([3.5] * N, "constant"),
        (["u"] * N, "constant"),
        ([None] * N, "all missing"),
        (["NA"] * N, "all missing"),
        ([None] * 21 + [1.0, 2.0] * 9 + [5.0], "mostly missing"),
        (["1", "2", "unknown", "3"] * 10, "numbers and text"),
        (["unknown", *(f"{i}.5" for i in range(1, N))], "numbers and text"),
        ([20260100 + i % 28 + 1 for i in range(N)], "dates"),
        (["20240229", None, "20231231", "20240101"] * 10, "dates"),
        (["500 g", "2 kg"] * 20, "numbers in different units"),
        (["500", "2 kg"] * 20, "numbers in different units"),
        ([{"clicks": i} for i in range(N)], "nested values, which pandas.json_normalize flattens"),
        ([[i, 2] for i in range(N)], "nested values"),
        (["0E0", *(f"0A{i}" for i in range(1, N))], "unique texts"),  # a code that looks like a number
    ],
)
def test_columns_that_are_left_out(cells, reason):
    preparer, X = fitted({"c": pd.Series(cells)})
    assert preparer.kept_columns_ == ("a", "b")
    assert f"left out: c ({reason})" in str(preparer.notes_[0])
    assert len(X) == N


def test_words_among_numbers_are_named_as_missing_values():
    """One "prefer not to say" made a column of incomes a text, and nothing said how to use it."""
    income = [f"${10_000 + 100 * i:,}" for i in range(N - 1)] + ["prefer not to say"]
    table = text_table({"a": [f"{i % 7}.5" for i in range(N)], "income": income})
    preparer = TablePreparer().fit(table)
    note = next(note for note in preparer.notes_ if "missing values" in str(note))
    assert str(note).startswith("may stand for missing values: income (prefer not to say)")
    assert preparer.kept_columns_ == ("a",)
    used = TablePreparer(missing_values=["prefer not to say"]).fit(table)
    assert used.kept_columns_ == ("a", "income")


def test_codes_with_leading_zeros_are_left_out():
    table = text_table({"a": [f"{i % 7}.5" for i in range(N)], "zip": [f"{37 * i * i % 9001:05}" for i in range(N)]})
    preparer = TablePreparer().fit(table)
    assert preparer.kept_columns_ == ("a",)
    assert "zip (codes with leading zeros)" in str(preparer.notes_[0])
    assert TablePreparer(columns=["a", "zip"]).fit(table).kept_columns_ == ("a", "zip")


@pytest.mark.parametrize(("blocks", "kept"), [([152, 124, 68], False), ([31, 28, 31, 30, 31] * 3, True)])
def test_numbers_that_restart(blocks, kept):
    """Sample numbers of each species (penguins-raw) were clustered; days of the month still are."""
    numbers = np.concatenate([np.arange(1, size + 1) for size in blocks])
    frame = pd.DataFrame({"a": RNG.normal(size=len(numbers)), "number": numbers})
    preparer = TablePreparer().fit(frame)
    assert ("number" in preparer.kept_columns_) == kept
    assert any("number (row numbers that restart)" in str(note) for note in preparer.notes_) != kept


@pytest.mark.parametrize(
    "cells",
    [
        [str(i % 150) for i in range(400)],
        [f"{i:03}" for i in range(400)],
        [f"${100 * i:,}" for i in range(399)] + ["unknown"],
        ["unknown", *(f"{i}.5" for i in range(399))],
        [f"{i}.5" if i % 3 else "" for i in range(400)],
        [str(20_240_000 + i * i % 1231) for i in range(400)],
        [str(7 * i) for i in range(400)],
        [str(10**17 + 10**7 * (i * i % 997)) for i in range(400)],
        [f"({i})" if i % 3 else str(i) for i in range(400)],
        [f"${i}k" if i % 2 else f"${i}M" for i in range(400)],
    ],
)
def test_facts_of_chunks_are_those_of_the_column(cells):
    config, step = PrepareConfig(hashed_cells=80), 100
    whole = column_facts(pa.chunked_array([cells]), config)
    parts = [column_facts(pa.chunked_array([cells[at : at + step]]), config) for at in range(0, len(cells), step)]
    joined = functools.reduce(lambda one, two: one.join(two, config), parts)
    for name in ("rows", "missing", "kind", "styles", "code", "counted", "padded", "words", "days", "hashed", "rises"):
        assert getattr(joined, name) == getattr(whole, name), name
    assert joined.squares == pytest.approx(whole.squares)
    assert joined.kind != "number" or joined.total == pytest.approx(whole.total)


@pytest.mark.parametrize(
    ("chunks", "kind", "styles"),
    [
        ((["12k"], ["9"], ["1M"]), "number", ("factor",)),
        ((["$12k"], ["$9"]), "number", ("factor",)),
        ((["12k"], ["9k"]), "number", ("point", "comma", "factor")),
        ((["$12k"], ["€9"]), "units", ()),
        ((["12 kg"], ["9"]), "units", ()),
        ((["12 kg", "5 g"], ["9 g"]), "units", ()),
        ((["12 kg"], ["9 g"], ["a"]), "text", ()),
    ],
)
def test_units_of_chunks(chunks, kind, styles):
    """Chunks with other factors are one column of numbers, those with other units are not."""
    config = PrepareConfig()
    facts = [column_facts(pa.chunked_array([cells]), config) for cells in chunks]
    joined = functools.reduce(lambda one, two: one.join(two, config), facts)
    assert (joined.kind, joined.styles) == (kind, styles)


def test_one_note_names_all_columns_that_are_left_out():
    preparer, _ = fitted({"kind": ["u", "v"] * 20, "id": range(N), "sort": ["x", "y"] * 20, "same": [1] * N})
    assert str(preparer.notes_[0]) == (
        "left out: kind, sort (text), id (row numbers), same (constant); one-hot encoding can use kind, sort"
    )
    assert preparer.notes_[0][1:] == ("encode", "onehot")
    assert len(preparer.notes_) == 1


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ([True, False], [1, 0]),
        (["yes", "NO"], [1, 0]),
        (["ja", "Nein"], [1, 0]),
        (["oui", "non"], [1, 0]),
        (["sí", "no"], [1, 0]),
        (["true", "FALSE"], [1, 0]),
        (["12,500", "9,100.5"], [12500, 9100.5]),
        (["0,5", "-1.200,25"], [0.5, -1200.25]),
        (["$1,250.50", "-$3"], [1250.5, -3]),
        (["12 %", "5%"], [12, 5]),
        (["1\u202f250,5 €", "7 €"], [1250.5, 7]),
        (["1e3", "-.5"], [1000, -0.5]),
        (["EUR 1.250,50", "EUR 3"], [1250.5, 3]),
        (["1.5e3 kg", "2kg"], [1500, 2]),
        (["(134.65)", "2"], [-134.65, 2]),
        (["($1,250.50)", "$3"], [-1250.5, 3]),
        (["(1.250,50 €)", "0,5 €"], [-1250.5, 0.5]),
        (["EUR (7)", "EUR 3"], [-7, 3]),
        (["68.4k", "950"], [68400, 950]),
        (["$1.66M", "$12k"], [1660000, 12000]),
        (["68.4k", "9.5k"], [68.4, 9.5]),  # one unit in the whole column
    ],
)
def test_cells_that_are_numbers_in_other_words(cells, values):
    X = fitted({"c": cells * 20}, columns=["a", "b", "c"], scale="none")[1]
    assert X[:2, 2].tolist() == values


@pytest.mark.parametrize(
    "cells",
    [["$5", "€5"], ["12 kg", "5 g"], ["300 K", "5"], ["(5", "4"], ["1,2,3", "4"], ["1_000", "2"], ["12:30", "13:10"]],
)
def test_cells_that_are_not_numbers(cells):
    with pytest.raises(TextColumnError):
        fitted({"c": cells * 20}, columns=["a", "b", "c"])


def test_notes_on_brackets_and_factors():
    cells = {"margin": ["(134.65)", "12.10", "5"] * 13 + ["7"], "sales": ["68.4k", "950", "1.2M"] * 13 + ["7"]}
    preparer, _ = fitted(cells, columns=["margin", "sales"])
    assert str(preparer.notes_[0]) == (
        "read as numbers: margin (thousands separators or negative numbers in brackets), "
        "sales (k, M and B for thousands, millions and billions)"
    )


def test_a_model_of_factors_reads_columns_with_one_of_them():
    preparer, _ = fitted({"sales": ["68.4k", "950"] * 20}, columns=["sales"], scale="none")
    assert preparer.transform({"sales": ["2k", "3k"]}).ravel().tolist() == [2000, 3000]
    with pytest.raises(TextColumnError, match="same unit"):
        preparer.transform({"sales": ["$2k", "€3k"]})


def test_a_row_of_totals_is_named():
    """The last row of a report became a cluster of its own, and no note said why."""
    sales = RNG.uniform(5, 9, N - 1).round(2)
    rows = {"shop": [*(f"shop {i}" for i in range(N - 1)), "Total"], "sales": [*sales, sales.sum().round(1)]}
    rows["margin"] = RNG.normal(size=N)
    preparer = TablePreparer().fit(rows)
    text = "the last row may be a total, because it has the sums of the other rows: sales"
    assert text in map(str, preparer.notes_)
    for other in (np.cumsum(sales), np.sort(sales), sales - 7, [*sales[:3], sales[:3].sum()]):
        notes = map(str, TablePreparer().fit({"sales": other, "margin": RNG.normal(size=len(other))}).notes_)
        assert not any("total" in note for note in notes)


@pytest.mark.parametrize("names", [("cluster", "confidence"), ("group", "confidence"), ("group", "group_confidence")])
@pytest.mark.parametrize("missing", [False, True])
def test_output_of_an_earlier_run(names, missing):
    """Clusters of an earlier run became features, and the new clusters followed them."""
    labels, confidence = (RNG.permutation(N) % 12).astype(float), RNG.uniform(size=N)
    if missing:
        labels[3] = confidence[3] = np.nan
    preparer, _ = fitted(dict(zip(names, (labels, confidence), strict=True)))
    assert str(preparer.notes_[0]) == f"left out: {', '.join(names)} (output of an earlier run)"
    assert fitted({names[0]: labels, names[1]: confidence}, columns=["a", *names])[0].kept_columns_ == ("a", *names)


def test_labels_without_confidence_and_measurements_with_such_names():
    assert fitted({"cluster": RNG.permutation(N) % 12})[0].kept_columns_ == ("a", "b")
    for cells in (
        {"cluster": RNG.normal(size=N)},
        {"group": RNG.permutation(N) % 12},
        {"confidence": NUMBERS["a"] ** 2},
    ):
        assert fitted(cells)[0].kept_columns_ == ("a", "b", *cells)


def test_commas_are_decimal_if_they_do_not_delimit_cells():
    cells = {"c": ["12,500", "9,100"] * 6}
    values = [TablePreparer(scale="none").fit_transform(text_table(cells, each))[0, 0] for each in ",;"]
    assert values == [12500, 12.5]


def test_one_hot_features():
    kinds = ["u", "v", "w", None] * 10
    preparer, X = fitted({"kind": kinds, "two": ["x", "y"] * 20}, encode="onehot", scale="none", missing="median")
    assert preparer.get_feature_names_out().tolist() == ["a", "b", "kind=u", "kind=v", "kind=w", "two=y"]
    assert X[:4, 2:].tolist() == [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]]
    # a text that the fit has not seen has no level
    assert preparer.transform({**NUMBERS, "kind": ["new"] * N, "two": ["y"] * N})[0, 2:].tolist() == [0, 0, 0, 1]


def test_categories_of_numbers_and_text():
    """A column of the drive of cars, with the levels 4, f and r, was left out even with one-hot encoding."""
    preparer, _ = fitted({"drive": ["4", "f", "r", "f"] * 10}, encode="onehot")
    assert preparer.get_feature_names_out().tolist()[2:] == ["drive=4", "drive=f", "drive=r"]
    assert str(fitted({"drive": ["4", "f"] * 20})[0].notes_[0]).endswith("one-hot encoding can use drive")


NUMBERS_OF_100 = {"a": RNG.normal(size=100)}
DIFFERENT = RNG.choice(10**6, 100, replace=False)


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("customerID", DIFFERENT, "identifiers"),
        ("Order No.", DIFFERENT, "identifiers"),
        ("Kundennummer", list(map(str, DIFFERENT)), "identifiers"),
        ("x", 10**15 + DIFFERENT, "identifiers"),
        ("x", [f"{10**18 + 10**6 * each}" for each in DIFFERENT.tolist()], "identifiers"),
        ("x", np.cumsum(1 + RNG.geometric(0.1, 100)), "increasing integers"),
        ("x", -np.cumsum(1 + RNG.geometric(0.1, 100)), "decreasing integers"),
        ("created_at", RNG.integers(1.6e9, 1.7e9, 100), "dates"),
        ("timestamp", RNG.uniform(1.6e12, 1.7e12, 100), "dates"),
        ("population", DIFFERENT, ""),
        ("population", np.sort((1e5 * np.exp(RNG.normal(size=100))).astype(int)), ""),
        ("gdp", (1e12 * np.exp(5 * RNG.uniform(size=100))).astype(np.int64), ""),
        ("paid", DIFFERENT, ""),
        ("valid", DIFFERENT, ""),
        ("price index", DIFFERENT, ""),
        ("time", DIFFERENT, ""),
        ("weight", RNG.integers(19_000_000, 21_000_000, 100), ""),
    ],
)
def test_identifiers_and_times(name, cells, reason):
    """Random unique customer numbers, order numbers with gaps and times in seconds were clustered without a note.

    Measurements stay, also in a table that is sorted by them.
    """
    preparer = TablePreparer().fit({**NUMBERS_OF_100, name: cells})
    assert preparer.kept_columns_ == (("a",) if reason else ("a", name))
    assert any(str(note) == f"left out: {name} ({reason})" for note in preparer.notes_) == bool(reason)
    assert TablePreparer(columns=["a", name]).fit({**NUMBERS_OF_100, name: cells}).kept_columns_ == ("a", name)


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("store_id", RNG.integers(1, 30, 100), "identifiers"),
        ("opened", RNG.integers(1.6e9, 1.7e9, 100), "times in seconds since 1970"),
    ],
)
def test_numbers_that_may_be_identifiers_or_times(name, cells, reason):
    preparer = TablePreparer().fit({**NUMBERS_OF_100, name: cells})
    assert preparer.notes_ == ((f"may be {reason}: {name}", "ignore", name),)
    assert not TablePreparer(columns=["a", name]).fit({**NUMBERS_OF_100, name: cells}).notes_


def test_integers_with_repetitions_do_not_number_the_rows():
    order = RNG.permutation(N)
    order[order == 3] = 4
    assert fitted({"c": order})[0].kept_columns_ == ("a", "b", "c")


@pytest.mark.parametrize("missing", ["drop", "error"])
def test_missing_cells_of_encoded_text(missing):
    """Rows without a remark got no cluster."""
    cells = {"kind": ["u", "v", "w", None] * 10, "two": ["x", "y", "y", None] * 10}
    preparer, X = fitted(cells, encode="onehot", scale="none", missing=missing)
    assert preparer.get_feature_names_out().tolist()[2:] == ["kind=u", "kind=v", "kind=w", "two=x", "two=y"]
    assert X[:4, 2:].tolist() == [[1, 0, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 1], [0, 0, 0, 0, 0]]
    assert not preparer.notes_
    # without missing values in the fit, one feature is enough for two texts, and 0 would be the first of them
    preparer = TablePreparer(encode="onehot").fit({**NUMBERS, "two": ["x", "y"] * 20})
    assert preparer.complete_rows({**NUMBERS, "two": ["x", None] * 20}).tolist() == [True, False] * 20


def test_text_that_is_mostly_missing():
    """It was kept with one-hot encoding, and the rows without it got no cluster."""
    preparer, X = fitted({"remark": ["vip", "late", None, None, None] * 8}, encode="onehot")
    assert (preparer.kept_columns_, len(X)) == (("a", "b"), N)
    assert str(preparer.notes_[0]) == "left out: remark (mostly missing)"


def test_missing_values():
    gaps = np.where(np.arange(N) == 3, np.nan, np.arange(N) ** 2.0)
    gaps[5] = np.inf
    preparer, X = fitted({"c": gaps})
    assert len(X) == N - 2
    assert np.flatnonzero(~preparer.complete_rows({**NUMBERS, "c": gaps})).tolist() == [3, 5]
    assert str(preparer.notes_[0]).startswith("missing values in 2 of 40 rows (c 2)")
    filled = fitted({"c": gaps}, missing="median", scale="none")[1]
    assert filled[[3, 5], 2].tolist() == [np.median(np.delete(gaps, [3, 5]))] * 2
    with pytest.raises(MissingValueError) as caught:
        fitted({"c": gaps, "d": gaps[::-1].copy()}, missing="error")
    assert caught.value.columns == {"c": 2, "d": 2}


def test_columns_of_few_different_values():
    rng = np.random.default_rng(0)
    many, year = {name: rng.normal(size=90) for name in "ab"}, rng.choice([2007, 2008, 2009], 90)
    preparer = TablePreparer().fit({**many, "year": year})
    assert str(preparer.notes_[0]) == "left out: year (few different values)"
    assert TablePreparer(columns=["a", "year"]).fit({**many, "year": year}).kept_columns_ == ("a", "year")
    ratings = TablePreparer().fit({"a": many["a"], "year": year, "score": year[::-1].copy()})
    assert ratings.kept_columns_ == ("a", "year", "score")
    assert str(ratings.notes_[0]) == ("few different values, each of which may become a cluster: year (3), score (3)")


def test_codes_of_missing_values_are_named():
    values = np.linspace(15.0, 25.0, N) ** 2
    values[[4, 9]] = -999
    note = ("may stand for missing values: c (-999)", "missing_values", "-999")
    assert fitted({"c": values})[0].notes_[-1] == note
    preparer, X = fitted({"c": values}, missing_values=[-999])
    assert len(X) == N - 2
    assert preparer.complete_rows({**NUMBERS, "c": values}).sum() == N - 2
    text = text_table({"c": [f"{value:.1f}" for value in values], "d": ["x", "none of these"] * 20})
    assert TablePreparer(missing_values=["-999", "x"], encode="onehot").fit(text).kept_columns_ == ("c",)
    assert len(TablePreparer(missing_values=["-999"]).fit_transform(text)) == N - 2
    values[values < 0] = 999  # the other values have a range of 400, and the largest is 625
    assert not any("missing" in str(each) for each in fitted({"c": values})[0].notes_)


def test_latitude_and_longitude():
    places = {"longitude": RNG.uniform(-120, -70, N), "latitude": RNG.uniform(25, 50, N)}
    note = TablePreparer().fit(places).notes_[-1]
    assert note[1:] == ("columns", "latitude,longitude")
    assert note.text.startswith("latitude and longitude are treated as coordinates of a plane")
    note = TablePreparer(columns=["latitude", "longitude"]).fit(places).notes_[-1]
    assert note[1:] == ("metric", "haversine")
    assert not TablePreparer().fit({**places, "latitude": 10 * places["latitude"]}).notes_


def test_frames_of_polars():
    polars = pytest.importorskip("polars")
    prices = ["$1,250", "$3", *(f"${i}" for i in range(38))]
    frame = polars.DataFrame({**NUMBERS, "kind": ["u", "v"] * 20, "price": prices})
    preparer = TablePreparer(scale="none")
    assert preparer.fit_transform(frame)[:2, 2].tolist() == [1250, 3]
    assert str(preparer.notes_[0]) == "left out: kind (text); one-hot encoding can use kind"


def test_tables_that_cannot_be_used():
    with pytest.raises(NoColumnsError, match=r"Left out: kind \(text\)\. To continue, one-hot encode kind"):
        TablePreparer().fit({"kind": ["u", "v"] * 5})
    with pytest.raises(IncompleteRowsError, match=r"no row is complete\. Missing values: a 2, b 2"):
        TablePreparer().fit(pd.DataFrame({"a": [1.0, 2.0, None, None], "b": [None, None, 1.0, 2.0]}))
    with pytest.raises(TextColumnError, match="column 'kind' is not numeric"):
        TablePreparer(columns=["a", "kind"]).fit({**NUMBERS, "kind": ["u", "v"] * 20})
    with pytest.raises(DataError, match="no column 'c'"):
        TablePreparer(ignore=["c"]).fit(NUMBERS)
    with pytest.raises(ValueError, match="scale must be one of"):
        TablePreparer(scale="standart").fit(NUMBERS)


def test_strict():
    for columns, error in (({"kind": ["u", "v"] * 20}, TextColumnError), ({"c": [None, 1.0] * 20}, MissingValueError)):
        with pytest.raises(error):
            fitted({name: pd.Series(each) for name, each in columns.items()}, strict=True)
    with pytest.raises(TextColumnError, match=r"'kind' is not numeric.*Missing values: c 20\.") as caught:
        fitted({"kind": ["u", "v"] * 20, "c": pd.Series([None, 1.0] * 20)}, strict=True)
    assert caught.value.missing == {"c": 20}
    assert fitted({"id": range(N), "same": [1] * N}, strict=True)[0].kept_columns_ == ("a", "b", "id", "same")


def test_columns_that_are_named_are_used():
    preparer, X = fitted({"id": range(N), "same": [1.0] * N}, columns=["id", "same"])
    assert preparer.kept_columns_ == ("id", "same")
    assert X[:, 1].tolist() == [0.0] * N


def test_scaling():
    price = np.exp(3 * RNG.normal(size=4000)) + 1
    table = {"a": RNG.normal(size=4000), "price": price}
    standard = TablePreparer().fit(table)
    assert str(standard.notes_[0]).startswith("heavily skewed: price")
    assert standard.notes_[0][1:] == ("scale", "log")
    np.testing.assert_allclose(standard.transform(table).std(axis=0), 1)
    log = TablePreparer(scale="log").fit(table)
    assert abs(np.corrcoef(log.transform(table)[:, 1], np.log(price))[0, 1]) > 0.99
    np.testing.assert_allclose(log.inverse_transform(log.transform(table)), np.column_stack([*table.values()]))
    robust = TablePreparer(scale="robust").fit_transform(table)
    np.testing.assert_allclose(np.percentile(robust, [25, 50, 75], axis=0)[:, 0], [-0.674, 0, 0.674], atol=0.03)
    assert TablePreparer(scale="none").fit_transform(table)[0, 1] == price[0]


def test_no_logarithm_of_columns_with_many_zeros():
    """The zeros of amounts became clusters, and following the note lowered the adjusted Rand index to 0.1."""
    rng = np.random.default_rng(0)
    amount, paid = np.exp(2 * rng.normal(size=(2, 4000)))
    amount[rng.random(4000) < 0.3] = 0
    table = {"tenure": 5000 + rng.normal(size=4000), "amount": amount, "paid": paid}
    table["visits"] = rng.negative_binomial(0.5, 0.1, 4000)  # many zeros, but nearly as many ones
    preparer = TablePreparer().fit(table)
    assert str(preparer.notes_[0]) == "heavily skewed: paid, visits; logarithms may show clusters better"
    log = TablePreparer(scale="log").fit(table)
    assert [*map(str, log.notes_)] == ["logarithms of paid, visits", "no logarithm, because many values are 0: amount"]
    np.testing.assert_allclose(log.inverse_transform(log.transform(table)), np.column_stack([*table.values()]))
    assert TablePreparer().fit({"tenure": table["tenure"], "amount": table["amount"]}).notes_ == ()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_kinds_of_tables(kind):
    columns = {**NUMBERS, "kind": ["u", "v"] * 20}
    assert TablePreparer().fit_transform(kind(columns)).tolist() == TablePreparer().fit_transform(columns).tolist()
    assert TablePreparer().fit_transform(np.column_stack([*NUMBERS.values()])).shape == (N, 2)


def test_columns_with_one_name():
    frame = pd.DataFrame(np.column_stack([*NUMBERS.values()]), columns=["x", "x"])
    assert TablePreparer().fit(frame).get_feature_names_out().tolist() == ["x", "x.2"]


@pytest.mark.parametrize("strict", [False, True])
def test_repeated_names_can_be_given(strict):
    """The screen listed value.2, and --ignore value.2 said that there is no such column."""
    table = Table("file", pa.table([pa.array(each) for each in RNG.normal(size=(3, N))], names=["value"] * 3))
    assert TablePreparer(ignore=["value.2"], strict=strict).fit(table).kept_columns_ == ("value", "value.3")
    preparer = TablePreparer(columns=["value.3", "value"], strict=strict, scale="none")
    assert preparer.fit_transform(table)[0].tolist() == [table.cells[2][0], table.cells[0][0]]
    note = "columns with the name of another column are called value.2, value.3"
    assert [*map(str, preparer.notes_)] == ([] if strict else [note])


def test_it_is_a_transformer():
    preparer = TablePreparer(scale="robust", ignore=["a"])
    assert clone(preparer).get_params() == preparer.get_params()
    with pytest.raises(ValueError, match="not fitted"):
        preparer.transform(NUMBERS)


@pytest.mark.parametrize(
    "options",
    [{}, {"missing": "median"}, {"scale": "robust"}, {"encode": "onehot"}, {"missing_values": ("7",)}],
    ids=str,
)
def test_chunks_give_the_preparation_of_the_whole_table(options):
    """Also if the first rows suggest other columns: a constant that varies later, and numbers that become text."""
    rows = {
        "late": ["1"] * 25 + ["2", "4", "9"] * 5,
        "slip": ["1.5", "2"] * 19 + ["x", "y"],
        "comma": ["1"] * 20 + ["1,5", "0,25"] * 10,
        "kind": ["u"] * 13 + ["v", "w", "w"] * 9,
        "gap": ["3", "", "4", "7"] * 10,
        "drive": ["4"] * 15 + ["f", "r"] * 12 + ["4"],
        "order": [str(each) for each in np.random.default_rng(1).permutation(N)],
        "repeated": [str(each) for each in [*np.random.default_rng(1).permutation(N - 1), 3]],
    } | {name: [str(each) for each in values] for name, values in NUMBERS.items()}
    whole = text_table(rows)
    one = TablePreparer(**options).fit(whole)
    first = Table("file", whole.data.slice(0, 10), delimiter=",", first_row=0)
    settings = PrepareOptions(**options)
    start, passes = Statistics.start(first, settings), 0
    while start is not None:
        passes += 1
        statistics = start
        for at in range(0, N, 10):
            chunk = Table("file", whole.data.slice(at, 10), delimiter=",", first_row=at)
            statistics, _ = statistics.add(chunk, settings)
        start = statistics.next_pass(first, settings)
    other = TablePreparer(**options)
    other.finish(statistics, first, "euclidean")
    assert passes == 2
    assert other.kept_columns_ == one.kept_columns_
    assert [str(note) for note in other.notes_] == [str(note) for note in one.notes_]
    np.testing.assert_array_equal(other.transform(whole), one.transform(whole))


def test_samples_do_not_depend_on_chunks():
    from modeseek.prepare.scaling import RowSample

    rows, config = RNG.normal(size=(1000, 2)), PrepareConfig(sample_rows=100)
    one, two = RowSample.empty(2).add(rows, config), RowSample.empty(2)
    for at in range(0, 1000, 7):
        two = two.add(rows[at : at + 7], config)
    np.testing.assert_array_equal(one.rows, two.rows)
    assert len(one.rows) == 100
