"""A folder that keeps the state of a long run. After a kill, the same call resumes from this state."""

import os
import re
import stat
from contextlib import suppress
from errno import EEXIST, ENOENT, ENOTDIR, ENOTEMPTY
from pathlib import Path
from typing import Any

from modeseek._storage.atomic import PRIVATE, TOKEN, create, flush, temporary_name, temporary_paths
from modeseek._storage.container import read_container, write_container
from modeseek._storage.errors import DataError

STATE = "state.modeseek"
LOCK = "lock"
# content of the lock file, which identifies a folder made by `WorkFolder`
MARKER = b"modeseek work folder"
# names of the files that a run writes, including those of `ChunkWriter`, and of their temporary files
OWN = re.compile(rf"\.?(state|rows(-\d+)?)(\.[0-9a-f]{{{2 * TOKEN}}})?\.\w+")


class WorkFolder:
    """A folder next to an output file, the target, with the state of the run that writes this file.

    The state is one file, which is replaced in one step. After a kill, or when the disk is full, the file holds either
    the last state or the state before it.

    Only the owner can read the folder and its files. The lock file holds a marker. A folder without the marker is
    refused, even if it is empty. Links are not followed. Files are removed only while the lock is held, and only if
    they have names that a run writes.

    Parameters
    ----------
    target : str or path-like
        The output file. The name of the folder is that of the file followed by ".modeseek".

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
            If another run uses the folder, if `path` exists and is not a folder made by this class, or if the folder
            cannot be made. In these cases nothing is changed.
        """
        try:
            while self._lock is None:
                if not os.path.lexists(self.path):
                    self._make()
                # another run may remove or make the folder at any time until it is locked
                with suppress(FileNotFoundError):
                    self._lock = self._take()
            self._check_marker()
            for draft in temporary_paths(self.path):
                _remove_draft(draft)
        except OSError as error:
            self.close()
            raise DataError(f"cannot make the folder '{self.path}': {error.strerror or error}.") from None
        except DataError:
            self.close()
            raise

    def _make(self) -> None:
        """Make the folder and its marker in one step: a killed run never leaves a folder without a marker."""
        draft = temporary_name(self.path)
        draft.mkdir(mode=0o700)
        try:
            create(draft / LOCK, PRIVATE)
            (draft / LOCK).write_bytes(MARKER)
            flush(draft / LOCK, os.O_RDWR)
            draft.rename(self.path)
        except OSError as error:
            # another run may have made the folder already, or have removed this draft
            if error.errno not in (EEXIST, ENOENT, ENOTEMPTY, ENOTDIR):
                raise
        finally:
            # the draft still exists only if it was not renamed
            _remove_folder(draft)

    def _take(self) -> int | None:
        """Lock the folder; return None if its lock was removed meanwhile."""
        found, lock = self.path.lstat(), self.path / LOCK
        if not stat.S_ISDIR(found.st_mode) or _is_special(lock):
            raise self._foreign()
        if os.name == "posix" and found.st_uid != os.geteuid():
            raise self._foreign()
        try:
            descriptor = os.open(lock, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            if LOCK not in os.listdir(self.path) and os.path.samestat(found, self.path.lstat()):
                raise self._foreign() from None
            return None
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

    def _check_marker(self) -> None:
        """Raise a `DataError` if the folder has no marker, or if links are in it."""
        assert self._lock is not None
        if os.read(self._lock, len(MARKER) + 1) != MARKER or any(map(_is_special, self._own_files())):
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
        """Return the last state; None if it is missing, damaged or not of the type `hint`."""
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
        # clear the attribute before closing: after Ctrl-C in between, the descriptor is not closed twice
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
                # Windows cannot rename or remove an open file
                self.close()
            if os.listdir(self.path) == [LOCK]:
                # in one step: a kill must not leave a folder without a marker
                _remove_folder(self.path.rename(temporary_name(self.path)))
            else:
                (self.path / LOCK).unlink()
        self.close()

    def _own_files(self) -> list[Path]:
        return [self.path / name for name in os.listdir(self.path) if OWN.fullmatch(name)]


def _is_special(path: Path) -> bool:
    """Return whether a path exists and is not a regular file; a link is special, too."""
    return os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode)


def _remove_draft(path: Path) -> None:
    """Remove the draft of a work folder. It is that of a killed run; a run that is alive makes another draft."""
    lock = path / LOCK
    with suppress(OSError):
        if path.is_symlink() or _is_special(lock) or not set(os.listdir(path)) <= {LOCK}:
            return
        if not lock.exists() or MARKER.startswith(lock.read_bytes()):
            _remove_folder(path)


def _remove_folder(path: Path) -> None:
    """Remove a folder that holds at most the lock file."""
    with suppress(OSError):
        (path / LOCK).unlink(missing_ok=True)
        path.rmdir()
