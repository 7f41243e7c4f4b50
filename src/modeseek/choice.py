"""Which partition: the view that suits the data proposes, thinning judges, a gate asks whether there is anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from modeseek.consensus import Vote, cluster_stability, counterparts, memberships
from modeseek.metrics import rand_agreement
from modeseek.prominence import level_for
from modeseek.types import Array, IntArray
from modeseek.views import Landscape, Retrial, Thinned, by_communities, by_mixture, by_modes, rise, thin
from modeseek.views.gaussians import FEW
from modeseek.views.proposals import Partitions, Setting, is_trivial, trees

__all__ = ["Candidate", "Choice", "Wishes", "choose", "merged"]

GRIDS: Mapping[str, Callable[..., Partitions]] = {"modes": by_modes, "communities": by_communities}
# from this dimension on, density is too thin for valleys and shared neighbours see more; below, they break up curves
COMMUNITIES_FROM = 3.6
THINNINGS = 16
# what settings next to it say about a setting, and what a cluster more is worth: coarse partitions are stable too
NEXT_TO_IT, FINER = 0.25, 0.01
# one cluster, unless a partition is as stable as those of noise hardly are and, for modes, a second one rises by this;
# where it rises clearly, less will do
SURE, RISE, CLEAR_RISE, STABILITY = 0.7, 0.6, 1.5, 0.5
# partitions that agree so well are the same
ALIKE = 0.9


class Candidate(NamedTuple):
    """A partition that a view proposed.

    Attributes
    ----------
    view : str
    setting : tuple
        Of the view.
    labels : (n,) integer array
    n_clusters : int
    stability : float
        Mean adjusted Rand index with the view's partitions of thinned data.
    score : float
        Stability, with that of settings next to it and a little for each cluster more: what the choice goes by.
    """

    view: str
    setting: Setting
    labels: IntArray
    n_clusters: int
    stability: float
    score: float


class Wishes(NamedTuple):
    """How many clusters a user wants at least and at most."""

    least: int = 1
    most: float = np.inf

    def allow(self, n_clusters: int) -> bool:
        """Return whether a number of clusters is wanted."""
        return self.least <= n_clusters <= self.most


@dataclass(frozen=True, eq=False)
class Choice:
    """The partition chosen, and what it was chosen from.

    Attributes
    ----------
    labels : (n,) integer array
    memberships : (n, c) array
        Share of thinned data in which a point, where it was kept, went with each cluster; rows add up to 1.
    cluster_stability : (c,) array
        Mean Jaccard index of each cluster with the closest of thinned data, among the points that were kept.
    votes : tuple of (rows, labels)
        The partitions of thinned data behind both.
    stability : float
    candidates : tuple of Candidate
        Different ones, from the best on.
    message : str
    """

    labels: IntArray
    memberships: Array
    cluster_stability: Array
    votes: tuple[Vote, ...]
    stability: float
    candidates: tuple[Candidate, ...]
    message: str

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.memberships.shape[1]


Polish: TypeAlias = Callable[[IntArray, IntArray], IntArray]


def choose(landscape: Landscape, *, seed: int, wishes: Wishes | None = None, polish: Polish | None = None) -> Choice:
    """Choose a partition of a landscape.

    Parameters
    ----------
    landscape : Landscape
    seed : int
        Of the thinnings.
    wishes : Wishes, optional
    polish : callable, optional
        (labels, rows they are of) -> labels: a last step that knows the points themselves. It is applied to the chosen
        partition and to those of thinned data that it is compared with.
    """
    wishes = wishes or Wishes()
    candidates = [each for each in _candidates(landscape, seed) if wishes.allow(each.n_clusters)]
    if not candidates and wishes.least > 1:
        candidates = [each for each in _from_trees(landscape, wishes.least, seed) if wishes.allow(each.n_clusters)]
    best = candidates[0] if candidates else None
    # who wishes for two or more has answered whether there is anything
    if best is None or (wishes.least == 1 and not _passes(best, landscape)):
        return _one_cluster(len(landscape.weights), tuple(candidates))
    labels = best.labels if polish is None else polish(best.labels, np.arange(len(best.labels)))
    message = f"{int(labels.max()) + 1} clusters by {best.view}, stability {best.stability:.2f}"
    if best.view == "mixture" and len(landscape.weights) < FEW:
        message += "; so few points may look like this by chance"
    votes = tuple(_votes(landscape, candidates, wishes, seed=seed + 1, polish=polish))
    shares = memberships(labels, votes, landscape.weights).toarray()
    firm = cluster_stability(labels, votes, landscape.weights)
    return Choice(labels, shares, firm, votes, best.stability, tuple(_different(candidates)), message)


def merged(choice: Choice, points: Array, n_clusters: int) -> Choice:
    """Merge the clusters of a choice, those with the closest centres first, until so many are left."""
    from sklearn.cluster import AgglomerativeClustering  # slow to import, and seldom needed

    sums = np.zeros((choice.n_clusters, points.shape[1]))
    np.add.at(sums, choice.labels, points)
    centres = sums / np.bincount(choice.labels)[:, None]
    into = AgglomerativeClustering(n_clusters, linkage="average").fit_predict(centres)
    shares = np.column_stack([choice.memberships[:, into == c].sum(axis=1) for c in range(n_clusters)])
    message = f"{n_clusters} clusters as wished, merged from: {choice.message}"
    labels = shares.argmax(axis=1)
    votes = tuple((rows, into[counterparts(found, choice.labels[rows])]) for rows, found in choice.votes)
    firm = cluster_stability(labels, votes)
    return replace(choice, labels=labels, memberships=shares, cluster_stability=firm, votes=votes, message=message)


def _candidates(landscape: Landscape, seed: int) -> list[Candidate]:
    """Return what the view that suits the data proposes, from the best on.

    A mixture that was admitted comes before modes, unless the best of them say the same.
    """
    if landscape.dimension >= COMMUNITIES_FROM:
        return _judged(landscape, "communities", seed)
    modes = _judged(landscape, "modes", seed)
    mixture = by_mixture(landscape, np.random.default_rng(seed), clear=rise(landscape) >= CLEAR_RISE)
    if mixture is None:
        return modes
    if modes and rand_agreement(mixture.labels, modes[0].labels) >= ALIKE and _passes(modes[0], landscape):
        return modes
    count = int(mixture.labels.max()) + 1
    first = Candidate("mixture", mixture.setting, mixture.labels, count, mixture.stability, mixture.stability)
    return [first, *modes]


def _judged(landscape: Landscape, view: str, seed: int) -> list[Candidate]:
    """Return all proposals of a view that are not trivial, from the best score down."""
    full = GRIDS[view](landscape)
    kept = {setting: labels for setting, labels in full.items() if not is_trivial(labels, landscape.weights)}
    # what is trivial comes back as nothing: so it says of the settings next to it
    stability = dict.fromkeys(full, 0.0) | _stabilities(landscape, kept, GRIDS[view], seed)
    return _ranked(view, kept, stability, landscape.weights)


def _from_trees(landscape: Landscape, n_clusters: int, seed: int) -> list[Candidate]:
    """Return what modes give at the level that leaves so many clusters, for the density by each count of neighbours."""
    full: Partitions = {}
    stability: dict[Setting, float] = {}
    for count, tree in trees(landscape).items():
        setting = float(count), float(level_for(tree, n_clusters) * np.sqrt(count) / 2.0)
        full |= by_modes(landscape, setting)
        stability |= _stabilities(landscape, {setting: full[setting]}, partial(by_modes, only=setting), seed)
    return _ranked("modes", full, stability, landscape.weights)


def _stabilities(
    landscape: Landscape, full: Partitions, propose: Callable[[Landscape], Partitions], seed: int
) -> dict[Setting, float]:
    """Return the mean adjusted Rand index of partitions with what is proposed of thinned data at their setting."""
    total = dict.fromkeys(full, 0.0)
    rng = np.random.default_rng(seed)
    for _ in range(THINNINGS):
        some = thin(landscape, rng)
        for setting, labels in propose(some.landscape).items():
            if setting in total:
                total[setting] += rand_agreement(full[setting][some.rows], labels) / THINNINGS
    return total


def _ranked(view: str, full: Partitions, stability: Mapping[Setting, float], weights: Array) -> list[Candidate]:
    found = []
    for setting, labels in full.items():
        shares = np.bincount(labels, weights=weights) / weights.sum()
        score = _smoothed(stability, setting) + FINER * float(-np.log(np.square(shares).sum()))
        found.append(Candidate(view, setting, labels, len(shares), stability[setting], score))
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


def _passes(best: Candidate, landscape: Landscape) -> bool:
    if best.view == "mixture":
        return True  # it was asked before it was admitted
    if best.view == "communities":
        return best.stability >= SURE
    risen = rise(landscape)
    return risen >= RISE and best.stability >= (STABILITY if risen >= CLEAR_RISE else SURE)


def _one_cluster(n: int, candidates: tuple[Candidate, ...]) -> Choice:
    message = "one cluster: no partition is clear of what chance makes of so many points"
    labels = np.zeros(n, dtype=np.intp)
    return Choice(labels, np.ones((n, 1)), np.ones(1), (), 1.0, tuple(_different(list(candidates))), message)


def _votes(
    landscape: Landscape, candidates: Sequence[Candidate], wishes: Wishes, *, seed: int, polish: Polish | None
) -> Iterator[Vote]:
    """Yield what the chosen view and setting make of fresh thinnings, and of which points."""
    best, rng = candidates[0], np.random.default_rng(seed)
    retrial = Retrial(best.setting) if best.view == "mixture" else None
    for _ in range(THINNINGS):
        some = thin(landscape, rng)
        found = _again(best, some) if retrial is None else _retried(retrial, candidates, wishes, some, rng)
        yield some.rows, found if polish is None else polish(found, some.rows)


def _again(best: Candidate, some: Thinned) -> IntArray:
    """Return what the view and setting of a candidate make of a thinned landscape."""
    return GRIDS[best.view](some.landscape, best.setting)[best.setting]


def _retried(
    retrial: Retrial, candidates: Sequence[Candidate], wishes: Wishes, some: Thinned, rng: np.random.Generator
) -> IntArray:
    """Return what the mixture makes of a thinned landscape; if it is not admitted there, what the next best does."""
    clear = rise(some.landscape) >= CLEAR_RISE
    found = retrial(some.landscape, candidates[0].labels[some.rows], rng, clear=clear)
    if found is not None:
        return found
    if len(candidates) > 1 and (wishes.least > 1 or _passes(candidates[1], some.landscape)):
        return _again(candidates[1], some)
    return np.zeros(len(some.rows), dtype=np.intp)


def _different(candidates: list[Candidate], *, most: int = 5) -> list[Candidate]:
    """Return the first few that are not nearly the same as one before."""
    kept: list[Candidate] = []
    for each in candidates:
        if len(kept) < most and all(rand_agreement(each.labels, other.labels) < ALIKE for other in kept):
            kept.append(each)
    return kept
