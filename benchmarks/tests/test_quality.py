"""The measurement against labels scores what it says, resumes where it stopped, and continues if a method fails."""

from __future__ import annotations

import csv
import importlib
import json
import runpy
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

import modeseek
from modeseek.metrics import k_score

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "quality.py"
K_MEANS = ("--methods", "KMeans (k)")


class Halves(BaseEstimator):
    """A stand-in for an estimator of ours: it splits the rows in two blindly, and keeps what it was given."""

    seen: ClassVar[list[Halves]] = []

    def __init__(self, metric="euclidean", random_state=None):
        self.metric = metric
        self.random_state = random_state

    def fit(self, X):
        self.X = X
        self.labels_ = np.arange(len(X)) % 2
        self.seen.append(self)
        return self


@pytest.fixture
def quality(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))  # it imports its neighbours, as a script does
    return runpy.run_path(str(SCRIPT))


@pytest.fixture
def labelled(quality):
    return importlib.import_module("labelled")


@pytest.fixture
def folder(tmp_path):
    """Two sets: blobs with a constant column and rows without a label, and two directions at all lengths."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    blobs = np.column_stack([100.0 * y + rng.normal(size=40), 2.0 * y + 0.01 * rng.normal(size=40), np.full(40, 0.1)])
    unknown = np.arange(40) % 4 == 0
    blobs[unknown] = blobs[unknown][::-1]  # in the other blob: whoever scored these rows would score below 1
    directions = np.array([[1.0, 0.0], [0.0, 1.0]])[y] + 0.01 * rng.normal(size=(40, 2))
    home = tmp_path / "data"
    home.mkdir()
    np.savez(home / "blobs.npz", X=blobs.astype(np.float32), y=np.where(unknown, -1, y))
    np.savez(home / "rays.npz", X=directions * np.tile(np.geomspace(1, 1000, 20), 2)[:, None], y=y)
    entries = [{"name": "blobs", "kind": "table", "prep": "std"}, {"name": "rays", "kind": "voices", "prep": "l2"}]
    (home / "manifest.json").write_text(json.dumps(entries))
    return home


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_right_clusters_score_one_without_the_rows_that_have_no_label(quality, folder, tmp_path, capsys):
    out = tmp_path / "rows.csv"
    quality["main"](["--data", str(folder), "--out", str(out), "--seeds", "2", *K_MEANS])
    rows = rows_of(out)
    assert [(row["set"], row["seed"]) for row in rows] == [("blobs", "0"), ("rays", "0"), ("blobs", "1"), ("rays", "1")]
    for row in rows:
        assert {row[key] for key in ("ari", "ami", "k_paper", "k_weighted")} == {"1"}
        assert (row["n"], row["k"], row["found"], row["noise"], row["error"]) == ("40", "2", "2", "0", "")
    shown = capsys.readouterr()
    assert "| **all** | 2 | **1.00** |" in shown.out
    assert "| blobs | 40 | 3 | 2 | 1.00 (2) |" in shown.out
    assert "sets: 2; seeds: 0, 1" in shown.out
    assert "[4/4] rays" in shown.err


def test_noise_found_is_one_cluster_for_each_point(labelled):
    y = np.array([0, 0, 0, 1, 1, 1, -1, -1])
    labels = np.array([4, 4, -1, -1, -1, -1, 4, -1])
    alone = [0, 0, 1, 2, 3, 4]
    found = labelled.scores(y, labels)
    assert found["ari"] == pytest.approx(adjusted_rand_score(y[:6], alone))
    assert found["ami"] == pytest.approx(adjusted_mutual_info_score(y[:6], alone))
    assert found["k_paper"] == pytest.approx(k_score(y[:6], alone))
    assert found["k_weighted"] == pytest.approx(k_score(y[:6], alone, weighted=True))
    assert found["ari"] < adjusted_rand_score(y[:6], labels[:6])  # noise as one cluster would be flattered


def test_noise_is_counted_apart_from_clusters(quality, labelled, folder, tmp_path, monkeypatch, capsys):
    halves = labelled.METHODS[5]._replace(fit=lambda task: labelled.Fitted(np.where(np.arange(40) < 10, -1, 7)))
    monkeypatch.setitem(labelled.BY_NAME, "HDBSCAN", halves)
    out = tmp_path / "rows.csv"
    quality["main"](["--data", str(folder), "--out", str(out), "--seeds", "1", "--methods", "hdbscan"])
    assert [(row["found"], row["noise"]) for row in rows_of(out)] == [("1", "10")] * 2
    assert "(1 + 10) |" in capsys.readouterr().out


def test_preparation(labelled):
    X = np.array([[0.1, 1.0], [0.1, 3.0], [0.1, 5.0]])
    columns = labelled.prepared(X, "std")
    assert (columns[:, 0] == 0).all()
    assert columns[:, 1] == pytest.approx([-np.sqrt(1.5), 0, np.sqrt(1.5)])
    rows = labelled.prepared(np.array([[3.0, 4.0], [0.0, 0.0]]), "l2")
    assert rows == pytest.approx(np.array([[0.6, 0.8], [0.0, 0.0]]))


def test_ours_get_the_seed_the_metric_and_shuffled_rows(quality, folder, monkeypatch, capsys):
    monkeypatch.setattr(Halves, "seen", [])
    monkeypatch.setattr(modeseek, "ModeSeek", Halves, raising=False)
    quality["main"](["--data", str(folder), "--seeds", "2", "--methods", "ModeSeek"])
    given = [(model.metric, model.random_state) for model in Halves.seen]
    assert given == [("euclidean", 0), ("cosine", 0), ("euclidean", 1), ("cosine", 1)]
    first, second = Halves.seen[1].X, Halves.seen[3].X
    assert np.linalg.norm(first, axis=1) == pytest.approx(1)
    assert not np.array_equal(first, second)
    assert np.array_equal(first[np.lexsort(first.T)], second[np.lexsort(second.T)])


def test_how_a_run_of_ours_ended_is_kept(quality, folder, tmp_path):
    out = tmp_path / "rows.csv"
    quality["main"](["--data", str(folder), "--out", str(out), "--seeds", "1", "--methods", "MeanShift"])
    assert {row["outcome"] for row in rows_of(out)} == {"climbed"}


def test_a_method_that_the_library_lacks_is_skipped_with_a_note(quality, labelled, folder, monkeypatch, capsys):
    missing = labelled.METHODS[0]._replace(name="NotThere")
    monkeypatch.setitem(quality["chosen_methods"].__globals__, "METHODS", [missing])
    with pytest.raises(SystemExit, match="no method is left"):
        quality["main"](["--data", str(folder), "--methods", "NotThere"])
    assert "skipped NotThere: this version of modeseek does not have it" in capsys.readouterr().err


def test_a_run_goes_on_where_it_stopped(quality, folder, tmp_path, capsys):
    out = tmp_path / "rows.csv"
    command = ["--data", str(folder), "--out", str(out), *K_MEANS]
    quality["main"]([*command, "--seeds", "1"])
    whole = out.read_text()
    out.write_text(whole[:-30])  # as if it had been cut off while the second row was written
    capsys.readouterr()
    quality["main"]([*command, "--seeds", "2"])
    assert "1 of 4 are in" in capsys.readouterr().err
    rows = rows_of(out)
    assert out.read_text().startswith(whole[: whole.index("\n", whole.index("\nblobs") + 1) + 1])
    assert [(row["set"], row["seed"]) for row in rows] == [("blobs", "0"), ("rays", "0"), ("blobs", "1"), ("rays", "1")]
    quality["main"]([*command, "--seeds", "2"])
    assert rows_of(out) == rows


def test_a_file_of_something_else_is_not_added_to(quality, folder, tmp_path):
    out = tmp_path / "rows.csv"
    out.write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match="other columns"):
        quality["main"](["--data", str(folder), "--out", str(out), *K_MEANS])
    assert out.read_text() == "a,b\n1,2\n"


def test_only_takes_sets_by_their_name(quality, folder, tmp_path):
    out = tmp_path / "rows.csv"
    quality["main"](["--data", str(folder), "--out", str(out), "--seeds", "1", "--only", "ray", *K_MEANS])
    assert [row["set"] for row in rows_of(out)] == ["rays"]
    with pytest.raises(SystemExit, match=r"no set of .* has 'nothing' in its name; there are blobs, rays"):
        quality["main"](["--data", str(folder), "--only", "nothing", *K_MEANS])


def test_a_method_that_raises_is_a_row_with_its_error(quality, labelled, folder, tmp_path, monkeypatch, capsys):
    def fit(task):
        if task.cosine:
            raise RuntimeError("no | such\n  luck")
        return labelled.Fitted((task.X[:, 0] > 0).astype(int))

    monkeypatch.setitem(labelled.BY_NAME, "HDBSCAN", labelled.BY_NAME["HDBSCAN"]._replace(fit=fit))
    out = tmp_path / "rows.csv"
    quality["main"](["--data", str(folder), "--out", str(out), "--seeds", "1", "--methods", "HDBSCAN,KMeans (k)"])
    rows = rows_of(out)
    assert [row["error"] for row in rows] == ["", "", "RuntimeError: no | such luck", ""]
    assert rows[2]["ari"] == ""
    shown = capsys.readouterr().out
    assert "| **all** | 2 | **0.50** | **1.00** |" in shown  # a failure counts 0
    assert "| rays | 40 | 2 | 2 | error | 1.00 (2) |" in shown
    assert "| rays | HDBSCAN | 0 | RuntimeError: no / such luck |" in shown


def test_tables_of_a_file_are_those_of_the_run_and_go_between_the_marks(quality, folder, tmp_path, capsys):
    out, page = tmp_path / "rows.csv", tmp_path / "page.md"
    page.write_text("before\n<!-- quality -->\nold\n<!-- end of quality -->\nafter\n")
    quality["main"](["--data", str(folder), "--out", str(out), "--seeds", "1", *K_MEANS])
    first = capsys.readouterr().out
    quality["main"](["--table", str(out), "--report", str(page)])
    assert capsys.readouterr().out == first
    assert page.read_text() == f"before\n<!-- quality -->\n\n{first.strip()}\n\n<!-- end of quality -->\nafter\n"


def test_means_are_over_sets_and_gaps_are_told(quality, capsys):
    def row(name, seed, ari, method="HDBSCAN"):
        text = {"set": name, "kind": "a", "n": "9", "d": "2", "k": "2", "method": method, "seed": str(seed)}
        scored = dict.fromkeys(("ari", "ami", "k_paper", "k_weighted"), str(ari))
        rest = {"found": "3", "noise": "0", "seconds": "1", "outcome": "", "note": "", "error": "", "machine": "m"}
        return {**text, **scored, **rest}

    rows = [row("one", 0, 0.2), row("one", 1, 0.4), row("two", 0, 0.9), row("one", 0, 0.5, "KMeans (k)")]
    text = quality["tables"](rows)
    assert "| a | 2 | 0.60 | 0.50 |" in text  # (0.3 + 0.9) / 2, not the mean of three rows
    assert "- KMeans (k): 2 of 3 sets and seeds not run" in text
    assert "- not measured: ModeSeek, DoublyStochasticMeanShift" in text


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda home: (home / "manifest.json").unlink(), r"has no manifest\.json"),
        (lambda home: (home / "manifest.json").write_text("{"), "is no JSON"),
        (lambda home: (home / "manifest.json").write_text("{}"), "must be a list of entries"),
        (lambda home: (home / "manifest.json").write_text('[{"name": "blobs"}]'), "no kind, prep"),
        (
            lambda home: (home / "manifest.json").write_text('[{"name": "blobs", "kind": "", "prep": "log"}]'),
            "prep of blobs is 'log'",
        ),
        (lambda home: (home / "rays.npz").unlink(), r"rays\.npz cannot be read"),
        (lambda home: (home / "rays.npz").write_text("text"), r"rays\.npz cannot be read"),
        (lambda home: np.savez(home / "rays.npz", X=np.eye(2)), r"rays\.npz cannot be read.*y"),
        (lambda home: np.savez(home / "rays.npz", X=np.eye(2), y=[0]), r"X must be \(n, d\)"),
        (lambda home: np.savez(home / "rays.npz", X=np.eye(2), y=[-1, -1]), "nothing is left to score"),
    ],
)
def test_a_bad_folder_is_named_before_anything_runs(quality, folder, tmp_path, spoil, says):
    spoil(folder)
    out = tmp_path / "rows.csv"
    with pytest.raises(SystemExit, match=says):
        quality["main"](["--data", str(folder), "--out", str(out), *K_MEANS])
    assert not out.exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "give --data"),
        (["--data", "x", "--table", "y"], "give --data"),
        (["--data", "x", "--seeds", "0"], "1 or more"),
    ],
)
def test_a_command_that_makes_no_sense(quality, capsys, given, says):
    with pytest.raises(SystemExit):
        quality["main"](given)
    assert says in capsys.readouterr().err


def test_an_unknown_method_is_named(quality, folder):
    with pytest.raises(SystemExit, match=r"no method is called 'KMean'; there are ModeSeek, "):
        quality["main"](["--data", str(folder), "--methods", "KMean"])
