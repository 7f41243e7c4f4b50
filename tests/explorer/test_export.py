"""Exports of a result."""

import csv
import io
from contextlib import redirect_stdout

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from explorer_runs import DSMS, MIXTURE, RANGE, SMS, finished

from modeseek import MeanShift
from modeseek._storage.table import Table
from modeseek._storage.writing import write_table
from modeseek.datasets import paper_mixture
from modeseek.explorer import PreparedData, RunSettings, from_bytes, from_file, load_example
from modeseek.explorer.export import export_figure, export_labels, file_stem, run_code
from modeseek.io import save
from modeseek.pipeline import label_file
from modeseek.prepare import TablePreparer


def test_rows_with_cluster_and_confidence():
    dataset = from_bytes("things.csv", b'cluster,x,y\nold,0,0\n"a, b",0.1,0\nold,5,5\n')
    data = PreparedData.select(dataset, ["x", "y"], standardize=False)
    settings = RunSettings(DSMS, {"h_min": 1.0, "h_inf": 1.0, "h_max": 1.0, "n_chains": 3})
    run = finished(data, settings)
    rows = list(csv.DictReader(io.StringIO(export_labels(run, run.result).decode())))
    assert [row["cluster"] for row in rows] == ["old", "a, b", "old"]
    assert [row["cluster_2"] for row in rows] == ["0", "0", "1"]
    assert [float(row["confidence"]) for row in rows] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "jsonl"])
def test_identifiers_stay_as_they_are(ending, tmp_path):
    """19 digits are more than a float holds, and one identifier is missing."""
    ids = [9_007_199_254_740_993_001, None, 9_007_199_254_740_993_003]
    path = tmp_path / f"things.{ending}"
    table = Table("things", pa.table({"id": ids, "x": [0.0, 0.1, 5.0], "y": [0.0, 0.0, 5.0]}))
    write_table(table, path, {})
    data = PreparedData.select(from_bytes(path.name, path.read_bytes()), ["x", "y"], standardize=False)
    run = finished(data, RunSettings(SMS, {"bandwidth": 1.0}))
    rows = list(csv.DictReader(io.StringIO(export_labels(run, run.result).decode())))
    assert [row["id"] for row in rows] == [str(ids[0]), "", str(ids[2])]
    save(MeanShift(1.0).fit([[0.0], [5.0]]), tmp_path / "m.modeseek", preparer=TablePreparer(columns=["x"]).fit(table))
    label_file(tmp_path / "m.modeseek", path, tmp_path / "o.parquet")
    assert pq.read_table(tmp_path / "o.parquet").column("id").to_pylist() == ids


def test_code_for_a_file_gives_the_labels(tmp_path):
    X, _ = paper_mixture(15, random_state=0)
    path = tmp_path / "it's.csv"
    path.write_text("kind,a b,c\n" + "".join(f"k,{x!r},{y!r}\n" for x, y in X.tolist()))
    data = PreparedData.select(from_file(path), ["c", "a b"], standardize=True)
    settings = RunSettings(DSMS, RANGE)
    code = run_code(data, settings).replace("print(model.labels_)", "print(model.labels_.tolist())")
    assert "_storage" not in code
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    assert printed.getvalue().strip() == str(finished(data, settings).result.labels.tolist())


@pytest.mark.parametrize("name", [MIXTURE, "wine (178, thirteen features)"])
def test_code_for_an_example_gives_the_labels(name):
    dataset = load_example(name)
    data = PreparedData.select(dataset, dataset.default_columns[:2], standardize=dataset.standardize)
    settings = RunSettings(SMS, {"bandwidth": 0.7})
    scope = {}
    exec(run_code(data, settings).replace("print(model.labels_)", ""), scope)
    assert scope["model"].labels_.tolist() == finished(data, settings).result.labels.tolist()


@pytest.mark.parametrize(("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_figures(suffix, begins):
    dataset = from_bytes("<b>$x$.csv", b"$a$,<i>b</i>\n0,0\n0.1,0\n5,5\n")
    data = PreparedData.select(dataset, dataset.default_columns, standardize=True)
    run = finished(data, RunSettings(SMS, {"bandwidth": 1.0}))
    content = export_figure(run, run.result, suffix=suffix)
    assert content.startswith(begins)
    assert b"<i>b" not in content


def test_file_names_are_plain():
    dataset = from_bytes("../<b>x.csv", b"x\n1\n2\n")
    assert file_stem(PreparedData.select(dataset, dataset.default_columns, standardize=True)) == "b-x"
    assert file_stem(PreparedData.select(load_example(MIXTURE), ["x"], standardize=True)) == "the-papers-mixture"
