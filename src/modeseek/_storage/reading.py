"""Reading of data files of any format."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.hints import did_you_mean
from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import Format
from modeseek._storage.formats.npy import read_header
from modeseek._storage.formats.npz import open_archive
from modeseek._storage.formats.reader import Reader, ReadOptions
from modeseek._storage.formats.registry import FORMATS, input_format
from modeseek._storage.input_file import PACKED, STANDARD_STREAM, InputFile, is_remote, split_endings, split_part
from modeseek._storage.table import Table

# the first bytes, in lower case, of files that hold no table
NO_TABLES = {b"%pdf": "a PDF document", b"<!doctype html": "a web page", b"<html": "a web page"}


def read_table(source: str | os.PathLike[str], *, header: bool | None = None) -> Table:
    r"""Read a data file; "-" reads text from standard input.

    Parameters
    ----------
    source : str or path-like
        The file; its ending determines the format, and a file without an ending is read as text. Text may be compressed
        (.gz, .bz2, .xz, .zst, and .zip with one file); its delimiter (comma, semicolon, tab, bar or blanks) and its
        encoding are detected. ``FILE::NAME`` is a sheet of a spreadsheet or a
        table of a database. Addresses such as s3://bucket/birds.csv are read with fsspec.
    header : bool or None
        Whether the first row of a text file holds names; None detects it.

    Returns
    -------
    Table
        The rows.

    Raises
    ------
    DataError
        If the file is missing, damaged or not a table; the message says where and what to do.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "birds.csv")
    >>> _ = path.write_text("mass,species\n3750,Adelie\n5000,Gentoo\n")
    >>> table = read_table(path)
    >>> table.columns, table.n_rows
    (('mass', 'species'), 2)
    >>> table.features(ignore=["species"])
    Features(values=array([[3750.],
           [5000.]]), names=('mass',))
    """
    if os.fspath(source) == STANDARD_STREAM:
        return _open(InputFile("standard input", data=sys.stdin.buffer.read()), source, ReadOptions(header)).read()
    reader = open_reader(source, ReadOptions(header))
    with readable(reader.file.name):
        table = reader.read()
        reader.file.check_unchanged(reader.stamp)
    return table


def parse_table(name: str, content: bytes) -> Table:
    r"""Read a table from the content of a file; the suffix of `name` determines the format.

    Examples
    --------
    >>> parse_table("birds.csv", b"mass\n3750\n5000\n").n_rows
    2
    """
    return _open(InputFile(f"'{name}'", None, content, *split_endings(name)), name, ReadOptions()).read()


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an NPZ file by name, or the array of an NPY file under the name X; nothing is unpickled.

    Raises
    ------
    DataError
        If the file is missing, damaged, or holds Python objects.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "speech.npz")
    >>> np.savez(path, X=np.ones((3, 2)), times=np.zeros((3, 2)))
    >>> {name: array.shape for name, array in read_arrays(path).items()}
    {'X': (3, 2), 'times': (3, 2)}
    """
    check_source(path)
    with readable(f"'{path}'"):
        file = InputFile.of(path)
        if file.suffix == ".npz":
            with open_archive(file) as archive:
                return {name: archive.array(name) for name in archive.names}
        with file.open() as stream:
            read_header(stream, file.name, file.stamp()[0])
            stream.seek(0)
            return {"X": np.lib.format.read_array(stream, allow_pickle=False)}


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a whole file as bytes.

    Raises
    ------
    DataError
        If it cannot be read; the message names the file.

    Examples
    --------
    >>> read_bytes("missing.png")
    Traceback (most recent call last):
    modeseek._storage.errors.DataError: cannot read 'missing.png': No such file or directory.
    """
    with readable(f"'{os.fspath(path)}'"):
        return Path(path).read_bytes()


def open_reader(path: str | os.PathLike[str], options: ReadOptions) -> Reader:
    """Open a data file with the reader of its format."""
    if not is_remote(os.fspath(path)):
        check_source(path)
    with readable(f"'{os.fspath(path)}'"):
        return _open(InputFile.of(path), path, options)


def _open(file: InputFile, path: str | os.PathLike[str], options: ReadOptions) -> Reader:
    """Open a file in the format that `path` names; raise a `DataError` if it begins like a file of another format.

    Compressed text is unpacked, even if its name does not end in that of a compression.
    """
    format_ = input_format(path)
    if file.part and not format_.part:
        raise DataError(f"{file.name} holds one table, which has no name: leave out '::{file.part}'.")
    with file.open_raw() as stream:
        head = stream.read(64)
    if not file.compression and not format_.magic:
        file = replace(file, compression=next((end for start, end in PACKED.items() if head.startswith(start)), ""))
    found = _formats_of(head)
    if found and format_ not in found and not file.compression:
        remedy = "save it to a file whose name ends" if path == STANDARD_STREAM else "rename it to end"
        raise DataError(f"{file.name} is {found[0].name}, not {format_.name}: {remedy} in {found[0].suffixes[0]}.")
    for start, other in NO_TABLES.items():
        if head.lower().startswith(start):
            raise DataError(f"{file.name} is {other}, not {format_.name}: export the table as CSV or a spreadsheet.")
    if file.compression:
        _check_unpacked_format(file, format_)
    return format_.open(file, options)


def _check_unpacked_format(file: InputFile, format_: Format) -> None:
    """Raise a `DataError` if a compressed file holds a file of another format than its name says."""
    head = b""
    with suppress(Exception), file.open() as stream:  # the format reports damaged files later
        head = stream.read(64)
    for found in _formats_of(head):
        raise DataError(f"{file.name} holds {found.name} ({found.suffixes[0]}), not {format_.name}: unpack it first.")


def _formats_of(head: bytes) -> list[Format]:
    """Return the formats whose files can begin with the bytes `head`, the most likely first."""
    found = [each for each in FORMATS.values() if each.magic and head.startswith(each.magic)]
    # NPZ archives and spreadsheets begin with the same bytes, but in an NPZ archive the name of an array follows
    return sorted(found, key=lambda each: (".npz" in each.suffixes) != (b".npy" in head))


def check_source(path: str | os.PathLike[str]) -> None:
    """Raise a `DataError` if a data file does not exist, is empty or is of an unknown format."""
    where = Path(split_part(path)[0])
    check_exists(where)
    if where.stat().st_size == 0 and where.is_file():
        raise DataError(f"'{where}' is empty: give a file with at least one row of numbers.")
    input_format(path)


def check_exists(path: Path) -> None:
    """Raise a `DataError` if a path is a folder or does not exist."""
    if path.is_dir():
        raise DataError(f"'{path}' is a folder: give the name of a file in it.")
    if not path.exists():
        if not path.parent.is_dir():
            raise DataError(f"there is no file '{path}': there is no folder '{path.parent}'.")
        siblings = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
        # without this condition, names that share only their ending would be similar
        alike = [name for name in siblings if did_you_mean(path.stem, [Path(name).stem])]
        raise DataError(f"there is no file '{path}'.{did_you_mean(path.name, alike)}")


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn errors of the operating system into a `DataError` with the name of the file."""
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror or error}.") from None
