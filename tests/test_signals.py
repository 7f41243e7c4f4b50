"""Ctrl-C and SIGTERM at random moments: a whole result, what there is so far, or nothing; nothing else stays."""

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

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")

MOMENTS = 20
# one process that has loaded and compiled everything forks a child for each moment, in a session of its own
DRIVER = """
import json, os, random, signal, sys, time, tempfile
import modeseek, modeseek.cli, modeseek.plots, modeseek.report, modeseek.storage, matplotlib.pyplot, numpy as np
what, folder, moments, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
SCRIPT = '''
import numpy as np
from modeseek import DoublyStochasticMeanShift
from modeseek.storage import read_table
table = read_table("in.csv")
model = DoublyStochasticMeanShift(0.1, 0.6, 0.3, n_chains=4, n_jobs=2, random_state=0)
try:
    model.fit(table.features().values)
finally:
    if hasattr(model, "labels_"):
        for _ in range(20):
            table.write("out.csv", {"cluster": model.labels_})
'''
COMMAND = ["cluster", "in.csv", "-o", "out.csv", "--json", "out.json", "--plot", "out.png", "--report", "out.html"]

def work():
    os.chdir(folder)
    tempfile.tempdir = folder
    if what == "script":
        exec(compile(SCRIPT, "script", "exec"), {})
        os._exit(0)
    sys.argv = ["modeseek", *COMMAND]
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
        if name != "in.csv":
            os.unlink(os.path.join(folder, name))
    log = os.memfd_create("log")
    start = time.perf_counter()
    pid = child(log)
    if number:
        time.sleep(delay)
        os.kill(pid, number)
    raw = os.waitpid(pid, 0)[1]
    took, orphans = time.perf_counter() - start, alive(pid)
    files = {name: open(os.path.join(folder, name), "rb").read() for name in os.listdir(folder)}
    os.lseek(log, 0, 0)
    said = os.read(log, 10**6).decode()
    os.close(log)
    status = os.waitstatus_to_exitcode(raw)
    rows = files.get("out.csv", b"").count(b"\\n")
    return dict(status=status, signal=int(number), orphans=orphans, files=sorted(files), rows=rows, said=said,
                seconds=took, whole=files.get("out.html", b"</html>").rstrip().endswith(b"</html>"),
                record=json.loads(files["out.json"]) if "out.json" in files else None)

for cls in (modeseek.ModeSeek, modeseek.DoublyStochasticMeanShift):
    cls(random_state=0).fit(np.loadtxt(os.path.join(folder, "in.csv"), delimiter=",", skiprows=1))
whole = min((once(0, 0) for _ in range(2)), key=lambda end: end["seconds"])
print(json.dumps(whole))
chance = random.Random(seed)
for moment in range(moments):
    number = (signal.SIGINT, signal.SIGTERM)[moment % 2]
    print(json.dumps(once(chance.uniform(0.02, 1.0) * whole["seconds"], number)), flush=True)
"""
TARGETS = {"out.csv", "out.json", "out.png", "out.html"}


@pytest.fixture
def folder(tmp_path):
    X = make_blobs(400, centers=5, cluster_std=0.6, random_state=4)[0]
    np.savetxt(tmp_path / "in.csv", X, delimiter=",", header="x,y", comments="")
    return tmp_path


def driven(what, folder, moments=MOMENTS):
    command = [sys.executable, "-c", DRIVER, what, str(folder), str(moments), "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    whole, *ends = map(json.loads, done.stdout.splitlines())
    assert (whole["status"], whole["rows"], len(ends)) == (0, 401, moments), whole
    for end in ends:
        assert not end["orphans"], end
        assert set(end["files"]) <= TARGETS | {"in.csv"}, end
        assert end["rows"] in (0, 401), end
        assert end["whole"], end
    return ends


def test_the_command_ends_with_what_there_is_or_with_nothing(folder):
    ends = driven("command", folder)
    for end in ends:
        # a signal that Python could not raise where it came, or that came behind the end, leaves the whole
        assert end["status"] in (0, {signal.SIGINT: 130, signal.SIGTERM: 143}[end["signal"]]), end
        assert "Traceback" not in end["said"], end
    assert len({end["status"] for end in ends} & {130, 143}) == 2


def test_a_script_leaves_no_part_of_a_file(folder):
    ends = driven("script", folder)
    for end in ends:
        assert end["status"] in (0, {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM}[end["signal"]]), end
    assert {end["status"] for end in ends} >= {130, -signal.SIGTERM}


WRITING = """
import os, signal, sys
from modeseek.storage.atomic import atomic_path
with atomic_path(sys.argv[1]) as outer, atomic_path(sys.argv[2]) as inner:
    outer.write_text("half")
    print(len(os.listdir(os.path.dirname(sys.argv[1]))), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
"""


def test_sigterm_in_the_middle_of_a_file_leaves_what_was_there(tmp_path):
    (tmp_path / "a.txt").write_text("before")
    command = [sys.executable, "-c", WRITING, str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "3\n", "")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "before")]


def test_whoever_listens_to_sigterm_still_does(tmp_path):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
    try:
        from modeseek.storage import atomic_path

        with atomic_path(tmp_path / "a.txt") as part:
            part.write_text("whole")
            signal.raise_signal(signal.SIGTERM)
        assert (heard, (tmp_path / "a.txt").read_text()) == ([1], "whole")
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_processes_of_the_command_end_with_it(number, status, tmp_path):
    """The experiments run in processes of their own."""
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
    until = time.monotonic() + 100
    while len(members(process.pid)) < 4 and time.monotonic() < until:  # workers and those who watch them
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(number)
    _, said = process.communicate(timeout=100)
    assert process.returncode == status, said
    assert "Traceback" not in said
    while members(process.pid) and time.monotonic() < until:  # the watcher of joblib's files leaves a moment later
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
