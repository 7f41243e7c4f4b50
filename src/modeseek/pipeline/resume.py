"""The resume state of a run in chunks, and the folder that holds it."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.scaling import Moments
from modeseek._common.version import __version__
from modeseek._storage import STANDARD_STREAM, Chunks, Content, Kept, Place, WorkFolder
from modeseek.estimators.table import RowCounts
from modeseek.pipeline.errors import ResumeMismatch
from modeseek.pipeline.options import Job, Note
from modeseek.sketches import Sketch, sketch_arrays, sketch_from_arrays

# the passes over the data, in their order
STATISTICS = "mean and standard deviation"
SKETCH = "sketch"
LABELS = "labels"
# parameters of estimators that do not change the result
FREE_PARAMETERS = ("callbacks", "checkpoint", "checkpoint_every", "n_jobs", "record", "verbose")
START = Place()
NO_ROWS = RowCounts()


@dataclass(frozen=True, eq=False)
class ResumeState:
    """Progress of the passes, at the end of a chunk.

    Attributes
    ----------
    step : str
        The current pass: `STATISTICS`, `SKETCH` or `LABELS`.
    place : Place
        Where its next chunk begins.
    done : int
        Bytes that the pass has read.
    rows : int
        Number of rows, counted by the first pass.
    contents : tuple of Content
        What the columns hold so far, if the output format needs it.
    digest : str
        Checksum of the numbers that the current pass has read.
    first_digest : str
        Checksum of the numbers that the first pass read, once it has ended.
    moments : Moments or None
        Sums of the pass `STATISTICS`.
    sketch : Sketch or None
        Cells and sample of the pass `SKETCH`.
    output : int
        End of the output, in the units of its writer.
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
    moments: Moments | None = None
    sketch: Sketch | None = None
    output: int = 0
    counts: RowCounts = NO_ROWS
    model: str = ""

    def next_pass(self, step: str, **changes: Any) -> ResumeState:
        """Return the state at the start of another pass."""
        first = self.first_digest or self.digest
        return replace(self, step=step, place=START, done=0, digest="", first_digest=first, **changes)

    def plain(self) -> dict[str, Any]:
        """Return the fields that JSON can hold."""
        return {name: value for name, value in vars(self).items() if name not in ("moments", "sketch")}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the other fields as arrays."""
        found = {} if self.sketch is None else sketch_arrays(self.sketch)
        if self.moments is not None:
            found |= {f"moments_{name}": np.asarray(value) for name, value in self.moments._asdict().items()}
        return found

    @classmethod
    def load(cls, kept: Kept) -> ResumeState:
        """Return the state that `plain` and `arrays` took apart."""
        plain, arrays = kept.state, kept.arrays
        n_rows, *columns = plain["counts"]
        moments = None
        if "moments_n" in arrays:
            moments = Moments(int(arrays["moments_n"]), *(arrays[f"moments_{name}"] for name in Moments._fields[1:]))
        return cls(
            **plain
            | {
                "place": Place(*plain["place"]),
                "contents": tuple(map(Content, plain["contents"])),
                "counts": RowCounts(n_rows, *map(tuple, columns)),
            },
            moments=moments,
            sketch=sketch_from_arrays(arrays) if "weight" in arrays else None,
        )


class ResumeStore:
    """Saves resume states in a folder beside the output; without an output file it does nothing.

    Parameters
    ----------
    job : Job
        The call.
    chunks : Chunks
        Its input files.
    """

    def __init__(self, job: Job, chunks: Chunks):
        named = job.outputs.rows not in (None, STANDARD_STREAM)
        self._folder = WorkFolder(str(job.outputs.rows)) if named else None
        self._job, self._identity = job, _identity(job, chunks)
        self._due, self._arrays_saved = 0.0, False

    @property
    def path(self) -> Path | None:
        """The folder; None without an output file."""
        return None if self._folder is None else self._folder.path

    def open(self) -> ResumeState | None:
        """Lock the folder and return the state of an earlier call like this one; None if there is none.

        Raises
        ------
        ResumeMismatch
            If the state is that of a different call.
        """
        folder = self._folder
        if folder is None:
            return None
        folder.open()
        existed = folder.kept
        kept = folder.load() if self._job.resume else None
        if kept is None:
            if existed and self._job.resume:
                self._job.note(Note(f"'{folder.path}' is damaged or of another version, so that the run starts over"))
            folder.clear()
            return None
        if kept.asked != self._identity:
            name = next(name for name, value in self._identity.items() if kept.asked.get(name) != value)
            raise ResumeMismatch(folder.path, name, kept.asked.get(name), self._identity[name])
        state = ResumeState.load(kept)
        self._job.note(Note(f"an earlier run is resumed at {state.done / 1e6:,.1f} MB of the pass '{state.step}'"))
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
        # the arrays do not change during the last pass
        same, self._arrays_saved = self._arrays_saved and state.step == LABELS, state.step == LABELS
        self._folder.save(self._identity, state.plain(), None if same else state.arrays())
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
        if self._folder.kept:
            self._folder.close()
        elif self._folder.mine:
            self._folder.remove()


def _identity(job: Job, chunks: Chunks) -> dict[str, Any]:
    """Return everything that the rows of the output depend on, as JSON would read it back."""
    parameters = job.estimator.get_params(deep=False)
    identity = {
        "version": __version__,
        "chunk_bytes": job.config.chunk_bytes,
        "files": [[os.path.realpath(reader.file.path or ""), *reader.stamp] for reader in chunks.readers],
        "estimator": type(job.estimator).__name__,
        **{name: repr(value) for name, value in parameters.items() if name not in FREE_PARAMETERS},
        **asdict(job.data),
        "scale": job.standardize,
        "label_column": job.outputs.label_column,
        "guard_formulas": job.outputs.guard_formulas,
    }
    return dict(json.loads(json.dumps(identity)))
