"""Checkpoints: an interrupted run resumes bit for bit, or the file is refused with the reason."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
import warnings
from dataclasses import fields
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, StochasticMeanShift
from modeseek._common.hints import CheckpointWarning
from modeseek._storage.container import read_container, write_container
from modeseek._storage.errors import DataError
from modeseek.cli import app
from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import (
    Checkpoint,
    Outcome,
    Record,
    Stopping,
    blurring,
    doubly_stochastic,
    make_problem,
    mean_shift,
    run,
)
from modeseek.meanshift.chains.checkpoint import StoredRuns
from modeseek.meanshift.engines import ENGINES as ENGINES_BY_NAME
from modeseek.meanshift.ensemble import make_chains, run_chains

X, _ = paper_mixture(40, random_state=0)
RANGE = {"h_min": 0.2, "h_max": 1.6, "h_inf": 0.6}
EVERYTHING = Record(clumps=1, diameter=2, gap=3, objective=4, snapshots=1, limit=16)
ESTIMATORS = {
    "dsms": partial(DoublyStochasticMeanShift, **RANGE, random_state=0, record="all"),
    "sms": partial(StochasticMeanShift, 0.6, random_state=0, record="all"),
    "chains": partial(DoublyStochasticMeanShift, **RANGE, random_state=0, n_chains=3),
    "threads": partial(StochasticMeanShift, 0.6, random_state=0, n_chains=3, n_jobs=2),
    "batches": partial(StochasticMeanShift, 0.6, random_state=0, batch_size=7, order="reshuffled"),
    "local": partial(DoublyStochasticMeanShift, **RANGE, random_state=0, local_scale=True, metric="cosine"),
    "bms": partial(BlurringMeanShift, 0.6, record="all"),
    "ms": partial(MeanShift, 0.6, record="all", tol=1e-7),
}
resumed = pytest.mark.filterwarnings("ignore::modeseek._common.hints.CheckpointWarning")


class Cut:
    """Ctrl-C at the end of one sweep, counted over all chains."""

    def __init__(self, sweep):
        self.left = sweep

    def __call__(self, state, info):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def read(path):
    return read_container(path, "checkpoint", StoredRuns, "Run it again.")


def write(path, stored):
    write_container(path, "checkpoint", stored)


def fitted(make, path, data=X, **more):
    return make(checkpoint=path, checkpoint_every=0.0, **more).fit(data)


def same_trace(a, b):
    for field in fields(a):
        one, other = getattr(a, field.name), getattr(b, field.name)
        assert (one is None) == (other is None)
        if one is not None:
            assert_array_equal(one.k, other.k)
            assert_array_equal(one.values, other.values)


def same_fit(a, b):
    assert_array_equal(a.labels_, b.labels_)
    assert_array_equal(a.points_, b.points_)
    assert (a.n_updates_, a.outcome_) == (b.n_updates_, b.outcome_)
    same_trace(a.trace_, b.trace_)


def same_result(a, b):
    assert_array_equal(a.state.points, b.state.points)
    assert_array_equal(a.state.last_shift, b.state.last_shift)
    assert (a.state.h, a.state.k, a.sweeps, a.outcome) == (b.state.h, b.state.k, b.sweeps, b.outcome)
    same_trace(a.trace, b.trace)


@resumed
@pytest.mark.parametrize("name", ESTIMATORS)
def test_repeated_interruption_does_not_change_the_result(name, tmp_path):
    make = ESTIMATORS[name]
    whole = fitted(make, tmp_path / "whole.ckpt")
    cuts = 0
    for _ in range(200):
        try:
            parts = fitted(make, tmp_path / "run.ckpt", callbacks=[Cut(3 if cuts < 2 else 12)])
            break
        except KeyboardInterrupt:
            cuts += 1
    assert cuts >= 2
    same_fit(parts, whole)
    # a file of a run that is over holds its end: nothing is done again
    again = fitted(make, tmp_path / "run.ckpt", callbacks=[Cut(1)])
    same_fit(again, whole)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_checkpoint_does_not_change_results_of_engines_without_cache(name, tmp_path):
    plain = ESTIMATORS[name]().fit(X)
    assert plain.engine_ == "brute"
    same_fit(fitted(ESTIMATORS[name], tmp_path / "a"), plain)


def _spread(n, d):
    rng = np.random.default_rng(4)
    return rng.normal(size=(9, d))[rng.integers(0, 9, n)] + 0.25 * rng.normal(size=(n, d))


ENGINES = {
    "reference": (_spread(60, 2), 30),
    "brute": (_spread(200, 3), 30),
    "moment_tree": (_spread(600, 2), 30),
    "neighbor_lists": (_spread(300, 24), 30),
}


@pytest.mark.slow
@resumed
@pytest.mark.parametrize("batch_size", [1, 90])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_resumes_bit_for_bit(engine, batch_size, tmp_path):
    points, sweeps = ENGINES[engine]
    h = 0.3 * np.sqrt(points.shape[1])
    stopping = Stopping(0.01, rule="shifts", threshold=0.0, max_sweeps=sweeps)

    def chain():
        space = make_problem(points, engine=engine)
        return doubly_stochastic(space, Shrinking(h, 4 * h, 2 * h), seed=3, batch_size=batch_size)

    record = Record(snapshots=1, clumps=1, limit=16) if batch_size == 1 else None
    whole = run(chain(), stopping, record=record, checkpoint=Checkpoint(tmp_path / "whole", 0.0))
    for sweep in (2, 4) if engine == "reference" else (3, 10, 11):
        cut = run(chain(), stopping, record=record, checkpoint=Checkpoint(tmp_path / "a", 0.0), callbacks=[Cut(sweep)])
        assert cut.outcome is Outcome.INTERRUPTED
    same_result(run(chain(), stopping, record=record, checkpoint=Checkpoint(tmp_path / "a", 0.0)), whole)


@resumed
@pytest.mark.parametrize("engine", ["brute", "neighbor_lists"])
def test_climbers_on_nearly_coincident_points_resume_bit_for_bit(engine, tmp_path):
    """Few climbers were left at the interruption, and sums over merged points are rounded differently."""
    base = np.random.default_rng(0).normal(size=(40, 2))
    data = np.concatenate([base, base * (1 + 2.0**-52), base * (1 - 2.0**-52)])

    def climb(*callbacks):
        chain = mean_shift(make_problem(data, engine=engine), 0.9, tol=1e-4, queries=base)
        return run(chain, Stopping(0.2), checkpoint=Checkpoint(tmp_path / "a", 0.0), callbacks=callbacks)

    whole = climb()
    (tmp_path / "a").unlink()
    climb(Cut(30))
    same_result(climb(), whole)


def test_engines_are_opened_on_the_initial_state(monkeypatch):
    """`cuda` sorts points by the state on which it is opened, and the order of a sum changes its rounding."""
    opened, brute = [], type(ENGINES_BY_NAME["brute"])
    plain = brute.open
    monkeypatch.setattr(brute, "open", lambda self, points, *rest: opened.append(points) or plain(self, points, *rest))
    space = make_problem(X, engine="brute")
    for chain in (doubly_stochastic(space, Shrinking(**RANGE), seed=0), blurring(space, 0.6)):
        chain.sweep(chain.init()._replace(points=X + 1.0))
    assert len(opened) == 2
    assert all(points is space.points for points in opened)


def in_child(work):
    """Fork a process that does some work, and return it; its exit status is 0 if the work succeeded."""

    def guarded():
        try:
            work()
        except BaseException:
            os._exit(3)
        os._exit(0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        process = get_context("fork").Process(target=guarded)
        process.start()
    return process


def _fit_in_child(path):
    warnings.simplefilter("ignore")
    fitted(ESTIMATORS["dsms"], path, tol=0.0, tau=1e-14, max_updates=60 * len(X))


@pytest.mark.slow
@resumed
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_killed_at_twenty_random_moments(tmp_path):
    make = partial(ESTIMATORS["dsms"], tol=0.0, tau=1e-14, max_updates=60 * len(X))
    whole, path = fitted(make, tmp_path / "whole.ckpt"), tmp_path / "run.ckpt"
    rng, kills, reached, window = np.random.default_rng(), 0, [], 0.08
    for _ in range(200):
        process = in_child(partial(_fit_in_child, path))
        time.sleep(rng.uniform(0.0, window))
        process.kill()
        process.join()
        if process.exitcode == -signal.SIGKILL:
            kills += 1
            before = len(set(reached))
            if path.exists():
                reached.append(read(path).runs[0].state.k)
            # on a busy machine it comes less far
            window *= 1.2 if len(set(reached)) == before else 1.0
        else:
            assert process.exitcode == 0
            same_fit(fitted(make, path), whole)
            path.unlink()
            window /= 1.2
        if kills == 20:
            break
    assert kills == 20
    assert len(set(reached)) > 1
    same_fit(fitted(make, path), whole)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.ckpt", "whole.ckpt"]


def test_a_full_disk_keeps_the_last_checkpoint_and_the_run_continues(tmp_path):
    make, path = ESTIMATORS["dsms"], tmp_path / "run.ckpt"
    whole = make().fit(X)
    with pytest.raises(KeyboardInterrupt):
        fitted(make, path, callbacks=[Cut(3)])
    good = path.read_bytes()

    def work():
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(good) // 2, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = fitted(make, path)
        same_fit(model, whole)
        said = [str(each.message) for each in caught if "could not be saved" in str(each.message)]
        assert len(said) == 1, said
        assert "File too large" in said[0]

    process = in_child(work)
    process.join()
    assert process.exitcode == 0
    assert path.read_bytes() == good
    assert [each.name for each in tmp_path.iterdir()] == ["run.ckpt"]
    with pytest.warns(CheckpointWarning, match="continuing from"):
        same_fit(fitted(make, path), whole)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_limits_may_change_and_the_resumption_is_announced(tmp_path):
    path, make = tmp_path / "run.ckpt", ESTIMATORS["dsms"]
    fitted(make, path, max_updates=5 * len(X))
    with pytest.warns(CheckpointWarning, match=r"run.ckpt': 600 updates in 5 sweeps are done"):
        model = fitted(make, path)
    same_fit(model, make().fit(X))


def test_the_announcement_counts_the_chains_that_have_begun(tmp_path):
    make = partial(doubly_stochastic, make_problem(X), Shrinking(**RANGE), seed=0)
    run_chains(make_chains(make, 3), Stopping(0.05), callbacks=[Cut(2)], checkpoint=Checkpoint(tmp_path / "a"))
    with pytest.warns(CheckpointWarning, match="1 of 3 chains"):
        run_chains(make_chains(make, 3), Stopping(0.05), checkpoint=Checkpoint(tmp_path / "a"))


def test_invalid_parameters_are_refused_before_the_run(tmp_path):
    with pytest.raises(ValueError, match="checkpoint needs random_state"):
        DoublyStochasticMeanShift(**RANGE, checkpoint=tmp_path / "a").fit(X)
    with pytest.raises(DataError, match="there is no folder"):
        MeanShift(0.6, checkpoint=tmp_path / "none" / "a").fit(X)
    with pytest.raises(ValueError, match="checkpoint_every"):
        MeanShift(0.6, checkpoint=tmp_path / "a", checkpoint_every=-1).fit(X)
    chain = doubly_stochastic(make_problem(X), Shrinking(**RANGE), seed=0)
    with pytest.raises(ValueError, match="give only one of them"):
        run(chain, Stopping(0.05), start=chain.init(), checkpoint=Checkpoint(tmp_path / "a"))
    assert not list(tmp_path.iterdir())


def command(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stderr


def test_the_command_resumes_from_a_checkpoint(tmp_path):
    file, ways = tmp_path / "x.csv", {name: tmp_path / f"{name}.csv" for name in ("whole", "parts")}
    np.savetxt(file, X, delimiter=",")
    ask = ("cluster", file, "-q", "--algorithm", "dsms", "--h-min", 0.2, "--h-max", 1.6, "--h-inf", 0.6)
    assert command(*ask, "-o", ways["whole"])[0] == 0
    keep = ("-o", ways["parts"], "--checkpoint", tmp_path / "run.ckpt", "--checkpoint-every", 0)
    assert command(*ask, *keep, "--max-updates", 400)[0] == 0
    status, said = command(*ask, *keep, "--json", tmp_path / "a.json")
    assert (status, "note: continuing from the checkpoint" in said, "480 updates in 4 sweeps" in said) == (
        0,
        True,
        True,
    )
    assert ways["parts"].read_bytes() == ways["whole"].read_bytes()
    assert "checkpoint" not in json.loads((tmp_path / "a.json").read_text())["settings"]
    status, said = command(*ask, *keep, "--seed", 5)
    assert (status, "error: cannot continue from the checkpoint" in said, "seed was 0 and is now 5" in said) == (
        2,
        True,
        True,
    )


def test_the_command_refuses_checkpoints_of_modeseek(tmp_path):
    file = tmp_path / "x.csv"
    np.savetxt(file, X, delimiter=",")
    status, said = command("cluster", file, "--checkpoint", tmp_path / "run.ckpt")
    assert (status, "is an option of another algorithm: add --algorithm dsms, sms, bms or ms" in said) == (2, True)
    assert not (tmp_path / "run.ckpt").exists()
