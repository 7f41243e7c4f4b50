"""Selection of a partition: proposers propose, subsamples judge, and a test decides whether there are clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np

from modeseek._common.resources import check_memory
from modeseek._common.types import IntArray, Watcher
from modeseek.meanshift.consensus import Vote, cluster_stability, memberships
from modeseek.metrics import rand_agreement
from modeseek.selection.candidates import Candidate, ClusterBounds, Selection
from modeseek.selection.grid_proposers import PROPOSERS, Modes
from modeseek.selection.knn_graph import KnnGraph, subsample
from modeseek.selection.progress import SelectionProgress
from modeseek.selection.rules_config import DEFAULT, SelectionConfig

__all__ = ["select_partition"]

# (labels, points that they belong to) -> labels
Refinement: TypeAlias = Callable[[IntArray, IntArray], IntArray]


def select_partition(
    graph: KnnGraph,
    *,
    seed: int,
    bounds: ClusterBounds | None = None,
    refine: Refinement | None = None,
    watch: Watcher | None = None,
    config: SelectionConfig = DEFAULT,
) -> Selection:
    """Select a partition of a nearest-neighbour graph.

    Ctrl-C ends the selection early. The candidates are then judged by the subsamples so far, and `interruption` says
    so. Before the first subsample, `KeyboardInterrupt` is raised.

    Parameters
    ----------
    graph : KnnGraph
    seed : int
        Seed of the subsamples.
    bounds : ClusterBounds, optional
        Bounds on the number of clusters. The test for a single cluster is skipped if `min_clusters` is 2 or more.
    refine : callable, optional
        (labels, rows) -> labels: a last step, applied to the selected partition and to those of subsamples.
    watch : callable, optional
        Called with a `Stage` at each step.
    config : SelectionConfig

    Examples
    --------
    >>> from modeseek._common.types import Geometry
    >>> from modeseek._common.points import canonical_points
    >>> from modeseek.datasets import paper_mixture
    >>> from modeseek.selection import build_knn_graph
    >>> X = paper_mixture(50, random_state=1)[0]
    >>> graph = build_knn_graph(canonical_points(X, np.ones(len(X)), Geometry()))
    >>> select_partition(graph, seed=0).message
    '3 clusters by mixture, stability 0.97'
    """
    progress = SelectionProgress(watch)
    return Selector(graph, seed, bounds or ClusterBounds(), refine, progress, config).select()


@dataclass(eq=False)
class Selector:
    """One run of `select_partition`."""

    graph: KnnGraph
    seed: int
    bounds: ClusterBounds = field(default_factory=ClusterBounds)
    refine: Refinement | None = None
    progress: SelectionProgress = field(default_factory=SelectionProgress)
    config: SelectionConfig = DEFAULT

    def __post_init__(self) -> None:
        self.proposers = [PROPOSERS[name](self.config) for name in self.config.proposers]
        self._by_name = {each.name: each for each in (Modes(self.config), *self.proposers)}

    def select(self) -> Selection:
        """Return the selected partition."""
        candidates = self._within_bounds(self.candidates())
        least = self.bounds.min_clusters
        if not candidates and least > 1:
            if self.progress.interruption:
                raise KeyboardInterrupt  # no candidate so far has as many clusters as requested
            more = Modes(self.config).propose_n_clusters(self.graph, least, self.seed, self.progress)
            candidates = self._within_bounds(more)
        if not candidates or (least == 1 and not self.progress.finish(partial(self._is_significant, candidates[0]))):
            labels = np.zeros(len(self.graph), dtype=np.intp)
            message = "one cluster: no partition is more stable than expected for unclustered data"
            return self._selection(labels, (), 1.0, message, candidates)
        best = candidates[0]
        labels = self._refined(best.labels, np.arange(len(self.graph)))
        n, k = len(labels), int(labels.max()) + 1
        memory = f"the memberships of {n:,} points in {k:,} clusters"
        check_memory(32.0 * n * k, memory, 'Set max_clusters, or sketch="sample".')
        note = self._by_name[best.proposer].note(self.graph)
        message = f"{k} clusters by {best.proposer}, stability {best.stability:.2f}" + (f"; {note}" if note else "")
        return self._selection(labels, self._collect_votes(candidates), best.stability, message, candidates)

    def candidates(self) -> list[Candidate]:
        """Return the candidates of all proposers that apply, best first.

        The candidates of a later proposer precede those of earlier ones, unless the best of both are the same partition
        and the earlier one is significant.
        """
        found: list[Candidate] = []
        tried = False
        for proposer in self.proposers:
            if self.progress.interruption or not proposer.applies(self.graph):
                continue
            try:
                new = proposer.propose(self.graph, self.seed, self.progress)
            except KeyboardInterrupt:
                if not tried:
                    raise
                self.progress.interruption = f"no {proposer.name} was tried"
                break
            tried = True
            if new and not (found and self._same(new[0], found[0]) and self._is_significant(found[0])):
                found = [*new, *found]
        return found

    def _selection(
        self, labels: IntArray, votes: tuple[Vote, ...], stability: float, message: str, candidates: list[Candidate]
    ) -> Selection:
        interruption, weights = self.progress.interruption, self.graph.weights
        cut_short = interruption and int(labels.max()) > 0 and len(votes) < self.config.min_votes
        return Selection(
            labels,
            memberships(labels, votes or [(np.arange(len(labels)), labels)], weights).toarray(),
            cluster_stability(labels, votes, weights),
            votes,
            stability,
            self._different(candidates),
            f"{message}; interrupted: {interruption}" if interruption else message,
            interruption,
            has_confidence=not cut_short,
        )

    def _collect_votes(self, candidates: Sequence[Candidate]) -> tuple[Vote, ...]:
        """Return the partitions of random subsamples, as many as there are before Ctrl-C."""
        progress, n_subsamples = self.progress, self.config.n_subsamples
        votes: list[Vote] = []
        if progress.interruption:
            return ()
        try:
            progress.report("confidence", 0, n_subsamples)
            for vote in self._votes(candidates):
                votes.append(vote)
                progress.report("confidence", len(votes), n_subsamples)
        except KeyboardInterrupt:
            computed = f"confidence by {len(votes)} of {n_subsamples} subsamples"
            enough = len(votes) >= self.config.min_votes
            progress.interruption = computed if enough else "no confidence was computed"
        return tuple(votes)

    def _votes(self, candidates: Sequence[Candidate]) -> Iterator[Vote]:
        """Yield the rows of random subsamples, and their partitions at the setting of the best candidate.

        If a subsample does not reproduce the best candidate, its vote is that of the second best one, or one cluster.
        """
        rng = np.random.default_rng(self.seed + 1)
        requested = self.bounds.min_clusters > 1
        best, *others = (self._by_name[each.proposer].repeat(each) for each in candidates[:2])
        for _ in range(self.config.n_subsamples):
            sample = subsample(self.graph, rng, self.config)
            labels = best(sample, rng)
            if labels is None and others and (requested or self._is_significant(candidates[1], sample)):
                labels = others[0](sample, rng)
            if labels is None:
                labels = np.zeros(len(sample), dtype=np.intp)
            yield sample.rows, self._refined(labels, sample.rows)

    def _within_bounds(self, candidates: list[Candidate]) -> list[Candidate]:
        return [each for each in candidates if self.bounds.contains(each.n_clusters)]

    def _is_significant(self, candidate: Candidate, graph: KnnGraph | None = None) -> bool:
        return self._by_name[candidate.proposer].is_significant(candidate, graph or self.graph)

    def _refined(self, labels: IntArray, rows: IntArray) -> IntArray:
        return labels if self.refine is None else self.refine(labels, rows)

    def _same(self, one: Candidate, other: Candidate) -> bool:
        return rand_agreement(one.labels, other.labels) >= self.config.same_agreement

    def _different(self, candidates: list[Candidate]) -> tuple[Candidate, ...]:
        """Return the first few candidates that are not the same partition as one before."""
        kept: list[Candidate] = []
        for each in candidates:
            if len(kept) < self.config.max_alternatives and not any(self._same(each, other) for other in kept):
                kept.append(each)
        return tuple(kept)
