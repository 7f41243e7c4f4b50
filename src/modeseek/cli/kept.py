"""How far a run over blocks has come, and the folder that keeps it."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.scaling import Moments, Scaling
from modeseek._storage import Content, Kept, Place, WorkFolder
from modeseek.cli.settings import Problem, Settings
from modeseek.cli.steps import note
from modeseek.cli.summary import Tally
from modeseek.sketches import Sketch, sketch_arrays, sketch_from_arrays

__all__ = ["LABELS", "STATISTICS", "SUMMARY", "Keeper", "State"]

STATISTICS, SUMMARY, LABELS = "statistics", "summary", "labels"
# options that change no row of the result
FREE = (
    *("files", "json", "plot", "report", "save", "quiet", "jobs", "output", "out_of_core", "restart"),
    *("checkpoint", "checkpoint_every"),
)
# seconds between two states that are kept, at least; and how many times as long as keeping one takes
PAUSE, TIMES = 2.0, 20.0
BEGIN, NOBODY = Place(), Tally()


@dataclass(frozen=True, eq=False)
class State:
    """What the passes have done, up to the end of a block.

    Attributes
    ----------
    step : str
        The pass that goes on: STATISTICS, SUMMARY or LABELS.
    place : Place
        Where its next block begins.
    done : int
        Bytes that lie before.
    rows : int
        Rows of the first pass.
    contents : tuple of Content
        What the columns hold so far.
    moments : Moments or None
        Of the first pass.
    scaling : Scaling or None
        Known once it has ended.
    survey : Sketch or None
        Of the second.
    output : int
        Where the output ends.
    tally : Tally
        Rows that are labelled.
    model : str
        Checksum of the labels that are given.
    """

    step: str
    place: Place = BEGIN
    done: int = 0
    rows: int = 0
    contents: tuple[Content, ...] = ()
    moments: Moments | None = None
    scaling: Scaling | None = None
    survey: Sketch | None = None
    output: int = 0
    tally: Tally = NOBODY
    model: str = ""

    def plain(self) -> dict[str, Any]:
        """Return what JSON can hold of it."""
        names = ("step", "place", "done", "rows", "contents", "output", "tally", "model")
        return {name: getattr(self, name) for name in names}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the rest."""
        found = {} if self.survey is None else sketch_arrays(self.survey)
        if self.moments is not None:
            found |= {f"moments_{name}": np.asarray(value) for name, value in self.moments._asdict().items()}
        if self.scaling is not None:
            found |= {"shift": self.scaling.shift, "factor": self.scaling.factor}
        return found

    @classmethod
    def of(cls, kept: Kept) -> State:
        """Return the state that was kept."""
        state, arrays = kept.state, kept.arrays
        moments = None
        if "moments_n" in arrays:
            moments = Moments(int(arrays["moments_n"]), *(arrays[f"moments_{name}"] for name in Moments._fields[1:]))
        rows, sizes, sure, doubtful = state["tally"]
        return cls(
            state["step"],
            Place(*state["place"]),
            state["done"],
            state["rows"],
            tuple(map(Content, state["contents"])),
            moments,
            Scaling(arrays["shift"], arrays["factor"]) if "shift" in arrays else None,
            sketch_from_arrays(arrays) if "weight" in arrays else None,
            state["output"],
            Tally(rows, tuple(sizes), tuple(sure), doubtful),
            state["model"],
        )


class Keeper:
    """Keeps states in a folder beside the output; does nothing where there is no output to go on with.

    Parameters
    ----------
    settings : Settings
        What was asked for.
    block : int
        Bytes of a block: places between blocks are no others' places.
    """

    def __init__(self, settings: Settings, block: int):
        named = settings.output is not None and settings.output != "-"
        self.folder = WorkFolder(str(settings.output)) if named else None
        self._settings, self._asked = settings, _asked(settings, block)
        self._due, self._whole = 0.0, False

    def begin(self) -> State | None:
        """Return what an earlier run of the same command has left; refuse what another has left."""
        if self.folder is None:
            return None
        self.folder.open()
        there = self.folder.kept
        kept = None if self._settings.restart else self.folder.load()
        if kept is None:
            if there and not self._settings.restart:
                note(f"'{self.folder.path}' is of another version or damaged: the run begins anew.")
            self.folder.clear()
            return None
        if kept.asked != self._asked:
            raise Problem(
                f"'{self.folder.path}' holds an unfinished run, but {_difference(kept.asked, self._asked)}: "
                "give the command as it was, or add --restart to begin anew."
            )
        state = State.of(kept)
        note(f"an earlier run is taken up: {state.step}, {state.done / 1e6:,.1f} MB in.")
        return state

    def due(self) -> bool:
        """Return whether it is time to keep a state."""
        return self.folder is not None and time.perf_counter() >= self._due

    def keep(self, state: State) -> None:
        """Keep a state."""
        if self.folder is None or (state.step == SUMMARY and state.survey is None):
            # before there is a survey the pass has hardly begun
            return
        start = time.perf_counter()
        # in the last pass the arrays stay as they are
        same, self._whole = self._whole and state.step == LABELS, state.step == LABELS
        self.folder.save(self._asked, state.plain(), None if same else state.arrays())
        now = time.perf_counter()
        self._due = now + max(PAUSE, TIMES * (now - start))

    def end(self) -> None:
        """Remove the folder."""
        if self.folder is not None:
            self.folder.remove()

    def close(self) -> None:
        """Leave the folder to the next run, if there is something in it."""
        if self.folder is None:
            return
        if self.folder.kept:
            self.folder.close()
        elif self.folder.mine:
            self.folder.remove()


def _asked(settings: Settings, block: int) -> dict[str, Any]:
    from modeseek import __version__

    options = {each.name: getattr(settings, each.name) for each in fields(settings) if each.name not in FREE}
    found = []
    for path in map(Path, settings.files):
        stat = path.stat()
        found.append([os.path.realpath(path), stat.st_size, stat.st_mtime_ns])
    asked = {"version": __version__, "block": block, "options": options, "files": found}
    # as it will be read: JSON knows no tuples
    return dict(json.loads(json.dumps(asked)))


def _difference(then: dict[str, Any], now: dict[str, Any]) -> str:
    """Say in what two runs differ."""
    if then.get("files") != now["files"]:
        before = {name: rest for name, *rest in then.get("files", [])}
        for name, *rest in now["files"]:
            if name in before and before[name] != rest:
                return f"'{name}' has changed since"
        return "it read other files"
    for name, value in now["options"].items():
        old = then.get("options", {}).get(name)
        if old != value:
            return f"--{name.replace('_', '-')} was {_told(old)} and is {_told(value)}"
    return "it was made by another version"


def _told(value: Any) -> str:
    return "not given" if value is None else str(value)
