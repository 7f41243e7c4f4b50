"""The state of a long run, kept in a folder beside its target, so that the same command resumes after a kill."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._storage.atomic import PRIVATE, TOKEN, atomic_path
from modeseek._storage.errors import DataError

__all__ = ["Kept", "WorkFolder"]

RECORD, LOCK = "state.json", "lock"
# the content of the lock file, by which a folder is known to be ours
MARKER = b"modeseek work folder"
# the files that a run writes, with those of the writers of chunks
OWN = re.compile(r"state\.json|arrays-\d+\.npz|rows(-\d+)?\.\w+")
TEMPORARY = re.compile(rf"^\.(.+)\.[0-9a-f]{{{2 * TOKEN}}}(?=\.\w+$)")
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

    The folder and its files can be read by their owner only. The lock file holds a marker, and a folder without it is
    refused. Links are not followed. Only files with names that a run writes are removed, while the lock is held.

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
    _lock: int | None

    def open(self) -> None:
        """Make the folder, or take over one that an earlier run left, and lock it.

        Raises
        ------
        DataError
            If another run uses the folder, if `path` is something else than a folder made by this class, or if it
            cannot be made. Nothing is changed then.
        """
        try:
            while self._lock is None:
                made = self._make()
                # another run may remove or make the folder at any time until it is locked
                with suppress(FileNotFoundError, FileExistsError):
                    self._lock = self._take(made)
            self._mark()
        except OSError as error:
            self.close()
            raise DataError(f"cannot make the folder '{self.path}': {error.strerror or error}.") from None
        except DataError:
            self.close()
            raise

    def _make(self) -> bool:
        """Make the folder; return False if the name is taken."""
        try:
            self.path.mkdir(mode=0o700)
        except FileExistsError:
            return False
        return True

    def _take(self, made: bool) -> int | None:
        """Lock the folder; return None if its lock was removed meanwhile."""
        found, lock = self.path.lstat(), self.path / LOCK
        if not stat.S_ISDIR(found.st_mode) or _is_special(lock):
            raise self._foreign()
        if os.name == "posix" and not made and found.st_uid != os.geteuid():
            raise self._foreign()
        names = os.listdir(self.path)
        if names and LOCK not in names:
            raise self._foreign()
        # an empty folder is that of a run that was killed before it made its lock
        create = 0 if names else os.O_CREAT | os.O_EXCL
        descriptor = os.open(lock, os.O_RDWR | create | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            self._flock(descriptor)
            if os.path.samestat(os.fstat(descriptor), lock.lstat()):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return None

    def _flock(self, descriptor: int) -> None:
        if os.name == "posix":
            import fcntl

            try:
                # the system unlocks it when the process ends, even by a kill
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise DataError(
                    f"another run is at work in '{self.path}': wait for it, or write to another file."
                ) from None

    def _mark(self) -> None:
        """Write the marker into the lock file of a new folder; refuse a folder without it, or with links in it."""
        assert self._lock is not None
        marker = os.read(self._lock, len(MARKER) + 1)
        if marker != MARKER:
            # a run that was killed while it wrote its marker has nothing else in the folder
            if not MARKER.startswith(marker) or os.listdir(self.path) != [LOCK]:
                raise self._foreign()
            os.lseek(self._lock, 0, os.SEEK_SET)
            os.write(self._lock, MARKER)
            os.fsync(self._lock)
            # an empty folder may have been made otherwise; not all file systems have permissions
            with suppress(PermissionError):
                self.path.chmod(0o700)
        if any(map(_is_special, self._own_files())):
            raise self._foreign()

    def _foreign(self) -> DataError:
        return DataError(
            f"'{self.path}' exists and is not a work folder of modeseek: rename or remove it, or write to another file."
        )

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
            with atomic_path(self.path / name, PRIVATE) as part:
                named: dict[str, Any] = dict(arrays)
                with part.open("wb") as stream:
                    np.savez(stream, **named)
                self._arrays = {"name": name, "sha256": _checksum(part)}
        record = {"form": FORM, "number": self._number, "asked": asked, "state": state, "arrays": self._arrays}
        with atomic_path(self.path / RECORD, PRIVATE) as part:
            part.write_text(json.dumps(record, allow_nan=False), encoding="utf-8")
        for old in self._own_files():
            if old.name.startswith("arrays-") and old.name != self._arrays.get("name"):
                old.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove the files of earlier runs; other files stay."""
        self._number, self._arrays = 0, {}
        # the record first: without it the rest means nothing
        (self.path / RECORD).unlink(missing_ok=True)
        for each in self._own_files():
            each.unlink()

    def close(self) -> None:
        """Unlock the folder and leave it to the next run."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def remove(self) -> None:
        """Remove the folder, unless other files are in it, and unlock it; do nothing if it is not open."""
        if self._lock is None:
            return
        with suppress(OSError):
            self.clear()
            if os.name != "posix":
                # Windows cannot remove an open file
                self.close()
            (self.path / LOCK).unlink()
            self.path.rmdir()
        self.close()

    def _own_files(self) -> list[Path]:
        return [self.path / name for name in os.listdir(self.path) if _is_own(name)]

    def _load_arrays(self) -> dict[str, NDArray[Any]]:
        path = self.path / self._arrays["name"]
        if _checksum(path) != self._arrays["sha256"]:
            raise ValueError("the arrays are not those of the record")
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_own(name: str) -> bool:
    """Return whether a run writes files of this name, or of the name that `atomic_path` makes a temporary one from."""
    return OWN.fullmatch(TEMPORARY.sub(r"\1", name)) is not None


def _is_special(path: Path) -> bool:
    """Return whether a name belongs to something else than a regular file, such as a link."""
    return os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode)
