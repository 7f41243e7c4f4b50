"""Turns: stretches of speech of one speaker, made by joining adjacent windows with the same speaker."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_choice
from modeseek.diarization.pyannote_import import import_pyannote

# choices of the parameter `overlapping`
OVERLAPPING = ("cut", "keep")
# two times that differ by less, in seconds, are equal
TIME_TOLERANCE = 1e-6
# larger times, in seconds, must be in another unit; smaller times are exact to the millisecond
MAX_TIME = 1e12


class Turn(NamedTuple):
    """A stretch of speech of one speaker. Times are in seconds; the confidence is None if it is unknown.

    Examples
    --------
    >>> turn = Turn(0.5, 2.0, "ann")
    >>> turn.end - turn.start, turn.confidence
    (1.5, None)
    """

    start: float
    end: float
    speaker: str
    confidence: float | None = None


@runtime_checkable
class TimeInterval(Protocol):
    """An object with `start` and `end`, such as `pyannote.core.Segment`."""

    start: float
    end: float


def check_segments(segments: Any, n: int) -> Array:
    """Return the start and end of n segments in seconds, as an array of shape (n, 2).

    Parameters
    ----------
    segments : array-like of shape (n, 2), or iterable of objects with `start` and `end`
        For example `Segment` objects of pyannote.core.
    n : int
        Number of embeddings.
    """
    given = segments if isinstance(segments, np.ndarray) else list(segments)
    if isinstance(given, list) and given and all(isinstance(each, TimeInterval) for each in given):
        given = [(each.start, each.end) for each in given]
    try:
        times = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("segments must be pairs of numbers: start and end in seconds.") from None
    if len(times) != n:
        raise ValueError(f"there are {n:,} embeddings and {len(times):,} segments: give one segment per embedding.")
    if times.ndim != 2 or times.shape[1] != 2:
        raise ValueError(f"segments must have shape (n, 2), start and end in seconds; got {times.shape}.")
    finite = np.isfinite(times).all(axis=1)
    if not finite.all():
        raise ValueError(f"segments[{int(np.argmin(finite))}] is not a pair of finite numbers: give start and end.")
    far = np.abs(times).max(axis=1) > MAX_TIME
    if far.any():
        row = int(np.argmax(far))
        start, end = times[row]
        raise ValueError(
            f"segments[{row}] is from {start:g} to {end:g}, beyond {MAX_TIME:g} s: give start and end in seconds."
        )
    empty = times[:, 1] <= times[:, 0]
    if empty.any():
        row = int(np.argmax(empty))
        start, end = times[row]
        raise ValueError(f"segments[{row}] starts at {start:g} and ends at {end:g}: give start and end, not duration.")
    return times


def trim_windows(times: Array, overlapping: str = "cut") -> Array:
    """Return the windows without their overlaps, shape (n, 2).

    Parameters
    ----------
    times : (n, 2) array
        Start and end of each window.
    overlapping : {"cut", "keep"}
        "cut" ends a window, and starts the next one, in the middle of their overlap, so that each moment has one
        speaker. "keep" returns the windows unchanged, for segments that are turns of speakers who may talk at once.

    Examples
    --------
    >>> trim_windows(np.array([[0.0, 1.5], [0.5, 2.0], [1.0, 2.5]]))
    array([[0. , 1. ], [1. , 1.5], [1.5, 2.5]])
    """
    check_choice("overlapping", overlapping, OVERLAPPING)
    if overlapping == "keep":
        return times
    order = np.lexsort((times[:, 1], times[:, 0]))
    windows = times[order]
    inside = windows[1:, 1] < windows[:-1, 1] - TIME_TOLERANCE
    if inside.any():
        inner = int(np.argmax(inside)) + 1
        raise ValueError(
            f"segments[{order[inner]}] lies within segments[{order[inner - 1]}], so the overlap cannot be cut: pass "
            'overlapping="keep" if the segments are turns that may overlap, not windows.'
        )
    middle = (windows[:-1, 1] + windows[1:, 0]) / 2
    overlap = windows[1:, 0] < windows[:-1, 1]
    windows[:-1, 1] = np.where(overlap, middle, windows[:-1, 1])
    windows[1:, 0] = np.where(overlap, middle, windows[1:, 0])
    empty = windows[:, 1] <= windows[:, 0]
    if empty.any():
        row = order[int(np.argmax(empty))]
        raise ValueError(
            f"segments[{row}] has the times of two others, so the overlap cannot be cut: remove repeated segments, or "
            'pass overlapping="keep".'
        )
    trimmed = np.empty_like(times)
    trimmed[order] = windows
    return trimmed


def make_turns(windows: Array, labels: IntArray, confidence: Array, names: Sequence[str]) -> list[Turn]:
    """Join adjacent windows of one speaker into turns, in temporal order.

    The confidence of a turn is the mean over its windows, weighted by their duration.

    Parameters
    ----------
    windows : (n, 2) array
        Start and end of each window, as `trim_windows` returns them.
    labels : (n,) integer array
        Speaker of each window.
    confidence : (n,) array
    names : sequence of str
        Name of each speaker.

    Examples
    --------
    >>> windows = np.array([[0.0, 1.0], [1.0, 1.5], [1.5, 2.5]])
    >>> make_turns(windows, np.array([0, 0, 1]), np.array([1.0, 0.7, 0.6]), ["A", "B"])
    [Turn(start=0.0, end=1.5, speaker='A', confidence=0.9), Turn(start=1.5, end=2.5, speaker='B', confidence=0.6)]
    """
    order = np.lexsort((windows[:, 1], windows[:, 0]))
    # start, end, label, and the sum of confidence times duration
    turns: list[tuple[float, float, int, float]] = []
    latest: dict[int, int] = {}  # index of the latest turn of each speaker
    for (start, end), row in zip(windows[order], order, strict=True):
        label, weight = int(labels[row]), float(confidence[row]) * float(end - start)
        index = latest.get(label)
        if index is not None and start <= turns[index][1] + TIME_TOLERANCE:
            begin, until, _, total = turns[index]
            # the part of the window after the end of its turn so far, so that overlaps of windows count once
            new_share = max(0.0, float(end) - until) / float(end - start)
            turns[index] = (begin, max(until, float(end)), label, total + weight * new_share)
        else:
            latest[label] = len(turns)
            turns.append((float(start), float(end), label, weight))
    return [Turn(start, end, names[label], total / (end - start)) for start, end, label, total in turns]


def to_annotation(turns: Iterable[Turn], uri: str | None = None) -> Any:
    """Return the turns as a `pyannote.core.Annotation`; simultaneous turns are separate tracks."""
    core = import_pyannote("core")
    annotation = core.Annotation(uri=uri)
    for track, turn in enumerate(turns):
        annotation[core.Segment(turn.start, turn.end), track] = turn.speaker
    return annotation


def speaker_names(count: int) -> list[str]:
    """Return the names SPEAKER_00, SPEAKER_01, ..., as pyannote does.

    Examples
    --------
    >>> speaker_names(2)
    ['SPEAKER_00', 'SPEAKER_01']
    """
    return [f"SPEAKER_{number:02d}" for number in range(count)]
