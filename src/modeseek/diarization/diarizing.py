"""The way through: embeddings and segments in, turns out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from modeseek._common.types import Array
from modeseek._common.validation import check_number
from modeseek.diarization.extras import pyannote
from modeseek.diarization.preparation import Preparation, check_embeddings
from modeseek.diarization.speakers import Search, Speakers
from modeseek.diarization.turns import Turn, annotation_of, check_segments, slices_of, speaker_names, turns_of

__all__ = ["MIN_DURATION", "Diarization", "diarize", "find_turns"]

# seconds of speech below which an embedding says little about who speaks
MIN_DURATION = 0.5


@dataclass(frozen=True, eq=False)
class Diarization:
    """Who speaks when, and how sure that is.

    Attributes
    ----------
    turns : list of Turn
        In the order of time: start, end, speaker, confidence.
    times : (n, 2) array
        The segments as they were given.
    slices : (n, 2) array
        The part of each that is its own, where segments overlap.
    speakers : Speakers
        Speaker and confidence of each segment, and how the number of speakers was found.
    uri : str or None
        Name of the recording.
    """

    turns: list[Turn]
    times: Array
    slices: Array
    speakers: Speakers
    uri: str | None = None

    @property
    def annotation(self) -> Any:
        """The turns as an Annotation of pyannote.core."""
        return annotation_of(self.turns, self.uri)

    @property
    def names(self) -> list[str]:
        """Names of the speakers, by label."""
        return speaker_names(self.speakers.n_speakers)


def diarize(
    embeddings: ArrayLike,
    segments: Any,
    *,
    uri: str | None = None,
    num_speakers: int | None = None,
    min_speakers: int | None = None,
    max_speakers: int | None = None,
    min_duration: float = MIN_DURATION,
    overlapping: str = "cut",
    centre: bool = False,
    components: int | None = None,
    whiten: bool = False,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Any:
    """Say who speaks when: the turns of windows of speech, as an Annotation of pyannote.core.

    Parameters
    ----------
    embeddings : array-like of shape (n, d)
        A speaker embedding for each window; only directions count.
    segments : array-like of shape (n, 2), or iterable of objects with `start` and `end`
        When each window is, in seconds. Windows may overlap.
    uri : str, optional
        Name of the recording.
    num_speakers, min_speakers, max_speakers : int, optional
        How many speakers there are, or bounds, where known. These are wishes: where no partition has so many, the
        nearest is given.
    min_duration : float, default=0.5
        Windows shorter than this, in seconds, have no say in who there is. They go to the nearest speaker, with a
        confidence of 0.5 at most. If hardly any is longer, all have a say.
    overlapping : {"cut", "keep"}, default="cut"
        Windows that overlap are cut in the middle of what they share; "keep" leaves them whole, for segments that are
        turns.
    centre : bool, default=False
        Take off the mean of the unit rows.
    components : int, optional
        Keep so many principal components.
    whiten : bool, default=False
        Bring principal components to one spread.
    random_state : int or None, default=0
        The same seed gives the same turns.
    n_jobs : int, optional
        Threads for the search of neighbours.
    verbose : int, default=0
        1 shows progress.

    Returns
    -------
    pyannote.core.Annotation
        `find_turns` gives the same with the confidence of each turn.

    Raises
    ------
    ImportError
        If pyannote.core is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> voices = np.eye(8)[[0, 0, 0, 0, 3, 3, 3, 3, 0, 0, 0, 0]] + rng.normal(0, 0.1, (12, 8))
    >>> windows = [(float(second), second + 1.0) for second in range(12)]
    >>> for segment, _, speaker in diarize(voices, windows).itertracks(yield_label=True):
    ...     print(segment.start, segment.end, speaker)
    0.0 4.0 SPEAKER_00
    4.0 8.0 SPEAKER_01
    8.0 12.0 SPEAKER_00
    """
    pyannote("core")  # said before the work, not after
    preparation = Preparation(centre, components, whiten)
    search = Search(num_speakers, min_speakers, max_speakers, preparation, random_state, n_jobs, verbose)
    found = find_turns(embeddings, segments, search, uri=uri, min_duration=min_duration, overlapping=overlapping)
    return found.annotation


def find_turns(
    embeddings: ArrayLike,
    segments: Any,
    search: Search | None = None,
    *,
    uri: str | None = None,
    min_duration: float = MIN_DURATION,
    overlapping: str = "cut",
) -> Diarization:
    """Find the turns of windows of speech, with their confidence; see `diarize` for the parameters.

    Parameters
    ----------
    embeddings : array-like of shape (n, d)
    segments : array-like of shape (n, 2), or iterable of objects with `start` and `end`
    search : Search, optional
        Wishes, preparation and seed.
    uri : str, optional
    min_duration : float
    overlapping : {"cut", "keep"}

    Returns
    -------
    Diarization
    """
    rows = check_embeddings(embeddings)
    times = check_segments(segments, len(rows))
    check_number("min_duration", min_duration, strict=False)
    # the last digits are rounding: 0.5 s may be 12.3 - 11.8
    brief = times[:, 1] - times[:, 0] < min_duration - 1e-9
    slices = slices_of(times, overlapping)
    found = (search or Search()).speakers(rows, times, brief)
    names = speaker_names(found.n_speakers)
    turns = turns_of(slices, found.labels, found.confidence, names)
    return Diarization(turns, times, slices, found, uri)
