"""Files to read: regular files, streams and remote addresses, compressed or not."""

from __future__ import annotations

import os
import re
from bz2 import BZ2Decompressor
from collections.abc import Callable
from dataclasses import dataclass
from gzip import GzipFile
from io import SEEK_END, BufferedReader, BytesIO, RawIOBase
from lzma import LZMADecompressor
from math import inf
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile

from modeseek._storage.errors import DataError, SourceChangedError
from modeseek._storage.pyarrow_modules import pa
from modeseek._storage.unpacking import BoundedStream, unpacked_bound

# name that stands for standard input or output
STANDARD_STREAM = "-"
# bytes of a compressed file that are read at once
BLOCK_BYTES = 1 << 16
# bytes of the dictionary that an xz file may always use: twice as many as with the highest preset of xz
DICTIONARY_BYTES = 1 << 27


def _open_zstd(raw: BinaryIO) -> BinaryIO:
    return pa.CompressedInputStream(raw, "zstd")


def open_zip(raw: BinaryIO) -> ZipFile:
    """Open a ZIP archive; raise `BadZipFile` if a member is declared larger than the archive, before allocating it."""
    archive = ZipFile(raw)
    size = raw.seek(0, SEEK_END)
    if any(member.compress_size > size for member in archive.infolist()):
        raise BadZipFile("a member is larger than the archive")
    return archive


def _open_zip(raw: BinaryIO) -> Any:
    """Open the only file of an archive."""
    try:
        archive = open_zip(raw)
    except BadZipFile as error:
        raise DataError(f"it is cut short or damaged ({error}).") from None
    # macOS adds files to the archives that it makes
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if len(names) != 1:
        raise DataError(f"the archive holds {len(names)} files: unpack it, and give one of them.")
    return archive.open(names[0])


class Decompressed(RawIOBase):
    """The content of a file of one or more compressed streams.

    The file objects of `bz2` and `lzma` are not used, because they ignore a further stream if its beginning is damaged.

    Parameters
    ----------
    raw : file
    start : callable
        Returns a decompressor of one stream.
    padding : bytes
        Bytes that may follow a stream.
    """

    def __init__(self, raw: BinaryIO, start: Callable[[], Any], padding: bytes = b""):
        self._raw, self._start, self._padding, self._stream = raw, start, padding, start()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            data = b""
            if self._stream.eof:
                data = self._next_stream(self._stream.unused_data)
                if not data:
                    return 0
                self._stream = self._start()
            elif self._stream.needs_input:
                data = self._raw.read(BLOCK_BYTES)
                if not data:
                    raise EOFError("the compressed data end too early")
            block = self._stream.decompress(data, len(buffer))
            buffer[: len(block)] = block
            if block:
                return len(block)

    def _next_stream(self, data: bytes) -> bytes:
        """Return the first bytes of the next stream, or none at the end of the file; `data` are bytes already read."""
        while True:
            data = data.lstrip(self._padding) if self._padding else data
            if data:
                return data
            data = self._raw.read(BLOCK_BYTES)
            if not data:
                return b""


def _start_xz() -> LZMADecompressor:
    """Return a decompressor that limits the size of the dictionary, as the header of a file may declare 4 GB."""
    bound = max(DICTIONARY_BYTES, unpacked_bound(0))
    return LZMADecompressor(memlimit=None if bound == inf else int(bound))


# how files are decompressed, by the ending of their names
COMPRESSIONS: dict[str, Callable[[Any], Any]] = {
    ".gz": lambda raw: GzipFile(fileobj=raw),
    ".bz2": lambda raw: Decompressed(raw, BZ2Decompressor),
    ".xz": lambda raw: Decompressed(raw, _start_xz, b"\0"),
    ".zst": _open_zstd,
    ".zip": _open_zip,
}
# first bytes of compressed files; ZIP is left out, because spreadsheets begin with the same bytes
PACKED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}


@dataclass(frozen=True, eq=False)
class InputFile:
    """A file to read, or the bytes of a stream.

    Attributes
    ----------
    name : str
        Name in messages.
    path : Path or None
        Path of a regular file, which can be read more than once; None for a stream.
    data : bytes
        Content of the stream, if `path` is None.
    suffix : str
        Ending of the name in lower case, not counting that of a compression.
    compression : str
        The compression of the content, a key of `COMPRESSIONS`, or "".
    part : str
        The table or sheet to read, from FILE::PART, or "".
    """

    name: str
    path: Path | None = None
    data: bytes = b""
    suffix: str = ""
    compression: str = ""
    part: str = ""

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> InputFile:
        """Return the file at a path; the content of a pipe or of a remote file is read completely."""
        source, part = split_part(path)
        name, endings = f"'{source}'", split_endings(source)
        if is_remote(source):
            return cls(name, None, _read_remote(source), *endings, part)
        where = Path(source)
        if where.is_file():
            return cls(name, where, b"", *endings, part)
        return cls(name, None, where.read_bytes(), *endings, part)

    def open_raw(self) -> BinaryIO:
        """Open the file for reading, without decompressing it."""
        return BytesIO(self.data) if self.path is None else self.path.open("rb")

    def open(self) -> BinaryIO:
        """Open the file for reading, and decompress it."""
        return self.unpack(self.open_raw())

    def unpack(self, raw: BinaryIO) -> BinaryIO:
        """Decompress a stream of `open_raw`; reading raises `UnpackedSizeError` above the bound on unpacked sizes."""
        if not self.compression:
            return raw
        try:
            unpacked = COMPRESSIONS[self.compression](raw)
        except (DataError, OSError) as error:
            raw.close()
            raise DataError(f"{self.name} cannot be read: {error}") from None
        return BufferedReader(BoundedStream(unpacked, self.name, self.stamp()[0], raw))

    def stamp(self) -> tuple[int, int]:
        """Return the size in bytes and the modification time in nanoseconds."""
        if self.path is None:
            return len(self.data), 0
        found = self.path.stat()
        return found.st_size, found.st_mtime_ns

    def check_unchanged(self, stamp: tuple[int, int]) -> None:
        """Raise `SourceChangedError` if the file has changed since `stamp` was taken."""
        if self.stamp() != stamp:
            raise SourceChangedError(self.name)


def split_part(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Split FILE::PART into the file and the name of a table or sheet in it.

    Examples
    --------
    >>> split_part("birds.db::nests"), split_part("birds.csv")
    (('birds.db', 'nests'), ('birds.csv', ''))
    """
    source, _, part = os.fspath(path).partition("::")
    return (source, part) if part and not os.path.exists(path) else (os.fspath(path), "")


def local_path(path: str | os.PathLike[str]) -> Path:
    """Return the local file that FILE, FILE::PART or file://FILE names.

    Examples
    --------
    >>> local_path("birds.db::nests").name, local_path("file:///data/birds.csv").name
    ('birds.db', 'birds.csv')
    """
    return Path(re.sub("^(file|local)://", "", split_part(path)[0]))


def split_endings(path: str) -> tuple[str, str]:
    """Return two endings of a name, in lower case: that of the format and that of the compression ("" if none).

    Examples
    --------
    >>> split_endings("birds.CSV.gz"), split_endings("birds.parquet")
    (('.csv', '.gz'), ('.parquet', ''))
    """
    where = Path(path.partition("?")[0] if is_remote(path) else path)
    compression = where.suffix.lower()
    if compression not in COMPRESSIONS:
        return compression, ""
    return Path(where.stem).suffix.lower(), compression


def is_remote(path: str) -> bool:
    """Return whether a path is an address, such as s3://bucket/birds.csv."""
    return re.match(r"[a-z][a-z0-9+.-]+://", path) is not None


def _read_remote(address: str) -> bytes:
    try:
        import fsspec
    except ImportError:
        raise ImportError(f"'{address}' needs fsspec: pip install 'modeseek[remote]'") from None
    try:
        with fsspec.open(address, "rb") as stream:
            return bytes(stream.read())
    except ImportError as error:
        raise ImportError(f"'{address}': {error}") from None
    except Exception as error:  # clients of different protocols raise different exceptions
        raise DataError(
            f"cannot read '{address}': {next(iter(str(error).splitlines()), type(error).__name__)}."
        ) from None
