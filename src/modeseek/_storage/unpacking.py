"""A bound on the size of compressed files after decompression, checked before memory is allocated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import RawIOBase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.overrides import override_limit
from modeseek._storage.errors import UnpackedSizeError
from modeseek._storage.pyarrow_modules import pa, pc

# bytes of a number, and of a missing value
NUMBER_BYTES = 8
# By default, a file may unpack to this size, or to this multiple of its own size if that is larger. Tables compress to
# a tenth or more of their size; deflate reaches 1,030 to 1.
LEAST_BYTES = 1 << 28
MOST_RATIO = 50
_limit: ContextVar[float | None] = ContextVar("modeseek_unpacked_limit", default=None)


@contextmanager
def limit_unpacked(n_bytes: float | None) -> Iterator[None]:
    """Let compressed files unpack to at most `n_bytes` within a block; `math.inf` disables the check.

    Compressed formats can hold gigabytes in a few kilobytes, by mistake or on purpose. By default a file may unpack to
    256 MiB, or to 50 times its size if that is larger; numbers are counted as eight bytes each. Larger files raise an
    error before memory is allocated.

    Parameters
    ----------
    n_bytes : float or None
        The bound; None is the default one.

    Examples
    --------
    >>> with limit_unpacked(4e9):
    ...     unpacked_bound(1000)
    4000000000.0
    >>> unpacked_bound(1000)
    268435456
    """
    with override_limit(_limit, n_bytes):
        yield


def given_limit() -> float | None:
    """Return the bound of the enclosing `limit_unpacked`, to pass it to another process; None is the default one."""
    return _limit.get()


def unpacked_bound(packed: int) -> float:
    """Return the number of bytes to which a file of `packed` bytes may unpack."""
    given = _limit.get()
    return max(LEAST_BYTES, MOST_RATIO * packed) if given is None else given


def check_unpacked(source: str, unpacked: int, packed: int) -> None:
    """Raise `UnpackedSizeError` if a file of `packed` bytes unpacks to more than the bound."""
    bound = unpacked_bound(packed)
    if unpacked > bound:
        raise UnpackedSizeError(source, unpacked, packed, bound)


def unpacked_size(array: Any) -> int:
    """Return the size of an Arrow array after values that are stored once, and used often, are repeated."""
    kind = str(array.type)
    if pa.types.is_dictionary(array.type):
        used = array.indices.drop_null().to_numpy(zero_copy_only=False)
        return int(_sizes(array.dictionary)[used].sum())
    if kind.startswith("run_end_encoded"):
        runs = np.diff(array.run_ends.to_numpy(), prepend=0)
        return int((_sizes(array.values) * runs).sum())
    if kind in ("string_view", "binary_view"):
        # a view is four integers, of which the first is the length
        lengths = np.frombuffer(array.buffers()[1], np.int32)[::4][array.offset : array.offset + len(array)]
        return int(lengths[np.asarray(array.is_valid())].sum(dtype=np.int64))
    if "list_view" in kind:
        length, values = pc.sum(pc.list_value_length(array).cast(pa.int64())).as_py() or 0, array.values
        # each value counts as all of them if some are used twice
        return NUMBER_BYTES * len(array) + unpacked_size(values) * (1 if length <= len(values) else length)
    if pa.types.is_struct(array.type):
        return sum(map(unpacked_size, array.flatten()))
    if pa.types.is_map(array.type):
        return unpacked_size(array.keys) + unpacked_size(array.items)
    if pa.types.is_nested(array.type) and not pa.types.is_union(array.type):
        return NUMBER_BYTES * len(array) + unpacked_size(array.flatten())
    return NUMBER_BYTES * len(array) if pa.types.is_null(array.type) else int(array.nbytes)


def _sizes(values: Any) -> NDArray[np.int64]:
    """Return the size of each value of an Arrow array; an upper bound for nested ones."""
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_string(kind):
        return np.asarray(pc.fill_null(pc.binary_length(values), 0)).astype(np.int64)
    return np.full(len(values), NUMBER_BYTES if pa.types.is_primitive(kind) else unpacked_size(values), np.int64)


class BoundedStream(RawIOBase):
    """A decompressed stream that raises `UnpackedSizeError` behind its bound.

    Parameters
    ----------
    stream : file
        The decompressed stream.
    source : str
        Name of the file in messages.
    packed : int
        Size of the compressed file.
    raw : file, optional
        The compressed file, which is closed with the stream.
    """

    def __init__(self, stream: Any, source: str, packed: int, raw: Any = None):
        self._stream, self._source, self._packed, self._raw, self._read = stream, source, packed, raw, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # not by read: pyarrow's does not free the bytes that it made if it then raises an error
        n_read = self._stream.readinto(buffer)
        self._read += n_read
        check_unpacked(self._source, self._read, self._packed)
        return n_read

    def close(self) -> None:
        self._stream.close()
        super().close()
        if self._raw is not None:
            self._raw.close()
