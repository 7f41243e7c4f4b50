"""Checkpoints: the progress of runs, in a file from which a later run resumes with bit-identical results."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np

from modeseek._common.hints import CheckpointWarning
from modeseek._common.storable import is_within, require, storable
from modeseek._common.types import Array, IntArray, Stage, Watcher
from modeseek._common.validation import check_number
from modeseek._storage.atomic import check_target, remove_parts
from modeseek._storage.container import read_container, write_container
from modeseek._storage.errors import DataError
from modeseek.meanshift.chains.chain import Chain
from modeseek.meanshift.chains.identity import difference, identity
from modeseek.meanshift.chains.series import Series
from modeseek.meanshift.chains.stopping import Stopping
from modeseek.meanshift.chains.trace import Record, RecorderState, Trace
from modeseek.meanshift.types import ChainState

REMEDY = "Use an earlier copy of it, or remove it to start the run from the beginning."
# rounding may move a point further out than the furthest data point by this share of its distance
ROUNDING = 1e-3
# the squares of larger bandwidths, or of bandwidths below its inverse, overflow or vanish
LARGEST_BANDWIDTH = 1e153
LARGEST_COUNT = 1 << 58


class ResumePoint(NamedTuple):
    """A state from which a run can continue.

    Attributes
    ----------
    state : ChainState
    sweeps : int
        Sweeps since the beginning of the run.
    seconds : float
        Duration of these sweeps.
    recorded : RecorderState
        The trace so far.
    """

    state: ChainState
    sweeps: int
    seconds: float
    recorded: RecorderState


class RunCheckpoint:
    """The part of a checkpoint that belongs to one run.

    Attributes
    ----------
    mark : ResumePoint or None
        The last state; None before the run has begun.
    """

    def __init__(self, checkpoint: Checkpoint, chain: Chain, mark: ResumePoint | None):
        self.mark = mark
        self._checkpoint, self._moving = checkpoint, chain.plan is not None

    def fresh(self, state: ChainState) -> ChainState:
        """Return a state with copied points, so that an engine discards the values that it has cached for them.

        The sums of the engine `moment_tree` are updated by every move and accumulate rounding errors, which a run that
        continues from a file would not have. Other engines, and chains in which all points move at once, cache
        nothing that depends on earlier moves.
        """
        return state._replace(points=state.points.copy()) if self._moving else state

    def keep(self, mark: ResumePoint) -> None:
        """Set the last state, and save the checkpoint if it is due."""
        self.mark = mark
        self._checkpoint.save_if_due()


class Checkpoint:
    """A file with the progress of one or several runs.

    It is saved at intervals and at the end, and replaced in one step: after a kill, the file is the last version or the
    one before. If it cannot be written, a `CheckpointWarning` is issued and the run continues.

    Parameters
    ----------
    path : str or path-like
    every : float
        Seconds between two saves.
    watch : callable, optional
        Called with a `Stage` if a run continues from the file.

    Examples
    --------
    >>> import tempfile
    >>> from modeseek.meanshift.chains import run, make_problem, stochastic
    >>> path = Path(tempfile.mkdtemp(), "run.ckpt")
    >>> chain = stochastic(make_problem([[0.0], [0.1], [5.0]]), 1.0, seed=0)
    >>> result = run(chain, Stopping(tau=0.2), checkpoint=Checkpoint(path))
    >>> path.exists()
    True
    """

    def __init__(self, path: str | os.PathLike[str], every: float = 60.0, watch: Watcher | None = None):
        self._path, self._every, self._watch = Path(path), check_number("checkpoint_every", every, strict=False), watch
        check_target(self._path, [self._path.suffix.lower()])
        self._runs: list[RunCheckpoint] = []
        self._lock, self._saved, self._failed = Lock(), time.monotonic(), False

    def open(self, chains: Sequence[Chain], stopping: Stopping, record: Record) -> list[RunCheckpoint]:
        """Return the checkpoint of each run, with its last state if the file has one.

        Raises
        ------
        DataError
            If the file is damaged, or was made with other data or settings, or by another version.
        """
        self._identity = identity(chains, stopping, record)
        points: list[ResumePoint | None] = [None] * len(chains)
        remove_parts(self._path)
        if self._path.exists():
            points = self._read(chains, record)
            self._announce(points)
        self._runs = [RunCheckpoint(self, chain, point) for chain, point in zip(chains, points, strict=True)]
        return self._runs

    def save_if_due(self) -> None:
        """Save if the interval has passed and no other thread is saving."""
        if time.monotonic() - self._saved >= self._every and self._lock.acquire(blocking=False):
            try:
                self._save()
            finally:
                self._lock.release()

    def save(self) -> None:
        """Save the checkpoint, even if the interval since the last time has not passed."""
        with self._lock:
            self._save()

    def _save(self) -> None:
        runs = tuple(None if each.mark is None else _pack(each.mark) for each in self._runs)
        if all(run is None for run in runs):
            return
        try:
            write_container(self._path, "checkpoint", StoredRuns(self._identity, runs))
            self._failed = False
        except DataError as error:
            if not self._failed:
                warnings.warn(
                    f"the checkpoint could not be saved, and the run continues without it: {error} "
                    "The last checkpoint that was saved is unchanged.",
                    CheckpointWarning,
                    stacklevel=2,
                )
            self._failed = True
        self._saved = time.monotonic()

    def _read(self, chains: Sequence[Chain], wanted: Record) -> list[ResumePoint | None]:
        stored: StoredRuns = read_container(self._path, "checkpoint", StoredRuns, REMEDY)
        other = difference(stored.identity, self._identity)
        if other:
            raise DataError(
                f"cannot continue from the checkpoint '{self._path}': {other}. Use the data and settings that it was "
                "made with, or another file."
            )
        try:
            require(len(stored.runs) == len(chains), "the number of runs")
            points = [None if run is None else _unpack(run) for run in stored.runs]
            for number, (point, chain) in enumerate(zip(points, chains, strict=True)):
                if point is not None:
                    # of several chains, only the first records what was requested
                    _check_point(point, chain, Record.nothing() if number else wanted)
            return points
        except ValueError as error:
            raise DataError(f"the checkpoint '{self._path}' does not fit; wrong part: {error}. {REMEDY}") from None

    def _announce(self, points: Sequence[ResumePoint | None]) -> None:
        begun = [point for point in points if point is not None]
        updates, sweeps = sum(point.state.k for point in begun), sum(point.sweeps for point in begun)
        of = "" if len(points) == 1 else f" of {len(begun)} of {len(points)} chains"
        text = f"continuing from the checkpoint '{self._path}': {updates:,} updates in {sweeps:,} sweeps{of} are done"
        if self._watch is not None:
            self._watch(Stage(text))
        warnings.warn(f"{text}.", CheckpointWarning, stacklevel=2)


def _check_entries(entries: StoredEntries) -> None:
    require(entries.at.shape == (len(entries.values), 2) and is_within(entries.at, 0, LARGEST_COUNT), "the trace")
    require(1 <= entries.every < LARGEST_COUNT, "the interval of the trace")


@storable(_check_entries)
class StoredEntries(NamedTuple):
    """The trace of one quantity: its interval, and (count, k) and value of each entry."""

    every: int
    at: IntArray
    values: Array


@storable()
class StoredRun(NamedTuple):
    """A `ResumePoint` with its trace as arrays."""

    state: ChainState
    sweeps: int
    seconds: float
    draws: int
    trace: dict[str, StoredEntries]
    early: Series


@storable()
class StoredRuns(NamedTuple):
    """The content of a checkpoint."""

    identity: dict[str, str | float | bool | None]
    runs: tuple[StoredRun | None, ...]


def _pack(point: ResumePoint) -> StoredRun:
    trace = {}
    for name, (every, entries) in point.recorded.tracks.items():
        at = np.array([(count, k) for count, k, _ in entries], np.int64).reshape(-1, 2)
        trace[name] = StoredEntries(every, at, np.array([value for _, _, value in entries]))
    numbers, values = point.recorded.early
    early = Series(np.array(numbers, np.int64), np.array(values, np.float64))
    state = point.state._replace(h=float(point.state.h), k=int(point.state.k))
    return StoredRun(state, point.sweeps, point.seconds, point.recorded.draws, trace, early)


def _unpack(run: StoredRun) -> ResumePoint:
    tracks = {}
    for name, (every, at, values) in run.trace.items():
        shape = run.state.points.shape if name == "snapshots" and len(values) else ()
        require(values.shape == (len(at), *shape), f"the trace of {name}")
        listed = values.tolist() if values.ndim == 1 else list(values)
        tracks[name] = every, [(count, k, value) for (count, k), value in zip(at.tolist(), listed, strict=True)]
    require(run.early.values.dtype == np.float64 and run.early.values.ndim == 1, "the trace of h")
    recorded = RecorderState(run.draws, tracks, (run.early.k.tolist(), run.early.values.tolist()))
    return ResumePoint(run.state, run.sweeps, run.seconds, recorded)


def _check_point(point: ResumePoint, chain: Chain, record: Record) -> None:
    """Check what a checksum cannot detect. Either a malicious file is refused, or a run resumed from it still ends."""
    state, recorded, start = point.state, point.recorded, chain.init()
    for array, like in ((state.points, start.points), (state.last_shift, start.last_shift)):
        require((array.shape, array.dtype) == (like.shape, like.dtype), "the shape of the points")
    # means of points are not further out than the furthest point
    furthest = max(float(np.linalg.norm(rows, axis=1).max()) for rows in (chain.problem.points, start.points))
    require(np.abs(state.points).max() <= (1 + ROUNDING) * furthest, "the points")
    require((state.last_shift >= 0).all(), "the last shifts")
    require(1 / LARGEST_BANDWIDTH < state.h < LARGEST_BANDWIDTH, "the bandwidth")
    require(0 <= point.seconds < math.inf, "the time")
    counts = (state.k, point.sweeps, recorded.draws, *recorded.early[0])
    require(all(0 <= count < LARGEST_COUNT for count in counts), "the counts")
    wanted = {each.name for each in fields(Trace) if getattr(record, each.name) is not None}
    require(recorded.tracks.keys() == wanted, "the recorded quantities")
