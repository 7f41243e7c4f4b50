"""A file of plain arrays and a record in JSON; what it declares is held against its size before anything is made of it.

    12 bytes   magic
     4 bytes   version of the form, little-endian
     8 bytes   length of the record, little-endian
    32 bytes   SHA-256 of version, length, record and arrays
               the record: JSON, with "arrays": [[name, type, shape], ...]
               the arrays, one after the other, in C order, little-endian

Nothing is compressed and nothing is pickled: arrays can ask for no more memory than the file is long, the record for no
more than its bounded number of values takes, and nobody for code.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import struct
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.hints import did_you_mean
from modeseek._common.resources import NotEnoughMemory, check_memory
from modeseek._storage.atomic import atomic_path
from modeseek._storage.errors import DataError

__all__ = ["Content", "read_container", "write_container"]

HEAD = struct.Struct("<12sIQ32s")
# types that arrays may have
DTYPES = ("|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iu" for size in (2, 4, 8)), "<f2", "<f4", "<f8")
# a record is settings, names and places of arrays, of ten thousand chains too: longer or deeper ones are not ours, nor
# those of more values, which take far more memory than their text
LONGEST, DEEPEST, MOST_VALUES, MOST_AXES = 32 << 20, 32, 1 << 21, 4
NAME = re.compile(r"[A-Za-z0-9_.]{1,120}")
# what a byte of JSON does to the depth; bytes that are looked at together
STEPS, BLOCK = np.zeros(256, np.int8), 1 << 20
STEPS[list(b"[{")], STEPS[list(b"]}")] = 1, -1


class Content(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    version : int
        Of its form.
    record : dict
        Plain values.
    arrays : dict
        The arrays, by name.
    """

    version: int
    record: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write_container(
    path: str | os.PathLike[str], magic: bytes, version: int, record: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write a record and arrays; the file appears whole or not at all.

    Raises
    ------
    DataError
        If the record is too long, an array is of a type that such files do not have, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "some.file")
    >>> write_container(path, b"an example..", 1, {"n": 2}, {"a": np.arange(2.0)})
    >>> read_container(path, b"an example..", {1}, "a file", "Write it again.").arrays
    {'a': array([0., 1.])}
    """
    plain = {name: _little(name, array) for name, array in arrays.items()}
    places = [[name, _spelt(array), list(array.shape)] for name, array in plain.items()]
    # ascii: what cannot be UTF-8 in a name is escaped, and comes back
    text = json.dumps({**record, "arrays": places}, allow_nan=False, separators=(",", ":")).encode("ascii")
    if why := _too_much(text):
        raise DataError(f"cannot write '{path}': its record {why}.")
    digest = hashlib.sha256(struct.pack("<IQ", version, len(text)) + text)
    for array in plain.values():
        digest.update(_bytes(array))
    with atomic_path(path) as part, part.open("wb") as file:
        file.write(HEAD.pack(magic, version, len(text), digest.digest()) + text)
        for array in plain.values():
            file.write(_bytes(array))


def read_container(path: str | os.PathLike[str], magic: bytes, versions: set[int], what: str, instead: str) -> Content:
    """Read a file that `write_container` wrote.

    Parameters
    ----------
    path : str or path-like
    magic : bytes of length 12
        What files of this kind begin with.
    versions : set of int
        Those that can be read.
    what : str
        What such a file is, for messages: "a model".
    instead : str
        What to do with one that cannot be read, as a sentence.

    Raises
    ------
    DataError
        If it is something else, of another version, damaged, or declares more than it holds.
    """
    try:
        # looked at before it is opened: a pipe would wait for somebody to write
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise DataError(f"cannot read '{path}': it is not a regular file.")
        with Path(path).open("rb") as file:
            return _read(file, path, magic, versions, what, instead)
    except _Damaged as error:
        raise DataError(f"'{path}' is damaged: {error}. {instead}") from None
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        reason = getattr(error, "strerror", None) or error
        near = did_you_mean(Path(path).name, _siblings(path)) if isinstance(error, FileNotFoundError) else ""
        raise DataError(f"cannot read '{path}': {reason}.{near}") from None
    except NotEnoughMemory as error:
        raise DataError(f"cannot read '{path}': {error}") from None


class _Damaged(Exception):
    """Why a file is not as it was written."""


def _read(file: BufferedReader, path: Any, magic: bytes, versions: set[int], what: str, instead: str) -> Content:
    size, head = os.fstat(file.fileno()).st_size, file.read(HEAD.size)
    if len(head) < HEAD.size or not head.startswith(magic):
        raise DataError(f"'{path}' is not {what}: it does not begin as one.")
    _, version, length, digest = HEAD.unpack(head)
    if version not in versions:
        newest = max(versions)
        why = (
            f"a newer modeseek wrote it (form {version}, and this one reads up to {newest}): update modeseek."
            if version > newest
            else f"its form {version} is too old. {instead}"
        )
        raise DataError(f"'{path}' cannot be read: {why}")
    if length > min(LONGEST, size - HEAD.size):
        raise _Damaged(f"its record of {length:,} bytes is longer than the file, or than {LONGEST:,}")
    text = file.read(length)
    hashed = hashlib.sha256(struct.pack("<IQ", version, length) + text)
    record = _parsed(text)
    places = _places(record.pop("arrays", None), size)
    declared = HEAD.size + length + sum(place.n_bytes for place in places)
    if declared != size:
        raise _Damaged(f"it declares {declared:,} bytes and has {size:,}")
    check_memory(1.2 * size, f"'{path}'", "Read it on a machine with more.")
    arrays = {}
    for place in places:
        array = np.empty(place.shape, place.dtype)
        if array.size:
            file.readinto(_bytes(array))  # what is missing shows in the checksum
        hashed.update(_bytes(array))
        arrays[place.name] = array
    if hashed.digest() != digest or file.read(1):
        raise _Damaged("its checksum is wrong")
    for name, array in arrays.items():
        if array.dtype == bool and (array.view(np.uint8) > 1).any():
            raise _Damaged(f"array {name} holds neither true nor false")
    return Content(version, record, arrays)


class _Place(NamedTuple):
    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def _places(given: Any, size: int) -> list[_Place]:
    """Return what arrays a record declares; sizes are whole numbers of Python's, which nothing overflows."""
    if not isinstance(given, list):
        raise _Damaged("it does not say what arrays it has")
    places = []
    for each in given:
        if not (isinstance(each, list) and len(each) == 3 and isinstance(each[0], str) and NAME.fullmatch(each[0])):
            raise _Damaged("an array has no proper name")
        name, dtype, shape = each
        if dtype not in DTYPES:
            raise _Damaged(f"array {name} is of a type that no such file has")
        whole = isinstance(shape, list) and len(shape) <= MOST_AXES and all(type(n) is int for n in shape)
        # an empty array could be of any length otherwise
        if not whole or not all(0 <= n <= size for n in shape):
            raise _Damaged(f"array {name} has a shape that the file has no room for")
        places.append(_Place(name, np.dtype(dtype), tuple(shape)))
    if len({place.name for place in places}) < len(places):
        raise _Damaged("two arrays have one name")
    return places


def _parsed(text: bytes) -> dict[str, Any]:
    if why := _too_much(text):
        raise _Damaged(f"its record {why}")
    try:
        record = json.loads(text.decode("utf-8"), object_pairs_hook=_distinct, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise _Damaged("its record is no JSON") from None
    if not isinstance(record, dict):
        raise _Damaged("its record is no object")
    return record


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _too_much(text: bytes) -> str:
    """Say what a record has too much of, before it is parsed; what stands behind a fault no parser comes to."""
    if len(text) > LONGEST:
        return f"has {len(text):,} bytes, more than {LONGEST:,}"
    # a quote that is escaped ends no string
    plain = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    inside, depth, deepest, values = False, 0, 0, 1
    for start in range(0, len(plain), BLOCK):
        codes = np.frombuffer(plain[start : start + BLOCK], np.uint8)
        quoted = np.logical_xor.accumulate(codes == ord('"')) ^ inside
        inside, codes = bool(quoted[-1]), codes[~quoted]
        depths = depth + np.cumsum(STEPS[codes], dtype=np.int64)
        if len(depths):
            depth, deepest = int(depths[-1]), max(deepest, int(depths.max()))
        values += int(np.isin(codes, list(b"[{,")).sum())
    if deepest > DEEPEST:
        return f"is nested more than {DEEPEST} deep"
    return f"has {values:,} values, more than {MOST_VALUES:,}" if values > MOST_VALUES else ""


def _little(name: str, array: Any) -> NDArray[Any]:
    plain = np.asarray(array, order="C")
    if plain.dtype.byteorder == ">" or (plain.dtype.byteorder == "=" and not np.little_endian):
        plain = plain.astype(plain.dtype.newbyteorder("<"))
    if _spelt(plain) not in DTYPES or plain.ndim > MOST_AXES:
        raise DataError(f"{name} is an array of {plain.dtype} in {plain.ndim} dimensions, which files do not hold.")
    return plain


def _spelt(array: NDArray[Any]) -> str:
    return array.dtype.newbyteorder("<").str


def _bytes(array: NDArray[Any]) -> Any:
    # an empty array has no memory to look at
    return array.reshape(-1).view(np.uint8).data if array.size else b""


def _siblings(path: Any) -> list[str]:
    try:
        return sorted(each.name for each in Path(path).parent.iterdir())[:1000]
    except OSError:
        return []
