"""RTTM files (NIST Rich Transcription Time Marked): a strict reader, and a writer that keeps the confidence.

The reader of pyannote.database accepts malformed lines; this one reports the line number and the error.
"""

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from modeseek._common.hints import did_you_mean
from modeseek._common.text import printable
from modeseek._storage.atomic import atomic_path
from modeseek._storage.errors import DataError
from modeseek._storage.reading import read_bytes
from modeseek.diarization.diarization import Diarization
from modeseek.diarization.turns import MAX_TIME, Turn, to_annotation

TURN_TYPE = "SPEAKER"
# line types of the format that hold no turns
OTHER_TYPES = (
    "SEGMENT", "NOSCORE", "NO_RT_METADATA", "LEXEME", "NON-LEX", "NON-SPEECH", "FILLER", "EDIT", "IP", "SU", "CB",
    "A/P", "SPKR-INFO", "SPEAKER-INFO",
)  # fmt: skip
MISSING = "<NA>"
FIELDS = "SPEAKER file channel start duration <NA> <NA> speaker <NA> <NA>"


@runtime_checkable
class Annotation(Protocol):
    """The part of `pyannote.core.Annotation` that is used here."""

    uri: str | None

    def itertracks(self, yield_label: bool = False) -> Any:
        """Iterate over (segment, track, label)."""


def read_rttm(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read an RTTM file.

    Lines of other types (LEXEME, SPKR-INFO, ...), empty lines and comments (;;) are skipped.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    dict
        A `pyannote.core.Annotation` for each recording, by its name.

    Raises
    ------
    DataError
        If a line is malformed; the message has the number of the line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "talk.rttm"
    >>> write_rttm(path, [Turn(0.0, 2.5, "ann"), Turn(2.5, 4.0, "bob")])
    >>> annotation = read_rttm(path)["talk"]
    >>> annotation.labels(), annotation.get_timeline().duration()
    (['ann', 'bob'], 4.0)
    """
    return {uri: to_annotation(turns, uri) for uri, turns in read_turns(path).items()}


def read_turns(path: str | os.PathLike[str]) -> dict[str, list[Turn]]:
    """Return the turns of each recording of an RTTM file, in the order of the file; does not need pyannote."""
    return parse_rttm(read_text(path), os.fspath(path))


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file; raise DataError if it is not UTF-8."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"'{os.fspath(path)}' is not UTF-8 text: give the RTTM, .lab or CSV file itself.") from None


def parse_rttm(text: str, name: str = "text") -> dict[str, list[Turn]]:
    r"""Return the turns of each recording in RTTM text.

    Examples
    --------
    >>> parse_rttm("SPEAKER talk 1 0.5 2.0 <NA> <NA> ann 0.9 <NA>\n")
    {'talk': [Turn(start=0.5, end=2.5, speaker='ann', confidence=0.9)]}
    >>> parse_rttm("SPEAKER talk 1 0.5 -2 <NA> <NA> ann <NA> <NA>", "talk.rttm")
    Traceback (most recent call last):
    modeseek._storage.errors.DataError: 'talk.rttm', line 1: the duration is -2, but must be positive: ...
    """
    recordings: dict[str, list[Turn]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith(";;") or fields[0] in OTHER_TYPES:
            continue
        place = f"'{name}', line {number}"
        if fields[0] != TURN_TYPE:
            hint = did_you_mean(fields[0].upper(), [TURN_TYPE, *OTHER_TYPES])
            raise DataError(f"{place}: '{_shorten(fields[0])}' is not an RTTM type.{hint} The format is: {FIELDS}.")
        if len(fields) not in (9, 10):
            hint = " Names must not contain spaces." if len(fields) > 10 else ""
            raise DataError(f"{place}: {len(fields)} fields, but a turn has 9 or 10: {FIELDS}.{hint}")
        recordings.setdefault(fields[1], []).append(_parse_turn(fields, place))
    if not recordings:
        raise DataError(f"'{name}' has no SPEAKER lines. The format is: {FIELDS}.")
    return recordings


def write_rttm(path: str | os.PathLike[str], turns: Any, uri: str | None = None) -> None:
    """Write turns as RTTM; an existing file is replaced only after all lines are written.

    Parameters
    ----------
    path : str or path-like
    turns : Diarization, pyannote.core.Annotation, or iterable of Turn
        The confidence of a turn, if known, is written to the ninth field.
    uri : str, optional
        Name of the recording. Default: that of the Diarization or Annotation, else the name of the file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "talk.rttm"
    >>> write_rttm(path, [Turn(0.0, 2.5, "ann"), Turn(2.5, 4.0, "bob")])
    >>> print(path.read_text().splitlines()[0])
    SPEAKER talk 1 0.000 2.500 <NA> <NA> ann <NA> <NA>
    """
    if isinstance(turns, Diarization):
        uri, turns = uri or turns.uri, turns.turns
    elif isinstance(turns, Annotation):
        uri, tracks = uri or turns.uri, turns.itertracks(yield_label=True)
        turns = [Turn(segment.start, segment.end, str(speaker)) for segment, _, speaker in tracks]
    lines = rttm_lines(list(turns), uri or printable(Path(path).stem))
    with atomic_path(path) as part:
        part.write_text("".join(lines), encoding="utf-8")


def rttm_lines(turns: Iterable[Turn], uri: str) -> list[str]:
    r"""Return an RTTM line for each turn, with times in milliseconds.

    Examples
    --------
    >>> rttm_lines([Turn(0.5, 2.5, "ann", 0.875)], "talk")
    ['SPEAKER talk 1 0.500 2.000 <NA> <NA> ann 0.88 <NA>\n']
    """
    for what, text in [("uri", uri), *(("speaker", turn.speaker) for turn in turns)]:
        if not text or text.split() != [text]:
            raise ValueError(f"{what} {text!r} cannot be written as RTTM: give a name without spaces.")
    lines = []
    for turn in turns:
        # round the ends, not the durations, so that adjacent turns stay adjacent
        start, end = round(turn.start, 3), round(turn.end, 3)
        if end <= start:
            continue  # the turn is shorter than a millisecond
        confidence = MISSING if turn.confidence is None else f"{turn.confidence:.2f}"
        times = f"{start:.3f} {end - start:.3f}"
        lines.append(f"{TURN_TYPE} {uri} 1 {times} {MISSING} {MISSING} {turn.speaker} {confidence} {MISSING}\n")
    return lines


def _parse_turn(fields: list[str], place: str) -> Turn:
    start = _parse_number(fields[3], f"{place}: the start")
    duration = _parse_number(fields[4], f"{place}: the duration")
    if start < 0:
        raise DataError(f"{place}: the start is {fields[3]}, but times are seconds from the beginning, at least 0.")
    if duration <= 0:
        raise DataError(f"{place}: the duration is {fields[4]}, but must be positive: field 5 is not the end.")
    if fields[7] == MISSING:
        raise DataError(f"{place}: field 8 is {MISSING}: give the name of the speaker.")
    end = start + duration
    if not start < end <= MAX_TIME:
        raise DataError(f"{place}: start {fields[3]} plus duration {fields[4]} gives no valid end: check both numbers.")
    confidence = None if fields[8] == MISSING else _parse_number(fields[8], f"{place}: the confidence")
    return Turn(start, end, fields[7], confidence)


def _parse_number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        hint = "Write a decimal point, not a comma." if "," in text else f"The format is: {FIELDS}."
        raise DataError(f"{what} is '{_shorten(text)}', which is not a number. {hint}")
    return value


def _shorten(text: str) -> str:
    return text if len(text) <= 30 else text[:27] + "..."
