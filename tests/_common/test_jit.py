"""Tests of compilation: the disk cache, the notice on a terminal, and interrupts."""

from __future__ import annotations

import errno
import gc
import os
import signal
import subprocess
import sys
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from modeseek._common import jit

# compiles one small kernel
COMPILES = (
    "import numpy as np; from modeseek.meanshift.engines.coincident_points import find_coincident; "
    "print(find_coincident(np.ones((99, 2))).leaders.shape)"
)


def on_a_terminal(code, **environment):
    """Run code with a terminal as its standard error; return what that shows."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=theirs,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
    ) as process:
        assert process.communicate()[0].strip() == b"(1,)"
    os.write(theirs, b"END")
    shown = b""
    while not shown.endswith(b"END"):
        shown += os.read(ours, 1 << 16)
    os.close(ours)
    os.close(theirs)
    return shown.decode().removesuffix("END").split("\r\n")


def test_a_terminal_shows_a_line_for_compilation_but_not_for_cached_code(tmp_path):
    cold, warm = (on_a_terminal(COMPILES, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert [line for line in cold if line] == [
        "modeseek: compiling for first use, some seconds (kept on disk for next time)"
    ]
    assert warm == [""]


@pytest.mark.slow
def test_a_pipe_shows_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", COMPILES],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )
    assert (done.stdout.strip(), done.stderr) == ("(1,)", "")
    assert list(tmp_path.rglob("*.nbi"))  # it did compile


def without_a_file(name):
    """Return a function that Numba cannot cache, because it has no source file."""
    scope = {"__name__": "modeseek.nowhere"}
    exec(f"def {name}(x):\n    return 2 * x", scope)
    return scope[name]


def test_a_function_that_cannot_be_cached_is_compiled_all_the_same(monkeypatch):
    monkeypatch.setitem(sys.modules, "modeseek.nowhere", jit)
    double = jit.cached(without_a_file("double"))
    assert double(21) == 42
    assert double.function.nopython_signatures


def counting(rounds):
    made = np.zeros(8)
    for i in range(rounds):
        made[i % 8] += np.sin(i)
    return made, made[:2].copy()


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
def test_ctrl_c_in_compiled_code_raises_keyboard_interrupt():
    """Numba builds the returned arrays in Python code, where signal handlers run."""
    kernel = jit.cached(counting)
    assert [each.shape for each in kernel(9)] == [(8,), (2,)]
    before = signal.signal(signal.SIGVTALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)  # CPU seconds, so that a busy machine does not change the moment
    try:
        with pytest.raises(KeyboardInterrupt):
            kernel(3 * 10**7)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert [each.shape for each in kernel(9)] == [(8,), (2,)]


def test_other_errors_are_passed_on():
    def fail():
        raise SystemError("broken")

    with pytest.raises(SystemError, match="broken"):
        jit.CompiledFunction(fail)()


@pytest.fixture
def lines(monkeypatch):
    """Collect the lines that would be printed, as if the last compilation were long ago."""
    shown = []
    monkeypatch.setattr(jit.NOTICE, "show", shown.append)
    monkeypatch.setattr(jit.NOTICE, "ended", -np.inf)
    return shown


def test_one_line_for_consecutive_compilations(monkeypatch, lines):
    first, second, third = (njit(without_a_file(name)) for name in ("first", "second", "third"))
    first(1)
    second(1)
    assert lines == ["modeseek: compiling for first use, some seconds (for this process)"]
    monkeypatch.setattr(jit.NOTICE, "ended", -np.inf)  # a long time later
    first(1)
    third(1)
    assert len(lines) == 2


def test_garbage_collection_pauses_while_code_compiles(lines):
    compilation = SimpleNamespace(data={"dispatcher": njit(without_a_file("fourth"))})
    assert gc.isenabled()
    jit.NOTICE.on_start(compilation)
    jit.NOTICE.on_start(compilation)  # of a function that the first one calls
    jit.NOTICE.on_end(compilation)
    paused = not gc.isenabled()
    jit.NOTICE.on_end(compilation)
    assert paused
    assert gc.isenabled()


def test_code_of_other_packages_is_not_announced(lines):
    assert njit(lambda x: x + 1)(1) == 2
    assert lines == []


def test_a_missing_or_closed_stream_is_no_error(monkeypatch):
    with open(os.devnull, "w") as closed:
        pass
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        jit.NOTICE.show("line")


def test_the_checksum_changes_with_each_module():
    assert jit.source_checksum(jit, os) != jit.source_checksum(jit) != jit.source_checksum(os)


def damaged(path, how):
    """Return how a file of the cache looks after a kill, on a full disk, or by accident."""
    content = path.read_bytes()
    return {"cut": content[: len(content) // 2], "empty": b"", "zeros": bytes(len(content)), "text": b"not a pickle"}[
        how
    ]


@pytest.mark.parametrize("how", ["cut", "empty", "zeros", "text"])
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_cache_is_compiled_again(how, suffix, tmp_path, monkeypatch):
    """A truncated file raised `UnpicklingError` or `EOFError`."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    def double(x):
        return 2 * x

    def compiled():
        double.__qualname__ = "double"
        function = jit.cached(double)
        assert function(21) == 42
        return sum(function.function.stats.cache_hits.values())

    assert [compiled(), compiled()] == [0, 1]
    for path in tmp_path.rglob(f"*.{suffix}"):
        path.write_bytes(damaged(path, how))
    assert [compiled(), compiled()] == [0, 1]


def test_a_cache_on_a_full_disk_is_not_needed(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._open_for_write", full)

    def triple(x):
        return 3 * x

    assert jit.cached(triple)(14) == 42


class Pair(NamedTuple):
    first: float
    second: float


def test_a_function_that_returns_a_named_tuple_is_refused(tmp_path, monkeypatch):
    """An interrupt while Numba built the tuple was a segmentation fault."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    def pair(x):
        return Pair(x, x)

    with pytest.raises(TypeError, match="return a plain tuple"):
        jit.cached(pair)(1.0)


def test_listed_functions_are_stored_for_the_types_of_later_calls(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    def mean(rows, count, mask, pair):
        return rows[0, 0] / count + pair.second if mask[0] else 0.0

    def compiled():
        mean.__qualname__ = "mean"
        return jit.cached(mean)

    jit_module = sys.modules[__name__]
    monkeypatch.setattr(jit_module, "listed_mean", compiled(), raising=False)
    assert not jit_module.listed_mean.stored
    jit.compile_listed([f"{__name__}.listed_mean(f8[2], i8, b1[1], Pair<f8 f8>)"])
    later = compiled()
    assert later.stored
    assert later(np.ones((2, 2)), 2, np.ones(1, dtype=bool), Pair(0.0, 0.25)) == 0.75
    assert sum(later.function.stats.cache_hits.values()) == 1


def test_compiled_code_calls_code_at_an_address(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    def fill(pair, number):
        pair.first[:] = number
        return len(pair.first), pair.second + number

    @njit
    def call(address, pair):
        return jit.call_address(address, (0, 0.0), (pair, 2.5))

    for hits in (0, 1):  # compiled, then loaded
        fill.__qualname__ = "fill"
        function, values = jit.cached(fill, **jit.C_ENTRY), np.zeros(3)
        address = jit.address_of(function, Pair(values, 1.0), 2.5)
        assert sum(function.function.stats.cache_hits.values()) == hits
        assert call(address, Pair(values, 1.0)) == (3, 3.5)
        assert values.tolist() == [2.5, 2.5, 2.5]


def test_code_for_other_types_is_compiled_again(tmp_path, monkeypatch):
    """Two processes that store code at the same time can write the same file."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    def half(x):
        return x / 2

    def compiled():
        half.__qualname__ = "half"
        return jit.cached(half)

    first = compiled()
    assert (first(3), first(3.0)) == (1.5, 1.5)
    ours, other = sorted(tmp_path.rglob("*.nbc"))
    ours.write_bytes(other.read_bytes())
    again = compiled()
    assert (again(3), again(3.0)) == (1.5, 1.5)
    assert sum(again.function.stats.cache_misses.values()) == 2


def test_without_a_disk_cache_nothing_is_missing_there():
    assert jit.CompiledFunction(njit(without_a_file("fifth"))).stored


def test_an_address_is_not_called_with_strides():
    call = njit(lambda array: jit.call_address(0, 0, ((array,), 1.0)))
    with pytest.raises(TypingError, match="arrays must be contiguous"):
        call(np.zeros(6)[::2])
