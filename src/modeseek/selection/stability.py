"""Scores of partitions: how well random subsamples reproduce them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from modeseek._common.types import Array
from modeseek.metrics import rand_agreement
from modeseek.selection.candidates import Candidate, Partitions, Setting
from modeseek.selection.config import SelectionConfig
from modeseek.selection.knn_graph import KnnGraph, subsample
from modeseek.selection.progress import SelectionProgress

__all__ = ["rank_partitions", "smoothed_stability", "subsample_stability"]


def subsample_stability(
    graph: KnnGraph,
    partitions: Partitions,
    propose: Callable[[KnnGraph], Partitions],
    *,
    seed: int,
    config: SelectionConfig,
    progress: SelectionProgress,
) -> dict[Setting, float]:
    """Return the mean adjusted Rand index of each partition with those of random subsamples at the same setting.

    After Ctrl-C, the mean is over the subsamples so far; before the first, `KeyboardInterrupt` is raised.

    Parameters
    ----------
    graph : KnnGraph
    partitions : dict of Setting to labels
        Partitions of the whole graph.
    propose : callable
        Returns the partitions of a graph, by setting.
    seed : int
        Seed of the subsamples.
    config : SelectionConfig
    progress : SelectionProgress
    """
    stage, n_subsamples = "judging proposals", config.n_subsamples
    total, done = dict.fromkeys(partitions, 0.0), 0
    rng = np.random.default_rng(seed)
    try:
        progress.report(stage, done, n_subsamples)
        for _ in range(n_subsamples):
            sample = subsample(graph, rng, config)
            found = propose(sample)
            agreement = {
                setting: rand_agreement(partitions[setting][sample.rows], labels)
                for setting, labels in found.items()
                if setting in partitions
            }
            # both at once, so that an interruption leaves no half-counted subsample
            total, done = {each: total[each] + agreement.get(each, 0.0) for each in total}, done + 1
            progress.report(stage, done, n_subsamples)
    except KeyboardInterrupt:
        if not done:
            raise
        judged = f"judged by {done} of {n_subsamples} subsamples"
        progress.interruption = judged if done < n_subsamples else "no confidence was computed"
    return {setting: agreement / done for setting, agreement in total.items()}


def rank_partitions(
    proposer: str, partitions: Partitions, stability: Mapping[Setting, float], weights: Array, config: SelectionConfig
) -> list[Candidate]:
    """Return partitions as candidates, by decreasing score.

    Parameters
    ----------
    proposer : str
    partitions : dict of Setting to labels
    stability : dict of Setting to float
        May hold further settings, which count in the smoothing.
    weights : (n,) array
    config : SelectionConfig
    """
    found = []
    for setting, labels in partitions.items():
        shares = np.bincount(labels, weights=weights) / weights.sum()
        entropy = float(-np.log(np.square(shares).sum()))
        score = smoothed_stability(stability, setting, config.smoothing) + config.entropy_weight * entropy
        found.append(Candidate(proposer, setting, labels, len(shares), stability[setting], score))
    return sorted(found, key=lambda candidate: -candidate.score)


def smoothed_stability(stability: Mapping[Setting, float], setting: Setting, weight: float) -> float:
    """Return the stability of a setting, averaged with that of the settings next to it in the grid.

    Examples
    --------
    >>> smoothed_stability({(3.0, 1.0): 0.5, (4.0, 1.0): 0.9, (6.0, 1.0): 0.1}, (3.0, 1.0), 0.25)
    0.6
    """
    first, second = (sorted({each[axis] for each in stability}) for axis in (0, 1))
    i, j = first.index(setting[0]), second.index(setting[1])
    around = [
        stability[a, b]
        for a in first[max(i - 1, 0) : i + 2]
        for b in second[max(j - 1, 0) : j + 2]
        if (a, b) != setting and (a, b) in stability
    ]
    own = stability[setting]
    return (1.0 - weight) * own + weight * (float(np.mean(around)) if around else own)
