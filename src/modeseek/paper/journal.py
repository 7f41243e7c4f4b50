"""Journal of finished jobs, with which an interrupted command resumes."""

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

FOLDER = "unfinished"


def config_of(experiment: Any) -> dict[str, Any]:
    """Return the fields of a config as plain values, for the report and for the name of the journal.

    Examples
    --------
    >>> from modeseek.paper.hyperparameters import Hyperparameters
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
    """File of an experiment's finished jobs: one line of JSON for each job, with its rows.

    The file name contains hashes of the config, the seed and the source code, so that rows of different set-ups never
    mix. It does not depend on the number of runs: more runs add jobs.

    Parameters
    ----------
    folder : path
        Output folder of the command.
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
                # a crash may have truncated a line: that job is run again
                with suppress(json.JSONDecodeError):
                    entry = json.loads(line)
                    done[entry["job"]] = entry["rows"]
        return done

    def add(self, key: str, rows: list[Row]) -> None:
        """Append the rows of a finished job."""
        # a single write: a crash can truncate this line only
        line = json.dumps({"job": key, "rows": rows}, allow_nan=False) + "\n"
        try:
            self.path.parent.mkdir(exist_ok=True)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise DataError(f"cannot write '{self.path}': {error.strerror or error}.") from error

    def remove(self) -> None:
        """Delete the journal, and those that older source code left for the same set-up."""
        for path in self.path.parent.glob(f"{self._stem}-*.jsonl"):
            path.unlink(missing_ok=True)
        with suppress(OSError):  # other journals are still in the folder
            self.path.parent.rmdir()


def _state_of_code() -> str:
    digest = hashlib.sha256(modeseek.__version__.encode())
    for path in sorted(Path(modeseek.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
