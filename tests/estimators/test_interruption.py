"""Ctrl-C: the result so far is stored before the exception, and the command writes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.meanshift.chains import Outcome
from modeseek.meanshift.chains.series import EarlyDraws
from modeseek.selection.progress import SelectionProgress
from waiting import PATIENCE

X = paper_mixture(30, random_state=1)[0]
BLOBS = make_blobs(300, centers=5, cluster_std=0.6, random_state=4)[0]
needs_signals = pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")


def interrupt(*_, **__):
    raise KeyboardInterrupt


def at(name, done):
    """Return a callback of stages that interrupts at one of them."""

    def callback(stage):
        if (stage.name, stage.done) == (name, done):
            raise KeyboardInterrupt

    return callback


def interrupted(model, data=BLOBS):
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(data)
    return str(caught.value)


# ---------------------------------------- chains


@pytest.mark.parametrize("cls", [MeanShift, BlurringMeanShift, StochasticMeanShift, DoublyStochasticMeanShift])
def test_the_result_so_far_is_stored_before_the_exception(cls):
    model = cls(callbacks=[interrupt])
    message = f"{cls.__name__}: interrupted before the partition was final; the last complete state is kept"
    assert message in interrupted(model)
    assert model.outcome_ is Outcome.INTERRUPTED
    assert model.labels_.shape == (300,)
    assert model.n_updates_ > 0
    np.testing.assert_array_equal(model.predict(BLOBS), model.labels_)
    assert len(model.summary()) == model.n_clusters_


@pytest.mark.parametrize("cls", [DoublyStochasticMeanShift, MeanShift])
def test_interrupted_while_bandwidths_are_chosen(cls, monkeypatch):
    model = cls().fit(X)
    monkeypatch.setattr("modeseek.estimators.chain_clusterer.automatic_range", interrupt)
    interrupted(model, BLOBS)
    # the earlier fit is gone too
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "outcome_")
    with pytest.raises(NotFittedError):
        model.predict(BLOBS)


def test_interrupted_before_the_first_sweep(monkeypatch):
    for n_chains in (1, 3):
        model = StochasticMeanShift(1.0, n_chains=n_chains)
        with monkeypatch.context() as patched:
            patched.setattr("modeseek.meanshift.engines.brute.engine.BruteWorkspace.shift_sweeps", interrupt)
            assert "there is no result" in interrupted(model)
        assert not hasattr(model, "labels_")


def test_interrupted_between_two_chains(monkeypatch):
    from modeseek.meanshift import ensemble

    calls, original = [], ensemble.run

    def run(*args, **options):
        calls.append(1)
        return interrupt() if len(calls) == 3 else original(*args, **options)

    monkeypatch.setattr(ensemble, "run", run)
    model = StochasticMeanShift(1.0, n_chains=5, random_state=0)
    assert "the consensus of 2 of 5 chains" in interrupted(model)
    assert len(model.chain_labels_) == 2


# ---------------------------------------- ModeSeek


@pytest.mark.parametrize("stage", [("nearest neighbours", 300), ("proposals", 0)])
def test_interrupted_before_proposals_are_compared(stage):
    model = ModeSeek(random_state=0, callbacks=[at(*stage)])
    interrupted(model)
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "message_")


@pytest.mark.parametrize(
    ("stage", "said", "sure"),
    [
        (("proposals", 3), "proposals: 3 of 6 proposers", False),
        (("features", 0), "no confidence was computed", False),
        (("confidence", 2), "confidence: 2 of 10 subsamples", False),
        (("confidence", 6), "confidence: 6 of 10 subsamples", True),
    ],
)
def test_the_best_partition_so_far_is_kept(stage, said, sure):
    whole = ModeSeek(random_state=0).fit(BLOBS)
    model = ModeSeek(random_state=0, callbacks=[at(*stage)])
    message = interrupted(model)
    assert message == f"ModeSeek: {model.message_}"
    assert model.message_.endswith(f"; interrupted: {said}")
    assert (whole.interrupted_, model.interrupted_) == (False, True)
    np.testing.assert_array_equal(model.labels_, whole.labels_)
    assert hasattr(model, "confidence_") == hasattr(model, "cluster_stability_") == sure
    assert hasattr(model, "tree_")
    assert "interrupted" in model._repr_html_()
    assert ("confidence" in model.summary()) == sure


def test_interrupted_before_a_partition_within_the_bounds():
    model = ModeSeek(n_clusters=200, random_state=0, callbacks=[at("proposals", 3)])
    interrupted(model)
    assert not hasattr(model, "labels_")


def test_an_interrupted_last_step_is_repeated_once():
    answers = iter([interrupt, lambda: True])
    progress = SelectionProgress()
    assert progress.finish("features", "candidates", 1, lambda: next(answers)())
    assert progress.interruption == "no confidence was computed"
    answers = iter([interrupt, interrupt])
    with pytest.raises(KeyboardInterrupt):
        progress.finish("features", "candidates", 1, lambda: next(answers)())


# ---------------------------------------- the command, with real signals

STAGE = """
import os, signal, sys
from modeseek import estimators
from modeseek.selection import features
from modeseek.cli import main

name, done, again = sys.argv.pop(1), int(sys.argv.pop(1)), sys.argv.pop(1)
fit = estimators.ModeSeek.fit
def signalled(stage):
    if (stage.name, stage.done) == (name, done):
        os.kill(os.getpid(), signal.SIGINT)
if again == "True":
    features.feature_table = lambda *_: os.kill(os.getpid(), signal.SIGINT)
estimators.ModeSeek.fit = lambda self, X: fit(self.set_params(callbacks=[signalled]), X)
main()
"""


def signalled(folder, stage, *options, again=False):
    np.save(folder / "a.npy", BLOBS)
    command = [
        sys.executable,
        "-c",
        STAGE,
        *(str(part) for part in stage),
        str(again),
        "cluster",
        str(folder / "a.npy"),
    ]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.slow
@needs_signals
def test_a_signal_writes_the_result_so_far(tmp_path):
    csv, summary, picture = (str(tmp_path / name) for name in ("out.csv", "out.json", "out.png"))
    done = signalled(tmp_path, ("proposals", 3), "-o", csv, "--json", summary, "--plot", picture)
    assert done.returncode == 130
    assert done.stderr == f"interrupted: the result so far was written to '{csv}', '{summary}', '{picture}'.\n"
    record = json.loads((tmp_path / "out.json").read_text())
    assert (record["outcome"], record["converged"], record["n_clusters"]) == ("interrupted", False, 5)
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "x0,x1,cluster"
    assert (tmp_path / "out.png").stat().st_size > 1000
    assert "interrupted: proposals: 3 of 6 proposers" in done.stdout


@pytest.mark.slow
@needs_signals
def test_an_early_signal_writes_nothing(tmp_path):
    done = signalled(tmp_path, ("proposals", 0), "-o", str(tmp_path / "out.csv"))
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted before there was a result: nothing was written.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


@pytest.mark.slow
@needs_signals
def test_a_second_signal_ends_the_command(tmp_path):
    done = signalled(tmp_path, ("proposals", 3), "-o", str(tmp_path / "out.csv"), again=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


@pytest.mark.slow
@needs_signals
def test_without_a_file_the_result_so_far_is_shown(tmp_path):
    done = signalled(tmp_path, ("confidence", 6))
    assert done.returncode == 130
    assert done.stdout.startswith("5 clusters in 300 rows")
    assert done.stderr == "interrupted: the result so far is shown above; -o FILE writes it.\n"


THREADS = """
import os, signal, sys
import numpy as np
from modeseek import DoublyStochasticMeanShift

sent = []
def signalled(state, info):
    if not sent:
        sent.append(1)
        os.kill(os.getpid(), signal.SIGINT)
X = np.load(sys.argv[1])
# sweeps that nothing ends but the signal
endless = {"policy": "uniform", "tol": 0.0, "tau": 1e-9, "max_updates": 10**12}
model = DoublyStochasticMeanShift(0.1, 0.2, 0.1, **endless, n_chains=4, n_jobs=2)
try:
    model.set_params(callbacks=[signalled]).fit(X)
except KeyboardInterrupt as caught:
    print(caught)
print(model.outcome_.name, len(model.labels_))
"""


@pytest.mark.slow
@needs_signals
def test_a_signal_ends_chains_on_threads(tmp_path):
    np.save(tmp_path / "a.npy", BLOBS)
    command = [sys.executable, "-c", THREADS, str(tmp_path / "a.npy")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "chains" in done.stdout
    assert done.stdout.endswith("INTERRUPTED 300\n")


def test_an_interrupted_record_stays_consistent():
    class Interrupted(list):
        def __array__(self, dtype=None, copy=None):
            raise KeyboardInterrupt

    early = EarlyDraws()
    early.extend(1, np.arange(5.0))
    with pytest.raises(KeyboardInterrupt):
        early.extend(6, Interrupted([1.0, 2.0]))
    numbers, values = early.kept()
    assert numbers == [1, 2, 3, 4, 5]
    assert values == [0.0, 1.0, 2.0, 3.0, 4.0]
