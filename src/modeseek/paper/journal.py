"""What was done is kept as it is done, so that an interrupted command goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import modeseek
from modeseek._storage import DataError
from modeseek.paper.experiment import Experiment
from modeseek.paper.rows import Row

__all__ = ["Journal", "config_of"]

FOLDER = "unfinished"


def config_of(experiment: Any) -> dict[str, Any]:
    """Return the fields of an experiment, for a reader and for the name of its journal.

    Examples
    --------
    >>> from modeseek.paper.lines import Hyperparameters
    >>> config_of(Hyperparameters())["h_max"]
    1.6
    """
    return {each.name: _plain(getattr(experiment, each.name)) for each in fields(experiment)}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return config_of(value)
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


class Journal:
    """The rows of an experiment's finished jobs, a line of JSON for each job, under a name that tells the set-up.

    Another config, seed or state of the code has another name, so that rows of two set-ups never mix. The number of
    runs is not part of it: more runs add jobs.

    Parameters
    ----------
    folder : path
        Where the command writes.
    experiment : Experiment
    seed : int
    """

    def __init__(self, folder: Path, experiment: Experiment, seed: int):
        setup = json.dumps([experiment.name, config_of(experiment), seed], sort_keys=True)
        self._stem = f"{experiment.name}-{hashlib.sha256(setup.encode()).hexdigest()[:12]}"
        self.path = folder / FOLDER / f"{self._stem}-{_state_of_code()[:12]}.jsonl"

    def read(self) -> dict[str, list[Row]]:
        """Return the rows of each finished job, by its key."""
        done = {}
        with suppress(FileNotFoundError):
            for line in self.path.read_text(encoding="utf-8").splitlines():
                # a line cut short by a crash is a job to do again
                with suppress(json.JSONDecodeError):
                    entry = json.loads(line)
                    done[entry["job"]] = entry["rows"]
        return done

    def add(self, key: str, rows: list[Row]) -> None:
        """Keep the rows of a finished job."""
        # one line in one write: nothing else can come between, and a crash leaves at most this line torn
        line = json.dumps({"job": key, "rows": rows}, allow_nan=False) + "\n"
        try:
            self.path.parent.mkdir(exist_ok=True)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise DataError(f"cannot write '{self.path}': {error.strerror or error}.") from error

    def remove(self) -> None:
        """Delete it once the results are written, and what an older state of the code left of the same set-up."""
        for path in self.path.parent.glob(f"{self._stem}-*.jsonl"):
            path.unlink(missing_ok=True)
        with suppress(OSError):  # the last one out takes the folder
            self.path.parent.rmdir()


def _state_of_code() -> str:
    digest = hashlib.sha256(modeseek.__version__.encode())
    for path in sorted(Path(modeseek.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
