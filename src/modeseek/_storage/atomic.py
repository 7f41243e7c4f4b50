"""Files that appear complete or not at all."""

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
from io import TextIOWrapper
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, TextIO

from modeseek._common.hints import did_you_mean
from modeseek._storage.errors import DataError, WriteError

# temporary files and folders in use, which SIGTERM removes
TEMPORARY: set[Path] = set()
# permissions of files that only their owner can read, because their target may be private
PRIVATE = 0o600
# random bytes in a temporary name: with 4, "remove_parts" would match a user's ".run.20260101.ckpt"
TOKEN = 8
# bytes of the longest name on common file systems
NAME_BYTES = 255


@contextmanager
def atomic_path(path: str | os.PathLike[str], mode: int = 0o666, part: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path to write to, which replaces `path` when the block ends without an error.

    The temporary file is created empty. When the block ends, the file is flushed to the disk and renamed. If the block
    raises an error, the file is removed, and an existing target is unchanged. In the main thread, SIGTERM also removes
    the file, unless the program handles this signal.

    Parameters
    ----------
    path : str or path-like
        The file to write. The target of a link is written, and the link is kept.
    mode : int
        Permissions of a new file, less the umask. An existing file keeps its permissions, and the temporary file never
        has more.
    part : Path, optional
        The temporary file, on the file system of the target. The default is a hidden file next to the target, with the
        same suffix.

    Yields
    ------
    Path
        The temporary file.

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
    target = _real_file(path)
    part = temporary_name(target) if part is None else part
    try:
        with _removed_on_sigterm(part):
            known = target.stat().st_mode & 0o777 if target.exists() else None
            # created with the final permissions: a later chmod does not affect a process that has the file open
            create(part, mode if known is None else known)
            if known is not None:
                part.chmod(known)
            yield part
            flush(part, os.O_RDWR)
            os.replace(part, target)
            _flush_folder(target.parent)
    except OSError as error:
        raise WriteError(path, error) from error
    finally:
        # the file still exists only if it was not renamed
        with suppress(OSError):
            part.unlink()


def temporary_name(target: Path) -> Path:
    """Return a random path for a hidden file next to `target`, with the same suffix."""
    return target.with_name(f".{_short_stem(target)}.{secrets.token_hex(TOKEN)}{target.suffix}")


def _short_stem(target: Path) -> str:
    """Return the stem of a name, cut so that a temporary name is not too long."""
    return os.fsdecode(os.fsencode(target.stem)[: NAME_BYTES - len(os.fsencode(target.suffix)) - 2 * TOKEN - 2])


def temporary_paths(target: Path) -> list[Path]:
    """Return the existing files and folders with names that `temporary_name` gives for a target."""
    return list(target.parent.glob(f".{escape(_short_stem(target))}.{'[0-9a-f]' * 2 * TOKEN}{escape(target.suffix)}"))


def create(path: Path, mode: int) -> None:
    """Create an empty file with permissions `mode` less the umask; fail if the name exists, even as a link."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))


@contextmanager
def _removed_on_sigterm(path: Path) -> Iterator[None]:
    def leave(number: int, frame: FrameType | None) -> None:
        for each in tuple(TEMPORARY):
            _remove(each)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    TEMPORARY.add(path)
    ours = current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        TEMPORARY.discard(path)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder, which is removed when the block ends, and by SIGTERM as in `atomic_path`.

    Examples
    --------
    >>> with temporary_folder() as folder:
    ...     _ = (folder / "a.txt").write_text("whole")
    >>> folder.exists()
    False
    """
    folder = Path(tempfile.gettempdir(), f"modeseek-{secrets.token_hex(8)}")
    with _removed_on_sigterm(folder):
        try:
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            _remove(folder)


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def remove_parts(path: str | os.PathLike[str]) -> None:
    """Remove the temporary files of killed processes next to a file, which no other process may be writing."""
    for part in temporary_paths(Path(os.path.realpath(path))):
        _remove(part)


def standard_output() -> TextIO:
    """Return standard output, set to UTF-8 whatever the locale is, like output files."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout


def write_json(path: str | os.PathLike[str], record: Mapping[str, Any]) -> None:
    """Write a record as JSON; "-" writes it to standard output.

    NaN and infinity, which JSON does not have, raise a `ValueError`: callers write null instead.

    Examples
    --------
    >>> write_json("-", {"n_clusters": 3})
    {
      "n_clusters": 3
    }
    """
    text = json.dumps(record, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    # bytes of a file name that are not UTF-8 become escapes of JSON, such as "\\udcff"
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if os.fspath(path) == "-":
        standard_output().write(text)
        return
    with atomic_path(path) as part:
        part.write_text(text, encoding="utf-8")


def check_target(path: str | os.PathLike[str], suffixes: Iterable[str]) -> Path:
    """Check that a file can be written, before any work is done.

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
        If the ending is unknown, the folder is missing or not writable, or the path is a folder.

    Examples
    --------
    >>> check_target("result.cvs", [".csv", ".parquet"])
    Traceback (most recent call last):
    modeseek._storage.errors.DataError: cannot write 'result.cvs': unknown ending '.cvs'. Did ...
    """
    target, suffixes = Path(path), list(suffixes)
    folder = Path(os.path.realpath(target)).parent
    reason = ""
    if target.is_dir():
        reason = "it is a folder; give the name of a file in it."
    elif target.suffix.lower() not in suffixes:
        ending = f"unknown ending '{target.suffix}'." if target.suffix else "the name has no ending."
        reason = f"{ending}{did_you_mean(target.suffix, suffixes)} Known: {', '.join(suffixes)}."
    elif not folder.is_dir():
        reason = f"there is no folder '{folder if target.is_symlink() else target.parent}'; create it first."
    elif target.exists() and not target.is_file():
        reason = "it is not a regular file; give the name of a file."
    elif not os.access(folder, os.W_OK):
        reason = f"no permission to write in '{target.parent}'."
    if reason:
        raise DataError(f"cannot write '{path}': {reason}")
    return target


def _real_file(path: str | os.PathLike[str]) -> Path:
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise DataError(f"cannot write '{path}': it is not a regular file; give the name of a file.")
    return target


def flush(path: Path, flags: int) -> None:
    """Wait until a file is on the disk."""
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(folder: Path) -> None:
    # a renamed file survives a crash only if its folder is on the disk as well; Windows cannot open folders
    if os.name == "posix":
        flush(folder, os.O_RDONLY)
