from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeseek import DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek._common.neighbors import nearest, nearest_neighbors
from modeseek._common.progress import Line, line, screens, show_line
from modeseek._common.progress.report import Report, clock, count, fitted
from modeseek._common.types import Stage
from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import Stopping, doubly_stochastic, make_problem, mean_shift, run
from modeseek.meanshift.chains import progress as chain_progress
from modeseek.meanshift.chains.progress import ChainFollower, ChainsFollower
from modeseek.meanshift.ensemble import make_chains, run_chains
from modeseek.selection.bandwidths import automatic_range, judge_scales

X = paper_mixture(30, random_state=1)[0]


class Screen(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.fixture
def screen(monkeypatch):
    """Make standard error a terminal, or what is not one."""

    def make(terminal):
        found = Screen(terminal)
        monkeypatch.setattr(sys, "stderr", found)
        return found

    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "PYCHARM_HOSTED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return make


@pytest.fixture
def hand(monkeypatch):
    """Give progress a clock that only a test moves on."""
    now = SimpleNamespace(at=100.0)
    for module in (line, chain_progress):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now.at))
    return now


# ---------------------------------------- what a line says


@given(
    facts=st.lists(st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=30), max_size=6),
    share=st.none() | st.floats(-0.5, 1.5),
    left=st.sampled_from(["", "at most 12:34 left"]),
    width=st.integers(20, 200),
)
def test_a_line_fits_and_keeps_what_matters(facts, share, left, width):
    text = fitted(Report("DSMS", tuple(facts), share, left), 75.0, width)
    assert len(text) <= width
    assert text.startswith("DSMS")
    if len(whole := f"DSMS: {', '.join(facts)}  1:15  {left}".strip()) <= width and facts:
        assert all(fact in text for fact in facts), whole


def test_numbers_are_short():
    assert [count(n) for n in (0, 999_999, 2_000_000_000)] == ["0", "999k", "2,000M"]
    assert [clock(s) for s in (0.9, 59.9, 3600)] == ["0:00", "0:59", "1:00:00"]


def test_a_stage_says_how_long_it_takes_from_when_it_began(hand):
    told = Line("DSMS")
    hand.at += 50  # somebody else's
    told.tell(Stage("choosing the range", 0, 8, "scales", at_most=True))
    hand.at += 2
    told.tell(Stage("choosing the range", 2, 8, "scales", at_most=True))
    report, seconds = told.now()
    assert report == Report("DSMS", ("choosing the range", "2 of at most 8 scales"), 0.25, "0:06 left")
    assert seconds == 52
    told.tell(Stage("trying a mixture"))
    assert told.now()[0] == Report("DSMS", ("trying a mixture",))
    told.tell(Stage("confidence", 4, 16, "thinnings"))
    assert told.now()[0].left == ""  # nothing has been done since it was first heard of


def follow(hand, chain, stopping, sweeps, seconds):
    """Let a line follow sweeps of so many seconds, and give back what it said."""
    told, state, said = Line("DSMS"), chain.init(), []
    callback = ChainFollower(told, chain, stopping)
    for _ in range(sweeps):
        state, info = chain.sweep(state)
        hand.at += seconds
        callback(state, info)
        said.append(told.now()[0])
    return said


def test_a_run_says_updates_clumps_h_sweeps_and_the_most_time_left(hand):
    chain = doubly_stochastic(make_problem(X), Shrinking(0.2, 1.6, 0.6), seed=0)
    said = follow(hand, chain, Stopping(0.05, max_time=30.0, max_updates=100 * len(X)), 10, 1.0)[-1]
    updates, clumps, h, sweeps = said.facts
    assert (updates, sweeps) == ("900 of 9,000 updates", "10 sweeps")
    assert clumps.endswith((" clump", " clumps"))
    assert h.startswith("h ")
    assert (said.left, said.share) == ("at most 0:20 left", None)  # 30 s, not the 90 s that the updates would take
    free = follow(hand, chain, Stopping(0.05), 3, 1.0)[-1]
    assert (free.left, free.facts[0]) == ("", "270 updates")  # a limit that nobody set is no time to tell


def test_counting_clumps_takes_a_bounded_share_of_the_time(hand, monkeypatch):
    counts = []

    def slow(points, tau):
        counts.append(hand.at)
        hand.at += 1.0
        return np.zeros(len(points), dtype=int)

    monkeypatch.setattr(chain_progress, "components", slow)
    chain = doubly_stochastic(make_problem(X), Shrinking(0.2, 1.6, 0.6), seed=0)
    follow(hand, chain, Stopping(0.05), 2000, 0.5)
    assert 8 <= len(counts) <= 11  # of 1000 s


def test_mean_shift_says_how_many_have_arrived(hand):
    said = follow(hand, mean_shift(make_problem(X), 0.8, tol=1e-3), Stopping(0.2), 60, 1.0)
    assert said[-1].facts[0] == f"{len(X)} of {len(X)} points arrived"
    assert said[-1].share == 1.0
    assert said[0].share < 1.0


def test_several_chains_say_how_many_have_ended(hand):
    told = Line("DSMS")
    several = ChainsFollower(told, 4)
    chains = make_chains(
        lambda chain: doubly_stochastic(make_problem(X), Shrinking(0.2, 1.6, 0.6), seed=0, chain=chain), 4
    )
    at_end = []

    def ended(stage):
        hand.at += 10.0
        several.ended(stage)
        at_end.append(told.now()[0])

    results = run_chains(chains, Stopping(0.05), callbacks=[several], watch=ended)
    assert [report.facts[0] for report in at_end] == [f"{n} of 4 chains" for n in (1, 2, 3, 4)]
    assert [report.left for report in at_end] == ["0:30 left", "0:20 left", "0:10 left", ""]
    assert at_end[-1].facts[1:] == (
        f"{count(sum(result.state.k for result in results))} updates",
        f"{sum(result.sweeps for result in results)} sweeps",
    )


# ---------------------------------------- where it is shown


@pytest.mark.parametrize("cls", [StochasticMeanShift, ModeSeek, MeanShift])
def test_silent_in_a_pipe_shown_on_a_terminal(cls, screen, monkeypatch):
    monkeypatch.setattr(screens, "DELAY", 0.0)
    title = {"StochasticMeanShift": "SMS", "MeanShift": "MS"}.get(cls.__name__, "ModeSeek")
    for terminal in (False, True):
        shown = screen(terminal)
        cls(verbose=1).fit(X)
        assert (f"{title}: " in shown.getvalue()) == terminal
        cls(verbose=0).fit(X)
    assert cls(verbose=1).fit(X)._line is None  # and nothing of it stays


def test_colours_by_force_do_not_make_a_terminal(screen, monkeypatch):
    monkeypatch.setattr(screens, "DELAY", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = screen(False)
    StochasticMeanShift(verbose=1).fit(X)
    assert shown.getvalue() == ""


def test_what_ends_soon_shows_nothing(screen, monkeypatch):
    monkeypatch.setattr(screens, "DELAY", 60.0)
    shown = screen(True)
    StochasticMeanShift(verbose=1).fit(X).predict(X)
    assert shown.getvalue() == ""


def test_prints_to_a_file_are_not_drawn_into_the_terminal(screen, monkeypatch):
    """rich would hand standard output to the screen of the line, which is standard error."""
    monkeypatch.setattr(screens, "DELAY", 0.0)
    shown, out = screen(True), Screen(False)
    monkeypatch.setattr(sys, "stdout", out)
    with show_line("DSMS"):
        time.sleep(0.3)
        print("kept")
    assert out.getvalue() == "kept\n"
    assert "DSMS" in shown.getvalue()
    assert "kept" not in shown.getvalue()


def test_a_notebook_gets_a_line_that_goes_away(screen, monkeypatch):
    screen(False)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr(screens, "DELAY", 0.0)
    monkeypatch.setattr(screens, "NOTEBOOK_TICK", 0.01)
    cells = []

    class Handle:
        def update(self, shown):
            cells.append(shown)

    def display(shown, *, display_id):
        assert display_id is True
        cells.append(shown)
        return Handle()

    module = ModuleType("IPython.display")
    module.HTML, module.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    with show_line("a < b") as told:
        told.tell(Stage("confidence", 1, 4, "thinnings"))
        while len(cells) < 3:
            time.sleep(0.01)
    assert '<progress value="0.250" max="1"></progress> a &lt; b: confidence, 1 of 4 thinnings' in cells[1]
    assert cells[-1] == ""


TELLS = """
import sys
from modeseek._common.progress import screens
screens.DELAY = 0.0
from modeseek.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("quiet", [False, True])
def test_the_command_shows_it_on_a_terminal(tmp_path, quiet):
    import pty

    np.save(tmp_path / "a.npy", X)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", TELLS, "cluster", str(tmp_path / "a.npy"), "--json", "-", *["-q"] * quiet]
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


# ---------------------------------------- who reports what


def test_the_range_tells_the_scales_it_has_judged():
    told = []
    h = automatic_range(X, watch=told.append)
    assert h == automatic_range(X)
    assert [stage.done for stage in told] == list(range(len(told)))
    assert {(stage.name, stage.total, stage.at_most) for stage in told} == {
        ("choosing the range", sum(1 for _ in judge_scales(X)), True)
    }


def test_searches_for_neighbours_tell_rows_and_find_the_same(monkeypatch):
    for d in (2, 20):
        rows = np.random.default_rng(d).normal(size=(90, d))
        whole, one = nearest_neighbors(rows, 5), nearest(rows, rows + 0.1)
        monkeypatch.setattr("modeseek._common.neighbors.ROWS", 40)
        told = []
        parts = nearest_neighbors(rows, 5, watch=told.append)
        assert [stage.done for stage in told] == [40, 80, 90]
        np.testing.assert_array_equal(parts.indices, whole.indices)
        np.testing.assert_array_equal(parts.distances, whole.distances)
        np.testing.assert_array_equal(nearest(rows, rows + 0.1, watch=told.append), one)
        assert told[-1] == Stage("nearest neighbours", 90, 90, "rows")


def test_modeseek_calls_back_at_every_stage():
    told = []
    ModeSeek(random_state=0, callbacks=[told.append]).fit(X)
    names = list(dict.fromkeys(stage.name for stage in told))
    assert names[:4] == ["nearest neighbours", "proposals by modes", "judging proposals", "trying a mixture"]
    assert [stage.done for stage in told if stage.name == "judging proposals"] == list(range(17))


def test_arrived_is_what_frozen_goes_by():
    chain = mean_shift(make_problem(X), 0.8)
    result = run(chain, Stopping(0.2))
    assert chain.arrived(result.state).all()
    assert not chain.arrived(chain.init()).any()


def test_verbose_changes_no_label(screen, monkeypatch):
    monkeypatch.setattr(screens, "DELAY", 0.0)
    screen(True)
    for cls in (ModeSeek, DoublyStochasticMeanShift):
        silent, shown = (cls(random_state=0, verbose=verbose).fit(X) for verbose in (0, 1))
        np.testing.assert_array_equal(silent.labels_, shown.labels_)
