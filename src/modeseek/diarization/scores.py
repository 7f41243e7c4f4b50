"""How far turns agree with a reference: error rates of pyannote.metrics, and the paper's K over the windows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_number
from modeseek.diarization.diarizing import Diarization
from modeseek.diarization.extras import pyannote
from modeseek.metrics import k_score

__all__ = ["Scores", "score", "true_speakers"]


class Scores(NamedTuple):
    """Agreement with a reference.

    Attributes
    ----------
    der : float
        Diarization error rate: seconds missed, of false alarm and of the wrong speaker, over the seconds of speech.
    missed, false_alarm, confusion : float
        Its three parts.
    jer : float
        Jaccard error rate: the mean over speakers, each counting the same.
    purity, coverage : float
        Share of each found speaker that is one true speaker, and of each true speaker that is one found.
    k, k_weighted : float
        The paper's K over windows that have a reference speaker, each cluster and class counting the same, and by size.
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
    """Score turns against a reference.

    Parameters
    ----------
    found : Diarization
    reference : pyannote.core.Annotation
    collar : float
        Seconds around each boundary of the reference, half on each side, that are not scored (in DER and JER).
    skip_overlap : bool
        Leave out where the reference has two or more speakers (in DER and JER).

    Returns
    -------
    Scores
    """
    check_number("collar", collar, strict=False)
    diarization, core = pyannote("metrics.diarization"), pyannote("core")
    hypothesis = found.annotation
    if not reference.get_timeline():
        raise ValueError("the reference has no turns: there is nothing to compare with.")
    extent = reference.get_timeline().extent() | hypothesis.get_timeline().extent()
    where = core.Timeline([extent])
    options = {"collar": collar, "skip_overlap": skip_overlap}
    error = diarization.DiarizationErrorRate(**options)(reference, hypothesis, uem=where, detailed=True)
    total = error["total"]
    if not total:
        raise ValueError(f"nothing of the reference is left to score with collar={collar:g}: give a smaller one.")
    truth = true_speakers(reference, found.times)
    heard = truth >= 0
    labels = found.speakers.labels
    k, weighted = (
        (k_score(truth[heard], labels[heard], weighted=by_size) if heard.any() else np.nan) for by_size in (False, True)
    )
    return Scores(
        error["diarization error rate"],
        error["missed detection"] / total,
        error["false alarm"] / total,
        error["confusion"] / total,
        diarization.JaccardErrorRate(**options)(reference, hypothesis, uem=where),
        diarization.DiarizationPurity()(reference, hypothesis, uem=where),
        diarization.DiarizationCoverage()(reference, hypothesis, uem=where),
        float(k),
        float(weighted),
        found.speakers.n_speakers,
        len(reference.labels()),
    )


def true_speakers(reference: Any, times: Array) -> IntArray:
    """Return for each window the number of the reference's speaker who has most of it; -1 where nobody speaks.

    Numbers are places in `reference.labels()`.
    """
    seconds = np.zeros((len(times), len(reference.labels())))
    for column, name in enumerate(reference.labels()):
        turns = np.array([(part.start, part.end) for part in reference.label_timeline(name).support()])
        # seconds that were spoken until then: linear within turns, level between
        spoken = np.append(0.0, np.cumsum(turns[:, 1] - turns[:, 0]))
        levels = np.column_stack([spoken[:-1], spoken[1:]]).ravel()
        until = np.interp(times.ravel(), turns.ravel(), levels).reshape(-1, 2)
        seconds[:, column] = until[:, 1] - until[:, 0]
    return np.where(seconds.max(axis=1) > 0, seconds.argmax(axis=1), -1)
