"""Selection of a partition: proposers propose, features describe the proposals, and a trained model chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs

from modeseek._common.neighbors import Neighbors
from modeseek._common.threads import Later, run_each
from modeseek._common.types import Array, IntArray, Watcher
from modeseek.meanshift.consensus import Vote, cluster_stability, memberships
from modeseek.metrics import rand_agreement
from modeseek.selection.candidates import Candidate, ClusterBounds, Selection, merge_clusters, merge_into
from modeseek.selection.choice import TIE, Choice, load_choice, with_single
from modeseek.selection.config import DEFAULT, SelectionConfig
from modeseek.selection.data import SelectionData, Subset, base_sample
from modeseek.selection.features import FEATURES, EarlyWork, candidate_features
from modeseek.selection.graph_data import fill_unknown
from modeseek.selection.hierarchy import MergeGraph, build_hierarchy
from modeseek.selection.pool import Pool, build_pool
from modeseek.selection.progress import SelectionProgress
from modeseek.selection.proposers import Proposal
from modeseek.selection.proposers.base import AS_PROPOSED
from modeseek.selection.proposers.centers import Centers
from modeseek.selection.proposers.modes import Modes
from modeseek.selection.rare import RareModes, add_rare, find_rare, split_off_rare
from modeseek.selection.refinements import REFINED_NAME
from modeseek.selection.votes import vote

STABLE = FEATURES.index("stable")
POINTS_PER_THREAD = 1000


def select_partition(
    data: SelectionData,
    *,
    seed: int,
    bounds: ClusterBounds | None = None,
    watch: Watcher | None = None,
    n_jobs: int | None = None,
    config: SelectionConfig = DEFAULT,
    knowledge: Knowledge | None = None,
) -> Selection:
    """Select a partition of data.

    Ctrl-C ends the selection early: the candidates of the finished proposers are compared, and the `interruption` of
    the result says where it ended. Before the first proposer has finished, `KeyboardInterrupt` is raised.

    Parameters
    ----------
    data : SelectionData
    seed : int
        Seed of the subsamples from which memberships and stability are computed; the partition does not depend on it.
    bounds : ClusterBounds, optional
        Bounds on the number of clusters; a single cluster is excluded if `min_clusters` is 2 or more.
    watch : callable, optional
        Called with a `Stage` at each step.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    config : SelectionConfig
    knowledge : Knowledge, optional
        Constraints on pairs of points.

    Examples
    --------
    >>> from modeseek._common.types import Geometry
    >>> from modeseek._common.points import canonical_points
    >>> from modeseek.datasets import paper_mixture
    >>> from modeseek.selection import prepare_data
    >>> X = paper_mixture(50, random_state=1)[0]
    >>> data = prepare_data(canonical_points(X, np.ones(len(X)), Geometry()))
    >>> select_partition(data, seed=0).n_clusters
    3
    """
    progress = SelectionProgress(watch)
    return Selector(data, seed, bounds or ClusterBounds(), progress, n_jobs, config, knowledge=knowledge).select()


class Knowledge(Protocol):
    """Pairs of points that are known to be in the same cluster or in different ones."""

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        ...

    def satisfied(self, labels: IntArray) -> float:
        """Return the share of the pairs that a partition satisfies."""
        ...


@dataclass(eq=False)
class Ranking:
    """Candidates in the order of their expected agreement with the truth; index `len(pool)` is the single cluster.

    The expected agreement of a candidate is its mean adjusted Rand index with all candidates, weighted by their
    probabilities.
    """

    pool: Pool
    features: Array
    choice: Choice

    def __post_init__(self) -> None:
        self.agreement = with_single(self.pool.agreement)
        self.probabilities = self.choice.probabilities(self.features, self.agreement)
        self.counts = np.array([*(int(each.labels.max()) + 1 for each in self.pool.candidates), 1])
        self.expected = self.probabilities @ self.agreement
        self.order = _descending(self.expected)

    def within(self, bounds: ClusterBounds) -> list[int]:
        """Return the candidates whose number of clusters is within the bounds, best first.

        The single cluster is last unless it is best without bounds: an upper bound should not hide that there are
        clusters.
        """
        order = self.order
        if not bounds.contains(1):
            # the probability of the single cluster can be so close to 1 that the others differ by rounding only
            several = self.probabilities[:-1]
            order = _descending(several / several.sum() @ self.agreement[:-1])
        found = [i for i in order if bounds.contains(self.counts[i])]
        return found if self.is_single(self.order[0]) else sorted(found, key=self.is_single)

    def is_single(self, i: int) -> bool:
        """Return whether a candidate is the single cluster."""
        return i == len(self.pool)

    def candidate(self, i: int) -> Candidate:
        """Return a candidate with its stability and expected agreement."""
        each = self.pool.candidates[i]
        stable, expected = float(self.features[i, STABLE]), float(self.expected[i])
        return Candidate(in_words(each.proposer), each.setting, each.labels, int(self.counts[i]), stable, expected)

    def candidates(self, chosen: Sequence[int]) -> list[Candidate]:
        """Return the candidates with the indices `chosen`, without the single cluster."""
        return [self.candidate(i) for i in chosen if not self.is_single(i)]

    def name(self, i: int) -> str:
        """Return the description of a candidate for messages."""
        return "one cluster" if self.is_single(i) else str(self.candidate(i))


@dataclass(eq=False)
class Selector:
    """One run of `select_partition`."""

    data: SelectionData
    seed: int
    bounds: ClusterBounds = field(default_factory=ClusterBounds)
    progress: SelectionProgress = field(default_factory=SelectionProgress)
    n_jobs: int | None = None
    config: SelectionConfig = DEFAULT
    choice: Choice = field(default_factory=load_choice)
    knowledge: Knowledge | None = None

    def __post_init__(self) -> None:
        # with fewer points for each thread, threads wait for the interpreter lock for most of the time
        self.n_jobs = min(effective_n_jobs(self.n_jobs), 1 + len(self.data) // POINTS_PER_THREAD)

    @cached_property
    def base(self) -> Subset:
        """The points from which subsamples are drawn."""
        return base_sample(self.data, self.config, n_jobs=self.n_jobs)

    @cached_property
    def rare(self) -> Later[RareModes | None]:
        """The rare modes of the points."""
        return Later(lambda: find_rare(self.data, self.config))

    def rank(self) -> Ranking:
        """Propose and compare candidates."""
        data, progress, n_jobs = self.data, self.progress, self.n_jobs
        early = EarlyWork.of(data, self.base, self.config)
        beside: list[Later[Any]] = [early.samples, *early.repeats, self.rare]
        pool = build_pool(data, config=self.config, n_jobs=n_jobs, progress=progress, beside=beside)

        def measure() -> Array:
            config = self._config_in_time()
            return candidate_features(data, self.base, pool, config=config, n_jobs=n_jobs, early=early)

        features = progress.finish("features", "candidates", len(pool), measure)
        if not self.data.has_coordinates:
            features = fill_unknown(features, self.choice, self.config)
        return Ranking(pool, features, self.choice)

    def _config_in_time(self) -> SelectionConfig:
        """Return the config. After Ctrl-C, it has no subsamples for reproducibility, which take longest."""
        if not self.progress.interruption:
            return self.config
        return replace(self.config, reproducibility=replace(self.config.reproducibility, n_subsamples=0))

    def select(self) -> Selection:
        """Return the selected partition."""
        ranking = self.rank()
        found = ranking.within(self.bounds)
        if not found:
            return self._outside_of_bounds(ranking)
        if self.knowledge is not None:
            found = self._by_knowledge(ranking, found, self.knowledge)
        best = found[0]
        different = self._different(ranking, found)
        runner_up = next((i for i in different if i != best), None)
        message = f"{ranking.name(best)}, expected agreement {ranking.expected[best]:.2f}"
        if runner_up is not None:
            reasons = " and ".join(ranking.choice.reasons(ranking.features, ranking.agreement, best, runner_up))
            message += f"; preferred to {ranking.name(runner_up)}" + (f" because {reasons}" if reasons else "")
        if len(self.data) > self.config.features.graph_points:
            message += f"; compared on samples of {self.config.features.graph_points:,} rows or fewer"
        if self.data.approximate:
            message += "; nearest neighbours are approximate"
        candidates = ranking.candidates(different)
        chosen = None if ranking.is_single(best) else ranking.pool.candidates[best]
        labels = np.zeros(len(self.data), dtype=np.int32) if chosen is None else chosen.labels
        labels, halves = self._with_rare(labels)
        if halves:
            k = int(labels.max()) + 1
            message += f"; {k - ranking.counts[best]} rare clusters were split off, {k} clusters in all"
            if chosen is not None:
                candidates[0] = candidates[0]._replace(labels=labels, n_clusters=k)
        return self._selection(labels, chosen, message, candidates, halves)

    def _with_rare(self, labels: IntArray) -> tuple[IntArray, list[IntArray]]:
        """Split off rare clusters, unless the number of clusters would then be outside of the bounds."""
        if self.progress.interruption:
            return labels, []
        found, halves = split_off_rare(labels, self.rare(), self.config)
        return (found, halves) if self.bounds.contains(int(found.max()) + 1) else (labels, [])

    def _by_knowledge(self, ranking: Ranking, found: Sequence[int], knowledge: Knowledge) -> list[int]:
        """Return candidates in the order of the mean of expected agreement and share of satisfied constraints."""
        one = np.zeros(len(self.data), dtype=np.int32)
        labels = [one if ranking.is_single(i) else ranking.pool.candidates[i].labels for i in found]
        known = np.array([knowledge.satisfied(each) for each in labels])
        share = knowledge.n_pairs / (knowledge.n_pairs + self.config.knowledge_prior)
        score = (1 - share) * ranking.expected[list(found)] + share * known
        return [found[i] for i in np.argsort(-score, kind="stable")]

    def _outside_of_bounds(self, ranking: Ranking) -> Selection:
        """Merge clusters of a finer candidate, or cut the tree of modes, because no candidate is within the bounds."""
        if self.progress.interruption:
            raise KeyboardInterrupt("ModeSeek: interrupted before a partition with the given number of clusters")
        low, high = self.bounds
        finer = [i for i in ranking.order if ranking.counts[i] > high]
        candidates = ranking.candidates(self._different(ranking, ranking.order))
        chosen: Proposal | None
        if finer:
            chosen, name = ranking.pool.candidates[finer[0]], ranking.name(finer[0])
        else:
            chosen = Modes(self.config).with_clusters(self.data, low)
            if chosen.labels.max() + 1 < low and self.data.has_coordinates:
                chosen = Centers(self.config).with_clusters(self.data, low)
            count = int(chosen.labels.max()) + 1
            name = f"{count} clusters by {in_words(chosen.proposer)}"
            if count < low:
                best = ranking.order[0]
                name = f"{ranking.name(best)}; no partition with {low} clusters or more was found"
                chosen = None if ranking.is_single(best) else ranking.pool.candidates[best]
        labels = np.zeros(len(self.data), dtype=np.int32) if chosen is None else chosen.labels
        found = self._selection(labels, chosen, name, candidates)
        if found.n_clusters <= high:
            return found
        if self.data.has_coordinates:
            return merge_clusters(found, self.data.points, int(high))
        return self._merged_on_graph(found, int(high))

    def _merged_on_graph(self, found: Selection, n_clusters: int) -> Selection:
        edges = MergeGraph.of(Neighbors(self.data.indices, self.data.distances), self.data.weights)
        hierarchy = build_hierarchy(found.labels, edges)
        if hierarchy.counts[0] > n_clusters:
            note = f"no fewer than {hierarchy.counts[0]}, because the graph has no edges between these"
            return replace(found, message=f"{found.message}; {note}")
        return merge_into(found, hierarchy.cut(n_clusters)[np.unique(found.labels, return_index=True)[1]])

    def _selection(
        self,
        labels: IntArray,
        chosen: Proposal | None,
        message: str,
        candidates: Sequence[Candidate],
        halves: Sequence[IntArray] = (),
    ) -> Selection:
        n, k = len(labels), int(labels.max()) + 1
        votes = () if chosen is None else self._votes(chosen)
        if halves:
            one = np.zeros(n, dtype=np.int32)
            votes = add_rare(votes or [(np.arange(n), one)] * len(halves), halves)
        weights, interruption = self.data.weights, self.progress.interruption
        stability = 1.0
        if votes:
            stability = float(np.mean([rand_agreement(labels[rows], found) for rows, found in votes]))
        if candidates and candidates[0].labels is labels:
            candidates = [candidates[0]._replace(stability=stability), *candidates[1:]]
        known = votes or [(np.arange(n), labels)]
        measures: tuple[Callable[..., Any], ...] = memberships, cluster_stability
        shares, cluster_stabilities = run_each(lambda measure: measure(labels, known, weights), measures, self.n_jobs)
        return Selection(
            labels.astype(np.intp),
            shares,
            cluster_stabilities,
            votes,
            stability,
            tuple(candidates),
            f"{message}; interrupted: {interruption}" if interruption else message,
            interruption,
            has_confidence=k == 1 or not interruption or len(votes) >= self.config.votes.min_votes,
            mode_setting=chosen.setting if chosen is not None and _is_cut_of_modes(chosen) and not halves else None,
        )

    def _votes(self, chosen: Proposal) -> tuple[Vote, ...]:
        """Return the partitions of random subsamples; after Ctrl-C, those that were computed before."""
        if self.progress.interruption:
            return ()
        count = self.config.votes.n_subsamples
        seeds = [(self.seed, number) for number in range(count)]
        votes = run_each(lambda seed: vote(self.data, self.base, chosen, seed, self.config), seeds, self.n_jobs)
        return tuple(self.progress.collect("confidence", "subsamples", count, votes))

    def _different(self, ranking: Ranking, order: Sequence[int]) -> list[int]:
        """Return the first candidates that differ in the number of clusters and in the partition from those before."""
        kept: list[int] = []
        agreement = ranking.pool.agreement
        for i in order:
            if len(kept) == self.config.max_alternatives:
                break
            if any(ranking.counts[i] == ranking.counts[j] for j in kept):
                continue
            partitions = [] if ranking.is_single(i) else [j for j in kept if not ranking.is_single(j)]
            if not any(agreement[i, j] >= self.config.same_agreement for j in partitions):
                kept.append(i)
        return kept


def _descending(scores: Array) -> list[int]:
    """Return the order of candidates from the highest score down; of scores equal up to rounding, the earlier first."""
    return [int(i) for i in np.argsort(-np.round(scores / TIE), kind="stable")]


def in_words(origin: str) -> str:
    """Return the name of a proposer, or of a refinement, for messages."""
    return "refined mixture" if origin == REFINED_NAME else origin.replace("_", " ")


def _is_cut_of_modes(proposal: Proposal) -> bool:
    return proposal.proposer == Modes.name and proposal.variant == AS_PROPOSED
