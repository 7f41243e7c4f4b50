"""The command on files in blocks: the same result as in memory, whatever the blocks, and after any kill."""

import html
import json
import os
import signal
import stat
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
from modeseek._storage import DataError, WorkFolder, read_table, writing
from modeseek._storage.atomic import put_in_place
from modeseek.cli import kept, out_of_core
from modeseek.estimators import streaming
from modeseek.report import chunked_fit_code
from modeseek.sketches import SketchConfig

X, _ = make_blobs(1000, centers=4, cluster_std=0.6, random_state=3)
SMALL_SKETCH = SketchConfig(layout_rows=500, sample_size=300)
MS = ["--algorithm", "ms", "--bandwidth", "0.4"]
DSMS = ["--algorithm", "dsms", "--h-min", ".3", "--h-max", ".8", "--h-inf", ".5"]
NO_NAME = ["--ignore", "name"]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small blocks, and a state kept after each."""
    monkeypatch.setattr(out_of_core, "BLOCK", 4096)
    monkeypatch.setattr(streaming.Streaming, "_sketch_config", SMALL_SKETCH)
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
    return estimator.set_params(sketch="auto" if isinstance(estimator, ModeSeek) else "grid")


def test_labels_are_those_of_memory(data, tmp_path, monkeypatch):
    """All algorithms: as by `fit` on a summary, and by `partial_fit` in one batch."""
    monkeypatch.setattr(ModeSeek, "_many", 100)
    monkeypatch.setattr(ModeSeek, "_sketch_config", SMALL_SKETCH)
    scaled = Scaling.fit(X, standardize=True).apply(X)
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
    one, two = (read_table(tmp_path / f"o{way}.parquet").data for way in ("--out-of-core", "--in-memory"))
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
        labels.append(read_table(target).data["cluster"].to_pylist())
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
    exec(chunked_fit_code(MeanShift(bandwidth=0.4), [str(data)] * 2, ["width", "height"], standardize=True), {})
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
        own = MeanShift(bandwidth=0.7, metric=metric, sketch="auto")
        labels = own.partial_fit(rows).finalize().predict(rows)
        np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), np.column_stack([rows, labels]))


def test_refusals(data, tmp_path):
    refused("several are read in blocks", "cluster", data, data, "--in-memory")
    refused("in chunks", "cluster", data, data, *NO_NAME, "-o", tmp_path / "o.npz")
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
    from modeseek.estimators import MeanShift, streaming
    from modeseek.sketches import SketchConfig

    out_of_core.BLOCK, kept.PAUSE, kept.TIMES = 4096, 0.0, 0.0
    streaming.Streaming._sketch_config = SketchConfig(layout_rows=500, sample_size=300)
    # what is loaded here is not loaded anew by each child
    MeanShift(bandwidth=1.0, sketch="grid").partial_fit([[0.0, 0.0]] * 500)
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


# ---------------------------------------- the work folder: other files are never touched

posix = pytest.mark.skipif(os.name != "posix", reason="links, permissions and locks as POSIX has them")


def contents(folder):
    return {str(path): path.is_symlink() or path.is_dir() or path.read_text() for path in folder.rglob("*")}


def users_folder(path):
    path.mkdir()
    (path / "thesis.txt").write_text("years of work")


def users_folder_with_our_names(path):
    users_folder(path)
    (path / "lock").write_text("")
    (path / "state.json").write_text("{}")


def users_file(path):
    path.write_text("a model, say")


def linked_folder(path):
    users_folder(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def linked_empty_folder(path):
    path.with_name("elsewhere").mkdir()
    path.symlink_to(path.with_name("elsewhere"))


def linked_lock(path):
    users_folder(path.with_name("elsewhere"))
    path.mkdir()
    (path / "lock").symlink_to(path.with_name("elsewhere") / "thesis.txt")


def linked_rows(path):
    users_folder(path.with_name("elsewhere"))
    folder = WorkFolder(path.with_suffix(""))
    folder.open()
    folder.close()
    (path / "rows.txt").symlink_to(path.with_name("elsewhere") / "thesis.txt")


@posix
@pytest.mark.parametrize(
    "make",
    [
        users_folder,
        users_folder_with_our_names,
        users_file,
        linked_folder,
        linked_empty_folder,
        linked_lock,
        linked_rows,
    ],
)
def test_what_is_not_ours_is_refused_and_kept(data, tmp_path, make):
    """A user's folder was emptied and removed, with status 0; the target of a link named lock was truncated."""
    make(tmp_path / "o.csv.modeseek")
    before = contents(tmp_path)
    for more in ([], ["--restart"]):
        command = ["cluster", data, *NO_NAME, *MS, "--out-of-core", "-o", tmp_path / "o.csv", *more]
        refused(f"'{tmp_path / 'o.csv.modeseek'}' exists and is not a work folder of modeseek: rename", *command)
        assert contents(tmp_path) == before


@posix
def test_a_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    folder = WorkFolder(tmp_path / "o.csv")
    folder.open()
    folder.close()
    monkeypatch.setattr(os, "geteuid", lambda: folder.path.stat().st_uid + 1)
    with pytest.raises(DataError, match="not a work folder of modeseek"):
        folder.open()


@pytest.mark.parametrize("files", [[], ["lock"]])
def test_killed_before_the_marker_was_written(data, tmp_path, files):
    (tmp_path / "o.csv.modeseek").mkdir()
    for name in files:
        (tmp_path / "o.csv.modeseek" / name).touch()
    assert run("cluster", data, *NO_NAME, *MS, "--out-of-core", "-o", tmp_path / "o.csv")[0] == 0
    assert inside(tmp_path) == ["o.csv", "points.csv"]


@pytest.mark.parametrize("restart", [[], ["--restart"]])
def test_other_files_in_our_folder_are_kept(data, tmp_path, monkeypatch, restart):
    command = ["cluster", data, *NO_NAME, *MS, "--out-of-core", "-o", tmp_path / "o.csv"]
    with monkeypatch.context() as patch:
        patch.setattr(out_of_core._Job, "_count", _once_interrupted(out_of_core._Job._count))
        assert run(*command)[0] == 130
    folder = tmp_path / "o.csv.modeseek"
    users_folder(folder / "chapters")
    (folder / "arrays-mine.npz").write_text("not modeseek's")
    assert run(*command, *restart)[0] == 0
    assert inside(folder) == ["arrays-mine.npz", "chapters"]
    assert inside(folder / "chapters") == ["thesis.txt"]


@posix
def test_a_refused_run_leaves_the_folder_of_the_other(data, tmp_path):
    """The run that was refused removed the folder in which the other was at work."""
    other = WorkFolder(tmp_path / "o.csv")
    other.open()
    other.save({}, {"n": 1}, None)
    refused("another run", "cluster", data, *NO_NAME, *MS, "--out-of-core", "-o", tmp_path / "o.csv")
    assert other.load().state == {"n": 1}
    other.remove()
    assert inside(tmp_path) == ["points.csv"]


ENTERED = """
    import os, sys
    from modeseek._storage import DataError, WorkFolder

    target, entries = sys.argv[1], 0
    while entries < 100:
        folder = WorkFolder(target)
        try:
            folder.open()
        except DataError as error:
            assert "another run" in str(error), error
            continue
        os.close(os.open(f"{target}.inside", os.O_CREAT | os.O_EXCL))
        folder.save({}, {}, None)
        os.unlink(f"{target}.inside")
        entries += 1
        # the last entry of all removes the folder
        if entries % 2:
            folder.close()
        else:
            folder.remove()
"""


@posix
def test_only_one_process_is_inside(tmp_path):
    """The lock was released before the folder was removed: two could be inside at once."""
    command = [sys.executable, "-c", textwrap.dedent(ENTERED), str(tmp_path / "o.csv")]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    errors = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0] * 3, errors
    assert inside(tmp_path) == []


@posix
@pytest.mark.parametrize("ending", ["csv", "npy", "parquet"])
def test_rows_are_private_while_they_are_made(tmp_path, monkeypatch, ending):
    np.save(tmp_path / "points.npy", X)
    private, new = tmp_path / f"private.{ending}", tmp_path / f"new.{ending}"
    private.touch(mode=0o600)
    seen = set()

    def watched(made, target):
        seen.update(stat.S_IMODE(path.stat().st_mode) for path in made.parent.iterdir())
        assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700
        put_in_place(made, target)

    monkeypatch.setattr(writing, "put_in_place", watched)
    umask = os.umask(0o022)
    try:
        for target in (private, new):
            assert run("cluster", tmp_path / "points.npy", *MS, "--out-of-core", "-o", target)[0] == 0
    finally:
        os.umask(umask)
    assert seen == {0o600}
    assert [stat.S_IMODE(path.stat().st_mode) for path in (private, new)] == [0o600, 0o644]


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
