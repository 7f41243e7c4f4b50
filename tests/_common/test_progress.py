from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from modeseek import DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek._common.neighbors import nearest, nearest_neighbors
from modeseek._common.progress import display, show_progress
from modeseek._common.progress.display import DisplayConfig, ProgressLine, configure_display
from modeseek._common.progress.words import clock, count
from modeseek._common.types import Stage
from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import Stopping, doubly_stochastic, make_problem, mean_shift, run
from modeseek.meanshift.chains import progress as chain_progress
from modeseek.meanshift.chains.progress import ChainProgress, EnsembleProgress
from modeseek.meanshift.ensemble import make_chains, run_chains
from modeseek.selection.bandwidths import automatic_range, score_bandwidths

X = paper_mixture(30, random_state=1)[0]


class Stream(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.fixture
def stderr(monkeypatch):
    """Return a function that replaces standard error by a terminal, or by a stream that is not one."""

    def replace(terminal):
        stream = Stream(terminal)
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "PYCHARM_HOSTED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return replace


@pytest.fixture
def at_once():
    """Draw lines of progress without delay."""
    with configure_display(DisplayConfig(delay=0.0, interval=0.01)):
        yield


@pytest.fixture
def late():
    """Draw no lines of progress: the delay is longer than any test."""
    with configure_display(DisplayConfig(delay=60.0)):
        yield


@pytest.fixture
def now(monkeypatch):
    """Replace the clock of the progress display; tests advance it by hand."""
    clock = SimpleNamespace(at=100.0)
    for module in (display, chain_progress):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: clock.at))
    return clock


# ---------------------------------------- the text of a line


def drawn(line, width):
    """Return what a terminal of this width shows."""
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    with display._terminal(line, console) as draw:
        draw()
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())
        return re.split(r"[\r\n]+", shown)


@pytest.mark.parametrize("width", [30, 60, 80, 200])
def test_a_line_fits_the_terminal(width):
    line = ProgressLine("DSMS")
    line(Stage("choosing the range", 2, 8, "bandwidths", details=("a detail " * 4, "another one")))
    text = drawn(line, width)[-1]
    assert len(text) <= width
    assert "DSMS" in text
    assert ("another one" in text) == (width == 200)
    if width >= 60:
        assert "━" in text
        assert "0:00" in text


def test_numbers_are_short():
    assert [count(n) for n in (0, 999_999, 2_000_000_000)] == ["0", "999k", "2,000M"]
    assert [clock(s) for s in (0.9, 59.9, 3600)] == ["0:00", "0:59", "1:00:00"]


def test_time_left_is_estimated_from_the_start_of_the_stage(now):
    line = ProgressLine("DSMS")
    now.at += 50  # an earlier stage
    line(Stage("choosing the range", 0, 8, "bandwidths", at_most=True))
    now.at += 2
    line(Stage("choosing the range", 2, 8, "bandwidths", at_most=True))
    assert line.text == "DSMS: choosing the range, 2 of at most 8 bandwidths"
    assert (line.share, line.left, line.elapsed) == (None, "at most 0:06 left", 52)
    line(Stage("trying a mixture"))
    assert (line.text, line.share, line.left) == ("DSMS: trying a mixture", None, "")
    line(Stage("confidence", 4, 16, "subsamples"))
    assert (line.share, line.left) == (0.25, "")  # nothing was completed since the first report
    now.at += 3
    line(Stage("confidence", 5, 16, "subsamples"))
    now.at += 1
    assert line.left == "0:32 left"  # counts down between two reports


def followed(now, chain, stopping, sweeps, seconds):
    """Run sweeps that take this many seconds each; return the line after each of them."""
    line, state, lines = ProgressLine("DSMS"), chain.init(), []
    callback = ChainProgress(line, chain, stopping)
    for _ in range(sweeps):
        state, info = chain.sweep(state)
        now.at += seconds
        callback(state, info)
        lines.append((line.text, line.share, line.left))
    return lines


def test_a_run_reports_updates_clumps_bandwidth_and_sweeps(now):
    chain = doubly_stochastic(make_problem(X), Shrinking(0.2, 1.6, 0.6), seed=0)
    text, share, left = followed(now, chain, Stopping(0.05, max_time=30.0, max_updates=100 * len(X)), 10, 1.0)[-1]
    assert re.fullmatch(r"DSMS: 900 of at most 9,000 updates, \d+ clumps?, h [\d.]+, 10 sweeps", text)
    assert (share, left) == (None, "at most 0:20 left")  # 30 s, not the 90 s that the updates would take
    text, share, left = followed(now, chain, Stopping(0.05), 3, 1.0)[-1]
    assert text.startswith("DSMS: 270 updates, ")
    assert left == ""


def test_counting_clumps_takes_a_bounded_share_of_the_time(now, monkeypatch):
    counts = []

    def slow(points, tau):
        counts.append(now.at)
        now.at += 1.0
        return np.zeros(len(points), dtype=int)

    monkeypatch.setattr(chain_progress, "components", slow)
    chain = doubly_stochastic(make_problem(X), Shrinking(0.2, 1.6, 0.6), seed=0)
    followed(now, chain, Stopping(0.05), 2000, 0.5)
    assert 8 <= len(counts) <= 11  # of 1000 s


def test_mean_shift_reports_the_points_that_have_converged(now):
    lines = followed(now, mean_shift(make_problem(X), 0.8, tol=1e-3), Stopping(0.2), 60, 1.0)
    assert lines[-1][0].startswith(f"DSMS: {len(X)} of {len(X)} points converged, ")
    assert lines[-1][1] == 1.0
    assert lines[0][1] < 1.0


def test_several_chains_report_how_many_have_ended(now):
    line = ProgressLine("DSMS")
    several = EnsembleProgress(line, 4)
    chains = make_chains(
        lambda chain: doubly_stochastic(make_problem(X), Shrinking(0.2, 1.6, 0.6), seed=0, chain=chain), 4
    )
    lines = []

    def ended(stage):
        now.at += 10.0
        several.ended(stage)
        lines.append((line.text, line.left))

    results = run_chains(chains, Stopping(0.05), callbacks=[several], watch=ended)
    updates, sweeps = sum(result.state.k for result in results), sum(result.sweeps for result in results)
    assert lines[-1][0] == f"DSMS: 4 of 4 chains, {count(updates)} updates, {sweeps} sweeps"
    assert [left for _, left in lines] == ["0:30 left", "0:20 left", "0:10 left", ""]


# ---------------------------------------- where it is shown


@pytest.mark.parametrize("cls", [StochasticMeanShift, ModeSeek, MeanShift])
def test_silent_in_a_pipe_shown_on_a_terminal(cls, stderr, at_once):
    title = {"StochasticMeanShift": "SMS", "MeanShift": "MS"}.get(cls.__name__, "ModeSeek")
    for terminal in (False, True):
        shown = stderr(terminal)
        cls(verbose=1).fit(X)
        assert (f"{title}: " in shown.getvalue()) == terminal
        cls(verbose=0).fit(X)


def test_forced_colours_do_not_make_a_terminal(stderr, monkeypatch, at_once):
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = stderr(False)
    StochasticMeanShift(verbose=1).fit(X)
    assert shown.getvalue() == ""


def test_short_work_shows_nothing(stderr, late):
    shown = stderr(True)
    StochasticMeanShift(verbose=1).fit(X).predict(X)
    assert shown.getvalue() == ""


def test_an_inner_block_uses_the_line_of_the_outer_one(stderr, late):
    stderr(True)
    with show_progress("rows.csv") as outer:
        outer(Stage("reading", 1, 2, "bytes"))
        with show_progress("DSMS") as inner:
            assert inner is outer
            assert inner.text == "DSMS: starting"
        assert outer.text == "rows.csv: reading, 1 of 2 bytes"
    with show_progress("DSMS") as other:
        assert other is not outer


def test_prints_to_a_file_are_not_drawn_into_the_terminal(stderr, monkeypatch, at_once):
    """rich would redirect standard output to the console of the line, which is standard error."""
    shown, out = stderr(True), Stream(False)
    monkeypatch.setattr(sys, "stdout", out)
    with show_progress("DSMS"):
        while "DSMS" not in shown.getvalue():
            time.sleep(0.01)
        print("kept")
    assert out.getvalue() == "kept\n"
    assert "kept" not in shown.getvalue()


def test_a_notebook_shows_a_line_and_removes_it(stderr, monkeypatch, at_once):
    stderr(False)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    cells = []

    class Handle:
        def update(self, shown):
            cells.append(shown)

    def show(shown, *, display_id):
        assert display_id is True
        cells.append(shown)
        return Handle()

    module = ModuleType("IPython.display")
    module.HTML, module.display = str, show
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    with show_progress("a < b") as line:
        line(Stage("confidence", 1, 4, "subsamples"))
        seen = len(cells)
        while len(cells) < seen + 3:
            time.sleep(0.01)
    assert '<progress value="0.250" max="1"></progress> a &lt; b: confidence, 1 of 4 subsamples' in cells[-2]
    assert cells[-1] == ""


NO_DELAY = """
from modeseek._common.progress.display import DisplayConfig, configure_display
from modeseek.cli import main
with configure_display(DisplayConfig(delay=0.0)):
    main()
"""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("quiet", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_command_shows_it_on_a_terminal(tmp_path, quiet):
    import pty

    np.save(tmp_path / "a.npy", X)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", NO_DELAY, "cluster", str(tmp_path / "a.npy"), "--json", "-", *["-q"] * quiet]
    with open(ours, "rb", buffering=0) as terminal:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"})
        os.close(theirs)
        seen = b""
        try:
            while chunk := terminal.read(4096):
                seen += chunk
        except OSError:  # the other end is closed
            pass
    assert (b"ModeSeek: " in seen) != quiet
    assert done.returncode == 0
    assert done.stdout.startswith(b"{")


# ---------------------------------------- callers


def test_automatic_range_reports_progress():
    stages = []
    h = automatic_range(X, watch=stages.append)
    assert h == automatic_range(X)
    assert [stage.done for stage in stages] == list(range(len(stages)))
    assert {(stage.name, stage.total) for stage in stages} == {("choosing the range", len(score_bandwidths(X)) + 1)}
    assert stages[-1].done == stages[-1].total


def test_neighbour_searches_report_rows():
    for d in (2, 20):
        rows = np.random.default_rng(d).normal(size=(90, d))
        whole, one = nearest_neighbors(rows, 5), nearest(rows, rows + 0.1)
        stages = []
        parts = nearest_neighbors(rows, 5, watch=stages.append, report_rows=40)
        assert [stage.done for stage in stages] == [40, 80, 90]
        np.testing.assert_array_equal(parts.indices, whole.indices)
        np.testing.assert_array_equal(parts.distances, whole.distances)
        np.testing.assert_array_equal(nearest(rows, rows + 0.1, watch=stages.append, report_rows=40), one)
        assert stages[-1] == Stage("nearest neighbours", 90, 90, "rows")


def test_modeseek_calls_its_callbacks_at_every_stage():
    stages = []
    ModeSeek(random_state=0, callbacks=[stages.append]).fit(X)
    names = list(dict.fromkeys(stage.name for stage in stages))
    assert names == ["nearest neighbours", "proposals", "features", "confidence"]
    assert [stage.done for stage in stages if stage.name == "confidence"] == list(range(11))


def test_arrived_is_true_for_all_climbers_at_the_end():
    chain = mean_shift(make_problem(X), 0.8)
    result = run(chain, Stopping(0.2))
    assert chain.arrived(result.state).all()
    assert not chain.arrived(chain.init()).any()


def test_verbose_changes_no_label(stderr, at_once):
    stderr(True)
    for cls in (ModeSeek, DoublyStochasticMeanShift):
        silent, shown = (cls(random_state=0, verbose=verbose).fit(X) for verbose in (0, 1))
        np.testing.assert_array_equal(silent.labels_, shown.labels_)
