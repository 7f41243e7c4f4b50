"""A bound on the size of compressed files after decompression, checked before memory is allocated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from io import RawIOBase
from typing import Any, BinaryIO

from modeseek._common.overrides import override_limit
from modeseek._storage.errors import UnpackedSizeError

__all__ = ["BoundedStream", "UnpackConfig", "check_unpacked", "limit_unpacked", "unpacked_bound"]


@dataclass(frozen=True)
class UnpackConfig:
    """The default bound: `least_bytes`, or `most_ratio` times the size of the compressed file if that is larger.

    Attributes
    ----------
    least_bytes : int
        Any file may unpack to this size.
    most_ratio : int
        Tables compress to a tenth or more of their size; deflate reaches 1,030 to 1.
    """

    least_bytes: int = 1 << 28
    most_ratio: int = 50


DEFAULT_CONFIG = UnpackConfig()
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


def unpacked_bound(packed: int, config: UnpackConfig = DEFAULT_CONFIG) -> float:
    """Return the number of bytes to which a file of `packed` bytes may unpack."""
    given = _limit.get()
    return max(config.least_bytes, config.most_ratio * packed) if given is None else given


def check_unpacked(source: str, unpacked: int, packed: int) -> None:
    """Raise `UnpackedSizeError` if a file of `packed` bytes unpacks to more than the bound."""
    bound = unpacked_bound(packed)
    if unpacked > bound:
        raise UnpackedSizeError(source, unpacked, packed, bound)


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
    """

    def __init__(self, stream: BinaryIO, source: str, packed: int):
        self._stream, self._source, self._packed, self._read = stream, source, packed, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._stream.read(len(buffer))
        buffer[: len(block)] = block
        self._read += len(block)
        check_unpacked(self._source, self._read, self._packed)
        return len(block)

    def close(self) -> None:
        self._stream.close()
        super().close()
