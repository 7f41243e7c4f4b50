"""`cluster_file` and `label_file` as functions of the library."""

import io
import sys
from dataclasses import replace

import numpy as np
import pytest

from modeseek import MeanShift, ModeSeek
from modeseek._storage.reading import read_table
from modeseek.pipeline import DataOptions, OptionError, OutputConflict, Outputs, cluster_file, label_file
from modeseek.prepare import Note
from modeseek.prepare.scaling import fit_scaling
from pipelines import SMALL, X, mean_shift, names, text_of
from pipelines import points as points

NO_NAME = DataOptions(ignore=["name"])


def test_the_result_of_a_fit_in_memory(points, tmp_path):
    stages, notes = [], []
    result = cluster_file(
        points, mean_shift(), NO_NAME, Outputs(str(tmp_path / "o.csv")), progress=stages.append, notify=notes.append
    )
    own = mean_shift().fit(fit_scaling("standard", X).apply(X))
    np.testing.assert_array_equal(result.fit.labels, own.labels_)
    assert (result.algorithm, result.features, result.clusters.n_rows) == ("ms", ("width", "height"), 1000)
    assert result.clusters.sizes.tolist() == np.bincount(own.labels_).tolist()
    np.testing.assert_allclose(result.clusters.centers[0], X[own.labels_ == 0].mean(axis=0), atol=0.2)
    assert result.clusters.confidence is None
    assert [stage.name for stage in stages] == ["clustering"]
    assert list(result.notes) == notes
    assert read_table(tmp_path / "o.csv").columns == ("name", "width", "height", "cluster")


def test_large_files_are_read_in_chunks(points):
    for limit, chunked in ((10, True), (10**9, False)):
        seen = []
        cluster_file(points, mean_shift(), NO_NAME, progress=seen.append, config=replace(SMALL, large_file_bytes=limit))
        assert ({stage.name for stage in seen} == {"clustering"}) != chunked


def test_notes_name_the_option_and_the_column(tmp_path):
    rows = "".join(f"bird {i},{i},{a},{1000 * b}\n" for i, (a, b) in enumerate(X[:60].tolist()))
    (tmp_path / "a.csv").write_text(",id,x,y\n" + rows)
    notes = cluster_file(tmp_path / "a.csv", ModeSeek(random_state=0), DataOptions(scale="none")).notes
    assert notes[0].text == "left out: column1 (row names), id (row numbers)"
    assert "column 'y' varies" in notes[1].text
    assert notes[1][1:] == ("scale", "standard")
    assert all(isinstance(note, Note) for note in notes)


def test_the_code_of_the_report_says_which_rows_have_labels(tmp_path):
    for cell, comment in (("", True), ("3.5", False)):
        (tmp_path / "a.csv").write_text(f"u,v\n1,{cell}\n" + "".join(f"{a},{b}\n" for a, b in X[:30].tolist()))
        cluster_file(tmp_path / "a.csv", mean_shift(), outputs=Outputs(report=str(tmp_path / "a.html")))
        assert ("# of the rows without missing values" in (tmp_path / "a.html").read_text("utf-8")) == comment


def test_the_code_of_the_report_has_a_placeholder_for_standard_input(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"u,v\n1,2\n1,2\n5,7\n")))
    cluster_file("-", mean_shift(), outputs=Outputs(report=str(tmp_path / "a.html")))
    text = (tmp_path / "a.html").read_text("utf-8")
    assert "read_table(&#39;FILE&#39;)" in text


def test_names_with_commas(tmp_path):
    (tmp_path / "a.csv").write_text('"u,v",w,z\n1,2,3\n3,4,5\n')
    for columns, expected in (
        (["u,v"], ("u,v",)),
        (["w,z"], ("w", "z")),
        (["w , z"], ("w", "z")),
        (["w,u,v"], ("w", "u,v")),
    ):
        assert cluster_file(tmp_path / "a.csv", mean_shift(), DataOptions(columns=columns)).features == expected


def test_labels_of_other_rows(points, tmp_path):
    model, other = tmp_path / "m.modeseek", tmp_path / "other.csv"
    result = cluster_file(points, mean_shift(), NO_NAME, Outputs(model=str(model)))
    other.write_text(text_of(X[::7]))
    label_file(model, other, tmp_path / "o.csv", label_column="group")
    assert read_table(tmp_path / "o.csv").cells[3].astype(int).tolist() == result.fit.labels[::7].tolist()
    with pytest.raises(OptionError, match="label_column must not be empty"):
        label_file(model, other, tmp_path / "o.csv", label_column="")
    with pytest.raises(OutputConflict, match="is both rows and an input file"):
        label_file(model, other, other)


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (Outputs(label_column=""), "label_column must not be empty"),
        (Outputs("{0}/o.npy", guard_formulas=True), "guard_formulas applies to text"),
        (Outputs(guard_formulas=True), "guard_formulas applies to text"),
    ],
)
def test_options_are_checked_before_the_work(outputs, message, points, tmp_path):
    outputs = replace(outputs, rows=outputs.rows and outputs.rows.format(tmp_path))
    with pytest.raises(OptionError, match=message):
        cluster_file(points, MeanShift(), NO_NAME, outputs)
    assert names(tmp_path) == ["points.csv"]
