"""A line about work that goes on: kept up to date by callbacks, shown by whatever screen there is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

import numpy as np

from modeseek.chain import Chain, Stopping
from modeseek.partition import components
from modeseek.progress.report import Report, clock, count, plural
from modeseek.progress.screens import screen_for
from modeseek.types import Array, Callback, ChainState, Stage, SweepInfo

__all__ = ["Line", "show_line"]

# counting clumps may take this share of the time, and the first count about so many seconds for each number in X
SHARE, PER_NUMBER = 0.01, 5e-6
# seconds between two looks at a run; in between a callback returns at once
PAUSE = 0.1


class Line:
    """What a line says now, as told by stages and by the sweeps of chains.

    Parameters
    ----------
    title : str
        Who works: an estimator's short name.
    """

    def __init__(self, title: str):
        self._began = time.perf_counter()
        self._title, self._report = title, Report(title, ("starting",))
        self._stage = Stage("")
        self._stage_began, self._stage_done = self._began, 0

    def now(self) -> tuple[Report, float]:
        """Return what there is to say, and the seconds since the line was made."""
        return self._report, time.perf_counter() - self._began

    def tell(self, stage: Stage) -> None:
        """Say how far a stage has come; a watcher for whatever reports stages."""
        now = time.perf_counter()
        if stage.name != self._stage.name or stage.done < self._stage.done:
            self._stage_began, self._stage_done = now, stage.done
        self._stage = stage
        if stage.total is None:
            self._report = Report(self._title, (stage.name,))
            return
        of = "of at most" if stage.at_most else "of"
        counted = f"{count(stage.done)} {of} {count(stage.total)} {stage.unit}".rstrip()
        left = _left(now - self._stage_began, stage.done - self._stage_done, stage.total - stage.done)
        self._report = Report(self._title, (stage.name, counted), stage.done / max(stage.total, 1), left)

    def follow(self, chain: Chain, stopping: Stopping) -> Callback:
        """Return a callback that says how a run comes on: updates, sweeps, clumps, h and the most time left."""
        return _Follower(self, chain, stopping)

    def follow_several(self, n_chains: int) -> _Several:
        """Return what follows several chains: a callback for their sweeps, and a watcher for those that end."""
        return _Several(self, n_chains)

    def say(self, facts: tuple[str, ...], share: float | None = None, left: str = "") -> None:
        """Say something else."""
        self._report = Report(self._title, facts, share, left)


@contextmanager
def show_line(title: str) -> Iterator[Line | None]:
    """Show a line on a terminal or in a notebook while the block runs, if it runs for more than half a second.

    Yields the line to tell, or None where standard error is a pipe or a file, so that nothing need be told.

    Examples
    --------
    >>> with show_line("DSMS") as line:
    ...     if line is not None:
    ...         line.tell(Stage("choosing the range", 2, 9, "scales"))
    """
    line = Line(title)
    screen = screen_for(line.now)
    if screen is None:
        yield None
        return
    try:
        yield line
    finally:
        screen.close()


class _Follower:
    """Follows one run."""

    def __init__(self, line: Line, chain: Chain, stopping: Stopping):
        self._line, self._chain, self._stopping = line, chain, stopping
        self._clumps = _Clumps(stopping.tau)
        self._began = time.perf_counter()
        self._due, self._sweeps = self._began + PAUSE, 0

    def __call__(self, state: ChainState, info: SweepInfo) -> None:
        self._sweeps += 1
        now = time.perf_counter()
        if now < self._due:
            return
        n, sweeps = len(state.points), plural(self._sweeps, "sweep")
        if self._chain.arrived is not None:
            arrived = int(np.count_nonzero(self._chain.arrived(state)))
            self._line.say((f"{count(arrived)} of {count(n)} points arrived", sweeps), arrived / n)
        else:
            most = self._stopping.max_updates
            updates = f"{count(state.k)}{'' if most is None else f' of {count(most)}'} updates"
            facts = (updates, *self._clumps.look(state.points, now - self._began), f"h {state.h:.3g}", sweeps)
            self._line.say(facts, left=self._most_time(state, now - self._began))
        self._due = time.perf_counter() + PAUSE

    def _most_time(self, state: ChainState, passed: float) -> str:
        """Return the time left up to the limits that the user set: a run mostly ends before them."""
        limits = []
        if self._stopping.max_time is not None:
            limits.append(self._stopping.max_time - passed)
        if self._stopping.max_updates is not None:
            limits.append(passed / state.k * (self._stopping.max_updates - state.k))
        return f"at most {clock(max(0.0, min(limits)))} left" if limits else ""


class _Several:
    """Follows several runs; sweeps come one at a time, from whichever thread."""

    def __init__(self, line: Line, n_chains: int):
        self._line, self._n = line, n_chains
        self._began = time.perf_counter()
        self._due, self._done, self._sweeps, self._updates = self._began + PAUSE, 0, 0, 0
        self._ended, self._at = self._began, {}

    _at: dict[int, int]

    def __call__(self, state: ChainState, info: SweepInfo) -> None:
        before = self._at.get(get_ident(), 0)
        # a chain that begins counts from 0 again
        self._updates += state.k - (before if before < state.k else 0)
        self._at[get_ident()] = state.k
        self._sweeps += 1
        if time.perf_counter() >= self._due:
            self._say(f"h {state.h:.3g}")

    def ended(self, stage: Stage) -> None:
        """Take note of the chains that have ended."""
        self._done, self._ended = stage.done, time.perf_counter()
        self._say()

    def _say(self, *more: str) -> None:
        now = time.perf_counter()
        facts = (f"{self._done} of {self._n} chains", f"{count(self._updates)} updates", *more)
        self._line.say((*facts, plural(self._sweeps, "sweep")), self._done / self._n, self._left(now))
        self._due = now + PAUSE

    def _left(self, now: float) -> str:
        # at the speed up to the last that ended: since then the rest has come on too
        if not 0 < self._done < self._n:
            return ""
        whole = (self._ended - self._began) * self._n / self._done
        return f"{clock(max(0.0, whole - (now - self._began)) + 0.5)} left"


class _Clumps:
    """Counts clumps now and then, in a bounded share of the time."""

    def __init__(self, tau: float):
        self._tau, self._spent, self._last, self._facts = tau, 0.0, 0.0, ()

    _facts: tuple[str, ...]

    def look(self, points: Array, passed: float) -> tuple[str, ...]:
        """Return the last count as a fact, made anew if there is time for it."""
        cost = self._last or PER_NUMBER * points.size
        if self._spent + cost <= SHARE * passed:
            start = time.perf_counter()
            n = int(components(points, self._tau).max()) + 1
            self._last = time.perf_counter() - start
            self._spent += self._last
            self._facts = (plural(n, "clump"),)
        return self._facts


def _left(passed: float, done: float, rest: float) -> str:
    """Say how long the rest takes at the speed so far; "" where nothing is done yet, or nothing is left."""
    return f"{clock(passed * rest / done + 0.5)} left" if done > 0 and rest > 0 else ""
