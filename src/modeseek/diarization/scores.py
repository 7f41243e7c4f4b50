"""Scores of a diarization for which the true turns are known: error rates of pyannote.metrics, and the K score."""

from typing import Any, NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_number
from modeseek.diarization.diarization import Diarization
from modeseek.diarization.pyannote_import import import_pyannote
from modeseek.metrics import k_score


class Scores(NamedTuple):
    """Agreement of a diarization with a reference.

    Attributes
    ----------
    der : float
        Diarization error rate: the sum of missed speech, false alarm and confusion, over the duration of speech.
    missed, false_alarm, confusion : float
        The three parts of the diarization error rate.
    jer : float
        Jaccard error rate: the mean over speakers.
    purity, coverage : float
        Share of the speech of each found speaker that belongs to one true speaker, and the same with found and true
        speakers exchanged.
    k, k_weighted : float
        K score over the windows with a reference speaker, with equal weights and weighted by size.
    found, true : int
        Numbers of speakers.
    """

    der: float
    missed: float
    false_alarm: float
    confusion: float
    jer: float
    purity: float
    coverage: float
    k: float
    k_weighted: float
    found: int
    true: int


def score(found: Diarization, reference: Any, *, collar: float = 0.0, skip_overlap: bool = False) -> Scores:
    """Compare turns with a reference.

    Parameters
    ----------
    found : Diarization
    reference : pyannote.core.Annotation
    collar : float
        Seconds around each boundary of the reference, half on each side, that are excluded from DER and JER.
    skip_overlap : bool
        Exclude the times with two or more reference speakers from DER and JER.

    Returns
    -------
    Scores

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> voices = np.repeat(np.eye(8)[:2], 20, axis=0) + 0.1 * rng.normal(size=(40, 8))
    >>> times = np.column_stack([np.arange(40.0), np.arange(1.0, 41.0)])
    >>> from modeseek.diarization import find_turns
    >>> from pyannote.core import Annotation, Segment
    >>> reference = Annotation(uri="talk")
    >>> reference[Segment(0, 20)], reference[Segment(20, 40)] = "ann", "bob"
    >>> scores = score(find_turns(voices, times, uri="talk"), reference)
    >>> scores.der, scores.found, scores.true
    (0.0, 2, 2)
    """
    check_number("collar", collar, strict=False)
    metrics, core = import_pyannote("metrics.diarization"), import_pyannote("core")
    hypothesis = found.annotation
    if not reference.get_timeline():
        raise ValueError("the reference has no turns: give one with at least one turn.")
    evaluated = core.Timeline([reference.get_timeline().extent() | hypothesis.get_timeline().extent()])
    options = {"collar": collar, "skip_overlap": skip_overlap}
    error = metrics.DiarizationErrorRate(**options)(reference, hypothesis, uem=evaluated, detailed=True)
    total = error["total"]
    if not total:
        raise ValueError(f"collar={collar:g} excludes the whole reference: give a smaller collar.")
    truth, labels = reference_speakers(reference, found.times), found.speakers.labels
    known = truth >= 0
    k, k_weighted = (
        float(k_score(truth[known], labels[known], weighted=weighted)) if known.any() else np.nan
        for weighted in (False, True)
    )
    return Scores(
        error["diarization error rate"],
        error["missed detection"] / total,
        error["false alarm"] / total,
        error["confusion"] / total,
        metrics.JaccardErrorRate(**options)(reference, hypothesis, uem=evaluated),
        metrics.DiarizationPurity()(reference, hypothesis, uem=evaluated),
        metrics.DiarizationCoverage()(reference, hypothesis, uem=evaluated),
        k,
        k_weighted,
        found.speakers.n_speakers,
        len(reference.labels()),
    )


def reference_speakers(reference: Any, times: Array) -> IntArray:
    """Return the speaker with the longest speech in each window, as an index in `reference.labels()`; -1 if none."""
    seconds = np.zeros((len(times), len(reference.labels())))
    for column, name in enumerate(reference.labels()):
        turns = np.array([(part.start, part.end) for part in reference.label_timeline(name).support()])
        # cumulative duration of speech: linear within turns, constant between them
        spoken = np.append(0.0, np.cumsum(turns[:, 1] - turns[:, 0]))
        levels = np.column_stack([spoken[:-1], spoken[1:]]).ravel()
        until = np.interp(times.ravel(), turns.ravel(), levels).reshape(-1, 2)
        seconds[:, column] = until[:, 1] - until[:, 0]
    return np.where(seconds.max(axis=1) > 0, seconds.argmax(axis=1), -1)
