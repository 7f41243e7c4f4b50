"""Recording of a run: each quantity at its own interval, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from modeseek._common.points import Points
from modeseek._common.sphere import chords_to_meters
from modeseek._common.storable import storable
from modeseek._common.types import Array
from modeseek._common.validation import check_choice, check_integer
from modeseek.meanshift.chains.chain import Chain
from modeseek.meanshift.chains.series import EarlyDraws, Entry, Series, ThinnedSeries
from modeseek.meanshift.components import components, diameter_of, gap_of
from modeseek.meanshift.objective import objective
from modeseek.meanshift.types import ChainEnd, ChainState, SweepInfo, SweepsInfo

# quantities computed from a state; bandwidths and largest shifts are taken from `SweepInfo`
STATE_QUANTITIES = ("clumps", "diameter", "gap", "objective", "snapshots")
QUANTITIES = ("h", "shift", *STATE_QUANTITIES)
# all snapshots together hold at most this many numbers (half a gigabyte), but at least eight snapshots are allowed
SNAPSHOT_NUMBERS = 1 << 26
MIN_SNAPSHOTS = 8


@storable()
@dataclass(frozen=True)
class Record:
    """Quantities to record, and the interval of each: in draws for `h`, and in sweeps for all others.

    None leaves a quantity out. A clump is a connected component of the graph that joins points closer than tau. Clumps
    and the quantities listed after them are also recorded for the last state of the run.

    Attributes
    ----------
    h : int, optional
        Interval of the bandwidths. Some of the first draws are kept even if later ones are thinned out.
    shift : int, optional
        Interval of the largest shift of a sweep.
    clumps : int, optional
        Interval of the number of clumps.
    diameter : int, optional
        Interval of the largest distance between two points of the same clump.
    gap : int, optional
        Interval of the smallest distance between points of different clumps; inf if there is one clump.
    objective : int, optional
        Interval of L_h at the current bandwidth, which takes time proportional to n^2.
    snapshots : int, optional
        Interval of copies of the points.
    limit : int
        Maximum number of entries of a quantity. When it is reached, every second entry is dropped and the interval
        doubles. The maximum for snapshots is limit / 8, or less if they would hold more than 2^26 numbers.
    """

    h: int | None = 1
    shift: int | None = 1
    clumps: int | None = None
    diameter: int | None = None
    gap: int | None = None
    objective: int | None = None
    snapshots: int | None = None
    limit: int = 1024

    def __post_init__(self) -> None:
        for name in QUANTITIES:
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), low=1)
        check_integer("limit", self.limit, low=16)

    @classmethod
    def nothing(cls) -> Record:
        """Return a record without any quantity."""
        return cls(h=None, shift=None)

    def snapshot_limit(self, state_size: int) -> int:
        """Return the maximum number of snapshots of states with this many numbers."""
        return min(self.limit // 8, max(MIN_SNAPSHOTS, SNAPSHOT_NUMBERS // state_size))


RecordSpec: TypeAlias = Record | str | Iterable[str] | bool | None


def as_record(record: RecordSpec, known: Iterable[str] = STATE_QUANTITIES) -> Record:
    """Convert the parameter `record` of an estimator to a `Record`.

    Parameters
    ----------
    record : Record, str, iterable of str, bool or None
        Names of quantities to record after every sweep, in addition to bandwidths and largest shifts; "all" or True for
        all.
    known : iterable of str
        Quantities that the algorithm can record.

    Examples
    --------
    >>> as_record(["clumps", "gap"])
    Record(h=1, shift=1, clumps=1, diameter=None, gap=1, objective=None, snapshots=None, limit=1024)
    >>> as_record(True) == as_record("all")
    True
    >>> as_record("snapshot")
    Traceback (most recent call last):
    ValueError: record must be one of 'all', 'h', 'shift', 'clumps', ... Did you mean 'snapshots'?
    """
    known = tuple(known)
    if record is None or record is False:
        return Record()
    if record is True:
        record = "all"
    if isinstance(record, Record):
        for name in STATE_QUANTITIES:
            if getattr(record, name) is not None and name not in known:
                raise ValueError(f"record has {name}={getattr(record, name)!r}, which this algorithm cannot record.")
        return record
    words = ("all", "h", "shift", *known)
    if isinstance(record, str):
        record = [record]
    try:
        names = [check_choice("record", name, words) for name in record]
    except TypeError:
        raise TypeError(
            f"record must be None, a Record, or some of the names {', '.join(map(repr, words))}; got {record!r}."
        ) from None
    if "all" in names:
        names = list(known)
    return Record(**dict.fromkeys(names, 1))


@storable()
@dataclass(frozen=True)
class Trace:
    """The recorded series of each quantity of `Record`; None for a quantity that was not recorded.

    Examples
    --------
    >>> from modeseek.meanshift.chains import Stopping, as_record, make_problem, run, stochastic
    >>> chain = stochastic(make_problem([[0.0], [0.1], [5.0]]), 1.0, seed=0)
    >>> trace = run(chain, Stopping(tau=0.05), record=as_record("clumps")).trace
    >>> int(trace.clumps.values[-1])
    2
    """

    h: Series | None = None
    shift: Series | None = None
    clumps: Series | None = None
    diameter: Series | None = None
    gap: Series | None = None
    objective: Series | None = None
    snapshots: Series | None = None

    def restored(self, points: Points, *, climbers: bool = False) -> Trace:
        """Convert bandwidths and snapshots to the units of the data, and give snapshots one position for each row.

        Parameters
        ----------
        points : Points
            The canonical points of the chain.
        climbers : bool
            Whether states hold queries that do not correspond to rows of the data.
        """
        h, snapshots = self.h, self.snapshots
        if h is not None and points.geometry.metric == "haversine":
            h = Series(h.k, chords_to_meters(h.values))
        if snapshots is not None:
            values = points.to_data(snapshots.values)
            snapshots = Series(snapshots.k, values if climbers else values[:, points.inverse])
        return replace(self, h=h, snapshots=snapshots)


class RecorderState(NamedTuple):
    """The state of a recorder, from which another recorder can continue.

    Attributes
    ----------
    draws : int
        Number of draws of the policy so far.
    tracks : dict
        Interval and entries of each quantity.
    early : tuple
        Numbers and values of the early draws.
    """

    draws: int
    tracks: dict[str, tuple[int, list[Entry]]]
    early: tuple[list[int], list[float]]


class Recorder:
    """Records a run and returns its `Trace`."""

    def __init__(self, record: Record, chain: Chain, tau: float):
        self._chain, self._tau, self._draws = chain, tau, 0
        intervals = {name: getattr(record, name) for name in QUANTITIES}
        self._series = {name: ThinnedSeries(every, record.limit) for name, every in intervals.items() if every}
        if "snapshots" in self._series:
            self._series["snapshots"].limit = record.snapshot_limit(chain.problem.points.size)
        self._early = EarlyDraws()
        self._last: tuple[ChainState, int] | None = None

    def note(self, state: ChainState, sweeps: int, info: SweepInfo | None) -> None:
        """Record what is due after a sweep; `info` is None for the initial state."""
        if info is not None:
            self._note_bandwidths(info.bandwidths)
            if "shift" in self._series and self._series["shift"].wants(sweeps):
                self._series["shift"].add(sweeps, state.k, info.largest_shift)
        due = [name for name in STATE_QUANTITIES if name in self._series and self._series[name].wants(sweeps)]
        for name, value in self._measured(state, due).items():
            self._series[name].add(sweeps, state.k, value)
        self._last = state, sweeps

    @property
    def states(self) -> bool:
        """Whether a quantity of the states is recorded, and not only bandwidths and largest shifts."""
        return not self._series.keys() <= {"h", "shift"}

    def note_sweeps(self, state: ChainState, sweeps: int, info: SweepsInfo) -> None:
        """Record several sweeps at once; `sweeps` is the number of the last. No quantity of states can be recorded."""
        self._note_bandwidths(info.bandwidths)
        count = len(info.largest_shifts)
        if "shift" in self._series:
            updates = len(info.bandwidths) // count
            for after, largest in zip(range(count - 1, -1, -1), info.largest_shifts.tolist(), strict=True):
                if self._series["shift"].wants(sweeps - after):
                    self._series["shift"].add(sweeps - after, state.k - after * updates, largest)
        self._last = state, sweeps

    def _note_bandwidths(self, bandwidths: Array) -> None:
        if "h" in self._series:
            self._series["h"].extend(self._draws + 1, bandwidths)
            self._early.extend(self._draws + 1, bandwidths)
        self._draws += len(bandwidths)

    def kept(self) -> RecorderState:
        """Return the state of the recorder, from which `resume` restores it."""
        tracks = {name: series.kept() for name, series in self._series.items()}
        return RecorderState(self._draws, tracks, self._early.kept())

    def resume(self, kept: RecorderState, state: ChainState, sweeps: int) -> None:
        """Restore a recorder from the result of `kept`; `state` and `sweeps` are those of the run at that time."""
        self._draws, self._last = kept.draws, (state, sweeps)
        for name, series in self._series.items():
            series.resume(*kept.tracks[name])
        self._early.resume(*kept.early)

    def trace(self) -> Trace:
        """Return the trace, including the last state. Call this once, at the end."""
        if self._last is not None:
            state, sweeps = self._last
            due = [name for name in STATE_QUANTITIES if name in self._series and self._series[name].lacks(state.k)]
            for name, value in self._measured(state, due).items():
                self._series[name].close(sweeps, state.k, value)
        found = {name: series.series() for name, series in self._series.items()}
        if "h" in found:
            found["h"] = self._early.merged_with(found["h"])
        return Trace(**found)

    def _measured(self, state: ChainState, names: list[str]) -> dict[str, Array | float]:
        found: dict[str, Array | float] = {}
        points, problem = state.points, self._chain.problem
        if {"clumps", "diameter", "gap"} & set(names):
            labels = components(points, self._tau)
            if "clumps" in names:
                found["clumps"] = float(labels.max() + 1)
            if "diameter" in names:
                found["diameter"] = diameter_of(points, labels)
            if "gap" in names:
                found["gap"] = gap_of(points, labels)
        if "objective" in names:
            found["objective"] = objective(points, state.h, profile=problem.profile, weights=problem.weights)
        if "snapshots" in names:
            found["snapshots"] = points.copy()
        return found


def rebuild_trace(chain: Chain, tau: float, end: ChainEnd) -> Trace:
    """Return the default trace of a chain that an engine ran by itself, by repeating its draws."""
    plan = chain.plan
    assert plan is not None
    recorder = Recorder(Record(), chain, tau)
    state = chain.init()
    recorder.note(state, 0, None)
    for sweep in range(1, end.sweeps + 1):
        path = plan.sweep(sweep - 1, state.h).path
        state = end.state._replace(h=float(path[-1]), k=sweep * plan.updates)
        largest = float(end.shifts[sweep - 1]) if sweep <= len(end.shifts) else np.nan  # shifts of the first sweeps
        recorder.note(state, sweep, SweepInfo(path, largest))
    return recorder.trace()
