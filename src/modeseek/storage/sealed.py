"""Files of arrays and plain values under one checksum: read whole and unharmed, or refused."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from modeseek.storage.atomic import atomic_path
from modeseek.storage.errors import DataError

__all__ = ["read_sealed", "write_sealed"]

# numbers of fixed size only: nothing that could be an object
DTYPES = ("<f8", "<f4", "<i8")
# bytes of the length of the header, of the checksum, and of what is read at a time
LENGTH, DIGEST, BLOCK = 8, 32, 1 << 20
# a header larger than this is nobody's
LARGEST = 1 << 26


def write_sealed(
    path: str | os.PathLike[str], kind: str, record: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a record and arrays in one step; a file that was there stays as it was until then.

    The file is a line with its kind, the length of a header, the header in JSON (the record, and names, types and
    shapes of the arrays), the numbers, and the SHA-256 of all that.

    Parameters
    ----------
    path : str or path-like
    kind : str
        What it is, with a version: "modeseek checkpoint 1".
    record : mapping
        Plain values, as JSON has them.
    arrays : mapping
        Of float64, float32 or int64.

    Raises
    ------
    DataError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "a")
    >>> write_sealed(path, "example 1", {"k": 3}, {"x": np.arange(3.0)})
    >>> read_sealed(path, "example 1")
    ({'k': 3}, {'x': array([0., 1., 2.])})
    """
    plain = {name: np.ascontiguousarray(array, dtype=_kind_of(array)) for name, array in arrays.items()}
    shapes = [[name, array.dtype.str, list(array.shape)] for name, array in plain.items()]
    header = json.dumps({"record": record, "arrays": shapes}, allow_nan=False).encode()
    pieces: list[Any] = [f"{kind}\n".encode(), len(header).to_bytes(LENGTH, "little"), header]
    digest = hashlib.sha256()
    with atomic_path(path) as part, part.open("wb") as file:
        for piece in [*pieces, *(array.reshape(-1).view(np.uint8).data for array in plain.values())]:
            digest.update(piece)
            file.write(piece)
        file.write(digest.digest())


def read_sealed(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the record and the arrays of such a file.

    Sizes are checked against that of the file before anything is made of them, so a file cannot take more memory than
    a few times its own size.

    Raises
    ------
    DataError
        If it is of another kind, cut short, changed in any byte, or cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            _check_kind(file, path, kind)
            _check_digest(file, size)
            return _contents(file, size - DIGEST, len(kind.encode()) + 1)
    except OSError as error:
        raise DataError(f"cannot read '{path}': {error.strerror or error}.") from None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"'{path}' is damaged or cut short; nothing is taken from it.") from None


def _kind_of(array: NDArray[Any]) -> str:
    kind = np.dtype(array.dtype).newbyteorder("<").str
    if kind not in DTYPES:
        raise TypeError(f"no such numbers can be kept: {array.dtype}")
    return kind


def _check_kind(file: BinaryIO, path: str | os.PathLike[str], kind: str) -> None:
    line = kind.encode() + b"\n"
    found = file.read(len(line))
    if found == line:
        return
    # the last word is the version
    family = kind.rpartition(" ")[0].encode()
    if found.startswith(family + b" "):
        version = found[len(family) + 1 :].split(b"\n")[0].decode("ascii", "replace")
        raise DataError(f"'{path}' has version {version!r} of its form, and this is '{kind}'.")
    raise DataError(f"'{path}' is no file of the kind '{kind}'.")


def _check_digest(file: BinaryIO, size: int) -> None:
    file.seek(0)
    left, digest = size - DIGEST, hashlib.sha256()
    while left > 0:
        block = file.read(min(BLOCK, left))
        if not block:
            raise ValueError("cut short")
        digest.update(block)
        left -= len(block)
    if left < 0 or file.read(DIGEST + 1) != digest.digest():
        raise ValueError("another checksum")


def _contents(file: BinaryIO, end: int, start: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    file.seek(start)
    length = int.from_bytes(file.read(LENGTH), "little")
    left = end - start - LENGTH - length
    if left < 0 or length > LARGEST:
        raise ValueError("a header longer than the file")
    header = json.loads(file.read(length))
    shapes = [(str(name), str(kind), _whole(shape)) for name, kind, shape in header["arrays"]]
    if any(kind not in DTYPES for _, kind, _ in shapes):
        raise ValueError("numbers of another type")
    if sum(math.prod(shape) * np.dtype(kind).itemsize for _, kind, shape in shapes) != left:
        raise ValueError("arrays of another size than the file's")
    arrays = {}
    for name, kind, shape in shapes:
        array = np.empty(shape, dtype=kind)
        if file.readinto(array.reshape(-1).view(np.uint8).data) != array.nbytes:  # type: ignore[attr-defined]
            raise ValueError("cut short")
        arrays[name] = array
    return dict(header["record"]), arrays


def _whole(shape: Iterable[Any]) -> tuple[int, ...]:
    lengths = tuple(shape)
    if any(type(length) is not int or length < 0 for length in lengths):
        raise ValueError("no lengths")
    return lengths
