"""The file of models, checkpoints and resume states: a record in JSON and plain arrays, under one checksum.

    12 bytes   magic
     4 bytes   version of the format, little-endian
     8 bytes   length of the record, little-endian
    32 bytes   SHA-256 of version, length, record and arrays
               the record: JSON, with "kind", "value" and "arrays": [[name, type, shape], ...]
               the arrays, one after the other, in C order, little-endian

Nothing is compressed or pickled. Declared sizes are compared with the size of the file before memory is allocated.
safetensors is not used: its files have no checksum, no magic and no version, and its metadata are strings only. We
would still need the encoder, the limits and the checks, and save about 40 lines.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import struct
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.hints import did_you_mean
from modeseek._common.resources import NotEnoughMemory, check_memory
from modeseek._common.storable import require
from modeseek._storage.atomic import atomic_path
from modeseek._storage.encoding import check_type, decode, distinct_names, encode
from modeseek._storage.errors import DataError

# no text begins with these bytes, and programs that convert line ends change them
MAGIC = b"\x89MODESEEK\r\n\x1a"
VERSION = 2
HEAD = struct.Struct("<12sIQ32s")
DTYPES = ("|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iu" for size in (2, 4, 8)), "<f2", "<f4", "<f8")
# limits of a record: with ten thousand chains, it has 20 MB and a million values, which take far more memory as objects
LONGEST_RECORD = 32 << 20
MOST_VALUES = 1 << 21
MOST_AXES = 4
NAME = re.compile(r"[^\x00-\x1f]{1,200}")


class _Damaged(Exception):
    """The content of a file differs from what was written; the message is the reason."""


def write_container(path: str | os.PathLike[str], kind: str, value: Any, mode: int = 0o666) -> None:
    """Write a value; the file appears complete or not at all.

    Parameters
    ----------
    path : str or path-like
    kind : str
        What the file holds, such as "model".
    value : object
        A value that `encode` accepts.
    mode : int
        Permissions of a new file, less the umask.

    Raises
    ------
    NotStorableError
        If the value, or a part of it, is of a kind that files cannot hold.
    DataError
        If the value is too large, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "some.file")
    >>> write_container(path, "example", {"n": 2, "a": np.arange(2.0)})
    >>> read_container(path, "example", dict[str, object], "Write it again.")
    {'n': 2, 'a': array([0., 1.])}
    """
    arrays: dict[str, NDArray[Any]] = {}
    encoded = encode(value, kind, arrays)
    plain = {name: np.asarray(array, array.dtype.newbyteorder("<"), order="C") for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype.str not in DTYPES or array.ndim > MOST_AXES:
            raise DataError(f"{name} is an array of {array.dtype} in {array.ndim} dimensions; files cannot hold it.")
    headers = [[name, array.dtype.str, list(array.shape)] for name, array in plain.items()]
    record = {"kind": kind, "value": encoded, "arrays": headers}
    # ASCII with escapes: names may have characters that UTF-8 cannot encode
    text = json.dumps(record, allow_nan=False, separators=(",", ":")).encode("ascii")
    if why := _too_large(text):
        raise DataError(f"cannot write '{path}': its record {why}.")
    digest = hashlib.sha256(struct.pack("<IQ", VERSION, len(text)) + text)
    for array in plain.values():
        digest.update(_bytes(array))
    with atomic_path(path, mode) as part, part.open("wb") as file:
        file.write(HEAD.pack(MAGIC, VERSION, len(text), digest.digest()) + text)
        for array in plain.values():
            file.write(_bytes(array))


def read_container(path: str | os.PathLike[str], kind: str, hint: Any, remedy: str) -> Any:
    """Read the value that `write_container` wrote.

    Parameters
    ----------
    path : str or path-like
    kind : str
        What the file must hold.
    hint : type
        Type that the value must have.
    remedy : str
        What to do if the file cannot be read, as a sentence.

    Raises
    ------
    DataError
        If the file holds another kind of value, has another version of the format, is damaged or does not fit into
        memory.
    """
    try:
        # checked before the file is opened, because opening a pipe waits for a writer
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise DataError(f"cannot read '{path}': it is not a regular file.")
        with Path(path).open("rb") as file:
            record, arrays = _read(file, path, kind, remedy)
    except _Damaged as error:
        raise DataError(f"'{path}' is damaged: {error}. {remedy}") from None
    except NotEnoughMemory as error:
        raise DataError(f"cannot read '{path}': {error}") from None
    except FileNotFoundError as error:
        siblings = [each.name for each in Path(path).parent.glob("*")]
        raise DataError(f"cannot read '{path}': {error.strerror}.{did_you_mean(Path(path).name, siblings)}") from None
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"cannot read '{path}': {error}.") from None
    if record.get("kind") != kind:
        raise DataError(f"'{path}' holds a {record.get('kind')}, not a {kind}.")
    try:
        with np.errstate(all="ignore"):
            value = decode(record["value"], arrays)
        require(check_type(value, hint), "its value")
        return value
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise DataError(f"'{path}' is not a valid {kind}; wrong part: {error}. {remedy}") from None


def _read(file: IO[bytes], path: Any, kind: str, remedy: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    size, head = os.fstat(file.fileno()).st_size, file.read(HEAD.size)
    if head[1:9] == b"MODECKPT" or (head[:12] == MAGIC and head[12:16] == b"\1\0\0\0"):
        raise DataError(f"'{path}' has file format 1, but this version of modeseek reads format {VERSION}. {remedy}")
    if len(head) < HEAD.size or not head.startswith(MAGIC):
        raise DataError(f"'{path}' is not a {kind} of modeseek: its first bytes are not those of such a file.")
    _, version, length, digest = HEAD.unpack(head)
    if version != VERSION:
        raise DataError(
            f"'{path}' cannot be read: a newer modeseek wrote it (format {version}, and this one reads {VERSION}): "
            "update modeseek."
        )
    if length > min(LONGEST_RECORD, size - HEAD.size):
        raise _Damaged(f"its record of {length:,} bytes is longer than the file, or than {LONGEST_RECORD:,}")
    text = file.read(length)
    hashed = hashlib.sha256(struct.pack("<IQ", version, length) + text)
    record = _parse(text)
    headers = [_ArrayHeader.of(each, size) for each in record.get("arrays", ())]
    declared = HEAD.size + length + sum(header.n_bytes for header in headers)
    if declared != size:
        raise _Damaged(f"it declares {declared:,} bytes and has {size:,}")
    check_memory(1.2 * size, f"'{path}'", "Read it on a machine with more.")
    arrays = {}
    for header in headers:
        array = np.empty(header.shape, header.dtype)
        if array.size:
            file.readinto(_bytes(array))  # type: ignore[attr-defined]  # missing bytes change the checksum
        hashed.update(_bytes(array))
        arrays[header.name] = array
    if hashed.digest() != digest or file.read(1):
        raise _Damaged("its checksum is wrong")
    for name, array in arrays.items():
        if array.dtype == bool and (array.view(np.uint8) > 1).any():
            raise _Damaged(f"array {name} holds neither true nor false")
    if len(arrays) < len(headers):
        raise _Damaged("two arrays have the same name")
    return record, arrays


class _ArrayHeader(NamedTuple):
    """Name, type and shape of an array in a file."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    @classmethod
    def of(cls, declared: Any, size: int) -> _ArrayHeader:
        """Check and return the declaration of an array in a file of `size` bytes."""
        if not (isinstance(declared, list) and len(declared) == 3):
            raise _Damaged("an array is not declared by name, type and shape")
        name, dtype, shape = declared
        if not (isinstance(name, str) and NAME.fullmatch(name)):
            raise _Damaged("an array has no valid name")
        if dtype not in DTYPES:
            raise _Damaged(f"array {name} has an unsupported type")
        whole = isinstance(shape, list) and len(shape) <= MOST_AXES and all(type(n) is int for n in shape)
        # n <= size, because an array with a zero in its shape could otherwise declare any length
        if not whole or not all(0 <= n <= size for n in shape):
            raise _Damaged(f"array {name} has a shape that the file is too small for")
        return cls(name, np.dtype(dtype), tuple(shape))


def _parse(text: bytes) -> dict[str, Any]:
    if why := _too_large(text):
        raise _Damaged(f"its record {why}")
    try:
        record = json.loads(text.decode("utf-8"), object_pairs_hook=distinct_names, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise _Damaged("its record is not JSON") from None
    if not isinstance(record, dict) or not isinstance(record.get("arrays"), list):
        raise _Damaged("its record does not declare arrays")
    return record


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _too_large(text: bytes) -> str:
    """Return why a record is too large, or ""; commas and brackets in strings also count as values."""
    values = text.count(b",") + text.count(b"[") + text.count(b"{")
    if len(text) > LONGEST_RECORD:
        return f"has {len(text):,} bytes, more than {LONGEST_RECORD:,}"
    return f"has {values:,} values, more than {MOST_VALUES:,}" if values > MOST_VALUES else ""


def _bytes(array: NDArray[Any]) -> Any:
    # an empty array has no buffer
    return array.reshape(-1).view(np.uint8).data if array.size else b""
