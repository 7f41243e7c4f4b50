"""The interface of proposers, and the base class of those that propose one partition for each setting of a grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np

from modeseek._common.types import IntArray
from modeseek.selection.candidates import Candidate, Partitions, Setting, is_trivial
from modeseek.selection.config import DEFAULT, SelectionConfig
from modeseek.selection.knn_graph import KnnGraph
from modeseek.selection.progress import SelectionProgress
from modeseek.selection.stability import rank_partitions, subsample_stability

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
    """A proposer with one partition for each setting; stability on subsamples ranks them."""

    @abstractmethod
    def partitions(self, graph: KnnGraph, only: Setting | None = None) -> Partitions:
        """Return the labels for each setting of the grid, or for one setting only."""

    def propose(self, graph: KnnGraph, seed: int, progress: SelectionProgress) -> list[Candidate]:
        progress.report(f"proposals by {self.name}")
        found = self.partitions(graph)
        kept = {setting: labels for setting, labels in found.items() if not is_trivial(labels, graph.weights)}
        stability = subsample_stability(graph, kept, self.partitions, seed=seed, config=self.config, progress=progress)
        # trivial partitions are no candidates, but lower the smoothed stability of neighbouring settings
        return rank_partitions(self.name, kept, dict.fromkeys(found, 0.0) | stability, graph.weights, self.config)

    def repeat(self, candidate: Candidate) -> Repeat:
        setting = candidate.setting
        return lambda sample, rng: self.partitions(sample, setting)[setting]
