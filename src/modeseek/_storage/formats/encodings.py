"""Encodings of text files: detection, and conversion to UTF-8."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase, TextIOWrapper
from lzma import LZMAError
from typing import Any, BinaryIO
from zlib import error as ZlibError

from modeseek._storage.errors import DataError
from modeseek._storage.input_file import InputFile

UTF8 = "utf-8"
# other encodings, with their names in notes
ENCODINGS = {"utf-16": "UTF-16", "cp1252": "Windows-1252 (Latin-1)", "latin-1": "Latin-1"}
# bytes from which the encoding is detected
ENCODING_BYTES = 1 << 23
# control characters, which are not text, and bytes that Windows-1252 does not define
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1e\x7f]")
UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


def find_encoding(head: bytes) -> str:
    """Return the encoding of a text, detected from its first bytes.

    Text that is not UTF-8 is read as Windows-1252, or as Latin-1 if it has bytes that Windows-1252 does not define.
    Bytes with control characters are not text: the result is UTF-8, and decoding them raises an error later.

    Examples
    --------
    >>> find_encoding("é".encode()), find_encoding("é".encode("latin-1")), find_encoding("é".encode("utf-16"))
    ('utf-8', 'cp1252', 'utf-16')
    """
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    try:
        getincrementaldecoder(UTF8)().decode(head, len(head) < ENCODING_BYTES)
        return UTF8
    except UnicodeDecodeError:
        if CONTROL.search(head):
            return UTF8
    return "latin-1" if UNDEFINED.search(head) else "cp1252"


class Recoded(RawIOBase):
    """A stream that converts text from another encoding to UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str):
        self._stream = TextIOWrapper(stream, encoding, newline="")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # a character has at most four bytes
        data = self._stream.read(len(buffer) // 4).encode()
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


@contextmanager
def unpacking(file: InputFile) -> Iterator[None]:
    """Turn errors of damaged compressed or encoded files into a `DataError`."""
    try:
        yield
    except DataError:
        raise
    except (EOFError, LZMAError, ZlibError, UnicodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if isinstance(error, LZMAError) and "emory usage limit" in str(error):
            raise DataError(f"{file.name} declares a dictionary that needs too much memory: unpack it first.") from None
        raise DataError(f"{file.name} cannot be read: it is cut short or damaged ({error}).") from None
