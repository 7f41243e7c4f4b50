"""What is fuzzed: a reader, the files it is for, and what must hold of whatever it takes.

To add a reader, write a function that reads a path and asserts what must hold, make a seed or two in `seeds.py`, and
add a line to `HARNESSES`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from modeseek.diarization import read_rttm, read_segments
from modeseek.diarization.rttm import turns_in
from modeseek.diarization.segments import read_windows
from modeseek.storage import DataError, Table, open_chunks, read_arrays, read_picture, read_table

__all__ = ["CORPUS", "HARNESSES", "Harness", "attempt"]

CORPUS = Path(__file__).parent / "corpus"
# bytes of a block, so few that even small inputs have several
BLOCK = 64


class Harness(NamedTuple):
    """A reader to be fuzzed.

    Attributes
    ----------
    suffix : str
        Ending of the file that it reads.
    read : callable
        Reads a path. It may raise a ValueError (a DataError is one) that names the file; all else is a finding.
    longest : int
        Bytes of the longest input.
    """

    suffix: str
    read: Callable[[Path], None]
    longest: int = 1024


def attempt(harness: Harness, data: bytes, path: Path) -> str:
    """Read one input; return why it was refused, or "" where it was taken. Any other end is raised: a finding."""
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            harness.read(path)
    except ValueError as error:
        if str(path) not in str(error):
            raise
        return str(error)
    return ""


def _table(path: Path) -> None:
    """Whole and in blocks, all columns and only those that are numbers: the same rows, or refused every way."""
    try:
        whole = read_table(path)
    except DataError:
        try:
            list(open_chunks([path], block=BLOCK).read())
        except DataError:
            raise
        raise AssertionError("read in blocks, and refused whole") from None
    assert len(whole.columns) == len(whole.cells) > 0
    assert all(len(cells) == whole.n_rows for cells in whole.cells)
    chunks = open_chunks([path], block=BLOCK)
    parts = [chunk.table for chunk in chunks.read()]
    for j, cells in enumerate(whole.cells):
        assert _same(cells, np.concatenate([part.cells[j] for part in parts])), whole.columns[j]
    values = _numbers(whole)
    fast = [chunk.table.features(whole.features().names).values for chunk in chunks.read(only=whole.features().names)]
    assert _same(values, np.concatenate(fast))


def _numbers(table: Table) -> np.ndarray:
    values = table.features().values
    assert values.dtype == np.float64
    assert values.shape[0] == table.n_rows
    assert np.isfinite(values).all()
    return values


def _same(one: np.ndarray, two: np.ndarray) -> bool:
    if one.dtype.kind != "O":
        return np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
    return len(one) == len(two) and repr(one.tolist()) == repr(two.tolist())


def _archive(path: Path) -> None:
    _numbers(read_table(path))


def _arrays(path: Path) -> None:
    windows = read_windows(path)
    assert all(array.dtype.kind != "O" for array in read_arrays(path).values())
    assert windows.times is None or windows.times.dtype == np.float64


def _rttm(path: Path) -> None:
    for turns in turns_in(path).values():
        assert all(0 <= turn.start < turn.end < np.inf for turn in turns)
    read_rttm(path)


def _segments(path: Path) -> None:
    times = read_segments(path)
    assert times.ndim == 2
    assert times.shape[1] == 2
    assert np.isfinite(times).all()
    assert (times[:, 0] >= 0).all()
    assert (times[:, 1] > times[:, 0]).all()


def _picture(path: Path) -> None:
    values = read_picture(path).values
    assert isinstance(values, np.ndarray)
    assert values.size
    assert values.dtype.kind in "biuf"
    assert np.asarray(values).ravel()[-1] is not None


HARNESSES = {
    "csv": Harness(".csv", _table, 512),
    "tsv": Harness(".tsv", _table, 512),
    "parquet": Harness(".parquet", _table, 4096),
    "npy": Harness(".npy", _table, 512),
    "npz": Harness(".npz", _archive, 2048),
    "windows": Harness(".npz", _arrays, 2048),
    "rttm": Harness(".rttm", _rttm, 512),
    "lab": Harness(".lab", _segments, 256),
    "segments": Harness(".csv", _segments, 256),
    "png": Harness(".png", _picture, 1024),
    "jpeg": Harness(".jpg", _picture, 2048),
    "bmp": Harness(".bmp", _picture, 1024),
    "webp": Harness(".webp", _picture, 1024),
    "tiff": Harness(".tif", _picture, 1024),
    "array": Harness(".npy", _picture, 512),
}
