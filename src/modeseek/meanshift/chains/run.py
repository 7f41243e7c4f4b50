"""The loop that runs any chain: an iterator over sweeps, and a function that exhausts it."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import TypeVar

import numpy as np

from modeseek._common.resources import TimeUp, limit_time
from modeseek._common.types import Array
from modeseek.meanshift.chains.chain import Chain, PartSize, Swept
from modeseek.meanshift.chains.checkpoint import Checkpoint, ResumePoint, RunCheckpoint
from modeseek.meanshift.chains.stopping import Outcome, Stopping
from modeseek.meanshift.chains.trace import Record, Recorder, Trace
from modeseek.meanshift.partition import Partition, read_off
from modeseek.meanshift.types import Callback, ChainState, SweepInfo, SweepsEnd

# number of sweeps that are applied at once at first, and of updates later
FIRST_SWEEPS = 32
MOST_UPDATES = 1 << 15

T = TypeVar("T")


@dataclass(frozen=True)
class ChainResult:
    """The result of a run.

    Attributes
    ----------
    state : ChainState
        The last state. `run(..., start=state)` continues from it.
    outcome : Outcome
        Why the run ended.
    trace : Trace
        The recorded quantities.
    sweeps : int
        Number of sweeps, including those before a resumption from a checkpoint.
    seconds : float
        Wall time of these sweeps.

    Examples
    --------
    >>> from modeseek.meanshift.chains import blurring, make_problem
    >>> result = run(blurring(make_problem([[0.0], [0.1], [5.0]]), 1.0), Stopping(tau=0.05))
    >>> result.outcome.name, result.sweeps, result.state.k
    ('CERTIFIED', 1, 3)
    """

    state: ChainState
    outcome: Outcome
    trace: Trace
    sweeps: int
    seconds: float


class Sweeps(Iterator[Swept]):
    """Iterator over the sweeps of a run; yields (state, info) after each of them.

    It applies the stopping rule, records the trace, saves checkpoints and handles interruption. Use `run` if only the
    final state is needed. Use the iterator to inspect every state, or to stop the run by a condition of your own. For
    short runs whose trace is not needed, `record=Record.nothing()` and a `Stopping` with `rule="shifts"` leave little
    more than the sweeps themselves.

    An interruption (Ctrl-C) or a time limit that is reached during a sweep ends the iteration. The incomplete sweep is
    dropped, and `outcome` has the reason. An interruption in the body of your own loop is raised there as usual.

    Parameters
    ----------
    chain : Chain
    stopping : Stopping
    record : Record, optional
        Quantities to record. Default: the bandwidths and the largest shifts.
    callbacks : iterable of callables
        Each is called as f(state, info) after every sweep. `KeyboardInterrupt` raised by a callback ends the run.
    start : ChainState, optional
        State to continue from. Default: `chain.init()`.
    checkpoint : RunCheckpoint, optional
        The part of an open `Checkpoint` that belongs to this run.
    part_size : callable, optional
        () -> number of draws (at least 1) after which to yield within a sweep, for displays. An info whose `sweeps` is
        0 marks such a state. It covers the draws since the last yield. Chains without `parts` ignore this argument.
    stop : Event, optional
        Ends the run with `Outcome.INTERRUPTED` before the next sweep, once it is set.

    Attributes
    ----------
    state : ChainState
        The state after the last complete sweep.
    sweeps : int
        Number of complete sweeps.
    outcome : Outcome or None
        Why the run ended; None before.

    Examples
    --------
    >>> from modeseek.meanshift.chains import make_problem, stochastic
    >>> chain = stochastic(make_problem([[0.0], [0.5], [5.0]]), 1.0, seed=0)
    >>> sweeps = Sweeps(chain, Stopping(tau=0.2))
    >>> for state, info in sweeps:
    ...     print(state.k, round(info.largest_shift, 2))
    3 0.21
    >>> sweeps.outcome.name, sweeps.result().sweeps
    ('CERTIFIED', 1)
    """

    def __init__(
        self,
        chain: Chain,
        stopping: Stopping,
        *,
        record: Record | None = None,
        callbacks: Iterable[Callback] = (),
        start: ChainState | None = None,
        checkpoint: RunCheckpoint | None = None,
        part_size: PartSize | None = None,
        stop: Event | None = None,
    ):
        stopping.check_fit(chain)
        self._chain, self._stopping, self._callbacks = chain, stopping, tuple(callbacks)
        self._checkpoint, self._part_size, self._stop = checkpoint, part_size, stop
        self._recorder = Recorder(record or Record(), chain, stopping.tau)
        self._began, self._earlier = time.perf_counter(), 0.0
        self._parts: Iterator[Swept] | None = None
        self._bandwidths: list[Array] = []
        point = None if checkpoint is None else checkpoint.mark
        if point is None:
            self.state, self.sweeps = chain.init() if start is None else start, 0
            self._recorder.note(self.state, 0, None)
        else:
            self.state, self.sweeps, self._earlier = point.state, point.sweeps, point.seconds
            self._recorder.resume(point.recorded, point.state, point.sweeps)
        self.outcome: Outcome | None = None
        watched = self._callbacks or self._recorder.states or part_size is not None
        limited = checkpoint is not None or stopping.max_time is not None
        # number of sweeps that `finish` applies by one call of `Chain.skip`; 0 if it applies one by one
        self._at_once = FIRST_SWEEPS if chain.skip is not None and not (watched or limited) else 0
        # `finish` can leave the check of the first state to the engine
        self._checked = False
        if not self._at_once:
            self._check()

    def __next__(self) -> Swept:
        if not self._checked:
            self._check()
        swept = self._unless_stopped(self._advance)
        if swept is None:
            raise StopIteration
        return swept

    def finish(self) -> None:
        """Run to the end; without callbacks, checkpoint, time limit or recorded states, several sweeps at a time."""
        while self.outcome is None:
            if self._at_once:
                self._unless_stopped(self._apply_many)
            else:
                next(self, None)

    def _unless_stopped(self, advance: Callable[[], T]) -> T | None:
        """Call a function that advances the run; return None if the run has ended, or ends meanwhile."""
        if self.outcome is None:
            try:
                if self._stop is None or not self._stop.is_set():
                    return advance()
                self._end(Outcome.INTERRUPTED)
            except TimeUp:
                self._end(Outcome.TIME_LIMIT)
            except KeyboardInterrupt:
                self._end(Outcome.INTERRUPTED)
        return None

    def _apply_many(self) -> None:
        """Apply several sweeps until one of them may be the last, or decide for one by one."""
        assert self._chain.skip is not None
        left = self._stopping.sweeps_left(self._chain, self.state, self.sweeps)
        found = None
        if left > 0:
            count = min(self._at_once, left)
            found = self._chain.skip(self.state, self._stopping.end_test(self.state, count, now=not self._checked))
        if found is None:
            self._at_once = 0
            return
        state, info = found
        self._checked, done = True, len(info.largest_shifts)
        if done:
            more = min(2 * done, max(FIRST_SWEEPS, MOST_UPDATES // len(state.points)))
            self._at_once = more if done == self._at_once else done
            self.state, self.sweeps = state, self.sweeps + done
            self._recorder.note_sweeps(state, self.sweeps, info)
        if info.end is SweepsEnd.CERTIFIED:
            self._end(Outcome.CERTIFIED)
        elif info.end is SweepsEnd.CHECK or done == left:
            self._check()

    def _check(self) -> None:
        """End the run if its stopping rule is fulfilled."""
        self._checked = True
        outcome = self._stopping.check(self._chain, self.state, self.sweeps, time.perf_counter() - self._began)
        if outcome is not None:
            self._end(outcome)

    def _advance(self) -> Swept:
        if self._parts is None:
            self._begin_sweep()
        assert self._parts is not None
        if self._stopping.max_time is None:
            state, info = next(self._parts)
        else:
            with limit_time(self._stopping.max_time - (time.perf_counter() - self._began)):
                state, info = next(self._parts)
        self._bandwidths.append(info.bandwidths)
        if info.sweeps:
            self._end_sweep(state, info)
        return state, info

    def _begin_sweep(self) -> None:
        if self._checkpoint is not None:
            self.state = self._checkpoint.fresh(self.state)
            self._checkpoint.keep(self._resume_point())
        if self._part_size is None or self._chain.parts is None:
            self._parts = map(self._chain.sweep, [self.state])
        else:
            self._parts = self._chain.parts(self.state, self._part_size)

    def _end_sweep(self, state: ChainState, info: SweepInfo) -> None:
        if len(self._bandwidths) > 1:
            info = info._replace(bandwidths=np.concatenate(self._bandwidths))
        self._parts, self._bandwidths = None, []
        self.state = state
        self.sweeps += info.sweeps
        self._recorder.note(state, self.sweeps, info)
        for callback in self._callbacks:
            callback(state, info)
        self._check()

    def _end(self, outcome: Outcome) -> None:
        self.outcome = outcome
        # an interruption may have come between two assignments: then the point from before the sweep stays
        if self._checkpoint is not None and outcome is not Outcome.INTERRUPTED:
            self._checkpoint.mark = self._resume_point()

    def _seconds(self) -> float:
        return self._earlier + time.perf_counter() - self._began

    def _resume_point(self) -> ResumePoint:
        return ResumePoint(self.state, self.sweeps, self._seconds(), self._recorder.kept())

    def result(self) -> ChainResult:
        """Stop the iterator and return the result; the outcome of an unfinished run is `Outcome.INTERRUPTED`."""
        self.outcome = self.outcome or Outcome.INTERRUPTED
        return ChainResult(self.state, self.outcome, self._recorder.trace(), self.sweeps, self._seconds())


def run(
    chain: Chain,
    stopping: Stopping,
    *,
    record: Record | None = None,
    callbacks: Iterable[Callback] = (),
    start: ChainState | None = None,
    checkpoint: Checkpoint | RunCheckpoint | None = None,
    stop: Event | None = None,
) -> ChainResult:
    """Run a chain until its stopping rule ends it.

    Ctrl-C ends the run with `Outcome.INTERRUPTED`, and a time limit that is reached within a sweep with
    `Outcome.TIME_LIMIT`. The result is then the state after the last complete sweep. Engines check the time limit
    several times a second.

    Parameters
    ----------
    chain : Chain
    stopping : Stopping
    record : Record, optional
        Quantities to record. Default: the bandwidths and the largest shifts.
    callbacks : iterable of callables
        Each is called as f(state, info) after every sweep.
    start : ChainState, optional
        State to continue from. A run that is split in two gives the same states as one run.
    checkpoint : Checkpoint or RunCheckpoint, optional
        File in which to save the progress. If the file has a checkpoint of the same run, the run resumes from it, and
        its result is the same bit for bit. `stopping.max_time` counts from the resumption. Where several runs share a
        `Checkpoint`, each is given its own `RunCheckpoint`, and the caller saves the file.
    stop : Event, optional
        Ends the run with `Outcome.INTERRUPTED` before the next sweep, once it is set.

    Examples
    --------
    >>> from modeseek.meanshift.chains import make_problem, stochastic
    >>> chain = stochastic(make_problem([[0.0], [0.1], [5.0]]), 1.0, seed=0)
    >>> run(chain, Stopping(tau=0.2)).outcome.name
    'CERTIFIED'
    """
    stopping.check_fit(chain)
    if checkpoint is not None and start is not None:
        raise ValueError("start and checkpoint both define the state to continue from: give only one of them.")
    part = (
        checkpoint.open([chain], stopping, record or Record())[0] if isinstance(checkpoint, Checkpoint) else checkpoint
    )
    try:
        sweeps = Sweeps(chain, stopping, record=record, callbacks=callbacks, start=start, checkpoint=part, stop=stop)
        with suppress(KeyboardInterrupt):  # an interruption between two sweeps
            sweeps.finish()
        return sweeps.result()
    finally:
        if isinstance(checkpoint, Checkpoint):
            checkpoint.save()


def partition(chain: Chain, result: ChainResult, tau: float) -> Partition:
    """Return the clusters of the last state of a run: the components at tau.

    The partition of mean shift is never certified, because its data do not move.
    """
    problem = chain.problem
    upper = float("inf") if chain.upper is None else chain.upper(result.state)
    return read_off(
        result.state.points, problem.weights, tau, h_min=chain.h_min, h_upper=upper, geometry=problem.geometry
    )
