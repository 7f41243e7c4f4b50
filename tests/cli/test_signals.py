"""Ctrl-C and SIGTERM at random moments: a complete result, a partial result or none, and no temporary files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from commands import run
from waiting import PATIENCE

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")

MOMENTS = 10
# one process loads and compiles everything, and forks a child in a new session for each moment
DRIVER = """
import hashlib, json, os, random, shutil, signal, sys, time, tempfile
import modeseek, modeseek.cli, modeseek.plots, modeseek.report, modeseek._storage, matplotlib.pyplot, numpy as np
import typer.testing
what, folder, moments, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
SCRIPT = '''
import modeseek.io, modeseek.report
from modeseek import DoublyStochasticMeanShift
from modeseek._storage.reading import read_table
from modeseek._storage.writing import write_table
table = read_table("in.csv")
model = DoublyStochasticMeanShift(0.1, 0.6, 0.3, n_chains=4, n_jobs=2, random_state=0)
try:
    model.fit(table.features().values)
finally:
    if hasattr(model, "labels_"):
        for _ in range(20):
            write_table(table, "out.csv", {"cluster": model.labels_})
        modeseek.io.save(model, "out.modeseek")
        modeseek.report.write_report("out.html", model, table.features().values)
'''
COMMANDS = {
    "command": ["--plot", "out.png", "--report", "out.html"],
    "checkpoint": "--algorithm dsms --chains 9 --checkpoint run.ckpt --checkpoint-every 0.01 --save out.modeseek -q"
    .split(),
    "chunks": ["--out-of-core", "-q"],
}
AGAIN = what in ("checkpoint", "chunks")

def work():
    os.chdir(folder)
    tempfile.tempdir = folder
    if what == "script":
        exec(compile(SCRIPT, "script", "exec"), {})
        os._exit(0)
    sys.argv = ["modeseek", "cluster", "in.csv", "-o", "out.csv", "--json", "out.json", *COMMANDS[what]]
    modeseek.cli.main()

def child(log):
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    os.dup2(log, 1), os.dup2(log, 2)
    status = 99
    try:
        work()
    except SystemExit as end:
        status = end.code
    except KeyboardInterrupt:
        status = 130  # as Python itself ends
    except BaseException as error:
        print(repr(error), file=sys.stderr)
    sys.stdout.flush(), sys.stderr.flush()
    os._exit(status)

def alive(group):
    try:
        os.killpg(group, 0)
        return True
    except ProcessLookupError:
        return False

def once(delay, number):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif name != "in.csv":
            os.unlink(path)
    end = ended(delay, number)
    if AGAIN and number:  # the same command resumes
        end["again"] = ended(0, 0)
    return end

def ended(delay, number):
    log = os.memfd_create("log")
    start = time.perf_counter()
    pid = child(log)
    if number:
        time.sleep(delay)
        os.kill(pid, number)
    raw = os.waitpid(pid, 0)[1]
    took, orphans = time.perf_counter() - start, alive(pid)
    paths = {name: os.path.join(folder, name) for name in os.listdir(folder)}
    files = {name: open(path, "rb").read() for name, path in paths.items() if os.path.isfile(path)}
    os.lseek(log, 0, 0)
    said = os.read(log, 10**6).decode()
    os.close(log)
    status = os.waitstatus_to_exitcode(raw)
    csv = files.get("out.csv", b"")
    return dict(status=status, signal=int(number), orphans=orphans, files=sorted(paths), rows=csv.count(b"\\n"),
                said=said, seconds=took, whole=files.get("out.html", b"</html>").rstrip().endswith(b"</html>"),
                hash=hashlib.sha256(csv).hexdigest(),
                record=json.loads(files["out.json"]) if "out.json" in files else None)

# typer imports pydantic when it parses options: Python reports a signal within class creation as a RuntimeError
typer.testing.CliRunner().invoke(modeseek.cli.app, ["cluster", "--help"])
for cls in (modeseek.ModeSeek, modeseek.DoublyStochasticMeanShift):
    cls(random_state=0).fit(np.loadtxt(os.path.join(folder, "in.csv"), delimiter=",", skiprows=1))
whole = min((once(0, 0) for _ in range(2)), key=lambda end: end["seconds"])
print(json.dumps(whole))
chance = random.Random(seed)
for moment in range(moments):
    number = (signal.SIGINT, signal.SIGTERM)[moment % 2]
    print(json.dumps(once(chance.uniform(0.02, 1.0) * whole["seconds"], number)), flush=True)
"""
TARGETS = {"out.csv", "out.json", "out.png", "out.html", "out.modeseek"}
# files that the same command resumes from
KEPT = {"checkpoint": {"run.ckpt"}, "chunks": {"out.csv.modeseek"}}

# 0: the signal came after the end; -SIGTERM: before the command had installed its handler, or after it was removed
STATUSES = {signal.SIGINT: (0, 130), signal.SIGTERM: (0, 143, -signal.SIGTERM)}


@pytest.fixture
def folder(tmp_path):
    X = make_blobs(400, centers=5, cluster_std=0.6, random_state=4)[0]
    np.savetxt(tmp_path / "in.csv", X, delimiter=",", header="x,y", comments="")
    return tmp_path


def driven(what, folder, moments=MOMENTS):
    command = [sys.executable, "-c", DRIVER, what, str(folder), str(moments), "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    whole, *ends = map(json.loads, done.stdout.splitlines())
    assert (whole["status"], whole["rows"], len(ends)) == (0, 401, moments), whole
    for end in ends:
        assert not end["orphans"], end
        assert set(end["files"]) <= TARGETS | {"in.csv"} | KEPT.get(what, set()), end
        assert end["rows"] in (0, 401), end
        assert end["whole"], end
    if what in KEPT:
        whole_and_again = [whole, *(end["again"] for end in ends)]
        assert {(end["status"], end["hash"], *end["files"]) for end in whole_and_again} == {
            (0, whole["hash"], *whole["files"])
        }
    return ends


@pytest.mark.slow
def test_the_command_writes_complete_files_or_none(folder):
    ends = driven("command", folder)
    for end in ends:
        assert end["status"] in STATUSES[end["signal"]], end
        assert "Traceback" not in end["said"], end
    assert any(end["status"] for end in ends)


@pytest.mark.slow
@pytest.mark.parametrize("what", KEPT)
def test_an_interrupted_command_resumes(what, folder):
    """From a checkpoint, or from the state of a run in chunks: the result is that of an uninterrupted run."""
    ends = driven(what, folder, 4)
    for end in ends:
        assert end["status"] in STATUSES[end["signal"]], end
        assert "Traceback" not in end["said"], end
    assert any(end["status"] for end in ends)


@pytest.mark.slow
def test_a_script_leaves_no_incomplete_files(folder):
    ends = driven("script", folder)
    for end in ends:
        assert end["status"] in (0, {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM}[end["signal"]]), end
    assert any(end["status"] for end in ends)


WRITING = """
import os, signal, sys, tempfile
from modeseek._storage.atomic import atomic_path, temporary_folder
tempfile.tempdir = os.path.dirname(sys.argv[1])
with atomic_path(sys.argv[1]) as outer, atomic_path(sys.argv[2]) as inner, temporary_folder() as folder:
    outer.write_text("half")
    (folder / "c.txt").write_text("half")
    print(len(os.listdir(os.path.dirname(sys.argv[1]))), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
"""


def test_sigterm_while_a_file_is_written_keeps_the_old_file(tmp_path):
    (tmp_path / "a.txt").write_text("before")
    command = [sys.executable, "-c", WRITING, str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "4\n", "")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "before")]


def test_other_handlers_of_sigterm_are_kept(tmp_path):
    received = []
    before = signal.signal(signal.SIGTERM, lambda *_: received.append(1))
    try:
        from modeseek._storage.atomic import atomic_path

        with atomic_path(tmp_path / "a.txt") as part:
            part.write_text("whole")
            signal.raise_signal(signal.SIGTERM)
        assert (received, (tmp_path / "a.txt").read_text()) == ([1], "whole")
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_worker_processes_end_with_the_command(number, status, tmp_path):
    """The experiments of the paper run in worker processes."""
    command = [sys.executable, "-m", "modeseek", "paper", "sparse", "--jobs", "2", "--out", str(tmp_path / "out")]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(temporary), "JOBLIB_TEMP_FOLDER": str(temporary)},
    )
    until = time.monotonic() + PATIENCE
    while len(members(process.pid)) < 4 and time.monotonic() < until:  # workers and their watchers
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == status, said
    assert "Traceback" not in said
    while members(process.pid) and time.monotonic() < until:  # the resource tracker of joblib ends a little later
        time.sleep(0.05)
    assert members(process.pid) == []
    assert list(temporary.iterdir()) == []


def members(session):
    """Return the processes of a session."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(name)) == session:
                found.append(int(name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_while_a_class_is_made(number, status, monkeypatch):
    """Python turned Ctrl-C into a RuntimeError, and matplotlib into an ImportError; a traceback was printed."""

    class Field:
        def __set_name__(self, owner, name):
            signal.raise_signal(number)

    monkeypatch.setattr("modeseek.cli.warm_up.run", lambda options: type("Owner", (), {"field": Field()}))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background may ignore Ctrl-C
    try:
        found, out, err = run("warm-up")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (found, out, err) == (status, "", "")
