"""A run that is watched: it goes on a piece at a time and says what there is to see."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.estimators.alternatives import nearly_chosen
from modeseek.explorer.clumps import Tracker
from modeseek.explorer.data import Eye, Subject
from modeseek.explorer.history import History, sampled_objective
from modeseek.explorer.making import Made, Sweeping, make
from modeseek.explorer.settings import Settings, estimator_of
from modeseek.meanshift.chains import ChainResult, Outcome, Trace, partition
from modeseek.meanshift.partition import components
from modeseek.meanshift.types import ChainState
from modeseek.selection.bandwidths import Range

__all__ = ["Frame", "Result", "Run"]

# of a sweep, where points move one by one and there is time to look
PIECES = 8
# of more points than this clumps are counted now and then only: not longer than this share of the time
COUNTED_ALWAYS, COUNTING = 3000, 0.25
# updates of the first piece, and seconds that a later one may take: large data move before their first sweep is over
FIRST_PIECE, PIECE_SECONDS = 4096, 0.1


class Frame(NamedTuple):
    """What there is to see at one moment.

    Attributes
    ----------
    places : (m, 2) float32 array
        Where the points that are shown are.
    colours : (m,) uint8 array
        Colour of each: a number of `clumps.SLOTS`, or its cluster once the run has ended.
    clumps : int
        Groups of shown points closer than tau.
    updates : int
    sweeps : float
    h : float
    shift : float
        Longest move of the sweep.
    """

    places: Array
    colours: IntArray
    clumps: int
    updates: int
    sweeps: float
    h: float
    shift: float


class Result(NamedTuple):
    """How a run ended.

    Attributes
    ----------
    labels : (n,) integer array
        Cluster of each row of the data.
    n_clusters : int
    message : str
    confidence : (n,) array or None
    centers : (m, d) array
        In the units that were clustered.
    others : tuple of str
        What was nearly chosen instead.
    converged : bool
    updates : int or None
    """

    labels: IntArray
    n_clusters: int
    message: str
    confidence: Array | None
    centers: Array
    others: tuple[str, ...] = ()
    converged: bool = True
    updates: int | None = None


class Run:
    """A run on a subject, from its settings; making one takes the range from the data where it has to.

    Parameters
    ----------
    subject : Subject
    settings : Settings
    cancelled : callable, optional
        () -> whether to give up, asked while an estimator is fitted.

    Attributes
    ----------
    frame : Frame
    result : Result or None
        None until it has ended.
    history : History
    h : Range or None
        The range in force.
    start : (m, 2) array
        Where the points that are shown began.
    axes : tuple of str
        Names of the axes.
    """

    def __init__(self, subject: Subject, settings: Settings, cancelled: Callable[[], bool] = lambda: False):
        self.subject, self.settings, self._cancelled = subject, settings, cancelled
        self.result: Result | None = None
        self.history = History()
        self.h: Range | None = None
        self._made: Made | None = None
        self._sweeping: Sweeping | None = None
        points = subject.points(settings.metric)
        self._eye: Eye = subject.eye(points)
        self.start, self.axes = self._eye.start, self._eye.axes
        shown = len(subject.shown)
        self._tracker = Tracker(shown)
        grey = self._tracker.follow(np.arange(shown))
        self.frame = Frame(self._eye.start, grey, shown, 0, 0.0, np.nan, np.nan)
        if settings.moves:
            self._begin(make(subject, settings))

    def _begin(self, made: Made) -> None:
        made.stopping.check_fit(made.chain)
        self._made, self.h = made, made.h
        self._state, self._sweeps = made.chain.init(), 0
        if made.plan is not None:
            self._sweeping = Sweeping(made.chain.problem, made.plan)
        self._piece = min(len(made.points.values), FIRST_PIECE)
        self._between, self._count_at = False, 0.0
        self._look(self._state, 0.0, np.nan)
        self._note(self._state)

    def advance(self, *, whole: bool = False) -> None:
        """Go on by a piece, or by a whole sweep; does nothing once the run has ended."""
        if self.result is not None:
            return
        if self._made is None:
            self._fit("ModeSeek")
            return
        if self._sweeping is None:
            self._state, info = self._made.chain.sweep(self._state)
            self.history.bandwidths(self._sweeps, self._sweeps + 1, info.bandwidths)
            self._swept(info.largest_shift)
            return
        self._advance_piece(self._sweeping, whole=whole)

    def _advance_piece(self, sweeping: Sweeping, *, whole: bool) -> None:
        assert self._made is not None
        n = len(self._made.points.values)
        if not self._between:
            sweeping.begin(self._state)
            self._between = True
        count = min(self._piece, sweeping.left if whole else -(-n // PIECES))
        began, done = time.perf_counter(), sweeping.done
        path = sweeping.go(count)
        seconds = time.perf_counter() - began
        self._piece = int(np.clip(self._piece * np.clip(PIECE_SECONDS / max(seconds, 1e-6), 0.2, 2.0), 16, n))
        self.history.bandwidths(self._sweeps + done / n, self._sweeps + sweeping.done / n, path)
        if sweeping.left:
            self._look(sweeping.now(), self._sweeps + sweeping.done / n, sweeping.longest)
            return
        self._state, self._between = sweeping.now(), False
        self._swept(sweeping.longest)

    @property
    def between(self) -> bool:
        """Whether a sweep has begun and not ended."""
        return self._made is not None and self._between

    def _swept(self, longest: float) -> None:
        assert self._made is not None
        self._sweeps += 1
        self._look(self._state, float(self._sweeps), longest)
        self._note(self._state)
        outcome = self._made.stopping.check(self._made.chain, self._state, self._sweeps, 0.0)
        if outcome is not None:
            self._end(outcome)

    def _end(self, outcome: Outcome) -> None:
        assert self._made is not None
        if self.settings.algorithm == "ms" or (self.settings.random and self.settings.chains > 1):
            self._fit(outcome.value)
            return
        made = self._made
        ended = ChainResult(self._state, outcome, Trace(), self._sweeps, 0.0)
        part = partition(made.chain, ended, made.stopping.tau)
        labels = part.labels[made.points.inverse]
        centers = made.points.to_data(part.centers)
        self._close(Result(labels, part.n_clusters, outcome.value, None, centers, (), outcome.converged, self._state.k))

    def _fit(self, message: str) -> None:
        """Let the estimator say the last word: where there is no chain to watch, or several to agree."""
        model = estimator_of(self.settings).set_params(callbacks=[self._give_up])
        if self.settings.moves:
            model.set_params(n_jobs=-1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # how it ended is said in the result
            model.fit(self.subject.X)
        result = model.result_
        message = result.message
        if self.settings.random:
            agree = f"{self.settings.chains} chains agree with their consensus to {result.stability:.2f}"
            message = f"{agree}; {message}"
        others: tuple[str, ...] = ()
        if result.alternatives:
            others = tuple(
                f"{each.n_clusters} clusters by {each.proposer}, stability {each.stability:.2f}"
                for each in nearly_chosen(model)
            )
        self._close(
            Result(
                result.labels,
                result.n_clusters,
                message,
                result.confidence,
                np.asarray(result.centers, dtype=np.float64),
                others,
                result.outcome.converged,
                result.n_updates,
            )
        )

    def _give_up(self, *_: object) -> None:
        if self._cancelled():
            raise KeyboardInterrupt

    def _close(self, result: Result) -> None:
        labels = result.labels[self.subject.shown]
        # more clusters than a byte has numbers share colours
        colours = np.where(labels < 0, 255, labels % 255).astype(np.uint8)
        self.frame = self.frame._replace(colours=colours, clumps=result.n_clusters)
        self.result = result

    def _look(self, state: ChainState, sweeps: float, shift: float) -> None:
        colours, clumps = self.frame.colours, self.frame.clumps
        began = time.perf_counter()
        if len(self._eye.rows) <= COUNTED_ALWAYS or began >= self._count_at:
            assert self._made is not None
            labels = components(state.points[self._eye.rows], self._made.stopping.tau)
            colours, clumps = self._tracker.follow(labels), int(labels.max()) + 1
            ended = time.perf_counter()
            self._count_at = ended + (ended - began) / COUNTING
        self.frame = Frame(self._eye(state.points), colours, clumps, state.k, sweeps, state.h, shift)

    def _note(self, state: ChainState) -> None:
        assert self._made is not None
        data = self._made.chain.problem.points if self._made.chain.upper is None else None
        h = self._made.h.h_inf
        level = sampled_objective(state.points, self._made.chain.problem, h, data)
        self.history.level(self._sweeps, level, self.frame.clumps)
