"""What to remember of a run: each quantity at its own interval, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modeseek.chain.algorithms import Chain
from modeseek.objective import objective
from modeseek.partition import components
from modeseek.types import Array, ChainState, IntArray, SweepInfo
from modeseek.validation import check_integer

__all__ = ["Record", "Recorder", "Series", "Trace"]


@dataclass(frozen=True)
class Record:
    """What to record, and how often; None leaves a quantity out.

    Attributes
    ----------
    h : int, optional
        Bandwidth path, every so many draws.
    shift : int, optional
        Largest shift of a sweep, every so many sweeps.
    clumps : int, optional
        Number of components at tau, every so many sweeps.
    objective : int, optional
        L_h at the current bandwidth, every so many sweeps; costs n^2.
    snapshots : int, optional
        Copies of the points, every so many sweeps.
    limit : int
        Most entries of a quantity (an eighth of that for snapshots). When it is reached, every second entry is
        dropped and the interval doubles.
    """

    h: int | None = 1
    shift: int | None = 1
    clumps: int | None = None
    objective: int | None = None
    snapshots: int | None = None
    limit: int = 1024

    def __post_init__(self) -> None:
        for name in ("h", "shift", "clumps", "objective", "snapshots"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), low=1)
        check_integer("limit", self.limit, low=16)


class Series(NamedTuple):
    """A recorded quantity.

    Attributes
    ----------
    k : (m,) integer array
        Updates done at each entry; for the bandwidth path, the number of the draw.
    values : (m, ...) array
    """

    k: IntArray
    values: Array


@dataclass(frozen=True)
class Trace:
    """What was recorded; None where nothing was asked for. The names are those of `Record`."""

    h: Series | None = None
    shift: Series | None = None
    clumps: Series | None = None
    objective: Series | None = None
    snapshots: Series | None = None


class _Track:
    """Entries at multiples of an interval, thinned when there are too many."""

    def __init__(self, every: int, limit: int):
        self.every, self._limit = every, limit
        self._entries: list[tuple[int, int, Array | float]] = []

    def wants(self, count: int) -> bool:
        return count % self.every == 0

    def add(self, count: int, k: int, value: Array | float) -> None:
        self._entries.append((count, k, value))
        while len(self._entries) > self._limit:
            self._thin()

    def extend(self, first: int, values: Array) -> None:
        """Add values number first, first + 1, ..., looking at those only that are kept."""
        last = first + len(values) - 1
        while last // self.every > self._limit:
            self._thin()
        counts = np.arange(-(-first // self.every) * self.every, last + 1, self.every)
        self._entries += [
            (c, c, value) for c, value in zip(counts.tolist(), values[counts - first].tolist(), strict=True)
        ]

    def _thin(self) -> None:
        self.every *= 2
        self._entries = [entry for entry in self._entries if self.wants(entry[0])]

    def series(self) -> Series:
        return Series(
            np.array([k for _, k, _ in self._entries], dtype=np.int64),
            np.array([value for _, _, value in self._entries], dtype=np.float64),
        )


class Recorder:
    """Watches a run and makes its `Trace`."""

    def __init__(self, record: Record, chain: Chain, tau: float):
        self._chain, self._tau, self._draws = chain, tau, 0
        asked = {name: getattr(record, name) for name in ("h", "shift", "clumps", "objective", "snapshots")}
        self._tracks = {
            name: _Track(every, record.limit // 8 if name == "snapshots" else record.limit)
            for name, every in asked.items()
            if every is not None
        }

    def note(self, state: ChainState, sweeps: int, info: SweepInfo | None) -> None:
        """Record what is due after a sweep; `info` is None before the first."""
        if info is not None:
            self._note_bandwidths(info.bandwidths)
        for name, track in self._tracks.items():
            if name != "h" and track.wants(sweeps):
                value = self._measure(name, state, info)
                if value is not None:
                    track.add(sweeps, state.k, value)

    def trace(self) -> Trace:
        """Return what was recorded so far."""
        return Trace(**{name: track.series() for name, track in self._tracks.items()})

    def _note_bandwidths(self, bandwidths: Array) -> None:
        track = self._tracks.get("h")
        if track is not None:
            track.extend(self._draws + 1, bandwidths)
        self._draws += len(bandwidths)

    def _measure(self, name: str, state: ChainState, info: SweepInfo | None) -> Array | float | None:
        if name == "shift":
            return None if info is None else info.largest_shift
        if name == "clumps":
            return float(components(state.points, self._tau).max() + 1)
        if name == "objective":
            setting = self._chain.setting
            return objective(state.points, state.h, profile=setting.profile, weights=setting.weights)
        return state.points.copy()
