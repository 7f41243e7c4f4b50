"""The only host loop: it runs any chain, watches it and says how it ended."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from modeseek.chain.algorithms import Chain
from modeseek.chain.stopping import Outcome, Stopping
from modeseek.chain.trace import Record, Recorder, Trace
from modeseek.partition import Partition, read_off
from modeseek.resources import TimeUp, limit_time
from modeseek.types import Callback, ChainState

__all__ = ["ChainResult", "partition", "run"]


@dataclass(frozen=True)
class ChainResult:
    """What a run leaves behind.

    Attributes
    ----------
    state : ChainState
        The last state; `run(..., start=state)` goes on from it.
    outcome : Outcome
        How it ended.
    trace : Trace
        What was recorded on the way.
    sweeps : int
        Sweeps since the first state of this run.
    seconds : float
        Time it took.
    """

    state: ChainState
    outcome: Outcome
    trace: Trace
    sweeps: int
    seconds: float


def run(
    chain: Chain,
    stopping: Stopping,
    *,
    record: Record | None = None,
    callbacks: Iterable[Callback] = (),
    start: ChainState | None = None,
) -> ChainResult:
    """Run a chain until its stopping rule says so.

    Ctrl-C ends the run too: what was done up to the last whole sweep is kept, with `Outcome.INTERRUPTED`. So does a
    limit on time that is reached within a sweep, with `Outcome.TIME_LIMIT`; engines look at the clock between blocks of
    a fraction of a second.

    Parameters
    ----------
    chain : Chain
    stopping : Stopping
    record : Record, optional
        What to keep in the trace. Default: the bandwidth path and the largest shifts.
    callbacks : iterable of callables
        Each is called as f(state, info) after every sweep.
    start : ChainState, optional
        Where to go on; by the recipe of the draws, a run cut in two gives what one run gives.

    Examples
    --------
    >>> from modeseek.chain import setting, stochastic
    >>> chain = stochastic(setting([[0.0], [0.1], [5.0]]), 1.0, seed=0)
    >>> run(chain, Stopping(tau=0.2)).outcome.name
    'CERTIFIED'
    """
    stopping.check_fit(chain)
    state = chain.init() if start is None else start
    recorder = Recorder(record or Record(), chain, stopping.tau)
    callbacks = tuple(callbacks)
    began, sweeps = time.perf_counter(), 0
    recorder.note(state, sweeps, None)
    outcome = stopping.check(chain, state, sweeps, 0.0)
    try:
        while outcome is None:
            left = None if stopping.max_time is None else stopping.max_time - (time.perf_counter() - began)
            with limit_time(left):
                state, info = chain.sweep(state)
            sweeps += info.steps
            recorder.note(state, sweeps, info)
            for callback in callbacks:
                callback(state, info)
            outcome = stopping.check(chain, state, sweeps, time.perf_counter() - began)
    except TimeUp:
        outcome = Outcome.TIME_LIMIT
    except KeyboardInterrupt:
        outcome = Outcome.INTERRUPTED
    return ChainResult(state, outcome, recorder.trace(), sweeps, time.perf_counter() - began)


def partition(chain: Chain, result: ChainResult, tau: float) -> Partition:
    """Read the clusters off the last state of a run: components at tau.

    Mean shift's data never move, so its partition carries no certificate.
    """
    setting = chain.setting
    upper = float("inf") if chain.upper is None else chain.upper(result.state)
    return read_off(
        result.state.points,
        setting.weights,
        tau,
        h_min=chain.h_min,
        h_upper=upper,
        geometry=setting.geometry,
    )
