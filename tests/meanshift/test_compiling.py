"""Whoever waits for a compiler is told so, once, and only on a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from modeseek.meanshift.engines import compiling

FIT = (
    "import numpy as np; from modeseek.meanshift.chains import make_problem; "
    "space = make_problem(np.eye(3)); print(space.open().shift_all(space.points, 1.0).shape)"
)


def on_a_terminal(code, **environment):
    """Run code with a terminal as its standard error; return what that shows."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=theirs,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.communicate()[0].strip() == b"(3, 3)"
    os.write(theirs, b"END")
    shown = b""
    while not shown.endswith(b"END"):
        shown += os.read(ours, 1 << 16)
    os.close(ours)
    os.close(theirs)
    return shown.decode().removesuffix("END").split("\r\n")


def test_a_line_on_the_terminal_when_something_compiles_and_none_when_it_is_on_disk(tmp_path):
    cold, warm = (on_a_terminal(FIT, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert [line for line in cold if line] == [
        "modeseek: compiling for first use, some seconds (kept on disk for next time)"
    ]
    assert warm == [""]


def test_nothing_in_a_pipe(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FIT],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.stdout.strip(), done.stderr) == ("(3, 3)", "")
    assert list(tmp_path.rglob("*.nbi"))  # it did compile


def without_a_file(name):
    """A function that no cache can keep: its source is nowhere."""
    scope = {"__name__": "modeseek.nowhere"}
    exec(f"def {name}(x):\n    return 2 * x", scope)
    return scope[name]


def test_where_nothing_can_be_kept_it_is_compiled_all_the_same():
    double = compiling.compiled(without_a_file("double"), {"nogil": True})
    assert double(21) == 42
    assert double.nopython_signatures


def counting(rounds):
    made = np.zeros(8)
    for i in range(rounds):
        made[i % 8] += np.sin(i)
    return made, made[:2].copy()


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
def test_ctrl_c_comes_out_of_a_kernel_as_itself():
    """Numba makes the array that is returned with some Python, in which the signal is heard."""
    kernel = compiling.Kernel(compiling.compiled(counting, {"nogil": True}))
    assert [each.shape for each in kernel(9)] == [(8,), (2,)]
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            kernel(10**8)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert [each.shape for each in kernel(9)] == [(8,), (2,)]


def test_other_errors_of_a_kernel_stay_what_they_are():
    def fail():
        raise SystemError("broken")

    with pytest.raises(SystemError, match="broken"):
        compiling.Kernel(fail)()


def test_one_line_for_compilations_in_a_row(monkeypatch):
    lines = []
    monkeypatch.setattr(compiling, "_say", lines.append)
    first, second, third = (compiling.compiled(without_a_file(name), {}) for name in ("first", "second", "third"))
    monkeypatch.setattr(compiling._announcer, "ended", -np.inf)
    first(1)
    second(1)
    assert lines == ["modeseek: compiling for first use, some seconds (for this process)"]
    monkeypatch.setattr(compiling._announcer, "ended", -np.inf)  # a long time later
    first(1)
    third(1)
    assert len(lines) == 2


def test_the_code_of_others_is_none_of_our_business(monkeypatch):
    from numba import njit

    lines = []
    monkeypatch.setattr(compiling, "_say", lines.append)
    compiling.announce()
    monkeypatch.setattr(compiling._announcer, "ended", -np.inf)
    assert njit(lambda x: x + 1)(1) == 2
    assert lines == []


def test_a_missing_or_closed_stream_is_no_reason_to_fail(monkeypatch):
    with open(os.devnull, "w") as closed:
        pass
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        compiling._say("nobody reads this")


def test_announcing_imports_nothing():
    code = (
        "import sys; from modeseek.meanshift.engines.compiling import announce; announce(); "
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
