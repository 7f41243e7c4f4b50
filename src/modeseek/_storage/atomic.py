"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

from modeseek._common.hints import did_you_mean
from modeseek._storage.errors import DataError, WriteError

__all__ = ["atomic_path", "check_target", "remove_parts", "temporary_folder", "write_json"]

# what is being written, to be removed if SIGTERM comes
PARTS: set[Path] = set()
# permissions of files that may belong to a target for its owner only
PRIVATE = 0o600
# random bytes in a temporary name: with 4, "remove_parts" would match a user's ".run.20260101.ckpt"
TOKEN = 8


@contextmanager
def atomic_path(path: str | os.PathLike[str], mode: int = 0o666) -> Iterator[Path]:
    """Write to the path that this yields; it becomes `path` when the block ends well.

    The path yielded is a new, empty file beside the target, with the same suffix. When the block ends, it is
    flushed to the disk and takes the target's name in one step; when the block fails, it is removed, and a
    file that was there before stays as it was. SIGTERM, which ends a process on the spot where nobody listens to it,
    removes the new file first, if the main thread is here.

    Parameters
    ----------
    path : str or path-like
        The file to write. A link is followed, so that it stays a link.
    mode : int
        Permissions of a new file, less the umask. An existing file keeps its own, and the path yielded never has more.

    Yields
    ------
    Path
        Where to write.

    Raises
    ------
    DataError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_path(folder / "a.txt") as part:
    ...     _ = part.write_text("whole")
    >>> [(file.name, file.read_text()) for file in folder.iterdir()]
    [('a.txt', 'whole')]
    """
    target = _regular(path)
    part = _beside(target)
    PARTS.add(part)
    try:
        with _tidy_on_sigterm():
            yield from _written(part, target, mode)
    except OSError as error:
        raise WriteError(path, error) from error
    finally:
        # gone already where all went well; where the folder is missing there is nothing to remove
        with suppress(OSError):
            part.unlink()
        PARTS.discard(part)


def _beside(target: Path) -> Path:
    """Return a random temporary name beside a file, with the same suffix."""
    return target.with_name(f".{target.stem}.{secrets.token_hex(TOKEN)}{target.suffix}")


def create(path: Path, mode: int) -> None:
    """Create an empty file, with permissions `mode` less the umask; fail if the name is taken, also by a link."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))


def _written(part: Path, target: Path, mode: int) -> Iterator[Path]:
    known = target.stat().st_mode & 0o777 if target.exists() else None
    # narrow from the start: chmod does not close the file for a process that has opened it before
    create(part, mode if known is None else known)
    if known is not None:
        part.chmod(known)
    yield part
    _flush(part)
    os.replace(part, target)
    _flush_folder(target.parent)


@contextmanager
def _tidy_on_sigterm() -> Iterator[None]:
    def leave(number: int, frame: FrameType | None) -> None:
        for part in tuple(PARTS):
            _remove(part)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    if current_thread() is not main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for the time of the block, which SIGTERM removes too, as it does the part of `atomic_path`.

    Examples
    --------
    >>> with temporary_folder() as folder:
    ...     _ = (folder / "a.txt").write_text("whole")
    >>> folder.exists()
    False
    """
    folder = Path(tempfile.gettempdir(), f"modeseek-{secrets.token_hex(8)}")
    PARTS.add(folder)
    try:
        with _tidy_on_sigterm():
            folder.mkdir(mode=0o700)
            yield folder
    finally:
        _remove(folder)
        PARTS.discard(folder)


def _remove(part: Path) -> None:
    with suppress(OSError):
        if part.is_dir():
            shutil.rmtree(part)
        else:
            part.unlink()


def remove_parts(path: str | os.PathLike[str]) -> None:
    """Remove what writers of a file have left beside it when they were killed; nobody else may be writing it."""
    target = Path(os.path.realpath(path))
    for part in target.parent.glob(f".{escape(target.stem)}.{'[0-9a-f]' * 2 * TOKEN}{escape(target.suffix)}"):
        with suppress(OSError):
            part.unlink()


def put_in_place(made: Path, path: str | os.PathLike[str]) -> None:
    """Give a file that is whole the name of a target, in one step; nothing else ever lies beside the target.

    Parameters
    ----------
    made : Path
        The file, in a folder of the target's file system. From another, it is copied as by `atomic_path`.
    path : str or path-like
        The target. A link is followed, so that it stays a link. An existing target keeps its permissions; a new one
        gets those that the umask gives, whatever `made` has.

    Raises
    ------
    DataError
        If the target cannot be written; the file stays where it was.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "made").write_text("whole")
    >>> put_in_place(folder / "made", folder / "a.txt")
    >>> [(file.name, file.read_text()) for file in folder.iterdir()]
    [('a.txt', 'whole')]
    """
    target = _regular(path)
    try:
        _flush(made)
        if target.exists():
            # not to be written means not to be replaced either
            os.close(os.open(target, os.O_WRONLY))
            mode = target.stat().st_mode & 0o777
        else:
            mode = _new_mode(made)
        made.chmod(mode)
        os.replace(made, target)
        _flush_folder(target.parent)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise WriteError(path, error) from error
        with atomic_path(path) as part:
            shutil.copyfile(made, part)


def _new_mode(beside: Path) -> int:
    """Return the permissions that a new file gets; `os.umask` tells them only by changing them for all threads."""
    probe = _beside(beside)
    create(probe, 0o666)
    try:
        return probe.stat().st_mode & 0o777
    finally:
        probe.unlink()


def write_json(path: str | os.PathLike[str], record: Mapping[str, Any]) -> None:
    """Write a record as JSON; "-" writes it to standard output.

    Numbers that JSON does not have (NaN, infinity) are refused: the caller says null instead.

    Examples
    --------
    >>> write_json("-", {"n_clusters": 3})
    {
      "n_clusters": 3
    }
    """
    text = json.dumps(record, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    if os.fspath(path) == "-":
        sys.stdout.write(text)
        return
    with atomic_path(path) as part:
        part.write_text(text, encoding="utf-8")


def check_target(path: str | os.PathLike[str], suffixes: Iterable[str]) -> Path:
    """Check, before any work is done, that a file could be written.

    Parameters
    ----------
    path : str or path-like
        The file to be written.
    suffixes : iterable of str
        The endings that can be written, in lower case and with the dot.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    DataError
        If the ending is unknown, the folder is missing or not writable, or a folder has that name.

    Examples
    --------
    >>> check_target("result.cvs", [".csv", ".parquet"])
    Traceback (most recent call last):
    modeseek._storage.errors.DataError: cannot write 'result.cvs': unknown ending '.cvs'. Did ...
    """
    target, suffixes = Path(path), list(suffixes)
    folder = Path(os.path.realpath(target)).parent
    if target.is_dir():
        raise DataError(f"cannot write '{path}': it is a folder; give the name of a file in it.")
    if target.suffix.lower() not in suffixes:
        ending = f"unknown ending '{target.suffix}'." if target.suffix else "the name has no ending."
        known = ", ".join(suffixes)
        raise DataError(f"cannot write '{path}': {ending}{did_you_mean(target.suffix, suffixes)} Known: {known}.")
    if not folder.is_dir():
        raise DataError(f"cannot write '{path}': there is no folder '{target.parent}'; create it first.")
    if target.exists() and not target.is_file():
        raise DataError(f"cannot write '{path}': it is not a regular file; give the name of a file.")
    if not os.access(folder, os.W_OK):
        raise DataError(f"cannot write '{path}': no permission to write in '{target.parent}'.")
    return target


def _regular(path: str | os.PathLike[str]) -> Path:
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise DataError(f"cannot write '{path}': it is not a regular file; give the name of a file.")
    return target


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(folder: Path) -> None:
    # the new name is on the disk only when the folder is; Windows cannot open folders and needs no such step
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
