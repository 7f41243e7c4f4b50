"""Helper processes end with the block and with the parent process, and print nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from modeseek._common.helper_processes import helper_processes
from modeseek._common.resources import limit_memory
from waiting import PATIENCE

# a helper that writes its process id and then waits
WAITS = "import os, time; open({path!r}, 'w').write(f'{{os.getpid()}} '); time.sleep(1e6)"
PARENT = """
import os, sys, time
from modeseek._common.helper_processes import helper_processes
with helper_processes([sys.argv[1]]):
    time.sleep(1e6)
"""


def content(path):
    """Wait for a file whose text ends in a blank, and return the text."""
    until = time.monotonic() + PATIENCE
    while not (path.exists() and path.read_text().endswith(" ")):
        assert time.monotonic() < until
        time.sleep(0.02)
    return path.read_text()


def gone(pid):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_statements_run_beside_the_block_with_the_same_modules(tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("VALUE = 'found '")
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "out.txt"
    with helper_processes([f"import only_here; open({str(path)!r}, 'w').write(only_here.VALUE)"]):
        assert content(path) == "found "


def test_a_helper_that_still_runs_is_killed_at_the_end_of_the_block(tmp_path):
    path = tmp_path / "pid.txt"
    with helper_processes([WAITS.format(path=str(path))]):
        pid = int(content(path))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_failures_are_silent(monkeypatch, capfd):
    with helper_processes(["print('text'); raise ValueError", "import nothing_of_this_name"]):
        time.sleep(0.2)
    monkeypatch.setattr(sys, "executable", os.devnull)
    with helper_processes(["pass"]):
        pass
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("frozen", [True, False])
def test_no_helper_without_an_interpreter(frozen, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", pytest.fail)
    monkeypatch.setattr(sys, "frozen", frozen, raising=False)
    monkeypatch.setattr(sys, "executable", sys.executable if frozen else "")
    with helper_processes(["pass"]):
        pass


def test_fewer_helpers_with_little_memory():
    for memory, expected in ((1.4e9, 1), (0.9e9, 0), (0.1e9, 0)):
        with limit_memory(memory), helper_processes(["pass"] * 3) as started:
            assert len(started) == expected


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_helper_ends_with_its_parent(number, tmp_path):
    path = tmp_path / "pid.txt"
    command = [sys.executable, "-c", PARENT, WAITS.format(path=str(path))]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as parent:
        pid = int(content(path))
        parent.send_signal(number)
    assert gone(pid)
