"""The command on files in blocks: the same result as in memory, whatever the blocks, and after any kill."""

import html
import json
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from commands import inside, refused, run
from modeseek import DoublyStochasticMeanShift, MeanShift, ModeSeek
from modeseek._common.scaling import Scaling
from modeseek._storage import read_table
from modeseek.cli import kept, out_of_core
from modeseek.estimators import summaries
from modeseek.report import block_lines
from modeseek.sketches import sketch

X, _ = make_blobs(1000, centers=4, cluster_std=0.6, random_state=3)
MS = ["--algorithm", "ms", "--bandwidth", "0.4"]
DSMS = ["--algorithm", "dsms", "--h-min", ".3", "--h-max", ".8", "--h-inf", ".5"]
NO_NAME = ["--ignore", "name"]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small blocks, and a state kept after each."""
    monkeypatch.setattr(out_of_core, "BLOCK", 4096)
    for room in (summaries, sketch):
        monkeypatch.setattr(room, "LAYOUT_ROWS", 500)
    monkeypatch.setattr(summaries.Summarised, "_sample_rows", 300)
    monkeypatch.setattr(kept, "PAUSE", 0.0)
    monkeypatch.setattr(kept, "TIMES", 0.0)


def text_of(rows, start=0):
    lines = [f"p{start + i},{a!r},{b!r}" for i, (a, b) in enumerate(rows.tolist())]
    return "name,width,height\n" + "\n".join(lines) + "\n"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(text_of(X))
    return path


def forced(estimator):
    return estimator.set_params(summary="auto" if isinstance(estimator, ModeSeek) else "grid")


def test_labels_are_those_of_memory(data, tmp_path, monkeypatch):
    """All algorithms: as by `fit` on a summary, and by `partial_fit` in one batch."""
    monkeypatch.setattr(ModeSeek, "_many", 100)
    monkeypatch.setattr(ModeSeek, "_sample_rows", 300)
    scaled = Scaling.fit(X, standardise=True).apply(X)
    own_range = DoublyStochasticMeanShift(0.3, 0.8, 0.5, random_state=0)
    for estimator, given in [
        (MeanShift(bandwidth=0.4), MS),
        (own_range, DSMS),
        (clone(own_range).set_params(n_chains=3), [*DSMS, "--chains", "3"]),
        (ModeSeek(random_state=0), []),
    ]:
        status, out, err = run("cluster", data, *NO_NAME, *given, "--out-of-core", "-o", tmp_path / "o.csv")
        assert status == 0, err
        assert ("of 1,000 rows, drawn" if isinstance(estimator, ModeSeek) else "cells for 1,000 rows") in err
        table = read_table(tmp_path / "o.csv")
        with pytest.warns() if isinstance(estimator, ModeSeek) else nullcontext():
            own = forced(estimator).fit(scaled)
        assert table.cells[3].astype(int).tolist() == own.labels_.tolist()
        assert own.n_clusters_ == 4
        if hasattr(own, "confidence_"):
            assert table.columns[4] == "confidence"
            np.testing.assert_array_equal(table.cells[4].astype(float), own.confidence_)
        batch = type(estimator)(**own.get_params()).partial_fit(scaled).finalize()
        np.testing.assert_array_equal(batch.predict(scaled), own.labels_)
        assert "250" in out


def test_the_same_bytes_as_in_memory(data, tmp_path, monkeypatch):
    """Text and Parquet, where memory takes a summary too."""
    monkeypatch.setattr(DoublyStochasticMeanShift, "_many", 100)
    for ending in ("csv", "tsv"):
        targets = [tmp_path / f"{way}.{ending}" for way in ("out-of-core", "in-memory")]
        for way, target in zip(("--out-of-core", "--in-memory"), targets, strict=True):
            json_file = target.with_suffix(".json")
            assert run("cluster", data, *NO_NAME, *DSMS, way, "-o", target, "--json", json_file)[0] == 0
        assert targets[0].read_bytes() == targets[1].read_bytes()
        one, two = (json.loads(target.with_suffix(".json").read_text()) for target in targets)
        del one["seconds"], two["seconds"]
        assert one == two
    for way in ("--out-of-core", "--in-memory"):
        assert run("cluster", data, *NO_NAME, *DSMS, way, "-o", tmp_path / f"o{way}.parquet")[0] == 0
    one, two = (read_table(tmp_path / f"o{way}.parquet").arrow for way in ("--out-of-core", "--in-memory"))
    assert one.equals(two)
    assert not [name for name in inside(tmp_path) if name.endswith(".modeseek")]


def test_one_file_or_many_of_any_kind(data, tmp_path):
    """One file, 7 files, Parquet, NPY: the same labels."""
    parts = np.array_split(X, 7)
    starts = np.cumsum([0, *map(len, parts)])
    for i, part in enumerate(parts):
        (tmp_path / f"part{i}.csv").write_text(text_of(part, int(starts[i])))
        table = pa.table({"name": [f"p{j}" for j in range(len(part))], "width": part[:, 0], "height": part[:, 1]})
        pq.write_table(table, tmp_path / f"part{i}.parquet", row_group_size=50)
    np.save(tmp_path / "points.npy", X)
    texts, tables = ([tmp_path / f"part{i}.{kind}" for i in range(7)] for kind in ("csv", "parquet"))
    labels = []
    for files, more in [
        ([data], [*NO_NAME, "--out-of-core"]),
        (texts, NO_NAME),
        (tables, NO_NAME),
        ([tmp_path / "points.npy"], ["--out-of-core"]),
    ]:
        target = tmp_path / "out.parquet"
        status, _, err = run("cluster", *files, *more, *MS, "-o", target)
        assert status == 0, err
        labels.append(read_table(target).arrow["cluster"].to_pylist())
    assert len(labels[0]) == len(X)
    assert labels[1:] == labels[:1] * 3
    run("cluster", *texts, *NO_NAME, *MS, "-o", tmp_path / "many.csv")
    run("cluster", data, *NO_NAME, *MS, "--out-of-core", "-o", tmp_path / "one.csv")
    assert (tmp_path / "many.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()


def test_pictures_pages_and_standard_output(data, tmp_path):
    page, picture = tmp_path / "page.html", tmp_path / "picture.png"
    status, out, err = run(
        "cluster",
        data,
        *NO_NAME,
        *MS,
        "--out-of-core",
        "--report",
        page,
        "--plot",
        picture,
        "--json",
        tmp_path / "j.json",
    )
    assert status == 0, err
    assert "4 clusters in 1,000 rows" in out
    assert picture.stat().st_size > 1000
    text = html.unescape(page.read_text())
    assert "clustered by a summary" in text
    assert "pictures show 300 of 1,000 rows" in text
    assert "model.partial_fit(moments.scaling()" in text
    record = json.loads((tmp_path / "j.json").read_text())
    assert [each["size"] for each in record["clusters"]] == [250] * 4
    status, out, _ = run("cluster", data, *NO_NAME, *MS, "--out-of-core", "-o", "-")
    assert status == 0
    assert len(out.splitlines()) == 1001
    assert sorted(inside(tmp_path)) == ["j.json", "page.html", "picture.png", "points.csv"]


def test_the_lines_on_the_page_repeat_the_command(data, tmp_path, capsys):
    run("cluster", data, data, *NO_NAME, *MS, "-o", tmp_path / "o.csv")
    exec(block_lines(MeanShift(bandwidth=0.4), [str(data)] * 2, ["width", "height"], standardise=True), {})
    printed = np.array(capsys.readouterr().out.replace("[", " ").replace("]", " ").split())
    labels = read_table(tmp_path / "o.csv").cells[3]
    assert printed[printed != "..."][:3].tolist() == labels[:3].tolist()
    assert printed[-3:].tolist() == labels[-3:].tolist()


def test_cosine_and_no_scaling(tmp_path):
    rows = np.random.default_rng(0).normal([5, 0, 0], 1, (900, 3))
    rows[::2] = rows[::2, [1, 0, 2]]
    np.save(tmp_path / "d.npy", rows)
    for metric in ("cosine", "euclidean"):
        options = ["--metric", metric, "--scale", "none", "--algorithm", "ms", "--bandwidth", "0.7"]
        assert run("cluster", tmp_path / "d.npy", *options, "--out-of-core", "-o", tmp_path / "o.npy")[0] == 0
        own = MeanShift(bandwidth=0.7, metric=metric, summary="auto")
        labels = own.partial_fit(rows).finalize().predict(rows)
        np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), np.column_stack([rows, labels]))


def test_refusals(data, tmp_path):
    refused("several are read in blocks", "cluster", data, data, "--in-memory")
    refused("block by block", "cluster", data, data, *NO_NAME, "-o", tmp_path / "o.npz")
    refused("column 'name' is not numeric: row 1 (line 2) has 'p0'", "cluster", data, data, *MS)
    refused("column 'name' is not numeric", "cluster", data, data, *NO_NAME, *MS, "-o", tmp_path / "o.npy")
    data.write_text(data.read_text() + "p,1e300,1\n")
    refused("a row lies too far", "cluster", data, data, *NO_NAME, *MS, "--scale", "none", "-o", tmp_path / "o.csv")
    assert inside(tmp_path) == ["points.csv"]


def test_ctrl_c_and_the_same_command_again(data, tmp_path, monkeypatch):
    target, whole = tmp_path / "o.csv", tmp_path / "whole.csv"
    command = ["cluster", data, *NO_NAME, *MS, "--out-of-core", "-o"]
    run(*command, whole)
    for step in ("_measure", "_count", "_give"):
        with monkeypatch.context() as patch:
            patch.setattr(out_of_core._Job, step, _once_interrupted(getattr(out_of_core._Job, step)))
            status, _, err = run(*command, target)
        assert status == 130
        assert "the same command goes on from there" in err
        assert not target.exists()
    refused("--seed was 0 and is 1", *command, target, "--seed", "1")
    status, _, err = run(*command, target)
    assert status == 0
    assert "an earlier run is taken up: labels" in err
    assert target.read_bytes() == whole.read_bytes()
    assert inside(tmp_path) == ["o.csv", "points.csv", "whole.csv"]


def _once_interrupted(step):
    seen = []

    def interrupted(*arguments):
        seen.append(1)
        if len(seen) == 6:
            raise KeyboardInterrupt
        return step(*arguments)

    return interrupted


def test_changed_files_and_restart(data, tmp_path, monkeypatch):
    command = ["cluster", data, *NO_NAME, *MS, "--out-of-core", "-o", tmp_path / "o.csv"]
    with monkeypatch.context() as patch:
        patch.setattr(out_of_core._Job, "_give", _once_interrupted(out_of_core._Job._give))
        assert run(*command)[0] == 130
    data.write_text(text_of(X[::-1]))
    refused("has changed since", *command)
    status, _, err = run(*command, "--restart")
    assert status == 0
    assert "taken up" not in err
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 1001


KILLED = """
    import os, signal, sys
    from modeseek.cli import app, kept, out_of_core
    from modeseek.estimators import MeanShift, summaries
    from modeseek.sketches import sketch

    out_of_core.BLOCK, summaries.LAYOUT_ROWS, sketch.LAYOUT_ROWS, kept.PAUSE, kept.TIMES = 4096, 500, 500, 0.0, 0.0
    summaries.Summarised._sample_rows = 300
    # what is loaded here is not loaded anew by each child
    MeanShift(bandwidth=1.0, summary="grid").partial_fit([[0.0, 0.0]] * 500)
    moments, command = [int(each) for each in sys.argv[1].split(",")], sys.argv[2:]
    events = 0

    def watched(call):
        def counted(*arguments, **named):
            result = call(*arguments, **named)
            global events
            events += 1
            if events == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            return result
        return counted

    def ending(write):
        def counted(*arguments):
            global events
            events = 1000
            write(*arguments)
        return counted

    for name in ("replace", "unlink", "fsync", "chmod", "rmdir"):
        setattr(os, name, watched(getattr(os, name)))
    for name in ("_measure", "_count", "_give"):
        setattr(out_of_core._Job, name, watched(getattr(out_of_core._Job, name)))
    out_of_core._Job._write = ending(out_of_core._Job._write)
    for moment in [*moments, -1]:
        child = os.fork()
        if not child:
            app(command)
        status = os.waitpid(child, 0)[1]
        print(moment, os.waitstatus_to_exitcode(status), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills are by POSIX signals")
@pytest.mark.parametrize(("ending", "moments"), [("csv", [1, 3, 7, 60, 23, 45, 17, 30]), ("parquet", [60, 45, 30])])
def test_killed_at_many_moments(data, tmp_path, ending, moments):
    """Killed again and again, at blocks and between the steps of keeping a state: the same bytes in the end."""
    target, whole = tmp_path / f"o.{ending}", tmp_path / f"whole.{ending}"
    command = ["cluster", str(data), *NO_NAME, *MS, "--out-of-core", "-q", "-o"]
    data.write_text(text_of(X[:700]))
    assert run(*command, whole)[0] == 0
    target.touch()
    # the later ones while the whole is put in place, which is called event 1,000
    moments = [*moments, *range(1001, 1007)]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), ",".join(map(str, moments)), *command, str(target)],
        capture_output=True,
        text=True,
        check=True,
    )
    ends = [int(line.split()[1]) for line in done.stdout.splitlines() if line.split()[0].lstrip("-").isdigit()]
    assert ends[-1] == 0, done.stderr
    assert ends[:-1] == [-signal.SIGKILL] * len(moments), (ends, done.stderr)
    assert target.read_bytes() == whole.read_bytes()
    assert sorted(inside(tmp_path)) == sorted([target.name, "points.csv", whole.name])


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    """Ten times as many rows: the most that is held at once stays."""
    import tracemalloc

    monkeypatch.setattr(out_of_core, "BLOCK", 1 << 18)
    peaks = []
    for times in (1, 1, 10):  # the first time, what is compiled is loaded
        np.save(tmp_path / "d.npy", np.tile(X, (20 * times, 1)))
        tracemalloc.start()
        assert run("cluster", tmp_path / "d.npy", *MS, "--out-of-core", "-o", tmp_path / "o.npy")[0] == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.1 * peaks[1]
