"""The state of a long run, kept in a folder beside its target, so that the same call resumes after a kill."""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from modeseek._storage.atomic import PRIVATE, TOKEN
from modeseek._storage.container import read_container, write_container
from modeseek._storage.errors import DataError

__all__ = ["WorkFolder"]

STATE = "state.modeseek"
LOCK = "lock"
# the content of the lock file, by which a folder is known to be ours
MARKER = b"modeseek work folder"
# the files that a run writes, with those of `ChunkWriter`, and their temporary names
OWN = re.compile(rf"\.?(state|rows(-\d+)?)(\.[0-9a-f]{{{2 * TOKEN}}})?\.\w+")


class WorkFolder:
    """A folder beside a target, with the state of the run that makes it.

    The state is one file, which is replaced in one step: after a kill, or on a full disk, it is the last one or the one
    before.

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
    >>> folder.open()
    >>> folder.save({"chunk": 3})
    >>> folder.load(dict[str, int])
    {'chunk': 3}
    >>> folder.remove()
    >>> folder.path.exists()
    False
    """

    def __init__(self, target: str | os.PathLike[str]):
        real = Path(os.path.realpath(target))
        self.path = real.with_name(real.name + ".modeseek")
        self._lock: int | None = None

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
                    f"another run uses the folder '{self.path}': wait until it ends, or write to another file."
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
    def is_open(self) -> bool:
        """Whether this run holds the lock."""
        return self._lock is not None

    @property
    def has_state(self) -> bool:
        """Whether the folder holds a state."""
        return (self.path / STATE).exists()

    def load(self, hint: Any) -> Any:
        """Return the last state; None if there is none, it is not of the type `hint`, or damaged."""
        with suppress(DataError):
            return read_container(self.path / STATE, "resume state", hint, "")

    def save(self, state: Any) -> None:
        """Replace the state."""
        write_container(self.path / STATE, "resume state", state, PRIVATE)

    def clear(self) -> None:
        """Remove the files of earlier runs; other files stay."""
        # first the state, without which the other files have no meaning
        (self.path / STATE).unlink(missing_ok=True)
        for each in self._own_files():
            each.unlink()

    def close(self) -> None:
        """Unlock the folder and leave it to the next run."""
        # forgotten first: Ctrl-C may come between the two lines, and a descriptor must not be closed twice
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

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
        return [self.path / name for name in os.listdir(self.path) if OWN.fullmatch(name)]


def _is_special(path: Path) -> bool:
    """Return whether a name belongs to something else than a regular file, such as a link."""
    return os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode)
