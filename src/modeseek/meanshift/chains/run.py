"""The only host loop: it runs any chain, watches it and says how it ended."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from modeseek._common.resources import TimeUp, limit_time
from modeseek.meanshift.chains.algorithms import Chain
from modeseek.meanshift.chains.checkpoint import Checkpoint, ResumePoint, RunCheckpoint
from modeseek.meanshift.chains.stopping import Outcome, Stopping
from modeseek.meanshift.chains.trace import Record, Recorder, Trace
from modeseek.meanshift.partition import Partition, read_off
from modeseek.meanshift.types import Callback, ChainState

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
    checkpoint: Checkpoint | RunCheckpoint | None = None,
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
    checkpoint : Checkpoint, optional
        Where to keep how far it has come. If there is a file of the same run, it goes on from there, and gives, bit for
        bit, what it gives in one piece. `stopping.max_time` counts from there. Of several runs, each has its own.

    Examples
    --------
    >>> from modeseek.meanshift.chains import make_problem, stochastic
    >>> chain = stochastic(make_problem([[0.0], [0.1], [5.0]]), 1.0, seed=0)
    >>> run(chain, Stopping(tau=0.2)).outcome.name
    'CERTIFIED'
    """
    stopping.check_fit(chain)
    record, callbacks = record or Record(), tuple(callbacks)
    if checkpoint is None:
        return _loop(chain, stopping, record, callbacks, start, None)
    if start is not None:
        raise ValueError("start and checkpoint both say where to go on: give one of them.")
    if isinstance(checkpoint, RunCheckpoint):  # whoever opened the checkpoint saves it
        return _loop(chain, stopping, record, callbacks, None, checkpoint)
    slot = checkpoint.open([chain], stopping, record)[0]
    try:
        return _loop(chain, stopping, record, callbacks, None, slot)
    finally:
        checkpoint.save()


def _loop(
    chain: Chain,
    stopping: Stopping,
    record: Record,
    callbacks: tuple[Callback, ...],
    start: ChainState | None,
    slot: RunCheckpoint | None,
) -> ChainResult:
    recorder, mark = Recorder(record, chain, stopping.tau), None if slot is None else slot.mark
    began, earlier = time.perf_counter(), 0.0
    if mark is None:
        state, sweeps = chain.init() if start is None else start, 0
        recorder.note(state, sweeps, None)
    else:
        state, sweeps, earlier = mark.state, mark.sweeps, mark.seconds
        recorder.resume(mark.recorded, state, sweeps)

    def here() -> ResumePoint:
        return ResumePoint(state, sweeps, earlier + time.perf_counter() - began, recorder.kept())

    outcome = stopping.check(chain, state, sweeps, 0.0)
    try:
        while outcome is None:
            if slot is not None:
                state = slot.fresh(state)
                slot.keep(here())
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
    if slot is not None and outcome is not Outcome.INTERRUPTED:
        slot.mark = here()
    return ChainResult(state, outcome, recorder.trace(), sweeps, earlier + time.perf_counter() - began)


def partition(chain: Chain, result: ChainResult, tau: float) -> Partition:
    """Read the clusters off the last state of a run: components at tau.

    Mean shift's data never move, so its partition carries no certificate.
    """
    problem = chain.problem
    upper = float("inf") if chain.upper is None else chain.upper(result.state)
    return read_off(
        result.state.points,
        problem.weights,
        tau,
        h_min=chain.h_min,
        h_upper=upper,
        geometry=problem.geometry,
    )
