"""Smoothing of the speakers of windows in time: the most probable sequence of a hidden Markov model.

The state is one of k speakers. After t seconds the speaker is the same with probability
1/k + (1 - 1/k) exp(-t / mean_turn), and all other speakers are equally likely. The log-likelihood of a window is kappa
times its cosine with the direction of the speaker; kappa is estimated from the differences of the cosines.
"""

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.diarization.config import DEFAULT, DiarizationConfig
from modeseek.diarization.embeddings import mean_directions


def smooth_labels(rows: Array, labels: IntArray, times: Array, config: DiarizationConfig = DEFAULT) -> IntArray:
    """Return the most probable speakers of windows, given their embeddings and times (Viterbi).

    Parameters
    ----------
    rows : (n, d) array
        Unit vectors.
    labels : (n,) integer array
        Speakers before smoothing, which define the directions.
    times : (n, 2) array
    config : DiarizationConfig
        `mean_turn` is the prior.

    Examples
    --------
    >>> rows = np.eye(2)[[0, 0, 0, 0, 1, 1, 1, 1]]
    >>> rows[2] = 0.7, 0.714  # a little closer to the other speaker
    >>> times = np.column_stack([np.arange(8.0), np.arange(8.0) + 1])
    >>> smooth_labels(rows, np.array([0, 0, 1, 0, 1, 1, 1, 1]), times)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    k = int(labels.max()) + 1
    if k < 2 or len(rows) < 3:
        return labels
    order = np.lexsort((times[:, 1], times[:, 0]))
    cosines = np.asarray(rows @ mean_directions(rows, labels).T, dtype=np.float64)
    kappa = _concentration(cosines, labels, config)
    elapsed = np.diff(times[order].mean(axis=1))
    return _viterbi(kappa * cosines[order], elapsed, order, config.mean_turn)


def _concentration(cosines: Array, labels: IntArray, config: DiarizationConfig) -> float:
    """Return the factor that makes differences of cosines log-likelihood ratios.

    If the difference of the cosines with two speakers is normal with mean m or -m and variance v, the log-likelihood
    ratio is 2 m / v times the difference.
    """
    every = np.arange(len(labels))
    others = cosines.copy()
    others[every, labels] = -np.inf
    margins = cosines[every, labels] - others.max(axis=1)
    variance = max(float(margins.var()), 1e-12)
    return min(2.0 * max(float(margins.mean()), 0.0) / variance, config.max_concentration)


def _viterbi(evidence: Array, elapsed: Array, order: IntArray, mean_turn: float) -> IntArray:
    n, k = evidence.shape
    fading = (1.0 - 1.0 / k) * np.exp(-np.maximum(elapsed, 0.0) / mean_turn)
    stay = np.log(1.0 / k + fading)
    switch = np.log(np.maximum((1.0 - np.exp(stay)) / (k - 1), 1e-300))
    total = evidence[0].copy()
    before = np.empty((n, k), dtype=np.intp)
    every = np.arange(k)
    for row in range(1, n):
        # the best previous speaker is the same speaker, or the best of all speakers
        best = int(total.argmax())
        moves = total[best] + switch[row - 1] > total + stay[row - 1]
        before[row] = np.where(moves, best, every)
        total = np.where(moves, total[best] + switch[row - 1], total + stay[row - 1]) + evidence[row]
    found = np.empty(n, dtype=np.intp)
    state = int(total.argmax())
    for row in range(n - 1, -1, -1):
        found[order[row]] = state
        state = int(before[row, state]) if row else state
    return found
