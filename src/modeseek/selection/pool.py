"""The pool: distinct candidates of a data set, how often each was proposed, and how well they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modeseek._common.threads import run_each
from modeseek._common.types import Array, IntArray
from modeseek.selection.config import DEFAULT, PoolConfig, SelectionConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.progress import SelectionProgress
from modeseek.selection.proposers import PROPOSERS, Proposal
from modeseek.selection.proposers.samples import draw
from modeseek.selection.refinements import REFINED_NAME, absorb_small, refine_as_directions, refine_as_mixtures

# where candidates come from: the proposers and the refinement that is no variant of a proposal
ORIGINS = (*PROPOSERS, REFINED_NAME)


@dataclass(frozen=True, eq=False)
class Pool:
    """The candidates of a data set.

    Attributes
    ----------
    candidates : tuple of Proposal
        Without near-copies; their labels are numbered by first appearance.
    votes : (c, o) array
        How many proposals of each origin each candidate stands for.
    agreement : (c, c) array
        Adjusted Rand index between candidates.
    entropy : (c, c) array
        Entropy of the second candidate given the first.
    """

    candidates: tuple[Proposal, ...]
    votes: Array
    agreement: Array
    entropy: Array

    def __len__(self) -> int:
        return len(self.candidates)


def build_pool(
    data: SelectionData,
    *,
    config: SelectionConfig = DEFAULT,
    n_jobs: int | None = None,
    progress: SelectionProgress | None = None,
) -> Pool:
    """Return the candidates of all proposers and their refinements, without near-copies.

    After Ctrl-C, the pool has the candidates of the proposers that have finished.

    Parameters
    ----------
    data : SelectionData
    config : SelectionConfig
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    progress : SelectionProgress, optional
    """

    def propose(number: int) -> tuple[list[Proposal], list[Proposal]]:
        proposer = PROPOSERS[config.proposers[number]](config)
        found = proposer.propose(data, np.random.default_rng((config.seed, number)))
        absorbed = absorb_small(data, found, config.refinements)
        return distinct(found, data, config.pool), distinct(absorbed, data, config.pool)

    progress, count = progress or SelectionProgress(), len(config.proposers)
    found = progress.collect("proposals", "proposers", count, run_each(propose, range(count), n_jobs))
    if not found:
        raise KeyboardInterrupt
    proposed = [each for kind in (0, 1) for both in found for each in both[kind]]
    rng = np.random.default_rng((config.seed, count))
    rows = draw(len(data), config.pool.compared_points, rng)
    rare = _rare_points(proposed, rng, config.pool) if len(data) >= config.pool.rare_from else rows[:0]
    pool = _merged(proposed, count_votes(proposed), rows, rare, config.pool)
    if progress.interruption:
        return pool
    more = refine_as_mixtures(data, pool.candidates, rng, config.refinements)
    more += refine_as_directions(data, pool.candidates, config.refinements)
    added = distinct(more, data, config.pool)
    if not added:
        return pool
    votes = np.concatenate([pool.votes, count_votes(added)])
    return _merged([*pool.candidates, *added], votes, rows, rare, config.pool)


def distinct(proposals: Sequence[Proposal], data: SelectionData, config: PoolConfig) -> list[Proposal]:
    """Drop trivial partitions; number the labels of the others by first appearance."""
    from modeseek.selection.partition_loops import compact

    found = []
    for each in proposals:
        labels, k = compact(each.labels)
        mass, sizes = np.bincount(labels, weights=data.weights), np.bincount(labels)
        few = k <= config.max_clusters_per_point * len(labels)
        if few and mass.max() < config.max_share * data.total_weight and (sizes >= 2).sum() >= 2:
            found.append(each._replace(labels=labels))
    return found


def count_votes(proposals: Sequence[Proposal]) -> Array:
    """Return one vote of each proposal for itself, in the column of its origin."""
    votes = np.zeros((len(proposals), len(ORIGINS)))
    votes[np.arange(len(proposals)), [ORIGINS.index(each.proposer) for each in proposals]] = 1
    return votes


def table_of(partitions: Sequence[IntArray], rows: IntArray) -> tuple[Array, Array, IntArray]:
    """Return the different partitions of some points, their numbers of clusters, and which one each is equal to."""
    from modeseek.selection.partition_loops import compact_each

    table, sizes = compact_each(np.array([labels[rows] for labels in partitions], dtype=np.int32))
    seen: dict[bytes, int] = {}
    which = np.array([seen.setdefault(each.tobytes(), len(seen)) for each in table])
    first = np.unique(which, return_index=True)[1]
    return table[first], sizes[first], which


def _rare_points(proposals: Sequence[Proposal], rng: np.random.Generator, config: PoolConfig) -> IntArray:
    """Return points of small clusters, about as many from each proposal that has some."""
    found = []
    for each in proposals:
        sizes = np.bincount(each.labels)
        small = (sizes >= config.rare_size) & (sizes < config.rare_share * len(each.labels))
        members = np.flatnonzero(small[each.labels])
        found.append(members[draw(len(members), 20, rng)])
    points = np.unique(np.concatenate([*found, np.zeros(0, dtype=np.intp)]))
    return points[draw(len(points), config.rare_points, rng)]


def _merged(proposals: Sequence[Proposal], votes: Array, rows: IntArray, rare: IntArray, config: PoolConfig) -> Pool:
    """Merge near-copies into the candidate that agrees best with the whole pool.

    Candidates are compared on the points `rows`, and on the points `rare` of small clusters if there are any.
    """
    from modeseek.selection.partition_loops import pair_agreement

    if not proposals:
        return Pool((), votes, np.ones((0, 0)), np.zeros((0, 0)))
    table, sizes, which = table_of([each.labels for each in proposals], np.concatenate([rows, rare]))
    agreement, entropy = pair_agreement(np.ascontiguousarray(table[:, : len(rows)]), sizes)
    same = agreement >= config.same_agreement
    if len(rare):
        on_rare, _ = pair_agreement(np.ascontiguousarray(table[:, len(rows) :]), sizes)
        same &= on_rare >= config.rare_agreement
    # of equal partitions the first one stands for all
    first = np.unique(which, return_index=True)[1]
    copies = np.bincount(which)
    together = np.zeros((len(table), votes.shape[1]))
    np.add.at(together, which, votes)
    kept: list[int] = []
    for i in np.argsort(-(agreement @ copies), kind="stable"):
        copies_of = np.flatnonzero(same[i, kept])
        if len(copies_of):
            together[kept[copies_of[0]]] += together[i]
        else:
            kept.append(int(i))
    kept.sort()
    square = np.ix_(kept, kept)
    return Pool(tuple(proposals[first[i]] for i in kept), together[kept], agreement[square], entropy[square])
