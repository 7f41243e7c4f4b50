"""The registry of file formats."""

from __future__ import annotations

import os
from pathlib import Path

from modeseek._common.hints import did_you_mean
from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import Format

__all__ = ["FORMATS", "STANDARD_STREAM", "format_of", "register_format"]

STANDARD_STREAM = "-"
# formats by the ending of file names
FORMATS: dict[str, Format] = {}
# what to do with files of formats that cannot be read
SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
PANDAS = {".json": "json", ".feather": "feather", ".h5": "hdf", ".hdf5": "hdf", ".pkl": "pickle", ".dta": "stata"}
COMPRESSED = {".gz": "gunzip", ".zip": "unzip", ".xz": "unxz", ".bz2": "bunzip2"}


def register_format(new: Format) -> None:
    """Add a format; it replaces earlier ones for the endings that they share."""
    FORMATS.update(dict.fromkeys(new.suffixes, new))


def format_of(path: str | os.PathLike[str]) -> Format:
    """Return the format of a file by the ending of its name; "-" is text.

    Examples
    --------
    >>> format_of("birds.CSV").name, format_of("-").name, format_of("birds.pq").name
    ('delimited text', 'delimited text', 'Parquet')
    """
    suffix = ".csv" if os.fspath(path) == STANDARD_STREAM else Path(path).suffix.lower()
    if suffix in FORMATS:
        return FORMATS[suffix]
    ending = f"unknown ending '{suffix}'" if suffix else "the name has no ending"
    raise DataError(f"'{path}': {ending}.{_conversion(suffix)} Known: {', '.join(FORMATS)}.")


def _conversion(suffix: str) -> str:
    """Return how to convert a file of a known foreign format."""
    if suffix in SPREADSHEETS:
        return " Save the sheet as CSV (in the spreadsheet: Save as, CSV UTF-8)."
    if suffix in PANDAS:
        return f" Convert it once, in Python: pandas.read_{PANDAS[suffix]}(...).to_parquet('data.parquet')."
    if suffix in COMPRESSED:
        return f" Unpack it first: {COMPRESSED[suffix]}."
    return did_you_mean(suffix, FORMATS)
