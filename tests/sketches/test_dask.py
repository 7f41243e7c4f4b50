"""Dask: labels are those of a fit in memory, bit for bit, for any chunks and after failures."""

import json
import os
import pickle
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import modeseek
from commands import refused, run
from modeseek.sketches import DaskError, DaskRows, SketchConfig, is_dask
from pipelines import with_sketch
from waiting import PATIENCE

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

N = 70_000


def blobs(n=N, d=2, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) + 8 * rng.integers(0, 3, (n, 1))).astype(dtype)


def model(**changes):
    given = {"h_min": 0.8, "h_inf": 1.5, "h_max": 3.0, "resolution": 0.25, "random_state": 0}
    return modeseek.DoublyStochasticMeanShift(**{**given, **changes})


def frame(rows, parts):
    return dd.from_pandas(pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])]), npartitions=parts)


@pytest.fixture(scope="module")
def in_memory():
    """Labels of fits in memory, by dtype; the expected results."""
    return {dtype: model().fit(blobs(dtype=dtype)).labels_ for dtype in (np.float64, np.float32)}


@pytest.mark.parametrize(
    ("cut", "dtype"),
    [
        (1, np.float64),
        (7, np.float64),
        (100, np.float64),
        ("frame", np.float64),
        (7, np.float32),
        ("frame", np.float32),
    ],
)
def test_labels_do_not_depend_on_the_chunks(in_memory, cut, dtype):
    rows = blobs(dtype=dtype)
    X = frame(rows, 7) if cut == "frame" else da.from_array(rows, chunks=(-(-N // cut), 1))
    fitted = model().fit(X)
    assert isinstance(fitted.labels_, da.Array)
    if cut != "frame":
        assert fitted.labels_.chunks == X.chunks[:1]
    labels = fitted.labels_.compute()
    assert labels.dtype == in_memory[dtype].dtype
    np.testing.assert_array_equal(labels, in_memory[dtype])
    np.testing.assert_array_equal(fitted.predict(X[:] if cut != "frame" else X).compute(), labels)
    assert "points_" not in vars(fitted)


def test_chunks_of_any_size_and_empty_ones(in_memory):
    """The first rows, which set the grid, may lie in any number of partitions."""
    cuts = [0, 1, 3, 1000, 30_000, 66_000, N]
    X = da.concatenate([da.from_array(blobs()[a:b], chunks=-1) for a, b in pairwise(cuts)])
    np.testing.assert_array_equal(model().fit_predict(X).compute(), in_memory[np.float64])
    none = frame(blobs(100), 2)
    frames = dd.concat([none[none.x0 > 100], frame(blobs()[:40_000], 3), frame(blobs()[40_000:], 2)])
    fitted = model().fit(frames)
    np.testing.assert_array_equal(fitted.labels_.compute(), in_memory[np.float64])
    assert fitted.feature_names_in_.tolist() == ["x0", "x1"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: modeseek.MeanShift(1.5, sketch="grid"),
        lambda: modeseek.BlurringMeanShift(1.5, resolution=0.25),
        lambda: modeseek.StochasticMeanShift(1.5, resolution=0.25, random_state=1, n_chains=3),
        lambda: model(metric="cosine", h_min=0.1, h_inf=0.2, h_max=0.3),
        lambda: with_sketch(modeseek.ModeSeek(sketch="sample", random_state=0), SketchConfig(sample_rows=1000)),
    ],
)
def test_every_estimator(make):
    rows = blobs(60_000, seed=3)
    known, found = make().fit(rows), make().fit(da.from_array(rows, chunks=(17_000, 2)))
    np.testing.assert_array_equal(found.labels_.compute(), known.labels_)
    np.testing.assert_array_equal(found.cluster_centers_, known.cluster_centers_)
    if hasattr(known, "confidence_"):
        np.testing.assert_array_equal(found.confidence_.compute(), known.confidence_)


@pytest.mark.parametrize("d", [2, 9])
def test_few_rows_are_fitted_as_in_memory(d):
    rows = blobs(900, d)
    for X in (da.from_array(rows, chunks=(100, 1)), frame(rows, 4)):
        known, found = model(h_max=8.0).fit(rows), model(h_max=8.0).fit(X)
        np.testing.assert_array_equal(found.labels_.compute(), known.labels_)
        assert not hasattr(found, "sketch_")


def test_many_dimensions_are_sampled():
    rows, config = blobs(60_000, 9), SketchConfig(sample_rows=1000)
    known, found = (
        with_sketch(model(h_min=4.0, h_inf=5.0, h_max=8.0), config).fit(X)
        for X in (rows, da.from_array(rows, chunks=(9000, 9)))
    )
    np.testing.assert_array_equal(found.labels_.compute(), known.labels_)


def test_weights():
    """Integer weights and zeros as in memory; all first rows may have weight 0."""
    rows, weights = blobs(), np.random.default_rng(5).integers(0, 3, N).astype(float)
    weights[:30_000] = 0.0
    known = model().fit(rows, sample_weight=weights)
    X = da.from_array(rows, chunks=(9999, 2))
    for given in (weights, da.from_array(weights, chunks=20_000)):
        found = model().fit(X, sample_weight=given)
        np.testing.assert_array_equal(found.labels_.compute(), known.labels_)
    table = frame(np.column_stack([rows, weights]), 5)
    found = model().fit(table[["x0", "x1"]], sample_weight=table["x2"])
    np.testing.assert_array_equal(found.labels_.compute(), known.labels_)
    with pytest.raises(ValueError, match="zero for every row"):
        model().fit(X, sample_weight=0 * weights)
    with pytest.raises(ValueError, match=r"partition 1.*negative"):
        model().fit(X, sample_weight=np.where(np.arange(N) == 10_000, -1.0, 1.0))
    with pytest.raises(ValueError, match="one weight for each row"):
        model().fit(X, sample_weight=weights[1:])


def test_the_table_computes_no_labels():
    """Cluster sizes come from the sketch, so that showing a fit does not compute its labels."""
    rows = blobs()
    fitted = model().fit(da.from_array(rows, chunks=(9000, 2)))
    sizes = np.bincount(fitted.labels_.compute())
    fitted.labels_ = fitted.labels_.map_blocks(_refuse, dtype=int, meta=np.empty(0, int))
    assert fitted.summary()["size"].tolist() == sizes.tolist()
    assert f"{N:,} rows" in fitted._result_html()


def _refuse(*args, **more):
    raise AssertionError("this was to be done elsewhere, or not at all")


def bad(row, column, value, n=60_000):
    rows = blobs(n)
    rows[row, column] = value
    return rows


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (da.from_array(bad(55_001, 1, np.nan), chunks=(10_000, 2)), r"NaN: row 5,001 of partition 5.*55,001.*column 1"),
        (da.from_array(bad(3, 0, np.inf), chunks=(10_000, 2)), r"infinity: row 3 of partition 0"),
        (frame(bad(59_999, 1, np.nan), 3), r"NaN: row 19,999 of partition 2, column 'x1'"),
        (da.zeros(100, chunks=10), "Expected 2D array, got 1D"),
        (da.zeros((100, 2), chunks=10, dtype=complex), "real numbers"),
        (da.zeros((0, 2), chunks=10), "0 sample"),
        (dd.from_pandas(pd.DataFrame({"a": [1.0], "b": ["x"]}), npartitions=1), "only numbers: column 'b'"),
    ],
)
def test_invalid_data_are_rejected(X, message):
    with pytest.raises(ValueError, match=message):
        model().fit(X)


def test_unsupported_options_are_rejected():
    X = da.from_array(blobs(60_000), chunks=(10_000, 2))
    with pytest.raises(ValueError, match="local_scale"):
        model(local_scale=True).fit(X)
    with pytest.raises(TypeError, match=r"dask\.array or a dask\.dataframe"):
        model().fit(dask.delayed(np.zeros)((3, 2)))
    with pytest.warns(modeseek._common.hints.AdviceWarning, match="sketch=None"):
        modeseek.MeanShift(1.5).fit(X)
    with pytest.raises(ValueError, match="feature names"):
        model().fit(frame(blobs(500), 2)).predict(frame(blobs(500), 2).rename(columns={"x0": "other"}))
    with pytest.raises(ValueError, match="features"):
        model().fit(da.from_array(blobs(500))).predict(da.zeros((10, 3)))
    with pytest.raises(TypeError, match=r"fit\(X\)"):
        model().partial_fit(X)


def test_only_the_first_rows_are_loaded():
    """Two of 40 partitions are read for the layout, and none for the labels."""
    read = []
    X = da.from_array(blobs(400_000), chunks=(40_000, 2)).map_blocks(_counted, read, dtype=float)
    assert len(DaskRows.of(X).first().rows) <= 2 * 65_536
    assert len(read) <= 3 + 1  # one more for what Dask asks of an empty block


def _counted(block, read):
    read.append(len(block))
    return block


def test_the_labeler_is_small():
    """Workers receive the cells and their labels, not the rows or the estimator."""
    fitted = model().fit(da.from_array(blobs(200_000), chunks=(50_000, 2)))
    sent = [task for key, task in dict(fitted.labels_.dask).items() if "labeler" in str(key)]
    assert 0 < sum(len(pickle.dumps(task)) for task in sent) < 40 * len(fitted.sketch_.points) + 10_000


def test_is_dask_without_dask():
    assert is_dask(da.zeros(3))
    assert not any(is_dask(each) for each in (np.zeros(3), [1], pd.DataFrame()))


@contextmanager
def workers(n):
    """Processes of one thread each, and their client."""
    from distributed import Client, LocalCluster

    quick = {"distributed.comm.timeouts.connect": "3s", "distributed.nanny.pre-spawn-environ.OMP_NUM_THREADS": 1}
    with (
        dask.config.set(quick),
        LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        yield cluster, client


@pytest.fixture(scope="module")
def cluster():
    """Two workers, shared by all tests; a killed worker is replaced."""
    with workers(2) as both:
        yield both


class Signal:
    """A file that tasks create when they start, and that the test waits for."""

    def __init__(self, path):
        self.path = str(path)

    def __call__(self, block):
        if len(block) > 1:  # Dask tries it on an empty one
            open(self.path, "w").close()
            time.sleep(0.05)
        return block

    def then(self, act):
        def wait():
            end = time.monotonic() + PATIENCE
            while not os.path.exists(self.path) and time.monotonic() < end:
                time.sleep(0.01)
            act()

        thread = threading.Thread(target=wait)
        thread.start()
        return thread


def slow_rows(tmp_path):
    """Rows whose partitions take a while, and the file that shows that workers have started."""
    sign = Signal(tmp_path / "begun")
    first, rest = da.from_array(blobs()[:66_000], chunks=-1), da.from_array(blobs()[66_000:], chunks=(400, 2))
    return da.concatenate([first, rest.map_blocks(sign, dtype=float)]), sign


@pytest.mark.slow
def test_a_killed_worker_does_not_change_the_result(in_memory, cluster, tmp_path):
    cluster, client = cluster
    X, sign = slow_rows(tmp_path)
    one = next(iter(client.run(os.getpid).values()))
    thread = sign.then(lambda: os.kill(one, signal.SIGKILL))
    labels = model().fit(X).labels_
    thread.join()
    np.testing.assert_array_equal(labels.compute(), in_memory[np.float64])
    # and while labels are made
    two = next(iter(client.run(os.getpid).values()))
    os.unlink(sign.path)
    thread = sign.then(lambda: os.kill(two, signal.SIGKILL))
    np.testing.assert_array_equal(labels.compute(), in_memory[np.float64])
    thread.join()


@pytest.mark.slow
def test_a_lost_scheduler_raises_a_dask_error(tmp_path):
    X, sign = slow_rows(tmp_path)
    fitted = model().fit(blobs(500))
    labels = fitted.labels_
    with workers(1) as (cluster, _):
        thread = sign.then(lambda: cluster.sync(cluster.scheduler.close))
        with pytest.raises(DaskError, match=r"scheduler stopped.*Start it again.*call fit again"):
            fitted.fit(X)
        thread.join()
    assert fitted.labels_ is labels  # what was there is there


def test_chains_on_workers(cluster, monkeypatch):
    import joblib

    rows = blobs(400)
    known = model(n_chains=4).fit(rows)
    monkeypatch.setattr("modeseek.meanshift.ensemble.run", _refuse)  # here; workers have their own
    for X in (rows, da.from_array(rows, chunks=(100, 2))):
        with joblib.parallel_config("dask"):
            found = model(n_chains=4).fit(X)
        np.testing.assert_array_equal(found.chain_labels_, known.chain_labels_)
        np.testing.assert_array_equal(np.asarray(found.confidence_), known.confidence_)
        assert found.outcome_ is known.outcome_
        assert found.n_updates_ == known.n_updates_


def test_the_command(cluster, tmp_path):
    """Parquet and CSV files give the labels of a run in memory."""
    from distributed import LocalCluster

    table = pd.DataFrame(blobs(900) * [1.0, 5.0], columns=["a", "b"])
    table.to_parquet(tmp_path / "all.parquet")
    table.to_csv(tmp_path / "all.csv", index=False)
    for number, rows in enumerate(np.array_split(np.arange(900), 3)):
        table.iloc[rows].to_parquet(tmp_path / f"part{number}.parquet")
    options = ["--algorithm", "bms", "--bandwidth", "0.5", "-q"]
    status, *_ = run("cluster", tmp_path / "all.parquet", *options, "-o", tmp_path / "known.parquet")
    known = pd.read_parquet(tmp_path / "known.parquet")
    away = [*options, "--scheduler", cluster[1].scheduler.address]
    # a user's folder: it was filled and became the result
    (tmp_path / "one.parquet.part").mkdir()
    (tmp_path / "one.parquet.part" / "thesis.txt").touch()
    for name, files in {
        "one": ["all.parquet"],
        "text": ["all.csv"],
        "more": [f"part{i}.parquet" for i in range(3)],
    }.items():
        target, record = tmp_path / f"{name}.parquet", tmp_path / f"{name}.json"
        status, _, err = run("cluster", *(tmp_path / file for file in files), *away, "-o", target, "--json", record)
        assert status == 0, err
        pd.testing.assert_frame_equal(pd.read_parquet(target).reset_index(drop=True), known)
        sizes = [each["size"] for each in json.loads(record.read_text())["clusters"]]
        assert sizes == np.bincount(known.cluster).tolist()
        assert all(path.suffix == ".parquet" for path in target.iterdir())
    assert [path.name for path in tmp_path.glob("*.part")] == ["one.parquet.part"]
    assert (tmp_path / "one.parquet.part" / "thesis.txt").exists()
    with LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        refused("has no workers", "cluster", tmp_path / "all.parquet", "--scheduler", empty.scheduler_address)


def test_experiments_of_the_paper_run_on_workers(cluster, monkeypatch):
    import joblib

    from modeseek.paper.job_list import JobList, run_jobs
    from modeseek.paper.paper import choose

    experiment = choose(["gradient"], quick=True)[0]
    known, found = JobList([experiment], 1, 0), JobList([experiment], 1, 0)
    run_jobs(known)
    monkeypatch.setattr(type(experiment), "work", _refuse)
    with joblib.parallel_config("dask"):
        run_jobs(found)
    assert found.rows(experiment).csv() == known.rows(experiment).csv()


def test_no_scheduler(tmp_path, monkeypatch):
    from modeseek.pipeline import PipelineConfig, SchedulerError, cluster_file
    from modeseek.pipeline.dask import connect

    rows, address = tmp_path / "rows.parquet", "tcp://127.0.0.1:9"
    pd.DataFrame({"a": [1.0, 2.0]}).to_parquet(rows)
    with pytest.raises(SchedulerError, match="start one with 'dask scheduler'"):
        cluster_file(rows, model(), scheduler=address, config=PipelineConfig(scheduler_timeout=0.5))
    monkeypatch.setattr("modeseek.cli.paper.connect", partial(connect, timeout=0.5))
    refused("dask scheduler", "paper", "gradient", "--quick", "-o", tmp_path / "paper", "--scheduler", address)
    refused("--plot needs the rows", "cluster", rows, "--scheduler", address, "--plot", tmp_path / "p.png")
    np.save(tmp_path / "rows.npy", np.ones((2, 1)))
    refused("Parquet or CSV", "cluster", tmp_path / "rows.npy", "--scheduler", address)
