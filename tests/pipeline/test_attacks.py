"""Inputs that change, disks that are full, outputs that collide: nothing wrong is written, and no state is lost."""

import os
from dataclasses import replace
from errno import ENOSPC

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modeseek import ModeSeek
from modeseek._storage import atomic
from modeseek._storage.errors import DataError, SourceChangedError, WriteError
from modeseek._storage.formats import delimited
from modeseek.pipeline import (
    DataOptions,
    OptionError,
    OutputConflict,
    Outputs,
    ResumeMismatch,
    cluster_file,
    label_file,
)
from modeseek.pipeline.resume import LABELS, SKETCH, STATISTICS
from pipelines import At, X, cluster, mean_shift, names, text_of
from pipelines import points as points

PASSES = (STATISTICS, SKETCH, LABELS)


# ---------------------------------------- inputs that change during a run


@pytest.mark.parametrize("suffix", ["csv", "npy", "parquet"])
@pytest.mark.parametrize("step", PASSES)
def test_a_text_that_grows_is_detected(step, suffix, points, tmp_path):
    """Rows that were never in the sketch were labelled, and written behind the end of an NPY file, with status 0."""
    before = points.read_text()

    def grow():
        with points.open("a") as file:
            file.write(("0.5,0.5\n" if suffix == "npy" else "p,0.5,0.5\n") * 50)

    data = DataOptions(columns=["width", "height"])
    if suffix == "npy":
        points.write_text("\n".join(line.partition(",")[2] for line in before.splitlines()) + "\n")
    target = tmp_path / f"o.{suffix}"
    with pytest.raises(match=r"points\.csv' has changed"):
        cluster(points, target, data=data, progress=At(step, 5, grow))
    assert not target.exists()
    # the state is kept, and not used for the changed file
    with pytest.raises(ResumeMismatch, match="has changed since"):
        cluster(points, target, data=data)
    cluster(points, target, data=data, resume=False)
    assert target.exists()


@pytest.mark.parametrize("step", [SKETCH, LABELS])
def test_other_numbers_of_the_same_size_and_time_are_detected(step, tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, X)

    def change():
        stat = path.stat()
        rows = np.lib.format.open_memmap(path, "r+")
        rows[-1] += 1.0
        rows.flush()
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    with pytest.raises(SourceChangedError):
        cluster(path, tmp_path / "o.csv", data=DataOptions(), progress=At(step, 1, change))
    assert not (tmp_path / "o.csv").exists()


def test_a_change_of_a_second_file_is_detected(points, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(text_of(X[:300]))
    with pytest.raises(match=r"other\.csv"):
        cluster([points, other], tmp_path / "o.csv", progress=At(LABELS, 1, lambda: other.write_text(text_of(X[:200]))))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_named_pipe_is_refused_in_chunks(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match="not a regular file"):
        cluster(tmp_path / "pipe.csv", tmp_path / "o.csv")


# ---------------------------------------- a full disk


@pytest.mark.parametrize("step", PASSES)
def test_a_full_disk_keeps_the_last_state(step, points, tmp_path, monkeypatch):
    """A state that could not be saved removed all earlier ones."""
    whole, target = tmp_path / "whole.csv", tmp_path / "o.csv"
    cluster(points, whole)

    def full(*arguments):
        raise OSError(ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(WriteError, match="No space left on device"):
        cluster(points, target, progress=At(step, 8, lambda: patch.setattr(atomic.os, "fsync", full)))
    notes = []
    cluster(points, target, notify=notes.append)
    assert any("resumed" in note.text and step in note.text for note in notes)
    assert target.read_bytes() == whole.read_bytes()
    assert names(tmp_path) == ["o.csv", "points.csv", "whole.csv"]


def test_a_full_disk_while_rows_are_written(points, tmp_path, monkeypatch):
    whole, target = tmp_path / "whole.csv", tmp_path / "o.csv"
    cluster(points, whole)

    def full(*arguments):
        raise OSError(ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(delimited, "write_rows", full)
        with pytest.raises(WriteError, match="No space left on device"):
            cluster(points, target)
    assert not target.exists()
    cluster(points, target)
    assert target.read_bytes() == whole.read_bytes()


def test_memory_that_does_not_suffice_for_a_thread(points, tmp_path, monkeypatch):
    """Arrow could not start a thread to read what the run itself had written, and a traceback was printed."""
    target = tmp_path / "o.csv"

    def no_thread(*arguments, use_threads=True, **options):
        raise pa.ArrowException("Unknown error: Failed to launch worker thread")

    with monkeypatch.context() as patch:
        patch.setattr("pyarrow.feather.read_table", no_thread)
        with pytest.raises(DataError, match="Failed to launch"):
            cluster(points, target)
    assert not target.exists()
    cluster(points, target)
    assert target.exists()


# ---------------------------------------- outputs that collide


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (Outputs("{0}/o.csv", model="{0}/o.csv.modeseek"), "is both model and the folder"),
        (Outputs("{0}/o.csv.modeseek/../o.csv", model="{0}/o.csv.modeseek"), "is both model and the folder"),
        (Outputs("{0}/points.csv"), "is both rows and an input file"),
        (Outputs("{0}/link.csv"), "is both rows and an input file"),
        (Outputs("{0}/hard.csv"), "is both rows and an input file"),
        (Outputs("-", json="-"), "standard output is both json and rows"),
        (Outputs("{0}/run.csv", json="{0}/r.json"), "is both rows and the checkpoint"),
    ],
)
def test_colliding_outputs_are_refused_before_the_work(outputs, message, points, tmp_path, monkeypatch):
    """`-o out.csv --save out.csv.modeseek` failed after all the work."""
    os.symlink(points, tmp_path / "link.csv")
    os.link(points, tmp_path / "hard.csv")
    (tmp_path / "o.csv.modeseek").mkdir()
    (tmp_path / "o.csv.modeseek").rmdir()
    monkeypatch.setattr("modeseek.pipeline.chunked.open_chunks", lambda *a, **k: pytest.fail("the work has begun"))
    filled = Outputs(
        *(each and each.format(tmp_path) for each in (outputs.rows, outputs.json)),
        model=outputs.model and outputs.model.format(tmp_path),
    )
    estimator = mean_shift().set_params(checkpoint=tmp_path / "run.csv")
    before = names(tmp_path)
    with pytest.raises((OutputConflict, ValueError), match=message):
        cluster_file(points, estimator, DataOptions(ignore=["name"]), filled, out_of_core=True)
    assert names(tmp_path) == before


@pytest.mark.parametrize("name", ["X", "columns"])
def test_labels_cannot_replace_the_rows_of_an_archive(name, points, tmp_path):
    """The array of labels took the place of the rows, with status 0."""
    np.save(tmp_path / "x.npy", X)
    outputs, target = Outputs(str(tmp_path / "o.npz"), model=str(tmp_path / "m.modeseek")), tmp_path / "o.npz"
    with pytest.raises(OptionError, match=f"must not be '{name}', which"):
        cluster_file(tmp_path / "x.npy", mean_shift(), outputs=replace(outputs, label_column=name))
    assert not target.exists()
    cluster_file(tmp_path / "x.npy", mean_shift(), outputs=outputs)
    target.unlink()
    with pytest.raises(OptionError, match=f"must not be '{name}', which"):
        label_file(tmp_path / "m.modeseek", tmp_path / "x.npy", target, label_column=name)
    assert not target.exists()


@pytest.mark.parametrize("taken", [(), ("confidence_confidence",), ("confidence", "c_confidence", "c_confidence_2")])
@pytest.mark.parametrize("out_of_core", [False, True])
def test_labels_and_confidence_never_share_a_name(taken, out_of_core, tmp_path):
    """With `label_column="confidence"` the labels were lost; a name that was taken was refused after the work."""
    label = "c" if "confidence" in taken else "confidence"
    columns = dict.fromkeys(taken, X[:, 0]) | {"a": X[:, 0], "b": X[:, 1]}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    outputs = Outputs(str(tmp_path / "o.parquet"), label_column=label)
    data = DataOptions(columns=["a", "b"])
    result = cluster_file(tmp_path / "x.parquet", ModeSeek(random_state=0), data, outputs, out_of_core=out_of_core)
    written = pq.read_table(tmp_path / "o.parquet")
    assert len(set(written.column_names)) == written.num_columns == len(columns) + 2
    counts = np.bincount(written.column(label).to_numpy(), minlength=result.fit.n_clusters)
    np.testing.assert_array_equal(counts, result.clusters.sizes)


@pytest.mark.parametrize("source", ["{}::part", "file://{}"])
def test_other_names_of_the_input_are_recognised(source, points):
    """Both were read, and then replaced by the output."""
    before = points.read_bytes()
    with pytest.raises(OutputConflict, match="is both rows and an input file"):
        cluster_file(source.format(points), mean_shift(), DataOptions(ignore=["name"]), Outputs(str(points)))
    assert points.read_bytes() == before


@pytest.mark.parametrize("letter", ["a", "é"])
def test_names_of_any_length_that_the_file_system_takes(letter, points, tmp_path):
    """The temporary name was too long, which was noticed after the work."""
    target = tmp_path / f"{letter * (251 // len(letter.encode()))}.csv"
    cluster_file(points, mean_shift(), DataOptions(ignore=["name"]), Outputs(str(target)))
    assert names(tmp_path) == sorted([target.name, "points.csv"])


def test_a_link_into_a_folder_that_does_not_exist(points, tmp_path):
    os.symlink(tmp_path / "gone" / "o.csv", tmp_path / "link.csv")
    with pytest.raises(DataError, match=r"there is no folder '.*gone'"):
        cluster_file(points, mean_shift(), DataOptions(ignore=["name"]), Outputs(str(tmp_path / "link.csv")))


def test_a_column_name_that_is_not_text_is_refused_before_the_work(points, tmp_path):
    with pytest.raises(OptionError, match="must be UTF-8 text"):
        cluster_file(points, mean_shift(), outputs=Outputs(str(tmp_path / "o.parquet"), label_column="\udcff"))
