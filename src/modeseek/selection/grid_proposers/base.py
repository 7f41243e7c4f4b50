"""The interface of proposers, and the base class of those that propose one partition for each setting of a grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, TypeAlias

import numpy as np

from modeseek._common.types import IntArray
from modeseek.metrics import rand_agreement
from modeseek.selection.candidates import Candidate, Partitions, Setting, is_trivial
from modeseek.selection.knn_graph import KnnGraph, subsample
from modeseek.selection.progress import SelectionProgress
from modeseek.selection.rules_config import DEFAULT, SelectionConfig

__all__ = ["GridProposer", "Proposer", "Repeat"]

# (subsample, generator) -> labels, or None if the proposer rejects its partition there
Repeat: TypeAlias = Callable[[KnnGraph, np.random.Generator], IntArray | None]


class Proposer(ABC):
    """One way to propose partitions of a nearest-neighbour graph.

    Parameters
    ----------
    config : SelectionConfig

    Attributes
    ----------
    name : str
        Name in `PROPOSERS` and in `Candidate.proposer`.
    """

    name: ClassVar[str]

    def __init__(self, config: SelectionConfig = DEFAULT):
        self.config = config

    def applies(self, graph: KnnGraph) -> bool:
        """Return whether this proposer is suited to the graph."""
        return True

    @abstractmethod
    def propose(self, graph: KnnGraph, seed: int, progress: SelectionProgress) -> list[Candidate]:
        """Return candidates, best first; an empty list if there are none."""

    def is_significant(self, candidate: Candidate, graph: KnnGraph) -> bool:
        """Return whether a candidate of this proposer is more than chance would give for unclustered data."""
        return candidate.stability >= self.config.min_stability

    @abstractmethod
    def repeat(self, candidate: Candidate) -> Repeat:
        """Return a function that clusters a subsample at the setting of a candidate."""

    def note(self, graph: KnnGraph) -> str:
        """Return a caveat for the message of a selection; empty if there is none."""
        return ""


class GridProposer(Proposer):
    """A proposer with one partition for each setting of a grid, ranked by their stability on random subsamples."""

    @abstractmethod
    def partitions(self, graph: KnnGraph, only: Setting | None = None) -> Partitions:
        """Return the labels for each setting of the grid, or for one setting only."""

    def propose(self, graph: KnnGraph, seed: int, progress: SelectionProgress) -> list[Candidate]:
        progress.report(f"proposals by {self.name}")
        return self.judge(graph, self.partitions, seed, progress)

    def repeat(self, candidate: Candidate) -> Repeat:
        setting = candidate.setting
        return lambda sample, rng: self.partitions(sample, setting)[setting]

    def judge(
        self,
        graph: KnnGraph,
        propose: Callable[[KnnGraph], Partitions],
        seed: int,
        progress: SelectionProgress,
        *,
        keep_trivial: bool = False,
    ) -> list[Candidate]:
        """Return the partitions that `propose` gives for a graph, by decreasing score.

        Trivial partitions are no candidates, but lower the smoothed stability of neighbouring settings.
        """
        found, weights = propose(graph), graph.weights
        kept = {s: labels for s, labels in found.items() if keep_trivial or not is_trivial(labels, weights)}
        stability = dict.fromkeys(found, 0.0) | self._stability(graph, kept, propose, seed, progress)
        candidates = []
        for setting, labels in kept.items():
            shares = np.bincount(labels, weights=weights) / weights.sum()
            score = smoothed_stability(stability, setting, self.config.smoothing)
            score += self.config.entropy_weight * float(-np.log(np.square(shares).sum()))
            candidates.append(Candidate(self.name, setting, labels, len(shares), stability[setting], score))
        return sorted(candidates, key=lambda candidate: -candidate.score)

    def _stability(
        self,
        graph: KnnGraph,
        partitions: Partitions,
        propose: Callable[[KnnGraph], Partitions],
        seed: int,
        progress: SelectionProgress,
    ) -> dict[Setting, float]:
        """Return the mean adjusted Rand index of each partition with those of random subsamples at the same setting.

        After Ctrl-C, the mean is over the subsamples so far; before the first, `KeyboardInterrupt` is raised.
        """
        stage, n_subsamples = "judging proposals", self.config.n_subsamples
        total, done = dict.fromkeys(partitions, 0.0), 0
        rng = np.random.default_rng(seed)
        try:
            progress.report(stage, done, n_subsamples)
            for _ in range(n_subsamples):
                sample = subsample(graph, rng, self.config)
                agreement = {
                    setting: rand_agreement(partitions[setting][sample.rows], labels)
                    for setting, labels in propose(sample).items()
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
