"""Progress of chains: callbacks that turn sweeps into a line of progress."""

from __future__ import annotations

import time
from threading import get_ident

import numpy as np

from modeseek._common.progress import Line
from modeseek._common.progress.report import clock, count, plural
from modeseek._common.types import Array, Stage
from modeseek.meanshift.chains.algorithms import Chain
from modeseek.meanshift.chains.stopping import Stopping
from modeseek.meanshift.partition import components
from modeseek.meanshift.types import ChainState, SweepInfo

__all__ = ["ChainFollower", "ChainsFollower"]

# counting clumps may take this share of the time, and the first count about so many seconds for each number in X
SHARE, PER_NUMBER = 0.01, 5e-6
# seconds between two looks at a run; in between a callback returns at once
PAUSE = 0.1


class ChainFollower:
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


class ChainsFollower:
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
