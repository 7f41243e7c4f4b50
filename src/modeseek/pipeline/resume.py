"""The resume state of a run in chunks, and the folder that holds it."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from modeseek._common.storable import storable
from modeseek._common.types import Array
from modeseek._common.version import __version__
from modeseek._storage.chunks import Chunks, Place
from modeseek._storage.contents import Content
from modeseek._storage.input_file import STANDARD_STREAM
from modeseek._storage.work_folder import WorkFolder
from modeseek.estimators.table import RowCounts
from modeseek.pipeline.errors import ResumeMismatch
from modeseek.pipeline.options import PipelineJob
from modeseek.prepare.preparation import Statistics
from modeseek.sketches import Sketch

# the passes over the data, in their order
STATISTICS = "columns"
SKETCH = "sketch"
LABELS = "labels"
# parameters of estimators that do not change the result
FREE_PARAMETERS = ("callbacks", "checkpoint", "checkpoint_every", "n_jobs", "record", "verbose")
START = Place()
NO_ROWS = RowCounts()


@storable()
@dataclass(frozen=True, eq=False)
class ResumeState:
    """Progress of a run in chunks, which reads the files in up to three passes. A state is saved after whole chunks.

    Attributes
    ----------
    step : str
        The current pass: `STATISTICS`, `SKETCH` or `LABELS`.
    place : Place
        Where the next chunk of this pass begins.
    done : int
        Bytes that the pass has read.
    rows : int
        Number of rows, counted by the first pass.
    contents : tuple of Content
        Kinds of values that the first pass has found in the columns; empty if the output format does not need them.
    digest : str
        Checksum of the numbers that the current pass has read.
    first_digest : str
        Checksum of the numbers that the first pass read; "" until this pass ends. Later passes must read equal numbers.
    statistics : Statistics or None
        Statistics of the columns, from the pass `STATISTICS`.
    sketch : Sketch or None
        The sketch of the rows that the pass `SKETCH` has read.
    output : int
        Number of chunks of the output that have been written.
    counts : RowCounts
        Counts of the rows that have labels.
    model : str
        Checksum of the labels of the fit, to detect a different fit after resuming.
    """

    step: str
    place: Place = START
    done: int = 0
    rows: int = 0
    contents: tuple[Content, ...] = ()
    digest: str = ""
    first_digest: str = ""
    statistics: Statistics | None = None
    sketch: Sketch | None = None
    output: int = 0
    counts: RowCounts = NO_ROWS
    model: str = ""

    def read(self, values: Array, **changes: Any) -> ResumeState:
        """Return the state with `values` added to the checksum, and with the fields in `changes` replaced."""
        return replace(self, digest=sha256(self.digest.encode() + values.tobytes()).hexdigest(), **changes)

    def next_pass(self, step: str, **changes: Any) -> ResumeState:
        """Return the state at the start of the pass `step`, with the fields in `changes` replaced."""
        first = self.first_digest or self.digest
        return replace(self, step=step, place=START, done=0, digest="", first_digest=first, **changes)


@storable()
class SavedRun(NamedTuple):
    """What the folder holds: the settings and files on which the output depends (`identity`), and the progress."""

    identity: dict[str, Any]
    state: ResumeState


class ResumeStore:
    """Saves resume states in a folder next to the output file. Without an output file, it saves nothing.

    Parameters
    ----------
    job : PipelineJob
        The call.
    chunks : Chunks
        The input files of the call.
    """

    def __init__(self, job: PipelineJob, chunks: Chunks):
        named = job.outputs.rows not in (None, STANDARD_STREAM)
        self._folder = WorkFolder(str(job.outputs.rows)) if named else None
        self._job, self._identity = job, _identity(job, chunks)
        self._due = 0.0

    @property
    def path(self) -> Path | None:
        """The folder; None without an output file."""
        return None if self._folder is None else self._folder.path

    def open(self) -> ResumeState | None:
        """Lock the folder, and return the state that an earlier equal call has left; None if there is none.

        Raises
        ------
        ResumeMismatch
            If the state is that of a different call.
        """
        folder = self._folder
        if folder is None:
            return None
        folder.open()
        existed = folder.has_state
        saved: SavedRun | None = folder.load(SavedRun) if self._job.resume else None
        if saved is None:
            if existed and self._job.resume:
                self._job.tell(f"'{folder.path}' is damaged or from another version; the run starts from the beginning")
            folder.clear()
            return None
        if saved.identity != self._identity:
            name = next(name for name, value in self._identity.items() if saved.identity.get(name) != value)
            raise ResumeMismatch(folder.path, name, saved.identity.get(name), self._identity[name])
        state = saved.state
        self._job.tell(f"an earlier run is resumed at {state.done / 1e6:,.1f} MB of the pass '{state.step}'")
        return state

    def due(self) -> bool:
        """Return whether the interval since the last save has passed."""
        return self._folder is not None and time.perf_counter() >= self._due

    def save(self, state: ResumeState) -> None:
        """Replace the saved state."""
        if self._folder is None or (state.step == SKETCH and state.sketch is None):
            # without a sketch the pass has read too little to be worth saving
            return
        start = time.perf_counter()
        self._folder.save(SavedRun(self._identity, state))
        now, config = time.perf_counter(), self._job.config
        self._due = now + max(config.save_interval, config.save_cost_ratio * (now - start))

    def remove(self) -> None:
        """Remove the folder."""
        if self._folder is not None:
            self._folder.remove()

    def close(self) -> None:
        """Unlock the folder, and remove it if it holds no state."""
        if self._folder is None:
            return
        if self._folder.has_state:
            self._folder.close()
        elif self._folder.is_open:
            self._folder.remove()


def _identity(job: PipelineJob, chunks: Chunks) -> dict[str, Any]:
    """Return the settings and files on which the output depends, as values that JSON preserves."""
    parameters = job.estimator.get_params(deep=False)
    identity = {
        "version": __version__,
        "chunk_bytes": job.config.chunk_bytes,
        "files": [[os.path.realpath(reader.file.path or ""), *reader.stamp] for reader in chunks.readers],
        "estimator": type(job.estimator).__name__,
        **{name: repr(value) for name, value in parameters.items() if name not in FREE_PARAMETERS},
        **asdict(job.data),
        "label_column": job.outputs.label_column,
        "guard_formulas": job.outputs.guard_formulas,
    }
    return dict(json.loads(json.dumps(identity)))
