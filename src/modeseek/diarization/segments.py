"""Files that say when each window is: CSV, .lab, RTTM; and archives that hold embeddings with their times."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.hints import did_you_mean
from modeseek._common.types import Array
from modeseek._storage import DataError, Table, read_arrays, read_table
from modeseek.diarization.rttm import decoded, turns_in

__all__ = ["SEGMENT_SUFFIXES", "Windows", "read_segments", "read_windows"]

TEXT = (".csv", ".tsv", ".txt")
SEGMENT_SUFFIXES = (*TEXT, ".lab", ".rttm")
STARTS, ENDS, LENGTHS = ("start", "onset", "begin", "start_time"), ("end", "offset", "stop", "end_time"), ("duration",)
TIMES = ("times", "segments")
# a window of a day is none: HTK counts in units of 100 ns
LONGEST = 86_400.0


class Windows(NamedTuple):
    """Embeddings of a file, and their times where it has some."""

    embeddings: Array
    times: NDArray[np.float64] | None


def read_windows(path: str | os.PathLike[str]) -> Windows:
    """Read embeddings: `X` (or `embeddings`) of NPZ, with `times` (n, 2) or without; NPY; a table of numbers."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".npz", ".npy"):
        return Windows(read_table(path).features().values, None)
    arrays, name = read_arrays(path), f"'{os.fspath(path)}'"
    if suffix == ".npy":
        return Windows(arrays["X"], None)
    chosen = next((each for each in ("X", "embeddings") if each in arrays), None)
    if chosen is None:
        listed = ", ".join(f"{each} {array.shape}" for each, array in arrays.items()) or "none"
        raise DataError(f"{name} has no array called X or embeddings; its arrays are: {listed}. Save embeddings as X.")
    times = next((arrays[each] for each in TIMES if each in arrays), None)
    if times is not None and (times.dtype.kind not in "iuf" or times.ndim != 2 or times.shape[1:] != (2,)):
        raise DataError(
            f"{name}: its times have shape {times.shape}, {times.dtype}: save starts and ends, (n, 2), in seconds."
        )
    return Windows(arrays[chosen], None if times is None else times.astype(np.float64))


def read_segments(path: str | os.PathLike[str]) -> Array:
    """Read starts and ends in seconds, (n, 2), in the order of the file.

    Parameters
    ----------
    path : str or path-like
        `.rttm`; `.lab`, with start, end and perhaps a label on each line; or text with the columns `start` and `end`,
        or `start` and `duration`, or with these two alone and no names.

    Raises
    ------
    DataError
        With the number of the line and what is wrong there.
    """
    suffix, name = Path(path).suffix.lower(), os.fspath(path)
    if suffix == ".rttm":
        recordings = turns_in(path)
        if len(recordings) > 1:
            raise DataError(
                f"'{name}' has turns of {len(recordings)} recordings ({_few(recordings)}): give one of one."
            )
        return np.array([turn[:2] for turns in recordings.values() for turn in turns])
    if suffix == ".lab":
        return _read_lab(decoded(path), name)
    if suffix not in TEXT:
        ending = f"unknown ending '{suffix}'" if suffix else "the name has no ending"
        known = ", ".join(SEGMENT_SUFFIXES)
        raise DataError(f"'{name}': {ending}.{did_you_mean(suffix, SEGMENT_SUFFIXES)} Segments are read from {known}.")
    return _read_columns(path, name)


def _read_lab(text: str, name: str) -> Array:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (fields := line.split()):
            continue
        try:
            start, end = float(fields[0]), float(fields[1])
        except (ValueError, IndexError):
            raise DataError(
                f"'{name}', line {number}: '{line.strip()[:40]}' is no segment: give start, end and perhaps a "
                "label, times in seconds."
            ) from None
        if not 0 <= start < end < np.inf:
            raise DataError(f"'{name}', line {number}: it goes from {fields[0]} to {fields[1]}: give 0 <= start < end.")
        if end - start > LONGEST:
            raise DataError(
                f"'{name}', line {number}: from {fields[0]} to {fields[1]} is more than a day. HTK counts in units of "
                "100 ns: divide by 10,000,000."
            )
        rows.append((start, end))
    if not rows:
        raise DataError(f"'{name}' has no lines: give start and end, in seconds, of each window.")
    return np.array(rows)


def _read_columns(path: str | os.PathLike[str], name: str) -> Array:
    table = read_table(path)
    lower = {column.strip().lower(): column for column in table.columns}
    start = next((lower[each] for each in STARTS if each in lower), None)
    end = next((lower[each] for each in ENDS if each in lower), None)
    length = next((lower[each] for each in LENGTHS if each in lower), None)
    until = end if end is not None else length
    if (start is None or until is None) and set(table.columns) != {"x0", "x1"}:
        raise DataError(
            f"'{name}' must have the columns start and end (or start and duration), in seconds; its columns are "
            f"{', '.join(table.columns)}."
        )
    if start is None or until is None:
        return _check_rows(table.features().values, table, name)
    values = table.features([start, until]).values
    if end is None:
        with np.errstate(over="ignore"):  # refused below
            values = np.column_stack([values[:, 0], values.sum(axis=1)])
    return _check_rows(values, table, name)


def _check_rows(values: Array, table: Table, name: str) -> Array:
    bad = ~((values[:, 0] >= 0) & (values[:, 1] > values[:, 0]) & (values[:, 1] < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        place = table.place(row)
        raise DataError(
            f"'{name}', {place}: it goes from {values[row, 0]:g} to {values[row, 1]:g}: give 0 <= start < end. "
            "A column of lengths is called duration."
        )
    return values


def _few(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:3]) + (", ..." if len(listed) > 3 else "")
