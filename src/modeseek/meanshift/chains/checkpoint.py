"""Checkpoints: how far runs have come, in a file that a later run goes on from, bit for bit."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from modeseek._common.hints import CheckpointWarning
from modeseek._common.types import Array, Stage, Watcher
from modeseek._common.validation import check_number
from modeseek._storage import DataError, check_target, read_container, remove_parts, write_container
from modeseek.meanshift.chains.algorithms import Chain
from modeseek.meanshift.chains.identity import difference, identity
from modeseek.meanshift.chains.stopping import Stopping
from modeseek.meanshift.chains.trace import Record, RecorderState, Trace
from modeseek.meanshift.types import ChainState

__all__ = ["Checkpoint", "ResumePoint", "RunCheckpoint"]

# no text begins like this
MAGIC, VERSION = b"\x89MODECKPT\r\n\x1a", 1
INSTEAD = "Take an earlier copy of it, or remove it: the run then begins anew."
# numbers that traces hold
NUMBERS = (np.float64, np.float32, np.int64)
# how much further out than the data rounding may take a point; bandwidths whose squares vanish; counts that overflow
FAR, SMALLEST, MOST = 1e-3, 1e-153, 1 << 58
TRACKED = tuple(field.name for field in fields(Trace))


class ResumePoint(NamedTuple):
    """Where a run can be left and gone on from.

    Attributes
    ----------
    state : ChainState
    sweeps : int
        Sweeps since the very start.
    seconds : float
        Time they took.
    recorded : RecorderState
        The trace so far.
    """

    state: ChainState
    sweeps: int
    seconds: float
    recorded: RecorderState


class RunCheckpoint:
    """What a checkpoint has of one run.

    Attributes
    ----------
    mark : ResumePoint or None
        The last one; None before the run has begun.
    """

    def __init__(self, checkpoint: Checkpoint, chain: Chain, mark: ResumePoint | None):
        self.mark = mark
        self._checkpoint, self._moving = checkpoint, chain.plan is not None

    def fresh(self, state: ChainState) -> ChainState:
        """Return the same state as one that no engine has seen: what it keeps of the way there is not in the file.

        That of `moment_tree`, whose sums were changed by every move, would round otherwise. Where points stay, or all
        move, engines keep nothing of the kind.
        """
        return state._replace(points=state.points.copy()) if self._moving else state

    def keep(self, mark: ResumePoint) -> None:
        """Take note of a mark; save it if it is time to."""
        self.mark = mark
        self._checkpoint.save_if_due()


class Checkpoint:
    """A file with how far one or several runs have come.

    It is written now and then and at the end, in one step: after a kill at any time there is the last one, or the one
    before. One that cannot be written gives a `CheckpointWarning`, and the run goes on.

    Parameters
    ----------
    path : str or path-like
    every : float
        Seconds between two saves.
    watch : callable, optional
        Told where a run goes on, as a `Stage`.

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
        self._slots: list[RunCheckpoint] = []
        self._lock, self._saved, self._failed = Lock(), time.monotonic(), False

    def open(self, chains: Sequence[Chain], stopping: Stopping, record: Record) -> list[RunCheckpoint]:
        """Return a slot for each run, with its mark where the file has one.

        Raises
        ------
        DataError
            If there is a file that is damaged, or of other data, settings or another version.
        """
        self._identity = identity(chains, stopping, record)
        marks: list[ResumePoint | None] = [None] * len(chains)
        remove_parts(self._path)
        if self._path.exists():
            marks = self._read(chains, record)
            self._tell(marks)
        self._slots = [RunCheckpoint(self, chain, mark) for chain, mark in zip(chains, marks, strict=True)]
        return self._slots

    def save_if_due(self) -> None:
        """Save if it is time to, and nobody else is about it."""
        if time.monotonic() - self._saved >= self._every and self._lock.acquire(blocking=False):
            try:
                self._save()
            finally:
                self._lock.release()

    def save(self) -> None:
        """Save now."""
        with self._lock:
            self._save()

    def _save(self) -> None:
        marks = [slot.mark for slot in self._slots]
        if not any(mark is not None for mark in marks):
            return
        arrays: dict[str, Array] = {}
        runs = [None if mark is None else _put(mark, f"{number}.", arrays) for number, mark in enumerate(marks)]
        try:
            write_container(self._path, MAGIC, VERSION, {"identity": self._identity, "runs": runs}, arrays)
            self._failed = False
        except DataError as error:
            if not self._failed:
                warnings.warn(
                    f"the checkpoint could not be saved, and the run goes on without: {error} "
                    "What was saved before is still there.",
                    CheckpointWarning,
                    stacklevel=2,
                )
            self._failed = True
        self._saved = time.monotonic()

    def _read(self, chains: Sequence[Chain], wanted: Record) -> list[ResumePoint | None]:
        _, record, arrays = read_container(self._path, MAGIC, {VERSION}, "a checkpoint of modeseek", INSTEAD)
        other = difference(record.get("identity"), self._identity)
        if other:
            raise DataError(
                f"cannot go on from the checkpoint '{self._path}': {other}. "
                "Take what it was made with, or another file."
            )
        try:
            marks: list[ResumePoint | None] = []
            for number, (run, chain) in enumerate(zip(record["runs"], chains, strict=True)):
                marks.append(None if run is None else _take(run, chain.init(), f"{number}.", arrays))
                if marks[-1] is not None:
                    # of several, the first alone is recorded as asked
                    _check_mark(marks[-1], chain, wanted if number == 0 else Record())
            return marks
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError):
            raise DataError(f"the checkpoint '{self._path}' holds something else than its runs. {INSTEAD}") from None

    def _tell(self, marks: Sequence[ResumePoint | None]) -> None:
        begun = [mark for mark in marks if mark is not None]
        updates, sweeps = sum(mark.state.k for mark in begun), sum(mark.sweeps for mark in begun)
        of = "" if len(marks) == 1 else f" of {len(begun)} of {len(marks)} chains"
        text = f"going on from the checkpoint '{self._path}': {updates:,} updates in {sweeps:,} sweeps{of} are done"
        if self._watch is not None:
            self._watch(Stage(text))
        warnings.warn(f"{text}.", CheckpointWarning, stacklevel=2)


def _put(mark: ResumePoint, name: str, arrays: dict[str, Array]) -> dict[str, Any]:
    """Add the arrays of a mark; return the rest of it."""
    state, recorded = mark.state, mark.recorded
    arrays[f"{name}points"], arrays[f"{name}last_shift"] = state.points, state.last_shift
    for quantity, (_, entries) in recorded.tracks.items():
        arrays[f"{name}{quantity}.at"] = np.array([(count, k) for count, k, _ in entries], np.int64).reshape(-1, 2)
        arrays[f"{name}{quantity}.values"] = np.array([value for _, _, value in entries])
    arrays[f"{name}early.k"] = np.array(recorded.early[0], np.int64)
    arrays[f"{name}early.values"] = np.array(recorded.early[1], np.float64)
    return {
        "h": float(state.h),
        "k": int(state.k),
        "sweeps": mark.sweeps,
        "seconds": mark.seconds,
        "draws": recorded.draws,
        "every": {quantity: every for quantity, (every, _) in recorded.tracks.items()},
    }


def _take(run: dict[str, Any], start: ChainState, name: str, arrays: dict[str, Array]) -> ResumePoint:
    """Return the mark that `_put` made."""
    points, last_shift = arrays[f"{name}points"], arrays[f"{name}last_shift"]
    pairs = (points, start.points), (last_shift, start.last_shift)
    if any((here.shape, here.dtype) != (there.shape, there.dtype) for here, there in pairs):
        raise ValueError("a state of another shape")
    tracks = {}
    for quantity, every in run["every"].items():
        at, values = arrays[f"{name}{quantity}.at"], arrays[f"{name}{quantity}.values"]
        of_each = points.shape if quantity == "snapshots" and len(values) else ()
        if at.dtype != np.int64 or values.dtype not in NUMBERS:
            raise ValueError("entries of another type")
        if at.shape[1:] != (2,) or values.shape != (len(at), *of_each):
            raise ValueError("entries of another shape")
        listed = values.tolist() if values.ndim == 1 else list(values)
        counts = at.tolist()
        tracks[quantity] = every, [(count, k, value) for (count, k), value in zip(counts, listed, strict=True)]
    early = arrays[f"{name}early.k"], arrays[f"{name}early.values"]
    if (early[0].dtype, early[1].dtype) != (np.int64, np.float64):
        raise ValueError("early draws of another type")
    if early[0].ndim != 1 or early[0].shape != early[1].shape:
        raise ValueError("early draws of another shape")
    state = ChainState(points, float(run["h"]), run["k"], last_shift)
    recorded = RecorderState(run["draws"], tracks, (early[0].tolist(), early[1].tolist()))
    return ResumePoint(state, run["sweeps"], float(run["seconds"]), recorded)


def _check_mark(mark: ResumePoint, chain: Chain, record: Record) -> None:
    """Check what a checksum cannot: a file that somebody made is refused, or leads to a run that ends."""
    state, recorded, data = mark.state, mark.recorded, (chain.problem.points, chain.init().points)
    counts = (state.k, mark.sweeps, recorded.draws, *recorded.early[0])
    counts += tuple(number for _, entries in recorded.tracks.values() for entry in entries for number in entry[:2])
    # means of points are no further out than the furthest of them
    furthest = max(float(np.linalg.norm(rows, axis=1).max()) for rows in data)
    holds = (
        bool(np.abs(state.points).max() <= (1 + FAR) * furthest)
        and bool((state.last_shift >= 0).all())
        and SMALLEST < state.h < 1 / SMALLEST
        and 0 <= mark.seconds < math.inf
        and all(type(count) is int and 0 <= count < MOST for count in counts)
        and set(recorded.tracks) == {name for name in TRACKED if getattr(record, name) is not None}
        and all(type(every) is int and 1 <= every < MOST for every, _ in recorded.tracks.values())
    )
    if not holds:
        raise ValueError("a state that no run comes to")
