"""What to remember of a run: each quantity at its own interval, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from modeseek._common.points import Points
from modeseek._common.types import Array
from modeseek._common.validation import check_choice, check_integer
from modeseek.meanshift.chains.algorithms import Chain
from modeseek.meanshift.chains.series import EarlyDraws, Entry, Series, ThinnedSeries
from modeseek.meanshift.objective import objective
from modeseek.meanshift.partition import components, diameter_of, gap_of
from modeseek.meanshift.types import ChainEnd, ChainState, SweepInfo

__all__ = ["Record", "RecordSpec", "Recorder", "RecorderState", "Series", "Trace", "as_record", "rebuild_trace"]

# what is measured on a state; the bandwidth path and the largest shifts come with the sweeps
OF_STATES = ("clumps", "diameter", "gap", "objective", "snapshots")
# numbers that all snapshots together may hold: half a gigabyte
SNAPSHOT_NUMBERS = 1 << 26
# snapshots that there may always be
FEWEST_SNAPSHOTS = 8


@dataclass(frozen=True)
class Record:
    """What to record, and how often; None leaves a quantity out.

    What is measured on a state (the last five) is also kept of the last one, wherever the run ends.

    Attributes
    ----------
    h : int, optional
        Bandwidth path, every so many draws. Of the first draws some stay even if later ones are dropped.
    shift : int, optional
        Largest shift of a sweep, every so many sweeps.
    clumps : int, optional
        Number of components at tau, every so many sweeps.
    diameter : int, optional
        Largest distance between two points of one component, every so many sweeps.
    gap : int, optional
        Smallest distance between points of different components, inf where there is one, every so many sweeps.
    objective : int, optional
        L_h at the current bandwidth, every so many sweeps; costs n^2.
    snapshots : int, optional
        Copies of the points, every so many sweeps.
    limit : int
        Most entries of a quantity (an eighth of that for snapshots, and less if they would hold more than 2^26
        numbers, but at least eight). When it is reached, every second entry is dropped and the interval doubles.
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
        for name in ("h", "shift", *OF_STATES):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), low=1)
        check_integer("limit", self.limit, low=16)

    @classmethod
    def nothing(cls) -> Record:
        """Return a record of no quantity at all."""
        return cls(h=None, shift=None)


RecordSpec: TypeAlias = Record | str | Iterable[str] | None


def as_record(record: RecordSpec, known: Iterable[str] = OF_STATES) -> Record:
    """Return what users say of recording as a `Record`.

    Parameters
    ----------
    record : Record, str, iterable of str or None
        Names of what to record after every sweep, besides the bandwidth path and the largest shifts; "all" is all.
    known : iterable of str
        What can be recorded.

    Examples
    --------
    >>> as_record(["clumps", "gap"])
    Record(h=1, shift=1, clumps=1, diameter=None, gap=1, objective=None, snapshots=None, limit=1024)
    >>> as_record("snapshot")
    Traceback (most recent call last):
    ValueError: record must be one of 'all', 'h', 'shift', 'clumps', ... Did you mean 'snapshots'?
    """
    known = tuple(known)
    if record is None:
        return Record()
    if isinstance(record, Record):
        for name in OF_STATES:
            if getattr(record, name) is not None and name not in known:
                raise ValueError(f"record has {name}={getattr(record, name)!r}, which this algorithm does not know.")
        return record
    words = ("all", "h", "shift", *known)
    if isinstance(record, str):
        record = [record]
    try:
        names = [check_choice("record", name, words) for name in record]
    except TypeError:
        raise TypeError(
            f"record must be None, a Record, or names out of {', '.join(map(repr, words))}; got {record!r}."
        ) from None
    if "all" in names:
        names = list(known)
    return Record(**dict.fromkeys(names, 1))


@dataclass(frozen=True)
class Trace:
    """What was recorded; None where nothing was asked for. The names are those of `Record`."""

    h: Series | None = None
    shift: Series | None = None
    clumps: Series | None = None
    diameter: Series | None = None
    gap: Series | None = None
    objective: Series | None = None
    snapshots: Series | None = None

    def restored(self, points: Points, *, climbers: bool = False) -> Trace:
        """Return the trace with snapshots in the units and in the rows of the data.

        Parameters
        ----------
        points : Points
            What the chain was given.
        climbers : bool
            Whether states hold climbers from elsewhere, which no rows belong to.
        """
        if self.snapshots is None:
            return self
        values = points.to_data(self.snapshots.values)
        return replace(self, snapshots=Series(self.snapshots.k, values if climbers else values[:, points.inverse]))


class RecorderState(NamedTuple):
    """How far a recorder has come: all that another needs to go on from there.

    Attributes
    ----------
    draws : int
        Draws of the policy so far.
    tracks : dict
        Interval and entries of each quantity.
    early : tuple
        Numbers and values of the first draws.
    """

    draws: int
    tracks: dict[str, tuple[int, list[Entry]]]
    early: tuple[list[int], list[float]]


class Recorder:
    """Watches a run and makes its `Trace`."""

    def __init__(self, record: Record, chain: Chain, tau: float):
        self._chain, self._tau, self._draws = chain, tau, 0
        asked = {field.name: getattr(record, field.name) for field in fields(Trace)}
        self._tracks = {name: ThinnedSeries(every, record.limit) for name, every in asked.items() if every is not None}
        if "snapshots" in self._tracks:
            most = max(FEWEST_SNAPSHOTS, SNAPSHOT_NUMBERS // chain.problem.points.size)
            self._tracks["snapshots"].limit = min(record.limit // 8, most)
        self._early = EarlyDraws()
        self._last: tuple[ChainState, int] | None = None

    def note(self, state: ChainState, sweeps: int, info: SweepInfo | None) -> None:
        """Record what is due after a sweep; `info` is None before the first."""
        if info is not None:
            self._note_bandwidths(info.bandwidths)
            if "shift" in self._tracks and self._tracks["shift"].wants(sweeps):
                self._tracks["shift"].add(sweeps, state.k, info.largest_shift)
        due = [name for name in OF_STATES if name in self._tracks and self._tracks[name].wants(sweeps)]
        for name, value in self._measured(state, due).items():
            self._tracks[name].add(sweeps, state.k, value)
        self._last = state, sweeps

    def kept(self) -> RecorderState:
        """Return what was recorded so far, for `resume`."""
        return RecorderState(
            self._draws, {name: track.kept() for name, track in self._tracks.items()}, self._early.kept()
        )

    def resume(self, kept: RecorderState, state: ChainState, sweeps: int) -> None:
        """Go on from what was kept after so many sweeps."""
        self._draws, self._last = kept.draws, (state, sweeps)
        for name, track in self._tracks.items():
            track.resume(*kept.tracks[name])
        self._early.resume(*kept.early)

    def trace(self) -> Trace:
        """Return what was recorded, with the state as it is now; nothing can be noted after that."""
        if self._last is not None:
            state, sweeps = self._last
            due = [name for name in OF_STATES if name in self._tracks and self._tracks[name].lacks(state.k)]
            for name, value in self._measured(state, due).items():
                self._tracks[name].close(sweeps, state.k, value)
        series = {name: track.series() for name, track in self._tracks.items()}
        if "h" in series:
            series["h"] = self._early.before(series["h"])
        return Trace(**series)

    def _note_bandwidths(self, bandwidths: Array) -> None:
        track = self._tracks.get("h")
        if track is not None:
            track.extend(self._draws + 1, bandwidths)
            self._early.extend(self._draws + 1, bandwidths)
        self._draws += len(bandwidths)

    def _measured(self, state: ChainState, names: list[str]) -> dict[str, Array | float]:
        found: dict[str, Array | float] = {}
        points = state.points
        if {"clumps", "diameter", "gap"} & set(names):
            labels = components(points, self._tau)
            of_labels = {
                "clumps": lambda: float(labels.max() + 1),
                "diameter": lambda: diameter_of(points, labels),
                "gap": lambda: gap_of(points, labels),
            }
            found = {name: of_labels[name]() for name in of_labels if name in names}
        if "objective" in names:
            problem = self._chain.problem
            found["objective"] = objective(points, state.h, profile=problem.profile, weights=problem.weights)
        if "snapshots" in names:
            found["snapshots"] = points.copy()
        return found


def rebuild_trace(chain: Chain, tau: float, end: ChainEnd) -> Trace:
    """Return what is recorded by default, of a chain that an engine ran by itself: its draws can be made again."""
    plan = chain.plan
    assert plan is not None
    recorder = Recorder(Record(), chain, tau)
    state = chain.init()
    recorder.note(state, 0, None)
    for sweep in range(1, end.sweeps + 1):
        path = plan.sweep(sweep - 1, state.h).path
        state = end.state._replace(h=float(path[-1]), k=sweep * plan.updates)
        largest = float(end.shifts[sweep - 1]) if sweep <= len(end.shifts) else np.nan  # too long a run to keep them
        recorder.note(state, sweep, SweepInfo(path, largest))
    return recorder.trace()
