"""Mistakes as newcomers make them: each message says what happened, why, and what to type next."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import modeseek
from commands import run as call
from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek._common.hints import AdviceWarning, ScaleWarning
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.estimators.advice import advice_on_size

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(0, 1, (40, 2)), RNG.normal(8, 1, (40, 2))])


@pytest.fixture
def folder(tmp_path):
    """A folder with files as people have them."""
    rows = [f"{a:.3f},{b:.3f}" for a, b in X]
    files = {
        "ok.csv": "a,b\n" + "\n".join(rows),
        "numbered.csv": "id,a,b\n" + "\n".join(f"{i},{row}" for i, row in enumerate(rows, 1)),
        "income.csv": "age,income\n" + "\n".join(f"{a:.3f},{1e4 * b:.1f}" for a, b in X),
        "slip.csv": "a,b\n" + "\n".join(rows[:10]) + "\n1.0,unknown\n",
        "thousands.csv": 'a,b\n"12,500",1\n"9,100",2\n',
        "commas.csv": "a;b\n0,125;1\n7,5;2\n",
        "percent.csv": "a,b\n12%,1\n15%,2\n",
        "units.csv": "a,b\n12 kg,1\n15 kg,2\n",
        "money.csv": "a,b\n$12,1\n$15,2\n",
        "flags.csv": "a,b\n1,true\n2,false\n",
        "dates.csv": "day,v\n2026-01-01,1\n2026-01-02,2\n",
        "names.csv": "name,v\nAda,1\nBob,2\n",
        "sheet.xlsx": "PK",
        "rows.json": "[]",
        "rows.csv.gz": "x",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("slip.csv", r"'unknown'.*correct it \(10 of 11 rows have a number there\), or leave it out with --ignore b"),
        ("thousands.csv", r"'12,500'.*write 12500 \(or 12\.500\): no commas in numbers"),
        ("commas.csv", r"'0,125'.*write decimal points instead of decimal commas"),
        ("percent.csv", r"'12%'.*write numbers without '%', or leave it out with --ignore a"),
        ("units.csv", r"'12 kg'.*write numbers without 'kg'"),
        ("money.csv", r"'\$12'.*write numbers without '\$'"),
        ("flags.csv", r"'true'.*write 1 and 0 instead of true and false"),
        ("dates.csv", r"'2026-01-01'.*days since the first, or leave it out with --ignore day"),
        ("names.csv", r"'Ada'.*leave it out with --ignore name\.$"),
        ("sheet.xlsx", r"Save the sheet as CSV"),
        ("rows.json", r"pandas\.read_json"),
        ("rows.csv.gz", r"gunzip"),
    ],
)
def test_files(folder, file, says):
    status, out, err = call("cluster", str(folder / file))
    assert status == 2
    assert not out
    assert re.search(says, err.strip()), err


def test_a_result_never_replaces_the_data(folder):
    before = (folder / "ok.csv").read_bytes()
    status, _, err = call("cluster", str(folder / "ok.csv"), "-o", str(folder / "." / "ok.csv"))
    assert status == 2
    assert "is also an input file: choose another path" in err
    assert (folder / "ok.csv").read_bytes() == before


def test_a_column_that_numbers_the_rows(folder):
    status, _, err = call("cluster", str(folder / "numbered.csv"))
    assert status == 0
    assert "column 'id' numbers the rows" in err
    assert "--ignore id" in err
    assert "numbers the rows" not in call("cluster", str(folder / "numbered.csv"), "--ignore", "id")[2]


def test_a_column_that_outweighs_all(folder):
    path = str(folder / "income.csv")
    noted = call("cluster", path, "--scale", "none")[2]
    assert "column 'income' varies" in noted
    assert "--scale standard" in noted
    assert "StandardScaler" not in noted  # that is for Python
    assert "varies" not in call("cluster", path)[2]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--algorithm", "dsms", "--h-min", "1e-4", "--h-max", "1e-3"], "every row is a cluster of its own"),
        (["--algorithm", "sms", "--bandwidth", "100"], "all rows are one cluster"),
        (["--min-cluster-size", "1000"], "all rows are noise"),
    ],
)
def test_notes_on_results(folder, options, says):
    status, _, err = call("cluster", str(folder / "ok.csv"), *options)
    assert status == 0
    assert f"{says}: " in err


@pytest.mark.parametrize("cls", [MeanShift, BlurringMeanShift, StochasticMeanShift])
def test_bandwidths_far_off(cls):
    with pytest.warns(AdviceWarning, match=r"every row is a cluster of its own: bandwidth=0\.001 reaches no neighbour"):
        cls(bandwidth=0.001).fit(X)
    with pytest.warns(AdviceWarning, match=r"all rows are one cluster: bandwidth=100 .* spread is 5\.68"):
        cls(bandwidth=100.0).fit(X)


def test_good_bandwidths_get_no_advice():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DoublyStochasticMeanShift(0.5, 4.0, 1.5, random_state=0).fit(X)
        StochasticMeanShift(2.0, random_state=0).fit(X)
        ModeSeek(random_state=0).fit(X)
        # as many clusters as points, and rightly so
        StochasticMeanShift(1.0, random_state=0).fit([[0.0], [10.0], [20.0]])


def test_unscaled_columns_in_python():
    with pytest.warns(ScaleWarning, match=r"column 1 of X varies .* make_pipeline\(StandardScaler\(\), ModeSeek\(\)\)"):
        ModeSeek(random_state=0).fit(X * [1.0, 1e3])
    with pytest.warns(ScaleWarning, match="column 'income' of X"):
        ModeSeek(random_state=0).fit(pd.DataFrame({"age": X[:, 0], "income": 1e3 * X[:, 1]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ModeSeek(metric="cosine", random_state=0).fit(X * [1.0, 1e3])  # directions have no units
        ModeSeek(random_state=0).fit(np.c_[X[:, :1], np.full(len(X), 7.0)])  # a constant has no say anywhere


def test_the_reference_engine_on_many_points():
    many = canonical_points(RNG.normal(size=(60_000, 2)), np.ones(60_000), Geometry())
    assert 'engine="auto" gives the same labels' in advice_on_size(StochasticMeanShift(0.5, engine="reference"), many)
    assert advice_on_size(StochasticMeanShift(0.5), many) is None


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (X[:, 0], r"X has shape \(80,\).*X\.reshape\(-1, 1\)"),
        (np.where(X > 9, np.nan, X), r"contains NaN: row 43, column 1 is the first, in 11 of 80 rows.*SimpleImputer"),
        (pd.DataFrame({"a": [1.0, np.inf]}), r"infinity.*row 1, column 'a' is the first, in 1 of 2 rows"),
        (pd.DataFrame({"v": [1, 2], "who": ["x", "y"]}), r"could not convert string.*in column 'who'"),
    ],
)
def test_data_in_python(data, says):
    with pytest.raises(ValueError, match=says):
        ModeSeek().fit(data)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_jobs": "all"}, r"n_jobs must be .* -1 for all cores; got 'all'"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": "x"}, "random_state must be .* got 'x'"),
        ({"callbacks": print}, r"callbacks must be a list of functions, not a function: write callbacks=\[\.\.\.\]"),
        ({"callbacks": [3]}, r"callbacks must be a list of functions f\(state, info\); got \[3\]"),
    ],
)
def test_parameters_in_python(options, says):
    with pytest.raises((TypeError, ValueError), match=says):
        DoublyStochasticMeanShift(**options).fit(X)


@pytest.mark.parametrize("name", ["n_clusters", "min_clusters"])
def test_more_clusters_than_rows(name):
    with pytest.raises(ValueError, match=f"{name}=500 is more than X has distinct rows, 80"):
        ModeSeek(**{name: 500}).fit(X)
    ModeSeek(max_clusters=500, random_state=0).fit(X)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="Did you mean 'ModeSeek'"):
        modeseek.ModeSeeker  # noqa: B018


def test_sketches_by_the_command(folder):
    path = str(folder / "ok.csv")
    status, _, err = call("cluster", path, "--algorithm", "dsms", "--sketch", "cells")
    assert status == 2
    assert "sketch must be one of 'auto', 'grid', 'sample'; got 'cells'" in err
    assert call("cluster", path, "--algorithm", "dsms", "--sketch", "grid", "--resolution", "0.05")[0] == 0
    assert call("cluster", path, "--sketch", "none")[0] == 0
    assert "--algorithm dsms, sms, bms or ms" in call("cluster", path, "--resolution", "0.05")[2]
