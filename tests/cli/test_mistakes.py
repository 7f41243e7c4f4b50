"""Mistakes as newcomers make them: each message says what happened, why, and what to type next."""

import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import modeseek
from commands import run as call
from modeseek.cli import app

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
        "rows.h5": "x",
        "birds.modeseek": "x",
        "photo.png": "x",
        "talk.wav": "x",
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
        ("sheet.xlsx", r"cannot be read as a spreadsheet"),
        ("rows.json", r"has no rows"),
        ("rows.csv.gz", r"cannot be read: it is cut short or damaged"),
        ("rows.h5", r"pandas\.read_hdf"),
        ("birds.modeseek", r"is a model, not a table: use modeseek label .*birds\.modeseek TABLE\.$"),
        ("photo.png", r"is an image, not a table: use modeseek segment .*photo\.png\.$"),
        ("talk.wav", r"is a recording, not a table: modeseek diarize needs embeddings"),
    ],
)
def test_files(folder, file, says):
    status, out, err = call("cluster", str(folder / file), "--strict")
    assert status == 2
    assert not out
    assert re.search(says, err.strip()), err


@pytest.mark.parametrize(
    ("file", "note"),
    [
        (
            "slip.csv",
            "left out: b (numbers and text); one-hot encoding can use b (--encode onehot).\n"
            "note: may stand for missing values: b (unknown) (--missing-values unknown).",
        ),
        ("thousands.csv", "read as numbers: a (thousands separators)."),
        ("commas.csv", "read as numbers: a (decimal commas)."),
        ("percent.csv", "read as numbers: a (%)."),
        ("units.csv", "read as numbers: a (kg)."),
        ("money.csv", "read as numbers: a ($)."),
        ("flags.csv", "read as numbers: b (yes or no, as 1 or 0)."),
        ("dates.csv", "left out: day (dates)."),
        ("names.csv", "left out: name (text); one-hot encoding can use name (--encode onehot)."),
    ],
)
def test_the_first_command_works(folder, file, note):
    status, out, err = call("cluster", str(folder / file), "--algorithm", "ms", "--bandwidth", "1")
    assert (status, err) == (0, f"note: {note}\n")
    assert "rows" in out


def test_a_line_of_units(tmp_path):
    """Every unit had to be listed after --missing-values."""
    rows = [f"{i},{i * i}.5" for i in range(20)]
    (tmp_path / "units.csv").write_text("\n".join(["t,v", "s,EUR", *rows]))
    status, out, error = call("cluster", str(tmp_path / "units.csv"), "--columns", "t,v")
    assert status == 0
    assert "2 features: t, v" in out
    assert "20 rows" in out
    assert "note: line 2 has units instead of numbers and is skipped." in error


def test_a_text_in_each_column_of_numbers(tmp_path):
    """The message suggested one-hot encoding, and did not say which cells are no numbers."""
    rows = [f"{i},{i * i}.5" for i in range(20)]
    (tmp_path / "words.csv").write_text("\n".join(["t,v", *rows, "s,EUR"]))
    path = str(tmp_path / "words.csv")
    error = call("cluster", path)[2]
    assert "For example, column 't' is not numeric: row 21 (line 22) has 's'. To continue" in error
    assert error.strip().endswith("give texts that stand for missing values with --missing-values s,EUR.")
    assert "2 features: t, v" in call("cluster", path, "--missing-values", "s,EUR", "--columns", "t,v")[1]


def test_a_text_in_a_column_that_is_named(tmp_path):
    """The message named a number with a unit, and not the text."""
    cells = [f"{i},50 €" for i in range(30)]
    cells[7] = "k. A."
    (tmp_path / "a.csv").write_text("\n".join(["sales;x", *(f"{cell};{i}.5" for i, cell in enumerate(cells))]))
    error = call("cluster", str(tmp_path / "a.csv"), "--columns", "sales,x")[2]
    assert "column 'sales' is not numeric: row 8 (line 9) has 'k. A.'. To continue, correct it (29 of 30 rows" in error
    assert "or give texts that stand for missing values with --missing-values 'k. A.', or leave it out" in error


def test_no_column_is_left(tmp_path):
    """The message said "ignore fewer" where no column was ignored."""
    (tmp_path / "a.csv").write_text("day,v\n" + "".join(f"2026-01-{i},1.5\n" for i in range(10, 20)))
    error = call("cluster", str(tmp_path / "a.csv"), "--ignore", "v")[2]
    assert error.strip().endswith("Left out: day (dates). To continue, name columns with --columns.")
    error = call("cluster", str(tmp_path / "a.csv"), "--ignore", "v,day")[2]
    assert error.strip().endswith("no column is left to cluster. To continue, ignore fewer columns.")


def test_label_and_units(tmp_path):
    """`label` took shares for percent without a note, mixed two currencies, and advised --ignore, which it lacks."""
    values = np.linspace(10, 30, 20).round(1).tolist()

    def label(cells):
        (tmp_path / "new.csv").write_text("share,y\n" + "\n".join(f"{each},1" for each in cells))
        return call("label", str(tmp_path / "m.modeseek"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "out.csv"))

    (tmp_path / "a.csv").write_text("share,y\n" + "\n".join(f"{each} %,1" for each in values))
    path = str(tmp_path / "m.modeseek")
    assert (
        call("cluster", str(tmp_path / "a.csv"), "-q", "--algorithm", "ms", "--bandwidth", "1", "--save", path)[0] == 0
    )
    assert "note" not in label([f"{each} %" for each in values])[2]
    note = "note: column 'share' has no unit, and '%' in the model; no values are converted."
    assert note in label([str(each / 100) for each in values])[2]
    status, _, error = label(["$5", "€7"])
    assert (status, "write all cells in the same unit ('$', '€'), or empty the cell" in error) == (2, True)
    error = label(["5 %", "many"])[2]
    assert "'many'" in error
    assert "empty the cell" in error
    assert "--ignore" not in error


def test_a_file_of_another_name_is_not_suggested(tmp_path):
    (tmp_path / "income.csv").write_text("x\n1\n2\n")
    assert "Did you mean 'income.csv'?" in call("cluster", str(tmp_path / "incone.csv"))[2]
    assert "Did you mean" not in call("cluster", str(tmp_path / "birds.csv"))[2]


def test_features_with_equal_means_are_not_printed(tmp_path):
    """A feature with the same mean in all clusters was printed as higher in one and lower in the other."""
    (tmp_path / "a.csv").write_text("x,same\n" + "0,1\n0,2\n0,3\n9,1\n9,2\n9,3\n")
    path = str(tmp_path / "a.csv")
    out = call("cluster", path, "--algorithm", "ms", "--bandwidth", "4", "--scale", "none")[1]
    assert "x \N{UPWARDS ARROW} 9" in out
    assert out.count("same") == 1  # in the list of features
    out = call("cluster", path, "--columns", "same", "--algorithm", "ms", "--bandwidth", "0.4", "--scale", "none")[1]
    assert "no feature differs" in out


def test_a_result_never_replaces_the_data(folder):
    before = (folder / "ok.csv").read_bytes()
    status, _, err = call("cluster", str(folder / "ok.csv"), "-o", str(folder / "." / "ok.csv"))
    assert status == 2
    assert "is also an input file: choose another path" in err
    assert (folder / "ok.csv").read_bytes() == before


def test_a_column_that_numbers_the_rows(folder):
    status, _, err = call("cluster", str(folder / "numbered.csv"))
    assert status == 0
    assert "note: left out: id (row numbers)." in err
    assert "row numbers" not in call("cluster", str(folder / "numbered.csv"), "--ignore", "id")[2]


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
        (["--algorithm", "dsms", "--h-min", "1e-4", "--h-max", "1e-3"], "every row is a separate cluster"),
        (["--algorithm", "sms", "--bandwidth", "100"], "all rows are one cluster"),
        (["--min-cluster-size", "1000"], "all rows are noise"),
    ],
)
def test_notes_on_results(folder, options, says):
    status, _, err = call("cluster", str(folder / "ok.csv"), *options)
    assert status == 0
    assert f"{says}: " in err


def test_mistakes_are_answered_before_scientific_libraries_are_loaded(folder):
    script = (
        "import sys; from modeseek.cli import app\n"
        "try: app(sys.argv[1:])\n"
        "except SystemExit as ended: assert ended.code == 2, ended.code\n"
        "assert not {'sklearn', 'numba', 'scipy', 'pyarrow', 'matplotlib'} & sys.modules.keys()"
    )
    for arguments in (["gone.csv"], ["ok.csv", "--scale", "logs"], ["photo.png"]):
        done = subprocess.run(
            [sys.executable, "-c", script, "cluster", *arguments], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("error: "), done.stderr


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


def test_a_file_in_place_of_a_command(folder):
    path = str(folder / "ok.csv")
    assert call(path)[2].startswith(f"error: '{path}' is a file, not a command: use modeseek cluster {path}.")
    assert "No such command 'nothing.csv'" in call("nothing.csv")[2]


@pytest.mark.parametrize(
    ("content", "kind"), [(b"%PDF-1.4\n%\xe2\xe3", "a PDF document"), (b"<!DOCTYPE html>\n<p>", "a web page")]
)
def test_documents_are_no_tables(content, kind, tmp_path):
    """The first byte that is not UTF-8 was reported."""
    (tmp_path / "a.csv").write_bytes(content)
    error = call("cluster", str(tmp_path / "a.csv"))[2]
    assert f"is {kind}, not delimited text: export the table as CSV or a spreadsheet." in error


def test_metrics(tmp_path):
    """Distances were scaled like features, and the message on haversine did not say how to choose the columns."""
    places = np.column_stack([RNG.uniform(40, 50, 30), RNG.uniform(5, 15, 30), RNG.normal(size=30)])
    path = str(tmp_path / "a.csv")
    np.savetxt(path, places, delimiter=",", header="latitude,longitude,height", comments="")
    status, _, error = call("cluster", path, "--metric", "haversine")
    assert status == 2
    note = "the metric haversine needs latitude and longitude alone, in this order (--columns latitude,longitude)."
    assert note in error
    error = call("cluster", path, "--metric", "haversine", "--columns", "latitude,longitude")[2]
    assert "note: the metric" not in error
    assert 'use ModeSeek(metric="precomputed") in Python' in call("cluster", path, "--metric", "precomputed")[2]
    error = call("cluster", path, "--metric", "manhattan")[2]
    assert error.startswith("error: --metric must be one of 'euclidean', 'cosine', 'haversine'; got 'manhattan'.")


def test_names_that_are_not_alike_are_not_suggested(folder):
    error = call("cluster", str(folder / "ok.csv"), "--algorithm", "kmeans")[2]
    assert error.strip() == "error: --algorithm must be one of 'modeseek', 'dsms', 'sms', 'bms', 'ms'; got 'kmeans'."


def test_text_that_is_chosen(tmp_path):
    """One-hot encoding was not offered for text that is named with --columns."""
    rows = [f"{i % 7},{'uvw'[i % 3]},name {i}" for i in range(30)]
    (tmp_path / "a.csv").write_text("\n".join(["x,kind,name", *rows]))
    error = call("cluster", str(tmp_path / "a.csv"), "--columns", "x,kind")[2]
    assert error.strip().endswith("To continue, use it with --encode onehot, or leave it out with --ignore kind.")
    assert "onehot" not in call("cluster", str(tmp_path / "a.csv"), "--columns", "x,name")[2]


@pytest.mark.parametrize(
    ("width", "columns"),
    [(60, ["cluster", "size", "share"]), (40, ["cluster", "size"]), (70, ["cluster", "size", "share", "confidence"])],
)
def test_narrow_terminals(width, columns, folder, monkeypatch):
    """The sizes of clusters were cut off after the first digit."""
    monkeypatch.setenv("COLUMNS", str(width))
    lines = CliRunner().invoke(app, ["cluster", str(folder / "ok.csv")]).stdout.splitlines()
    header = next(line for line in lines if "cluster ┃" in line)
    assert [name.strip() for name in header.split("┃")[1:-2]] == columns
    assert any("│   40 │" in line for line in lines)
