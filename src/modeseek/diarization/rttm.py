"""RTTM (NIST Rich Transcription Time Marked), read strictly and written with the confidence of each turn."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from modeseek._common.hints import did_you_mean
from modeseek._storage import DataError, atomic_path, read_bytes
from modeseek.diarization.turns import Turn, annotation_of

__all__ = ["parse_rttm", "read_rttm", "rttm_lines", "turns_in", "write_rttm"]

TURN = "SPEAKER"
# types that the format knows and that hold no turns
OTHERS = (
    *("SEGMENT", "NOSCORE", "NO_RT_METADATA", "LEXEME", "NON-LEX", "NON-SPEECH", "FILLER", "EDIT", "IP", "SU", "CB"),
    *("A/P", "SPKR-INFO", "SPEAKER-INFO"),
)
MISSING = "<NA>"
FIELDS = "SPEAKER file channel start duration <NA> <NA> speaker <NA> <NA>"


def read_rttm(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read an RTTM file: an Annotation of pyannote.core for each recording in it.

    Lines that are no turns (LEXEME, SPKR-INFO, ...), empty lines and comments (;;) are passed over. Any other line that
    is not as it should be is an error.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    dict
        {name of the recording: Annotation}

    Raises
    ------
    DataError
        With the number of the line and what is wrong there.
    """
    return {uri: annotation_of(turns, uri) for uri, turns in turns_in(path).items()}


def turns_in(path: str | os.PathLike[str]) -> dict[str, list[Turn]]:
    """Return the turns of an RTTM file by recording, in the order of the file; needs nothing of pyannote."""
    name = os.fspath(path)
    return parse_rttm(decoded(path), name)


def decoded(path: str | os.PathLike[str]) -> str:
    """Return a file as text; refuse one that is none."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"'{os.fspath(path)}' is not text (UTF-8): give the RTTM, .lab or CSV file itself.") from None


def parse_rttm(text: str, name: str = "text") -> dict[str, list[Turn]]:
    r"""Return the turns of RTTM text by recording.

    Examples
    --------
    >>> parse_rttm("SPEAKER talk 1 0.5 2.0 <NA> <NA> ann 0.9 <NA>\n")
    {'talk': [Turn(start=0.5, end=2.5, speaker='ann', confidence=0.9)]}
    >>> parse_rttm("SPEAKER talk 1 0.5 -2 <NA> <NA> ann <NA> <NA>", "talk.rttm")
    Traceback (most recent call last):
    modeseek._storage.errors.DataError: 'talk.rttm', line 1: the duration is -2, which is not above 0: ...
    """
    found: dict[str, list[Turn]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith(";;"):
            continue
        place = f"'{name}', line {number}"
        if fields[0] in OTHERS:
            continue
        if fields[0] != TURN:
            hint = did_you_mean(fields[0].upper(), [TURN, *OTHERS])
            raise DataError(f"{place}: '{_brief(fields[0])}' is no type of an RTTM line.{hint} A turn reads: {FIELDS}.")
        if len(fields) not in (9, 10):
            raise DataError(
                f"{place}: {len(fields)} fields, but a turn has 9 or 10: {FIELDS}."
                + (" Names must have no blanks in them." if len(fields) > 10 else "")
            )
        found.setdefault(fields[1], []).append(_turn(fields, place))
    if not found:
        raise DataError(f"'{name}' has no SPEAKER lines, so there is no turn in it: a turn reads {FIELDS}.")
    return found


def write_rttm(path: str | os.PathLike[str], turns: Any, uri: str | None = None) -> None:
    """Write turns as RTTM, whole or not at all.

    Parameters
    ----------
    path : str or path-like
    turns : iterable of Turn, Diarization, or Annotation of pyannote.core
        Of a `Diarization` and of turns, the confidence goes to the ninth field.
    uri : str, optional
        Name of the recording; that of the Annotation or Diarization where not given, else the name of the file.
    """
    named = uri or getattr(turns, "uri", None) or Path(path).stem
    lines = rttm_lines(_turns(turns), named)
    with atomic_path(path) as part:
        part.write_text("".join(lines), encoding="utf-8")


def rttm_lines(turns: Iterable[Turn], uri: str) -> list[str]:
    r"""Return a line of RTTM for each turn, times to the millisecond.

    Examples
    --------
    >>> rttm_lines([Turn(0.5, 2.5, "ann", 0.875)], "talk")
    ['SPEAKER talk 1 0.500 2.000 <NA> <NA> ann 0.88 <NA>\n']
    """
    for what, text in [("uri", uri), *(("speaker", turn.speaker) for turn in turns)]:
        if not text or text.split() != [text]:
            raise ValueError(f"{what} {text!r} cannot be written as RTTM: give a name without blanks.")
    lines = []
    for turn in turns:
        # rounded ends, not rounded lengths: turns that touch still do
        start, end = round(turn.start, 3), round(turn.end, 3)
        if end <= start:
            continue  # nothing is left of it at a millisecond
        sure = MISSING if turn.confidence is None else f"{turn.confidence:.2f}"
        lines.append(
            f"{TURN} {uri} 1 {start:.3f} {end - start:.3f} {MISSING} {MISSING} {turn.speaker} {sure} {MISSING}\n"
        )
    return lines


def _turns(given: Any) -> list[Turn]:
    if hasattr(given, "itertracks"):
        return [Turn(part.start, part.end, str(who)) for part, _, who in given.itertracks(yield_label=True)]
    return list(given.turns if hasattr(given, "turns") else given)


def _turn(fields: list[str], place: str) -> Turn:
    start = _number(fields[3], f"{place}: the start", place)
    duration = _number(fields[4], f"{place}: the duration", place)
    if start < 0:
        raise DataError(f"{place}: the start is {fields[3]}, below 0: times are seconds from the beginning.")
    if duration <= 0:
        raise DataError(
            f"{place}: the duration is {fields[4]}, which is not above 0: field 5 is a duration, not an end."
        )
    if fields[7] == MISSING:
        raise DataError(f"{place}: no speaker (field 8 is {MISSING}): give the name of who speaks.")
    end = start + duration
    if not start < end < math.inf:
        raise DataError(
            f"{place}: from {fields[3]}, for {fields[4]} seconds, has no end that can be told from its start."
        )
    confidence = None if fields[8] == MISSING else _number(fields[8], f"{place}: the confidence", place)
    return Turn(start, end, fields[7], confidence)


def _number(text: str, what: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        comma = " Write a decimal point, not a comma." if "," in text else f" A turn reads: {FIELDS}."
        raise DataError(f"{what} is '{_brief(text)}', which is no number.{comma}")
    return value


def _brief(text: str) -> str:
    return text if len(text) <= 30 else text[:27] + "..."
