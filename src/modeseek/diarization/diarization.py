"""The functions `diarize` and `find_turns`: embeddings and segments in, turns out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.types import Array
from modeseek._common.validation import check_number
from modeseek.diarization.config import DiarizationConfig
from modeseek.diarization.embeddings import EmbeddingTransform, check_embeddings, mean_directions
from modeseek.diarization.pyannote_import import import_pyannote
from modeseek.diarization.smoothing import smooth_labels
from modeseek.diarization.speaker_search import Speakers, SpeakerSearch, by_size
from modeseek.diarization.turns import Turn, check_segments, make_turns, speaker_names, to_annotation, trim_windows


@dataclass(frozen=True, eq=False)
class Diarization:
    """The turns of a recording, with the confidence in each.

    Attributes
    ----------
    turns : list of Turn
        Start, end, speaker and confidence, in temporal order.
    times : (n, 2) array
        Start and end of the given segments.
    trimmed : (n, 2) array
        The segments without their overlaps.
    speakers : Speakers
        Speaker and confidence of each segment, and how the number of speakers was determined.
    uri : str or None
        Name of the recording.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> voices = np.repeat(np.eye(8)[:2], 20, axis=0) + 0.1 * rng.normal(size=(40, 8))
    >>> times = np.column_stack([np.arange(40.0), np.arange(1.0, 41.0)])
    >>> found = find_turns(voices, times, uri="talk")
    >>> found.uri, found.speakers.n_speakers, len(found.turns)
    ('talk', 2, 2)
    """

    turns: list[Turn]
    times: Array
    trimmed: Array
    speakers: Speakers
    uri: str | None = None

    @property
    def annotation(self) -> Any:
        """The turns as a `pyannote.core.Annotation`."""
        return to_annotation(self.turns, self.uri)

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
    min_duration: float = 0.5,
    overlapping: str = "cut",
    smooth: bool = False,
    center: bool = False,
    components: int | None = None,
    whiten: bool = False,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Any:
    """Determine who speaks when, from embeddings of windows of speech.

    Parameters
    ----------
    embeddings : array-like of shape (n, d)
        A speaker embedding for each window. Only the directions of the rows matter.
    segments : array-like of shape (n, 2), or iterable of objects with `start` and `end`
        Start and end of each window in seconds. Windows may overlap.
    uri : str, optional
        Name of the recording.
    num_speakers, min_speakers, max_speakers : int, optional
        The number of speakers, or bounds on it, if known. If no partition satisfies them, the one with the nearest
        number of speakers is used.
    min_duration : float, default=0.5
        Windows shorter than this, in seconds, are not clustered. They are assigned to the nearest speaker, with a
        confidence of at most 0.5. If fewer than three windows are longer, all windows are clustered.
    overlapping : {"cut", "keep"}, default="cut"
        "cut" divides overlapping windows in the middle of the overlap. "keep" leaves them whole, for segments that
        are turns.
    smooth : bool, default=False
        Replace the speakers of windows by the most probable sequence of a hidden Markov model (Viterbi). Its prior is
        the mean length of a turn, `DiarizationConfig.mean_turn`. Not with ``overlapping="keep"``.
    center : bool, default=False
        Subtract the mean of the unit rows.
    components : int, optional
        Number of principal components to keep.
    whiten : bool, default=False
        Scale the principal components to equal variance.
    random_state : int or None, default=0
        Seed. The same seed gives the same turns.
    n_jobs : int, optional
        Number of threads of the neighbour search.
    verbose : int, default=0
        1 shows progress.

    Returns
    -------
    pyannote.core.Annotation
        `find_turns` returns the same turns with their confidence.

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
    import_pyannote("core")  # if it is missing, raise the error before the computation
    transform = EmbeddingTransform(center, components, whiten)
    search = SpeakerSearch(num_speakers, min_speakers, max_speakers, transform, random_state, n_jobs, verbose)
    found = find_turns(
        embeddings, segments, search, uri=uri, min_duration=min_duration, overlapping=overlapping, smooth=smooth
    )
    return found.annotation


def find_turns(
    embeddings: ArrayLike,
    segments: Any,
    search: SpeakerSearch | None = None,
    *,
    uri: str | None = None,
    min_duration: float = 0.5,
    overlapping: str = "cut",
    smooth: bool = False,
) -> Diarization:
    """Determine who speaks when, with the confidence of each turn; does not need pyannote.

    Parameters
    ----------
    embeddings : array-like of shape (n, d)
    segments : array-like of shape (n, 2), or iterable of objects with `start` and `end`
    search : SpeakerSearch, optional
        Number of speakers, transformation of the embeddings, seed.
    uri : str, optional
    min_duration : float, default=0.5
    overlapping : {"cut", "keep"}, default="cut"
    smooth : bool, default=False
        These parameters have the same meaning as in `diarize`.

    Returns
    -------
    Diarization

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> voices = np.repeat(np.eye(8)[:2], 20, axis=0) + 0.1 * rng.normal(size=(40, 8))
    >>> times = np.column_stack([np.arange(40.0), np.arange(1.0, 41.0)])
    >>> found = find_turns(voices, times, uri="talk")
    >>> [(turn.start, turn.end, turn.speaker) for turn in found.turns]
    [(0.0, 20.0, 'SPEAKER_00'), (20.0, 40.0, 'SPEAKER_01')]
    """
    rows = check_embeddings(embeddings)
    times = check_segments(segments, len(rows))
    check_number("min_duration", min_duration, strict=False)
    # the tolerance is for rounding: 12.3 - 11.8 is slightly below 0.5
    short = times[:, 1] - times[:, 0] < min_duration - 1e-9
    trimmed = trim_windows(times, overlapping)
    if smooth and overlapping == "keep":
        raise ValueError('smooth=True needs windows that follow each other: use overlapping="cut".')
    search = search or SpeakerSearch()
    speakers = search.find(rows, times, short)
    if smooth:
        speakers = _smoothed(speakers, search.transform.apply(rows), times, search.config)
    turns = make_turns(trimmed, speakers.labels, speakers.confidence, speaker_names(speakers.n_speakers))
    return Diarization(turns, times, trimmed, speakers, uri)


def _smoothed(speakers: Speakers, rows: Array, times: Array, config: DiarizationConfig) -> Speakers:
    """Smooth the speakers in time; a window whose speaker changes keeps at most half of its confidence."""
    labels = smooth_labels(rows, speakers.labels, times, config)
    changed = labels != speakers.labels
    confidence = np.where(changed, config.unclustered_confidence, 1.0) * speakers.confidence
    labels = by_size(labels)  # renumber, since a speaker may have lost all windows
    message = f"{speakers.message}; {int(changed.sum()):,} windows smoothed"
    return speakers._replace(
        labels=labels, confidence=confidence, directions=mean_directions(rows, labels), message=message
    )
