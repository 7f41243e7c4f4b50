"""The pipeline in chunks: the same result as in memory for any chunks, and after any interruption."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from modeseek import DoublyStochasticMeanShift, MeanShift, ModeSeek
from modeseek._storage.errors import DataError, TextColumnError
from modeseek._storage.reading import read_table
from modeseek.pipeline import (
    DataOptions,
    OptionError,
    Outputs,
    PipelineConfig,
    PipelineInterrupted,
    ResumeMismatch,
    cluster_file,
)
from modeseek.pipeline.resume import LABELS, SKETCH, STATISTICS
from modeseek.prepare.scaling import fit_scaling
from pipelines import SMALL, SMALL_SKETCH, At, X, cluster, interrupt, mean_shift, names, text_of, with_sketch
from pipelines import points as points

DSMS = DoublyStochasticMeanShift(0.3, 0.8, 0.5, random_state=0)
WHOLE = DataOptions()

# sketches of most rows also without `out_of_core`
ALWAYS = replace(SMALL_SKETCH, max_rows=100)


@pytest.mark.parametrize(
    "estimator", [MeanShift(bandwidth=0.4), DSMS, clone(DSMS).set_params(n_chains=3), ModeSeek(random_state=0)]
)
def test_labels_are_those_of_memory(estimator, points, tmp_path):
    config = ALWAYS if isinstance(estimator, ModeSeek) else SMALL_SKETCH
    result = cluster(points, tmp_path / "o.csv", clone(estimator), sketch_config=config)
    assert result.clusters.sizes.tolist() == [250] * 4
    table = read_table(tmp_path / "o.csv")
    scaled = fit_scaling("standard", X).apply(X)
    with pytest.warns() if isinstance(estimator, ModeSeek) else nullcontext():
        kind = "auto" if isinstance(estimator, ModeSeek) else "grid"
        own = with_sketch(clone(estimator).set_params(sketch=kind), config).fit(scaled)
    assert table.cells[3].astype(int).tolist() == own.labels_.tolist()
    if own.result_.confidence is not None:
        assert table.columns[4] == "confidence"
        np.testing.assert_array_equal(table.cells[4].astype(float), own.confidence_)
    batch = with_sketch(clone(own), config).partial_fit(scaled).finalize()
    np.testing.assert_array_equal(batch.predict(scaled), own.labels_)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_the_same_files_as_in_memory(suffix, points, tmp_path):
    targets = {chunked: tmp_path / f"{chunked}.{suffix}" for chunked in (True, False)}
    records = []
    for chunked, target in targets.items():
        outputs = Outputs(str(target), json=str(target.with_suffix(".json")))
        cluster(points, estimator=clone(DSMS), outputs=outputs, out_of_core=chunked, sketch_config=ALWAYS)
        records.append(json.loads(target.with_suffix(".json").read_text()) | {"seconds": 0, "notes": []})
    assert records[0] == records[1]
    if suffix == "parquet":
        assert read_table(targets[True]).data.equals(read_table(targets[False]).data)
    else:
        assert targets[True].read_bytes() == targets[False].read_bytes()
    assert not [name for name in names(tmp_path) if name.endswith(".modeseek")]


def test_one_file_or_several_of_any_format(points, tmp_path):
    parts = np.array_split(X, 7)
    starts = np.cumsum([0, *map(len, parts)])
    for i, part in enumerate(parts):
        (tmp_path / f"part{i}.csv").write_text(text_of(part, int(starts[i])))
        table = pa.table({"name": [f"p{j}" for j in range(len(part))], "width": part[:, 0], "height": part[:, 1]})
        pq.write_table(table, tmp_path / f"part{i}.parquet", row_group_size=50)
    np.save(tmp_path / "points.npy", X)
    texts, tables = ([tmp_path / f"part{i}.{kind}" for i in range(7)] for kind in ("csv", "parquet"))
    labels = []
    for source, data in [(points, None), (texts, None), (tables, None), (tmp_path / "points.npy", WHOLE)]:
        cluster(source, tmp_path / "out.parquet", **({} if data is None else {"data": data}))
        labels.append(read_table(tmp_path / "out.parquet").data["cluster"].to_pylist())
    assert len(labels[0]) == len(X)
    assert labels[1:] == labels[:1] * 3
    cluster(texts, tmp_path / "several.csv")
    cluster(points, tmp_path / "one.csv")
    assert (tmp_path / "several.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()


def test_cosine_and_no_scaling(tmp_path):
    rows = np.random.default_rng(0).normal([5, 0, 0], 1, (900, 3))
    rows[::2] = rows[::2, [1, 0, 2]]
    np.save(tmp_path / "d.npy", rows)
    for metric in ("cosine", "euclidean"):
        estimator = MeanShift(bandwidth=0.7, metric=metric)
        cluster(tmp_path / "d.npy", tmp_path / "o.npy", estimator, DataOptions(scale="none"))
        labels = with_sketch(clone(estimator)).partial_fit(rows).finalize().predict(rows)
        np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), np.column_stack([rows, labels]))


def test_refused_data_leave_nothing(points, tmp_path):
    with pytest.raises(OptionError, match="out_of_core must not be False for several files"):
        cluster([points, points], out_of_core=False)
    with pytest.raises(DataError, match="in chunks"):
        cluster([points, points], tmp_path / "o.npz")
    with pytest.raises(DataError, match=r"column 'name' is not numeric: row 1 \(line 2\) has 'p0'"):
        cluster([points, points], data=DataOptions(strict=True))
    with pytest.raises(DataError, match="column 'name' is not numeric"):
        cluster([points, points], tmp_path / "o.npy")
    points.write_text(points.read_text() + "p,1e300,1\n")
    with pytest.raises(ValueError, match="too far"):
        cluster([points, points], tmp_path / "o.csv", data=DataOptions(ignore=["name"], scale="none"))
    assert names(tmp_path) == ["points.csv"]


# ---------------------------------------- resuming


def test_an_interrupted_call_resumes(points, tmp_path):
    target, whole = tmp_path / "o.csv", tmp_path / "whole.csv"
    cluster(points, whole)
    for step in (STATISTICS, SKETCH, LABELS):
        with pytest.raises(PipelineInterrupted, match=f"of the pass '{step}'") as caught:
            cluster(points, target, progress=At(step, 5, interrupt))
        assert caught.value.resumable
        assert not target.exists()
    with pytest.raises(ResumeMismatch, match=r"bandwidth was 0\.4 and is now 0\.5"):
        cluster(points, target, MeanShift(bandwidth=0.5))
    notes = []
    cluster(points, target, notify=notes.append)
    assert any("resumed" in note.text and LABELS in note.text for note in notes)
    assert target.read_bytes() == whole.read_bytes()
    assert names(tmp_path) == ["o.csv", "points.csv", "whole.csv"]


def test_the_report_of_a_resumed_run_is_that_of_a_whole_one(points, tmp_path):
    """The soak of commands found a note about resuming in it."""

    def outputs(name):
        return Outputs(str(tmp_path / f"{name}.csv"), report=str(tmp_path / f"{name}.html"))

    whole = cluster(points, outputs=outputs("a"))
    with pytest.raises(PipelineInterrupted):
        cluster(points, outputs=outputs("b"), progress=At(LABELS, 2, interrupt))
    resumed = cluster(points, outputs=outputs("b"))
    assert resumed.notes == whole.notes
    a, b = ((tmp_path / f"{name}.html").read_text() for name in "ab")
    assert b == a.replace("a.html", "b.html").replace("a.csv", "b.csv")


def test_a_changed_file_is_not_resumed(points, tmp_path):
    with pytest.raises(PipelineInterrupted):
        cluster(points, tmp_path / "o.csv", progress=At(LABELS, 5, interrupt))
    points.write_text(text_of(X[::-1]))
    with pytest.raises(ResumeMismatch, match="has changed since"):
        cluster(points, tmp_path / "o.csv")
    notes = []
    cluster(points, tmp_path / "o.csv", resume=False, notify=notes.append)
    assert not any("resumed" in note.text for note in notes)
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 1001


KILLED = """
    import os, signal, sys
    from modeseek.estimators import MeanShift
    from modeseek.pipeline import chunked
    from pipelines import cluster, with_sketch

    # loaded here once, not by each child
    with_sketch(MeanShift(bandwidth=1.0, sketch="grid")).partial_fit([[0.0, 0.0]] * 500)
    moments = [int(each) for each in sys.argv[1].split(",")]
    events = 0

    def count(*arguments):
        global events
        events += 1
        if events == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    def watched(call):
        def counted(*arguments, **named):
            result = call(*arguments, **named)
            count()
            return result
        return counted

    def ending(write):
        def counted(*arguments, **named):
            global events
            events = 1000
            write(*arguments, **named)
        return counted

    for name in ("replace", "unlink", "fsync", "chmod", "rmdir"):
        setattr(os, name, watched(getattr(os, name)))
    chunked.write_extras = ending(chunked.write_extras)
    for moment in [*moments, -1]:
        child = os.fork()
        if not child:
            cluster(sys.argv[2], sys.argv[3], progress=count)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        print(moment, os.waitstatus_to_exitcode(status), flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills by POSIX signals")
@pytest.mark.parametrize(("suffix", "moments"), [("csv", [1, 3, 7, 40, 17, 25, 11, 9]), ("parquet", [60, 45, 30])])
def test_killed_at_many_moments(points, tmp_path, suffix, moments):
    """Killed at chunks and between the steps of saving a state: the same bytes in the end."""
    target, whole = tmp_path / f"o.{suffix}", tmp_path / f"whole.{suffix}"
    points.write_text(text_of(X[:700]))
    cluster(points, whole)
    target.touch()
    # moments above 1,000 are while the output is put in place
    moments = [*moments, *range(1001, 1007)]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), ",".join(map(str, moments)), str(points), str(target)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    ends = [int(line.split()[1]) for line in done.stdout.splitlines()]
    assert ends[-1] == 0, done.stderr
    assert ends[:-1] == [-signal.SIGKILL] * len(moments), (ends, done.stderr)
    assert target.read_bytes() == whole.read_bytes()
    assert sorted(names(tmp_path)) == sorted([target.name, "points.csv", whole.name])


def test_memory_does_not_grow_with_the_file(tmp_path):
    """Ten times as many rows need at most a tenth more memory."""
    import tracemalloc

    config, peaks = replace(SMALL, chunk_bytes=1 << 18), []
    for times in (1, 1, 10):  # the first run loads compiled code
        np.save(tmp_path / "d.npy", np.tile(X, (20 * times, 1)))
        tracemalloc.start()
        cluster(tmp_path / "d.npy", tmp_path / "o.npy", data=WHOLE, config=config)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.1 * peaks[1]


def test_a_grid_counts_rows_without_a_pass_for_labels(points):
    seen = set()
    result = cluster(points, estimator=mean_shift().set_params(sketch="grid"), progress=lambda s: seen.add(s.name))
    assert LABELS not in seen
    assert result.clusters.sizes.tolist() == [250] * 4


def test_text_after_the_first_chunk_in_a_column_that_is_named(tmp_path):
    """This ended with an AssertionError."""
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "".join(f"{i}.5,{i * i}.5\n" for i in range(500)) + "1,oops\n")
    with pytest.raises(TextColumnError, match=r"column 'b' is not numeric: a row after row \d+ has text") as caught:
        cluster_file(
            path,
            ModeSeek(random_state=0),
            DataOptions(columns=("a", "b")),
            out_of_core=True,
            config=PipelineConfig(chunk_bytes=1000),
        )
    assert caught.value.words == ("oops",)
    assert 0 < caught.value.row < 500
