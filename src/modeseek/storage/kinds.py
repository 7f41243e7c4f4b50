"""Endings of file names, and the kind of file each stands for."""

from __future__ import annotations

import os
from pathlib import Path

from modeseek.hints import closest
from modeseek.storage.errors import DataError

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
        raise DataError(f"'{path}': {ending}.{closest(suffix, SUFFIXES)} Known: {', '.join(SUFFIXES)}.")
    return KINDS[suffix]
