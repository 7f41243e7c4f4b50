"""Open a data file of any kind as a table."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from modeseek._common.hints import did_you_mean
from modeseek._storage import binary
from modeseek._storage.errors import DataError
from modeseek._storage.kinds import STANDARD_STREAM, kind_of
from modeseek._storage.table import Table
from modeseek._storage.text import read_text

__all__ = ["check_source", "read_bytes", "read_table"]

BINARY_STARTS = (b"PAR1", b"\x93NUMPY", b"PK\x03\x04")


def read_table(source: str | os.PathLike[str], *, header: bool | None = None) -> Table:
    r"""Read CSV, TSV or other delimited text, Parquet, NPY or NPZ; "-" reads text from standard input.

    Parameters
    ----------
    source : str or path-like
        The file; its ending says which kind. In text, what separates the cells (comma, semicolon, tab, bar or
        blanks) is found.
    header : bool or None
        Whether the first row of a text holds names; None finds out.

    Returns
    -------
    Table
        The rows, as they came.

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
        data = sys.stdin.buffer.read()
        if data.startswith(BINARY_STARTS):
            raise DataError("standard input must be CSV or TSV text: give a Parquet, NPY or NPZ file by its name.")
        return _text_table(data, "standard input", "", header)
    path, name = Path(source), f"'{os.fspath(source)}'"
    check_source(path, name)
    kind, suffix = kind_of(path), path.suffix.lower()
    try:
        if kind == "text":
            return _text_table(path.read_bytes(), name, suffix, header)
        readers = {"npy": binary.read_npy, "npz": binary.read_npz, "parquet": binary.read_parquet}
        typed = readers[kind](path, name)
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror or error}.") from None
    return Table(name, typed.names, typed.columns, typed.row_names, arrow=typed.arrow)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a whole file, whatever is in it.

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
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"cannot read '{os.fspath(path)}': {error.strerror or error}.") from None


def _text_table(data: bytes, name: str, suffix: str, header: bool | None) -> Table:
    text = read_text(data, name, suffix=suffix, header=header)
    return Table(name, text.names, text.columns, text.row_names, text.lines, text.delimiter)


def check_source(path: Path, name: str) -> None:
    """Refuse a file that is not there, is empty or is of no known kind."""
    if path.is_dir():
        raise DataError(f"{name} is a folder: give the name of a file in it.")
    if not path.exists():
        if not path.parent.is_dir():
            raise DataError(f"there is no file {name}: there is no folder '{path.parent}'.")
        siblings = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
        raise DataError(f"there is no file {name}.{did_you_mean(path.name, siblings)}")
    if path.stat().st_size == 0 and path.is_file():
        raise DataError(f"{name} is empty: give a file with at least one row of numbers.")
    kind_of(path)
