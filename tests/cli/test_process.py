"""The command as a process: pipes, signals and interruptions."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from commands import RANGE, inside, run
from commands import data as data
from modeseek import DoublyStochasticMeanShift, ModeSeek
from waiting import PATIENCE


def test_interruption_outside_fit_is_quiet(data, monkeypatch):
    def read(source, *, header=None):
        raise KeyboardInterrupt

    monkeypatch.setattr("modeseek.pipeline.cluster.read_table", read)
    assert run("cluster", data) == (130, "", "")


def test_an_interrupted_choice_keeps_nothing(data, tmp_path, monkeypatch):
    def fit(self, X):
        raise KeyboardInterrupt

    monkeypatch.setattr(ModeSeek, "fit", fit)
    done = run("cluster", data, "--ignore", "name", "-o", tmp_path / "out.csv")
    assert done == (130, "", "interrupted before there was a result: nothing was written.\n")
    assert inside(tmp_path) == ["points.csv"]


def test_an_interrupted_run_is_written_like_any_other(data, tmp_path, monkeypatch):
    calls = iter(range(100))

    def interrupt(state, info):
        if next(calls) == 2:
            raise KeyboardInterrupt

    original = DoublyStochasticMeanShift.fit

    def fit(self, X):
        return original(self.set_params(callbacks=[interrupt]), X)

    monkeypatch.setattr(DoublyStochasticMeanShift, "fit", fit)
    status, out, err = run("cluster", data, "--ignore", "name", *RANGE, "-o", tmp_path / "out.csv")
    assert status == 130
    assert "interrupted" in out
    assert err == f"interrupted: the result so far was written to '{tmp_path / 'out.csv'}'.\n"
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 46


COMMAND = [sys.executable, "-c", "from modeseek.cli import main; main()"]


def test_as_a_process_in_a_pipe(data):
    done = subprocess.run(
        [*COMMAND, "cluster", "-", "--ignore", "name", "-o", "-"],
        input=data.read_bytes(),
        capture_output=True,
        check=True,
    )
    assert done.stdout.splitlines()[0] == b"name,width,height,cluster,confidence"
    assert b"\x1b" not in done.stderr  # neither colours nor a progress bar
    done = subprocess.run([*COMMAND, "cluster", "no.csv"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: there is no file 'no.csv'.")


# forked processes share the imports, which take longer than the command
FULL_DISK = """
import json, os, sys
import modeseek.cli.cluster
from modeseek.cli import main

for error, *sys.argv[1:] in json.loads(sys.argv[1]):
    if os.fork() == 0:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
        os.dup2(os.open(error, os.O_WRONLY | os.O_CREAT), 2)
        main()
        sys.exit(0)
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a disk that is always full")
def test_a_full_disk_behind_standard_output_and_error(data, tmp_path):
    """The error could not be printed either, and the status was 1 after a traceback."""
    command, error = ["cluster", str(data), *RANGE], str(tmp_path / "error.txt")
    cases = [[error, *command, "--ignore", "name"]]
    cases += [["/dev/full", *command, *options] for options in ([], ["-o", "-"], ["--ignore", "nothing"])]
    done = subprocess.run([sys.executable, "-c", FULL_DISK, json.dumps(cases)], stdout=subprocess.PIPE, text=True)
    assert done.stdout.split() == ["2"] * 4
    assert (tmp_path / "error.txt").read_text() == "error: cannot write to standard output: No space left on device.\n"


SIGNALS_ITSELF = """
import os, signal
from modeseek import StochasticMeanShift as Estimator
from modeseek.cli import main

fit = Estimator.fit
def interrupt(state, info):
    if state.k > 1000:
        os.kill(os.getpid(), signal.SIGINT)
Estimator.fit = lambda self, X: fit(self.set_params(callbacks=[interrupt]), X)
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_a_signal_ends_a_run_with_its_result(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(300, 2)))
    options = ["--algorithm", "sms", "--bandwidth", "0.5", "--json", str(tmp_path / "out.json")]
    command = [sys.executable, "-c", SIGNALS_ITSELF, "cluster", str(tmp_path / "a.npy"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 130
    assert "interrupted: the result so far was written to" in done.stderr
    assert "Traceback" not in done.stderr
    record = json.loads((tmp_path / "out.json").read_text())
    assert (record["outcome"], record["n_rows"]) == ("interrupted", 300)
