"""Limits: memory is checked before it is allocated, and time limits end a run."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, StochasticMeanShift
from modeseek._common import resources
from modeseek._common.distances import pairs_within
from modeseek._common.resources import (
    MemoryFiles,
    NotEnoughMemory,
    TimeUp,
    check_memory,
    check_time,
    limit_memory,
    limit_time,
)
from modeseek.meanshift.bandwidth import Walk
from modeseek.meanshift.chains import Stopping, make_problem, run, stochastic
from modeseek.meanshift.consensus import consensus
from modeseek.meanshift.theory import submartingale

RNG = np.random.default_rng(0)


def rows(n: int, d: int, dtype: type = np.float64) -> np.ndarray:
    return (RNG.normal(size=(n, d)) + 4 * RNG.integers(0, 5, size=(n, 1))).astype(dtype)


# -- how much there is ------------------------------------------------------------------------------------------------


def machine(folder, files: dict[str, str]):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


FREE = {"proc/meminfo": "MemTotal: 64000 kB\nMemAvailable:   32000 kB\n"}
GROUP2 = {
    "proc/self/cgroup": "0::/user/job\n",
    "sys/fs/cgroup/user/memory.max": "20000000\n",
    "sys/fs/cgroup/user/memory.current": "9000000\n",
    "sys/fs/cgroup/user/memory.stat": "anon 4000000\ninactive_file 4000000\n",
    "sys/fs/cgroup/user/job/memory.max": "max\n",
    "sys/fs/cgroup/user/job/memory.current": "9000000\n",
}
GROUP1 = {
    "proc/self/cgroup": "12:memory:/docker/abc\n3:cpu:/\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "8000000\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "7000000\n",
    "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 500000\n",
}


@pytest.mark.parametrize(
    ("files", "room"),
    [
        (FREE, 32000 * 1024),
        (FREE | GROUP2, 20_000_000 - 5_000_000),
        (FREE | GROUP1, 8_000_000 - 6_500_000),
        (FREE | {"proc/self/cgroup": "nonsense\n0::/gone\n\n"}, 32000 * 1024),
        (FREE | GROUP1 | {"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 32000 * 1024),
    ],
    ids=["machine", "group 2", "group 1", "none", "no limit"],
)
def test_the_smallest_memory_limit_counts(files, room, tmp_path):
    assert MemoryFiles(machine(tmp_path, files)).available() == room


def test_a_limit_on_address_space_counts(monkeypatch, tmp_path):
    resource = pytest.importorskip("resource")
    files = MemoryFiles(machine(tmp_path, FREE | {"proc/self/statm": "1000 5 5\n"}))
    monkeypatch.setattr(resource, "getrlimit", lambda which: (10_000_000, 10_000_000))
    assert files.available() == 10_000_000 - 1000 * resources.os.sysconf("SC_PAGE_SIZE")


def test_without_a_known_limit_nothing_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(resources.os, "sysconf_names", {})
    monkeypatch.setattr(resources.os, "sysconf", lambda name: (_ for _ in ()).throw(ValueError))
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert MemoryFiles(tmp_path).available() == math.inf


def test_a_limit_on_memory_is_positive_or_infinite():
    with limit_memory(math.inf):
        check_memory(1e18, "it", "Do something else.")
    with pytest.raises(ValueError, match="n_bytes"), limit_memory(0):
        pass


def test_the_command_reports_missing_memory(tmp_path):
    from typer.testing import CliRunner

    from modeseek.cli import app

    np.savetxt(tmp_path / "a.csv", rows(300, 2), delimiter=",")
    with limit_memory(1e5):
        result = CliRunner().invoke(app, ["cluster", str(tmp_path / "a.csv")])
    assert result.exit_code == 2
    assert "ModeSeek of 300 rows in 2 dimensions needs about" in result.stderr


# -- squares ----------------------------------------------------------------------------------------------------------


def memberships():
    model = DoublyStochasticMeanShift(0.5, 1.0, 0.7, n_chains=2, random_state=0, max_updates=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows(300, 2))
    return lambda: model.memberships_


def squares():
    from modeseek.diarization.average_linkage import linkage_partitions
    from modeseek.estimators.matching import matched_labels

    X = rows(300, 2)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    each = np.arange(300)
    agreed = consensus(each[None])
    return {
        "memberships": memberships(),
        "consensus": lambda: agreed.memberships,
        "pairs": lambda: pairs_within(rows(5001, 2), 100.0),
        "pairs in many dimensions": lambda: pairs_within(rows(300, 20), 100.0),
        "submartingale": lambda: submartingale(X, Walk(0.5, 1.0), n_draws=4),
        "linkage": lambda: linkage_partitions(unit),
        "matching": lambda: matched_labels(each, each),
    }


@pytest.mark.parametrize("name", list(squares()))
def test_distance_matrices_are_refused_before_allocation(name):
    with limit_memory(1e5), pytest.raises(NotEnoughMemory):
        squares()[name]()


def test_pictures_of_pairs_have_a_limit():
    from matplotlib.figure import Figure

    from modeseek.plots import plot_coassociation, plot_comparison

    each = np.arange(4001)
    with pytest.raises(ValueError, match="4,001 clusters, but the plot can show at most 4,000"):
        plot_coassociation(each[None], labels=each, ax=Figure().subplots())
    with limit_memory(1e5), pytest.raises(NotEnoughMemory):
        plot_comparison(each, each)


# -- time -------------------------------------------------------------------------------------------------------------


def test_a_time_limit_applies_to_its_thread_only():
    with limit_time(1e-9):
        with pytest.raises(TimeUp):
            check_time()
        with limit_time(1e9), pytest.raises(TimeUp):  # an outer limit stays in force
            check_time()
    check_time()
    with limit_time(None):
        check_time()


CLOCKED = {
    **{
        f"S {engine}": StochasticMeanShift(0.6, random_state=0, engine=engine) for engine in ("brute", "neighbor_lists")
    },
    **{
        f"B {engine}": BlurringMeanShift(0.6, engine=engine)
        for engine in ("brute", "moment_tree", "neighbor_lists", "reference")
    },
    "S reference": StochasticMeanShift(0.6, random_state=0, engine="reference"),
    "S moments": StochasticMeanShift(0.6, random_state=0, engine="moment_tree"),
    "S batch": StochasticMeanShift(0.6, random_state=0, batch_size=7),
    "D": DoublyStochasticMeanShift(0.3, 1.6, 0.6, random_state=0),
    "D threads": DoublyStochasticMeanShift(0.3, 1.6, 0.6, random_state=0, n_chains=3, n_jobs=2),
    "B threads": BlurringMeanShift(0.6, engine="brute", n_jobs=2),
}


@pytest.mark.parametrize("name", CLOCKED)
def test_a_time_limit_ends_a_sweep(name, monkeypatch):
    """The clock of the engines jumps by a year in the first sweep, so that no sweep is completed."""
    ticks = itertools.count()
    monkeypatch.setattr(resources, "perf_counter", lambda: 3e7 * next(ticks))
    model = type(CLOCKED[name])(**CLOCKED[name].get_params()).set_params(max_time=3600.0)
    with pytest.warns(ConvergenceWarning, match="limit on time"):
        model.fit(rows(300, 2))
    assert model.outcome_.name == "TIME_LIMIT"
    assert model.n_updates_ == 0
    assert len(model.labels_) == 300


def test_an_incomplete_sweep_is_dropped(monkeypatch):
    """The result equals that of a run with the same number of complete sweeps, and a run can continue from it."""
    X = rows(200, 2)
    made = lambda: stochastic(make_problem(X, engine="brute"), 0.6, seed=0)  # noqa: E731
    seen, ticks = [0], itertools.count()
    monkeypatch.setattr(resources, "perf_counter", lambda: 3e7 * next(ticks) if seen[0] == 3 else 0.0)

    def count(state, info):
        seen[0] += 1

    cut = run(made(), Stopping(tau=0.1, max_time=3600.0), callbacks=[count])
    whole = run(made(), Stopping(tau=0.1, max_sweeps=3))
    assert (cut.outcome.name, cut.sweeps) == ("TIME_LIMIT", 3)
    assert (cut.state.points == whole.state.points).all()
    assert cut.state.k == whole.state.k == 600


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_generous_time_limit_changes_nothing():
    X = rows(100, 2)
    for model in CLOCKED.values():
        free = type(model)(**model.get_params()).fit(X)
        limited = type(model)(**model.get_params()).set_params(max_time=1e6).fit(X)
        assert (free.points_ == limited.points_).all()
        assert free.n_updates_ == limited.n_updates_
