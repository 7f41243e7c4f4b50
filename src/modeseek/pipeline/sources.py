"""The input files, and whether they stay the same while they are read."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from modeseek._storage import DataError
from modeseek.pipeline.errors import InputChanged

__all__ = ["Sources"]


class Sources:
    """Size and modification time of the input files at the start of the work.

    Standard input, named pipes and remote files cannot be read twice or have no modification time; they are not
    checked.

    Parameters
    ----------
    files : sequence of str
        Paths of the files.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "a.csv")
    >>> _ = path.write_text("x,y")
    >>> sources = Sources([str(path)])
    >>> sources.check()
    >>> _ = path.write_text("x,y,z")
    >>> sources.check()
    Traceback (most recent call last):
    modeseek.pipeline.errors.InputChanged: ... was changed while it was read, ...
    """

    def __init__(self, files: Sequence[str]):
        self._files = tuple(files)
        self._stamps = [_stamp(file) for file in self._files]

    def require_regular(self) -> None:
        """Raise an error if a file cannot be read more than once."""
        for file in self._files:
            if os.path.exists(file) and not os.path.isdir(file) and not stat.S_ISREG(os.stat(file).st_mode):
                raise DataError(
                    f"'{file}' is not a regular file, and reading in chunks reads a file several times: "
                    "save the data to a file first."
                )

    def check(self, number: int | None = None, folder: Path | None = None, cause: BaseException | None = None) -> None:
        """Raise `InputChanged` if the file with this number, or any file, has changed; `cause` is an earlier error."""
        for file, stamp in list(zip(self._files, self._stamps, strict=True))[slice(number, number and number + 1)]:
            if stamp != _stamp(file):
                raise InputChanged(file, folder) from cause

    def identity(self) -> list[list[object]]:
        """Return the real path, size and modification time of each file."""
        return [[os.path.realpath(file), *(stamp or ())] for file, stamp in zip(self._files, self._stamps, strict=True)]


def _stamp(file: str) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
