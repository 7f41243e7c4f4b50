"""Which partition: proposers propose, subsamples judge, and a test for a single cluster decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray, Stage, Watcher
from modeseek.meanshift.consensus import Vote, cluster_stability, memberships
from modeseek.metrics import rand_agreement
from modeseek.selection.candidates import FEWEST_VOTES, Candidate, ClusterBounds, Selection, merge_clusters
from modeseek.selection.modes import level_for
from modeseek.selection.proposers import (
    KnnGraph,
    Retrial,
    Subsample,
    by_communities,
    by_mixture,
    by_modes,
    excess_prominence,
    subsample,
)
from modeseek.selection.proposers.gaussians import FEW
from modeseek.selection.proposers.proposals import Partitions, Setting, is_trivial, trees

__all__ = ["Candidate", "ClusterBounds", "Selection", "merge_clusters", "select_partition"]

GRIDS: Mapping[str, Callable[..., Partitions]] = {"modes": by_modes, "communities": by_communities}
# from this dimension on, density is too low for saddles and shared neighbours work better; below it they split curves
COMMUNITIES_FROM = 3.6
THINNINGS = 16
# what settings next to it say about a setting, and what a cluster more is worth: coarse partitions are stable too
NEXT_TO_IT, FINER = 0.25, 0.01
# one cluster, unless a partition is as stable as those of noise hardly are and, for modes, a second one rises by this;
# where it rises clearly, less will do
SURE, EXCESS_PROMINENCE, CLEAR_PROMINENCE, STABILITY = 0.7, 0.6, 1.5, 0.5
# partitions that agree so well are the same
ALIKE = 0.9


Polish: TypeAlias = Callable[[IntArray, IntArray], IntArray]


class _Course:
    """How far a choice has come: it tells who watches, and remembers what Ctrl-C cut short."""

    def __init__(self, watch: Watcher | None):
        self._watch, self.cut = watch, ""

    def tell(self, name: str, done: int = 0, total: int | None = None) -> None:
        if self._watch is not None:
            self._watch(Stage(name, done, total, "" if total is None else "thinnings"))

    def finish(self, last: Callable[[], bool]) -> bool:
        """Do a short last step to its end; a second Ctrl-C gets through."""
        try:
            return last()
        except KeyboardInterrupt:
            self.cut = self.cut or "without a confidence"
            return last()


def select_partition(
    graph: KnnGraph,
    *,
    seed: int,
    bounds: ClusterBounds | None = None,
    polish: Polish | None = None,
    watch: Watcher | None = None,
) -> Selection:
    """Choose a partition of a graph.

    Ctrl-C ends it early: proposals are then judged by the thinnings that were done, and `cut` says so. Before the first
    of them there is nothing to go by, and it is raised.

    Parameters
    ----------
    graph : KnnGraph
    seed : int
        Of the thinnings.
    bounds : ClusterBounds, optional
    polish : callable, optional
        (labels, rows they are of) -> labels: a last step that knows the points themselves. It is applied to the chosen
        partition and to those of thinned data that it is compared with.
    watch : callable, optional
        Told of each stage, as a `Stage`.
    """
    bounds, course = bounds or ClusterBounds(), _Course(watch)
    candidates = [each for each in _candidates(graph, seed, course) if bounds.contains(each.n_clusters)]
    if not candidates and bounds.min_clusters > 1:
        if course.cut:
            raise KeyboardInterrupt  # nothing so far has as many clusters as were asked for
        found = _from_trees(graph, bounds.min_clusters, seed, course)
        candidates = [each for each in found if bounds.contains(each.n_clusters)]
    best = candidates[0] if candidates else None
    # who bounds for two or more has answered whether there is anything
    if best is None or (bounds.min_clusters == 1 and not course.finish(partial(_passes, best, graph))):
        return _one_cluster(len(graph.weights), tuple(candidates), course.cut)
    labels = best.labels if polish is None else polish(best.labels, np.arange(len(best.labels)))
    message = f"{int(labels.max()) + 1} clusters by {best.proposer}, stability {best.stability:.2f}"
    if best.proposer == "mixture" and len(graph.weights) < FEW:
        message += "; so few points may look like this by chance"
    votes = _heard(_votes(graph, candidates, bounds, seed=seed + 1, polish=polish), course)
    k = int(labels.max()) + 1
    check_memory(
        32.0 * len(labels) * k,
        f"how sure each of {len(labels):,} points is of {k:,} clusters",
        'Give max_clusters, or take sketch="sample".',
    )
    shares = memberships(labels, votes or [(np.arange(len(labels)), labels)], graph.weights).toarray()
    firm = cluster_stability(labels, votes, graph.weights)
    others = tuple(_different(candidates))
    return Selection(labels, shares, firm, votes, best.stability, others, _said(message, course.cut), course.cut)


def _said(message: str, cut: str) -> str:
    return f"{message}; interrupted: {cut}" if cut else message


def _heard(votes: Iterator[Vote], course: _Course) -> tuple[Vote, ...]:
    """Return the votes that there is time for."""
    heard: list[Vote] = []
    if course.cut:
        return ()
    name = "confidence"
    try:
        course.tell(name, 0, THINNINGS)
        for vote in votes:
            heard.append(vote)
            course.tell(name, len(heard), THINNINGS)
    except KeyboardInterrupt:
        enough = len(heard) >= FEWEST_VOTES
        course.cut = f"confidence by {len(heard)} of {THINNINGS} thinnings" if enough else "without a confidence"
    return tuple(heard)


def _candidates(graph: KnnGraph, seed: int, course: _Course | None = None) -> list[Candidate]:
    """Return what the proposer that suits the data proposes, from the best on.

    A mixture that was admitted comes before modes, unless the best of them say the same.
    """
    course = course or _Course(None)
    if graph.dimension >= COMMUNITIES_FROM:
        return _judged(graph, "communities", seed, course)
    modes = _judged(graph, "modes", seed, course)
    if course.cut:
        return modes
    try:
        course.tell("trying a mixture")
        mixture = by_mixture(graph, np.random.default_rng(seed), clear=excess_prominence(graph) >= CLEAR_PROMINENCE)
    except KeyboardInterrupt:
        course.cut = "no mixture was tried"
        return modes
    if mixture is None:
        return modes
    if modes and rand_agreement(mixture.labels, modes[0].labels) >= ALIKE and _passes(modes[0], graph):
        return modes
    count = int(mixture.labels.max()) + 1
    first = Candidate("mixture", mixture.setting, mixture.labels, count, mixture.stability, mixture.stability)
    return [first, *modes]


def _judged(graph: KnnGraph, proposer: str, seed: int, course: _Course | None = None) -> list[Candidate]:
    """Return all proposals of a proposer that are not trivial, from the best score down."""
    course = course or _Course(None)
    course.tell(f"proposals by {proposer}")
    full = GRIDS[proposer](graph)
    kept = {setting: labels for setting, labels in full.items() if not is_trivial(labels, graph.weights)}
    # what is trivial comes back as nothing: so it says of the settings next to it
    stability = dict.fromkeys(full, 0.0) | _stabilities(graph, kept, GRIDS[proposer], seed, course)
    return _ranked(proposer, kept, stability, graph.weights)


def _from_trees(graph: KnnGraph, n_clusters: int, seed: int, course: _Course) -> list[Candidate]:
    """Return what modes give at the level that leaves so many clusters, for the density by each count of neighbours."""
    full: Partitions = {}
    stability: dict[Setting, float] = {}
    for count, tree in trees(graph).items():
        setting = float(count), float(level_for(tree, n_clusters) * np.sqrt(count) / 2.0)
        proposed = by_modes(graph, setting)
        try:
            stability |= _stabilities(graph, proposed, partial(by_modes, only=setting), seed, course)
        except KeyboardInterrupt:
            if not full:
                raise
            course.cut = f"{len(full)} of {len(graph.counts)} densities were asked"
            break
        full |= proposed
        if course.cut:
            break
    return _ranked("modes", full, stability, graph.weights)


def _stabilities(
    graph: KnnGraph, full: Partitions, propose: Callable[[KnnGraph], Partitions], seed: int, course: _Course
) -> dict[Setting, float]:
    """Return the mean adjusted Rand index of partitions with what is proposed of thinned data at their setting."""
    name = "judging proposals"
    total, done = dict.fromkeys(full, 0.0), 0
    rng = np.random.default_rng(seed)
    try:
        course.tell(name, done, THINNINGS)
        for _ in range(THINNINGS):
            some = subsample(graph, rng)
            again = propose(some.graph)
            # all or none of a thinning counts
            agreed = {
                each: rand_agreement(full[each][some.rows], labels) for each, labels in again.items() if each in full
            }
            total, done = {each: total[each] + agreed.get(each, 0.0) for each in total}, done + 1
            course.tell(name, done, THINNINGS)
    except KeyboardInterrupt:
        if not done:
            raise
        if done < THINNINGS:
            course.cut = f"judged by {done} of {THINNINGS} thinnings"
        else:
            course.cut = "without a confidence"
    return {each: agreement / done for each, agreement in total.items()}


def _ranked(proposer: str, full: Partitions, stability: Mapping[Setting, float], weights: Array) -> list[Candidate]:
    found = []
    for setting, labels in full.items():
        shares = np.bincount(labels, weights=weights) / weights.sum()
        score = _smoothed(stability, setting) + FINER * float(-np.log(np.square(shares).sum()))
        found.append(Candidate(proposer, setting, labels, len(shares), stability[setting], score))
    # of equals the first proposed, so that nothing depends on how a sort treats them
    return sorted(found, key=lambda each: -each.score)


def _smoothed(stability: Mapping[Setting, float], setting: Setting) -> float:
    """Return the stability of a setting, in part that of the settings next to it in the grid."""
    first, second = (sorted({each[axis] for each in stability}) for axis in (0, 1))
    i, j = first.index(setting[0]), second.index(setting[1])
    around = [
        stability[a, b]
        for a in first[max(i - 1, 0) : i + 2]
        for b in second[max(j - 1, 0) : j + 2]
        if (a, b) != setting and (a, b) in stability
    ]
    own = stability[setting]
    return (1.0 - NEXT_TO_IT) * own + NEXT_TO_IT * (float(np.mean(around)) if around else own)


def _passes(best: Candidate, graph: KnnGraph) -> bool:
    if best.proposer == "mixture":
        return True  # it was asked before it was admitted
    if best.proposer == "communities":
        return best.stability >= SURE
    risen = excess_prominence(graph)
    return risen >= EXCESS_PROMINENCE and best.stability >= (STABILITY if risen >= CLEAR_PROMINENCE else SURE)


def _one_cluster(n: int, candidates: tuple[Candidate, ...], cut: str) -> Selection:
    message = "one cluster: no partition is clear of what chance makes of so many points"
    labels = np.zeros(n, dtype=np.intp)
    others = tuple(_different(list(candidates)))
    return Selection(labels, np.ones((n, 1)), np.ones(1), (), 1.0, others, _said(message, cut), cut)


def _votes(
    graph: KnnGraph, candidates: Sequence[Candidate], bounds: ClusterBounds, *, seed: int, polish: Polish | None
) -> Iterator[Vote]:
    """Yield what the chosen proposer and setting make of fresh thinnings, and of which points."""
    best, rng = candidates[0], np.random.default_rng(seed)
    retrial = Retrial(best.setting) if best.proposer == "mixture" else None
    for _ in range(THINNINGS):
        some = subsample(graph, rng)
        found = _again(best, some) if retrial is None else _retried(retrial, candidates, bounds, some, rng)
        yield some.rows, found if polish is None else polish(found, some.rows)


def _again(best: Candidate, some: Subsample) -> IntArray:
    """Return what the proposer and setting of a candidate make of a thinned graph."""
    return GRIDS[best.proposer](some.graph, best.setting)[best.setting]


def _retried(
    retrial: Retrial, candidates: Sequence[Candidate], bounds: ClusterBounds, some: Subsample, rng: np.random.Generator
) -> IntArray:
    """Return what the mixture makes of a thinned graph; if it is not admitted there, what the next best does."""
    clear = excess_prominence(some.graph) >= CLEAR_PROMINENCE
    found = retrial(some.graph, candidates[0].labels[some.rows], rng, clear=clear)
    if found is not None:
        return found
    if len(candidates) > 1 and (bounds.min_clusters > 1 or _passes(candidates[1], some.graph)):
        return _again(candidates[1], some)
    return np.zeros(len(some.rows), dtype=np.intp)


def _different(candidates: list[Candidate], *, most: int = 5) -> list[Candidate]:
    """Return the first few that are not nearly the same as one before."""
    kept: list[Candidate] = []
    for each in candidates:
        if len(kept) < most and all(rand_agreement(each.labels, other.labels) < ALIKE for other in kept):
            kept.append(each)
    return kept
