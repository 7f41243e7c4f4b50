"""From windows with speakers to turns, and to an Annotation of pyannote.core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_choice
from modeseek.diarization.extras import pyannote

__all__ = ["OVERLAPPING", "Turn", "annotation_of", "check_segments", "slices_of", "speaker_names", "turns_of"]

OVERLAPPING = ("cut", "keep")
# seconds below which two times are the same
SAME = 1e-6


class Turn(NamedTuple):
    """A stretch of one speaker: start and end in seconds, who, and how sure (None where nobody knows)."""

    start: float
    end: float
    speaker: str
    confidence: float | None = None


def check_segments(segments: Any, n: int, *, name: str = "segments") -> Array:
    """Check one segment for each of n embeddings; return starts and ends, (n, 2), in seconds.

    Parameters
    ----------
    segments : array-like of shape (n, 2), or iterable of objects with `start` and `end`
        A `Segment` of pyannote.core is such an object.
    n : int
    name : str
        What errors call them.
    """
    given = segments if isinstance(segments, np.ndarray) or hasattr(segments, "__array__") else list(segments)
    if isinstance(given, list) and given and all(hasattr(each, "start") for each in given):
        given = [(each.start, each.end) for each in given]
    try:
        times = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be pairs of numbers, start and end in seconds; got {_brief(given)}.") from None
    if len(times) != n:
        raise ValueError(
            f"there are {n:,} embeddings and {len(times):,} {name}: give one segment for each embedding, in the same "
            "order."
        )
    if times.ndim != 2 or times.shape[1] != 2:
        raise ValueError(f"{name} must have shape (n, 2), start and end in seconds; got {times.shape}.")
    finite = np.isfinite(times).all(axis=1)
    if not finite.all():
        raise ValueError(f"{name}[{int(np.argmin(finite))}] is not a pair of finite numbers: give start and end.")
    empty = times[:, 1] <= times[:, 0]
    if empty.any():
        row = int(np.argmax(empty))
        start, end = times[row]
        raise ValueError(
            f"{name}[{row}] ends at {end:g}, before or when it starts at {start:g}: give start and end in seconds, "
            "not start and duration."
        )
    return times


def slices_of(times: Array, overlapping: str = "cut") -> Array:
    """Return the part of each window that is its own, (n, 2).

    Two windows that follow each other are cut in the middle of what they share, so that each moment has one speaker;
    "keep" leaves them whole, for segments that are turns, where two may speak at once.

    Examples
    --------
    >>> slices_of(np.array([[0.0, 1.5], [0.5, 2.0], [1.0, 2.5]]))
    array([[0. , 1. ], [1. , 1.5], [1.5, 2.5]])
    """
    check_choice("overlapping", overlapping, OVERLAPPING)
    if overlapping == "keep":
        return times
    order = np.lexsort((times[:, 1], times[:, 0]))
    slices = np.empty_like(times)
    slices[order] = _cut(times[order], order)
    return slices


def turns_of(slices: Array, labels: IntArray, confidence: Array, names: Sequence[str]) -> list[Turn]:
    """Return the turns of windows, in the order of time.

    Windows of one speaker that touch become one turn, as sure as they are on average, weighted by length.

    Parameters
    ----------
    slices : (n, 2) array
    labels : (n,) integer array
    confidence : (n,) array
    names : sequence of str
        Of the speakers.

    Examples
    --------
    >>> slices = np.array([[0.0, 1.0], [1.0, 1.5], [1.5, 2.5]])
    >>> turns_of(slices, np.array([0, 0, 1]), np.array([1.0, 0.7, 0.6]), ["A", "B"])
    [Turn(start=0.0, end=1.5, speaker='A', confidence=0.9), Turn(start=1.5, end=2.5, speaker='B', confidence=0.6)]
    """
    order = np.lexsort((slices[:, 1], slices[:, 0]))
    pieces: list[tuple[float, float, int, float]] = []
    last: dict[int, int] = {}  # the piece at which each speaker is
    for (start, end), row in zip(slices[order], order, strict=True):
        label, weight = int(labels[row]), float(confidence[row]) * float(end - start)
        at = last.get(label)
        if at is not None and start <= pieces[at][1] + SAME:
            begun, until, _, total = pieces[at]
            # what is heard twice counts once
            fresh = max(0.0, float(end) - until) / float(end - start)
            pieces[at] = (begun, max(until, float(end)), label, total + weight * fresh)
        else:
            last[label] = len(pieces)
            pieces.append((float(start), float(end), label, weight))
    return [Turn(start, end, names[label], total / (end - start)) for start, end, label, total in pieces]


def annotation_of(turns: Iterable[Turn], uri: str | None = None) -> Any:
    """Return turns as an Annotation of pyannote.core; two at the same time are two tracks."""
    core = pyannote("core")
    found = core.Annotation(uri=uri)
    for number, turn in enumerate(turns):
        found[core.Segment(turn.start, turn.end), number] = turn.speaker
    return found


def speaker_names(count: int) -> list[str]:
    """Return SPEAKER_00, SPEAKER_01, ..., as pyannote has them.

    Examples
    --------
    >>> speaker_names(2)
    ['SPEAKER_00', 'SPEAKER_01']
    """
    return [f"SPEAKER_{number:02d}" for number in range(count)]


def _cut(times: Array, order: IntArray) -> Array:
    """Cut windows, which are in order, so that none overlaps the next."""
    within = times[1:, 1] < times[:-1, 1] - SAME
    if within.any():
        later = int(np.argmax(within)) + 1
        inner, outer = int(order[later]), int(order[later - 1])
        raise ValueError(
            f"segments[{inner}] lies within segments[{outer}], so they cannot be cut apart: where segments are turns "
            'that may overlap, and not windows, give overlapping="keep" (--overlapping keep).'
        )
    middle = (times[:-1, 1] + times[1:, 0]) / 2
    meet = times[1:, 0] < times[:-1, 1]
    cut = times.copy()
    cut[:-1, 1] = np.where(meet, middle, cut[:-1, 1])
    cut[1:, 0] = np.where(meet, middle, cut[1:, 0])
    return cut


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
