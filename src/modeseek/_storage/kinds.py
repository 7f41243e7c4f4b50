"""Endings of file names, and the kind of file each stands for."""

from __future__ import annotations

import os
from pathlib import Path

from modeseek._common.hints import did_you_mean
from modeseek._storage.errors import DataError

__all__ = ["STANDARD_STREAM", "SUFFIXES", "kind_of"]

STANDARD_STREAM = "-"
KINDS = {
    ".csv": "text",
    ".tsv": "text",
    ".tab": "text",
    ".txt": "text",
    ".dat": "text",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
}
SUFFIXES = tuple(KINDS)
SHEETS = (".xlsx", ".xls", ".ods", ".numbers")
FRAMES = {".json": "json", ".feather": "feather", ".h5": "hdf", ".hdf5": "hdf", ".pkl": "pickle", ".dta": "stata"}
PACKED = {".gz": "gunzip", ".zip": "unzip", ".xz": "unxz", ".bz2": "bunzip2"}


def kind_of(path: str | os.PathLike[str]) -> str:
    """Return the kind of file that a name's ending stands for; "-" is text.

    Examples
    --------
    >>> kind_of("birds.CSV"), kind_of("-"), kind_of("birds.pq")
    ('text', 'text', 'parquet')
    """
    if os.fspath(path) == STANDARD_STREAM:
        return "text"
    suffix = Path(path).suffix.lower()
    if suffix not in KINDS:
        ending = f"unknown ending '{suffix}'" if suffix else "the name has no ending"
        raise DataError(f"'{path}': {ending}.{_way_in(suffix)} Known: {', '.join(SUFFIXES)}.")
    return KINDS[suffix]


def _way_in(suffix: str) -> str:
    """Say how to get from a kind of file that people have to one that is known."""
    if suffix in SHEETS:
        return " Save the sheet as CSV (in the spreadsheet: Save as, CSV UTF-8)."
    if suffix in FRAMES:
        return f" Convert it once, in Python: pandas.read_{FRAMES[suffix]}(...).to_parquet('data.parquet')."
    if suffix in PACKED:
        return f" Unpack it first: {PACKED[suffix]}."
    return did_you_mean(suffix, SUFFIXES)
