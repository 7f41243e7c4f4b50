"""What a long run has done so far, kept beside its target, so that the same command goes on after a kill."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._storage.atomic import atomic_path, write_json
from modeseek._storage.errors import DataError

__all__ = ["Kept", "WorkFolder"]

RECORD, LOCK = "state.json", "lock"
# whoever reads a folder of another form begins anew
FORM = 1


class Kept(NamedTuple):
    """The last state that was kept.

    Attributes
    ----------
    asked : dict
        What the run was asked to do.
    state : dict
        How far it came, as plain values.
    arrays : dict
        The numbers that belong to it.
    """

    asked: dict[str, Any]
    state: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


class WorkFolder:
    """A folder beside a target, with the state of the run that makes it.

    A state is a record in JSON and arrays in NPZ, never pickled. Arrays come first and the record, which holds their
    checksum, last, each in one step: after a kill at any time there is the last state or the one before.

    Parameters
    ----------
    target : str or path-like
        The file that is being made. The folder has its name and ".modeseek".

    Examples
    --------
    >>> import tempfile
    >>> folder = WorkFolder(Path(tempfile.mkdtemp(), "out.csv"))
    >>> folder.load() is None
    True
    >>> folder.open()
    >>> folder.save({"seed": 0}, {"block": 3}, {"counts": np.arange(3)})
    >>> folder.load()
    Kept(asked={'seed': 0}, state={'block': 3}, arrays={'counts': array([0, 1, 2])})
    >>> folder.remove()
    >>> folder.path.exists()
    False
    """

    def __init__(self, target: str | os.PathLike[str]):
        real = Path(os.path.realpath(target))
        self.path = real.with_name(real.name + ".modeseek")
        self._number, self._arrays, self._lock = 0, {}, None

    _arrays: dict[str, str]
    _lock: Any

    def open(self) -> None:
        """Make the folder and keep others out of it.

        Raises
        ------
        DataError
            If another run works in it, or it cannot be made.
        """
        try:
            self.path.mkdir(exist_ok=True)
            self._lock = (self.path / LOCK).open("w")
        except OSError as error:
            raise DataError(f"cannot make the folder '{self.path}': {error.strerror or error}.") from None
        if os.name == "posix":
            import fcntl

            try:
                # the system lets go of it when a run ends, by whatever
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self.close()
                raise DataError(
                    f"another run is at work in '{self.path}': wait for it, or write to another file."
                ) from None

    @property
    def mine(self) -> bool:
        """Whether it was opened by this run."""
        return self._lock is not None

    @property
    def kept(self) -> bool:
        """Whether there is a state in it."""
        return (self.path / RECORD).exists()

    def load(self) -> Kept | None:
        """Return the last state; None where there is none, or it is damaged."""
        try:
            record = json.loads((self.path / RECORD).read_text(encoding="utf-8"))
            if record["form"] != FORM:
                return None
            self._number, self._arrays = int(record["number"]), dict(record["arrays"])
            arrays = self._load_arrays() if self._arrays else {}
            return Kept(record["asked"], record["state"], arrays)
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
            self._number, self._arrays = 0, {}
            return None

    def save(
        self, asked: Mapping[str, Any], state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None
    ) -> None:
        """Keep a state; with no `arrays`, those kept last belong to it too."""
        self._number += 1
        if arrays is not None:
            name = f"arrays-{self._number}.npz"
            with atomic_path(self.path / name) as part:
                named: dict[str, Any] = dict(arrays)
                with part.open("wb") as stream:
                    np.savez(stream, **named)
                self._arrays = {"name": name, "sha256": _checksum(part)}
        record = {"form": FORM, "number": self._number, "asked": asked, "state": state, "arrays": self._arrays}
        write_json(self.path / RECORD, record)
        for old in self.path.glob("arrays-*.npz"):
            if old.name != self._arrays.get("name"):
                old.unlink(missing_ok=True)

    def clear(self) -> None:
        """Drop all that is kept."""
        self._number, self._arrays = 0, {}
        # the record first: without it the rest means nothing
        (self.path / RECORD).unlink(missing_ok=True)
        for each in self.path.iterdir():
            if each.name != LOCK:
                each.unlink()

    def close(self) -> None:
        """Let others in."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def remove(self) -> None:
        """Remove the folder and all in it."""
        self.close()
        with suppress(OSError):
            (self.path / RECORD).unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)

    def _load_arrays(self) -> dict[str, NDArray[Any]]:
        path = self.path / self._arrays["name"]
        if _checksum(path) != self._arrays["sha256"]:
            raise ValueError("the arrays are not those of the record")
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
