"""`modeseek cluster --out-of-core`: what it prints, and how it stops and resumes."""

import html
import json

import pytest

from commands import inside, refused, run
from modeseek.pipeline import cluster_file
from modeseek.pipeline.chunked import _ChunkedRun
from pipelines import SMALL, X, interrupt, text_of, with_sketch
from pipelines import points as points

MS = ["--algorithm", "ms", "--bandwidth", "0.4"]
NO_NAME = ["--ignore", "name"]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(
        "modeseek.cli.cluster.cluster_file",
        lambda source, estimator, *a, **k: cluster_file(source, with_sketch(estimator), *a, **k, config=SMALL),
    )


def test_pictures_reports_and_standard_output(points, tmp_path):
    page, picture = tmp_path / "page.html", tmp_path / "picture.png"
    outputs = ["--report", page, "--plot", picture, "--json", tmp_path / "j.json"]
    status, out, err = run("cluster", points, *NO_NAME, *MS, "--out-of-core", *outputs)
    assert status == 0, err
    assert "4 clusters in 1,000 rows" in out
    assert picture.stat().st_size > 1000
    text = html.unescape(page.read_text())
    assert "clustered by a sketch" in text
    assert "show a sample of 300 of 1,000 rows" in text
    assert "out_of_core=True" in text
    record = json.loads((tmp_path / "j.json").read_text())
    assert [each["size"] for each in record["clusters"]] == [250] * 4
    status, out, _ = run("cluster", points, *NO_NAME, *MS, "--out-of-core", "-o", "-")
    assert status == 0
    assert len(out.splitlines()) == 1001
    assert sorted(inside(tmp_path)) == ["j.json", "page.html", "picture.png", "points.csv"]


def test_the_code_in_the_report_repeats_the_command(points, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(text_of(X[:200]))
    page = tmp_path / "page.html"
    status, _, err = run("cluster", points, other, *NO_NAME, *MS, "--json", tmp_path / "j.json", "--report", page)
    assert status == 0, err
    code = html.unescape(page.read_text().split("<pre")[-1].split("<code>")[1].split("</code>")[0])
    space: dict = {}
    exec(code, space)
    record = json.loads((tmp_path / "j.json").read_text())
    assert space["result"].clusters.sizes.tolist() == [each["size"] for each in record["clusters"]]


def test_ctrl_c_and_the_same_command_again(points, tmp_path, monkeypatch):
    target, whole = tmp_path / "o.csv", tmp_path / "whole.csv"
    command = ["cluster", points, *NO_NAME, *MS, "--out-of-core", "-o"]
    run(*command, whole)
    step, calls = _ChunkedRun._label_chunk, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return step(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(_ChunkedRun, "_label_chunk", interrupted)
        status, _, err = run(*command, target)
    assert status == 130
    assert "of the pass 'labels': give the same command again to resume." in err
    assert not target.exists()
    refused("--bandwidth was 0.4 and is now 0.5", *command, target, "--bandwidth", "0.5")
    status, _, err = run(*command, target)
    assert status == 0
    assert "an earlier run is resumed at " in err
    assert target.read_bytes() == whole.read_bytes()
    assert inside(tmp_path) == ["o.csv", "points.csv", "whole.csv"]


def test_changed_files_and_restart(points, tmp_path, monkeypatch):
    command = ["cluster", points, *NO_NAME, *MS, "--out-of-core", "-o", tmp_path / "o.csv"]
    with monkeypatch.context() as patch:
        patch.setattr(_ChunkedRun, "_label_chunk", lambda *arguments: interrupt())
        assert run(*command)[0] == 130
    points.write_text(text_of(X[::-1]))
    refused("has changed since: repeat that command, or add --restart to start over", *command)
    status, _, err = run(*command, "--restart")
    assert status == 0
    assert "resumed" not in err


def test_refusals_name_the_options(points, tmp_path):
    refused("--in-memory takes one file", "cluster", points, points, "--in-memory")
    model = tmp_path / "o.csv.modeseek"
    refused("--save", "cluster", points, *NO_NAME, *MS, "--out-of-core", "-o", tmp_path / "o.csv", "--save", model)
    assert inside(tmp_path) == ["points.csv"]
