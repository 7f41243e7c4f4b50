"""Callbacks that report the sweeps of chains as `Stage` values."""

import time
from threading import get_ident

import numpy as np

from modeseek._common.progress.words import count, plural
from modeseek._common.types import Array, Stage, Watcher
from modeseek.meanshift.chains.chain import Chain
from modeseek.meanshift.chains.stopping import Stopping
from modeseek.meanshift.components import components
from modeseek.meanshift.types import ChainState, SweepInfo

# seconds between two reports; between them a callback returns at once
INTERVAL = 0.1
# upper bound on the share of the time that is spent on counting clumps
CLUMP_COUNT_SHARE = 0.01
# assumed duration of the first count, in seconds per coordinate
SECONDS_PER_COORDINATE = 5e-6


class ChainProgress:
    """Callback of one run: reports updates, clumps, the bandwidth and sweeps, or the points that have converged.

    Clumps are groups of points closer than tau.

    Parameters
    ----------
    watch : callable
        Called with a `Stage`.
    chain : Chain
        The chain of the run.
    stopping : Stopping
        Its limits, for the time left.
    """

    def __init__(self, watch: Watcher, chain: Chain, stopping: Stopping):
        self._watch, self._chain, self._stopping = watch, chain, stopping
        self._clumps = _ClumpCounter(stopping.tau)
        self._began = time.perf_counter()
        self._due, self._sweeps = self._began + INTERVAL, 0

    def __call__(self, state: ChainState, info: SweepInfo) -> None:
        self._sweeps += 1
        now = time.perf_counter()
        if now < self._due:
            return
        sweeps = plural(self._sweeps, "sweep")
        if self._chain.arrived is not None:
            arrived = int(np.count_nonzero(self._chain.arrived(state)))
            self._watch(Stage("", arrived, len(state.points), "points converged", details=(sweeps,)))
        else:
            passed = now - self._began
            details = (*self._clumps.count(state.points, passed), f"h {state.h:.3g}", sweeps)
            limit, left = self._stopping.max_updates, self._seconds_left(state, passed)
            self._watch(Stage("", state.k, limit, "updates", True, details, left))
        self._due = time.perf_counter() + INTERVAL

    def _seconds_left(self, state: ChainState, passed: float) -> float | None:
        """Return an upper bound on the seconds left, from the limits of the run; None if it has no limits."""
        limits = []
        if self._stopping.max_time is not None:
            limits.append(self._stopping.max_time - passed)
        if self._stopping.max_updates is not None:
            limits.append(passed / state.k * (self._stopping.max_updates - state.k))
        return min(limits) if limits else None


class EnsembleProgress:
    """Callback of several chains: reports the chains that have ended, and updates and sweeps of all.

    Parameters
    ----------
    watch : callable
        Called with a `Stage`.
    n_chains : int
        Number of chains. They may call from any thread, but only one at a time.
    """

    _updates_by_thread: dict[int, int]

    def __init__(self, watch: Watcher, n_chains: int):
        self._watch, self._n = watch, n_chains
        self._due, self._done, self._sweeps, self._updates = time.perf_counter() + INTERVAL, 0, 0, 0
        self._updates_by_thread = {}
        self._report()

    def __call__(self, state: ChainState, info: SweepInfo) -> None:
        before = self._updates_by_thread.get(get_ident(), 0)
        # a thread that starts its next chain counts from 0 again
        self._updates += state.k - (before if before < state.k else 0)
        self._updates_by_thread[get_ident()] = state.k
        self._sweeps += 1
        if time.perf_counter() >= self._due:
            self._report(f"h {state.h:.3g}")

    def ended(self, stage: Stage) -> None:
        """Report the number of chains that have ended."""
        self._done = stage.done
        self._report()

    def _report(self, *details: str) -> None:
        details = (f"{count(self._updates)} updates", *details, plural(self._sweeps, "sweep"))
        self._watch(Stage("", self._done, self._n, "chains", details=details))
        self._due = time.perf_counter() + INTERVAL


class _ClumpCounter:
    """Counts groups of points closer than tau, in a bounded share of the time."""

    _details: tuple[str, ...] = ()

    def __init__(self, tau: float):
        self._tau, self._spent, self._last = tau, 0.0, 0.0

    def count(self, points: Array, passed: float) -> tuple[str, ...]:
        """Return the last count as text, updated if the share of the time allows it."""
        cost = self._last or SECONDS_PER_COORDINATE * points.size
        if self._spent + cost <= CLUMP_COUNT_SHARE * passed:
            start = time.perf_counter()
            n = int(components(points, self._tau).max()) + 1
            self._last = time.perf_counter() - start
            self._spent += self._last
            self._details = (plural(n, "clump"),)
        return self._details
