"""Files with the start and end of windows (CSV, .lab, RTTM), and files with embeddings."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.hints import did_you_mean
from modeseek._common.types import Array
from modeseek._storage.errors import DataError
from modeseek._storage.reading import read_arrays, read_table
from modeseek.diarization.rttm import read_text, read_turns

TABLE_SUFFIXES = (".csv", ".tsv", ".txt")
SEGMENT_SUFFIXES = (*TABLE_SUFFIXES, ".lab", ".rttm")
START_COLUMNS = ("start", "onset", "begin", "start_time")
END_COLUMNS = ("end", "offset", "stop", "end_time")
# if a window is longer, its times are assumed to be in the units of 100 ns that HTK uses
MAX_SECONDS = 86_400.0


class Windows(NamedTuple):
    """Embeddings of a file, and the start and end of each if the file has them."""

    embeddings: Array
    times: NDArray[np.float64] | None


def read_windows(path: str | os.PathLike[str]) -> Windows:
    """Read embeddings from NPZ (`X` or `embeddings`, optionally `times` of shape (n, 2)), NPY or a numeric table.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "talk.npz"
    >>> np.savez(path, X=np.eye(2), times=[[0.0, 1.0], [1.0, 2.0]])
    >>> read_windows(path).times
    array([[0., 1.],
           [1., 2.]])
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".npz", ".npy"):
        return Windows(read_table(path).features().values, None)
    arrays, name = read_arrays(path), f"'{os.fspath(path)}'"
    if suffix == ".npy":
        return Windows(arrays["X"], None)
    chosen = next((each for each in ("X", "embeddings") if each in arrays), None)
    if chosen is None:
        listed = ", ".join(f"{each} {array.shape}" for each, array in arrays.items()) or "none"
        raise DataError(f"{name} has no array X or embeddings; its arrays are: {listed}. Save the embeddings as X.")
    if arrays[chosen].ndim != 2:
        raise DataError(f"{name}: {chosen} must have shape (n, d), one row per window; got {arrays[chosen].shape}.")
    times = next((arrays[each] for each in ("times", "segments") if each in arrays), None)
    if times is not None and (times.dtype.kind not in "iuf" or times.ndim != 2 or times.shape[1:] != (2,)):
        raise DataError(f"{name}: times must be numbers of shape (n, 2); got {times.dtype} of shape {times.shape}.")
    return Windows(arrays[chosen], None if times is None else times.astype(np.float64))


def read_segments(path: str | os.PathLike[str]) -> Array:
    r"""Read starts and ends in seconds, as an array of shape (n, 2), in the order of the file.

    Parameters
    ----------
    path : str or path-like
        `.rttm`; `.lab`, with start, end and optionally a label on each line; or a text table with the columns `start`
        and `end`, or `start` and `duration`, or two columns without names.

    Raises
    ------
    DataError
        If a line is malformed; the message has the number of the line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "talk.lab"
    >>> _ = path.write_text("0.0 1.5 ann\n1.5 4.0 bob\n")
    >>> read_segments(path)
    array([[0. , 1.5],
           [1.5, 4. ]])
    """
    suffix, name = Path(path).suffix.lower(), os.fspath(path)
    if suffix == ".rttm":
        recordings = read_turns(path)
        if len(recordings) > 1:
            listed = ", ".join(list(recordings)[:3]) + (", ..." if len(recordings) > 3 else "")
            raise DataError(f"'{name}' has turns of {len(recordings)} recordings ({listed}): give a file with one.")
        return np.array([turn[:2] for turns in recordings.values() for turn in turns])
    if suffix == ".lab":
        return _read_lab(read_text(path), name)
    if suffix not in TABLE_SUFFIXES:
        ending = f"unknown ending '{suffix}'" if suffix else "the name has no ending"
        known = ", ".join(SEGMENT_SUFFIXES)
        raise DataError(f"'{name}': {ending}.{did_you_mean(suffix, SEGMENT_SUFFIXES)} Segments are read from {known}.")
    return _read_columns(path, name)


def _read_lab(text: str, name: str) -> Array:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (fields := line.split()):
            continue
        place = f"'{name}', line {number}"
        try:
            start, end = float(fields[0]), float(fields[1])
        except (ValueError, IndexError):
            shown = line.strip()[:40]
            raise DataError(f"{place}: '{shown}' is not a segment: give start and end in seconds.") from None
        if not 0 <= start < end < np.inf:
            raise DataError(f"{place}: start {fields[0]} and end {fields[1]}: give 0 <= start < end.")
        if end - start > MAX_SECONDS:
            raise DataError(f"{place}: more than a day. HTK counts in units of 100 ns: divide the times by 10,000,000.")
        rows.append((start, end))
    if not rows:
        raise DataError(f"'{name}' has no lines: give start and end of each window, in seconds.")
    return np.array(rows)


def _read_columns(path: str | os.PathLike[str], name: str) -> Array:
    table = read_table(path)
    columns = {column.strip().lower(): column for column in table.columns}
    start, end = (
        next((columns[each] for each in known if each in columns), None) for known in (START_COLUMNS, END_COLUMNS)
    )
    second = columns.get("duration") if end is None else end
    if start is not None and second is not None:
        values = table.features([start, second]).values
        if end is None:
            with np.errstate(over="ignore"):  # infinite times are rejected below
                values = np.column_stack([values[:, 0], values.sum(axis=1)])
    elif set(table.columns) == {"x0", "x1"}:  # column names of a file without a header
        values = table.features().values
    else:
        listed = ", ".join(table.columns)
        raise DataError(f"'{name}' must have the columns start and end, or start and duration; it has {listed}.")
    bad = ~((values[:, 0] >= 0) & (values[:, 1] > values[:, 0]) & (values[:, 1] < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"'{name}', {table.place(row)}: start is {values[row, 0]:g} and end is {values[row, 1]:g}. Give 0 <= start "
            "< end, or name the second column duration if it holds durations."
        )
    return values
