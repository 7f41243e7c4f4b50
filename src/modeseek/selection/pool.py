"""The pool: distinct candidates of a data set, how often each was proposed, and how well they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from modeseek._common.threads import Later, run_each
from modeseek._common.types import Array, IntArray
from modeseek.selection.config import DEFAULT, PoolConfig, SelectionConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.progress import SelectionProgress
from modeseek.selection.proposers import PROPOSERS, Proposal
from modeseek.selection.proposers.samples import draw
from modeseek.selection.refinements import REFINED_NAME, absorb_small, refine_as_directions, refine_as_mixtures

# origins of candidates: the proposers, and the refinement by expectation maximization
ORIGINS = (*PROPOSERS, REFINED_NAME)
# with at least this many points, the settings of the proposers in SPLIT are divided among several threads
MANY_POINTS = 5000
SPLIT = {"modes": "neighbor_counts", "communities": "neighbor_counts", "spanning_tree": "core_counts"}
# proposers that take longest, in increasing order of time; the slowest one starts first
SLOW = ("mean_shift", "centers", "spanning_tree", "communities")


@dataclass(frozen=True, eq=False)
class Pool:
    """The candidates of a data set.

    Attributes
    ----------
    candidates : tuple of Proposal
        Candidates without near-copies; the labels of each are numbered by first appearance.
    votes : (c, o) array
        For each candidate, the number of proposals of each origin that were merged into it.
    agreement : (c, c) array
        Adjusted Rand index between candidates.
    entropy : (c, c) array
        Conditional entropy: entry (a, b) is the entropy of candidate b given candidate a.
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
    beside: Sequence[Later[Any]] = (),
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
    beside : sequence of Later
        Values that idle threads compute while the proposers run.
    """
    progress, count = progress or SelectionProgress(), len(config.proposers)
    found = progress.collect("proposals", "proposers", count, _proposals(data, config, n_jobs, beside))
    data.edges.clear()  # saves memory
    if not found:
        raise KeyboardInterrupt
    proposed = [each for kind in (0, 1) for both in found for each in both[kind]]
    rng = np.random.default_rng((config.seed, count))
    rows = draw(len(data), config.pool.compared_points, rng)
    rare = _rare_points(proposed, rng, config.pool, n_jobs) if len(data) >= config.pool.rare_from else rows[:0]
    pool = _merged(proposed, count_votes(proposed), rows, rare, config.pool, n_jobs)
    if progress.interruption:
        return pool
    more = refine_as_mixtures(data, pool.candidates, rng, config.refinements, n_jobs)
    more += refine_as_directions(data, pool.candidates, config.refinements, n_jobs)
    added = distinct(more, data, config.pool)
    if not added:
        return pool
    votes = np.concatenate([pool.votes, count_votes(added)])
    return _merged([*pool.candidates, *added], votes, rows, rare, config.pool, n_jobs, pool)


def _proposals(
    data: SelectionData, config: SelectionConfig, n_jobs: int | None, beside: Sequence[Later[Any]]
) -> Iterator[tuple[list[Proposal], list[Proposal]]]:
    """Yield for each proposer its proposals, and their variants in which small clusters are absorbed."""
    parts = [
        (number, part, settings)
        for number, name in enumerate(config.proposers)
        for part, settings in enumerate(_settings(name, len(data), config))
    ]

    def propose(each: tuple[int, int, SelectionConfig]) -> tuple[list[Proposal], list[Proposal]]:
        number, _, settings = each
        rng = np.random.default_rng((config.seed, number))
        found = PROPOSERS[config.proposers[number]](settings).propose(data, rng)
        absorbed = absorb_small(data, found, config.refinements)
        return distinct(found, data, config.pool), distinct(absorbed, data, config.pool)

    def cost(each: tuple[int, int, SelectionConfig]) -> float:
        name = config.proposers[each[0]]
        # parts with more neighbours come last and take longer
        return len(parts) * SLOW.index(name) + each[1] if name in SLOW else -1.0

    results = run_each(propose, parts, n_jobs, cost=cost, beside=beside)
    for _, group in groupby(zip(parts, results, strict=True), key=lambda each: each[0][0]):
        found = [result for _, result in group]
        yield [each for proposed, _ in found for each in proposed], [each for _, absorbed in found for each in absorbed]


def _settings(name: str, n: int, config: SelectionConfig) -> list[SelectionConfig]:
    """Return the configs of parts of a proposer's work, which together propose the same partitions as `config`."""
    if n < MANY_POINTS or name not in SPLIT:
        return [config]
    own = getattr(config, name)
    return [replace(config, **{name: replace(own, **{SPLIT[name]: (each,)})}) for each in getattr(own, SPLIT[name])]


def distinct(proposals: Sequence[Proposal], data: SelectionData, config: PoolConfig) -> list[Proposal]:
    """Return the proposals that are not trivial, with labels numbered by first appearance."""
    from modeseek.selection.partition_loops import compact

    found = []
    for each in proposals:
        labels, k = compact(each.labels)
        mass, sizes = data.weight_of_each(labels), np.bincount(labels)
        few = k <= config.max_clusters_per_point * len(labels)
        if few and mass.max() < config.max_share * data.total_weight and (sizes >= 2).sum() >= 2:
            found.append(each._replace(labels=labels))
    return found


def count_votes(proposals: Sequence[Proposal]) -> Array:
    """Return a table of votes: each proposal, a row, has one vote in the column of its origin."""
    votes = np.zeros((len(proposals), len(ORIGINS)))
    votes[np.arange(len(proposals)), [ORIGINS.index(each.proposer) for each in proposals]] = 1
    return votes


def table_of(partitions: Sequence[IntArray], rows: IntArray) -> tuple[Array, Array, IntArray]:
    """Restrict partitions to the points `rows`.

    Returns the distinct partitions as rows of a table, their numbers of clusters, and the row of each given partition.
    """
    from modeseek.selection.partition_loops import compact_each

    table, sizes = compact_each(np.array([labels[rows] for labels in partitions], dtype=np.int32))
    seen: dict[bytes, int] = {}
    which = np.array([seen.setdefault(each.tobytes(), len(seen)) for each in table])
    first = np.unique(which, return_index=True)[1]
    return table[first], sizes[first], which


def _rare_points(
    proposals: Sequence[Proposal], rng: np.random.Generator, config: PoolConfig, n_jobs: int | None
) -> IntArray:
    """Return points of small clusters, about equally many from each proposal that has small clusters."""

    def members_of(each: Proposal) -> IntArray:
        sizes = np.bincount(each.labels)
        small = (sizes >= config.rare_size) & (sizes < config.rare_share * len(each.labels))
        return np.flatnonzero(small[each.labels]) if small.any() else np.zeros(0, dtype=np.intp)

    found = [members[draw(len(members), 20, rng)] for members in run_each(members_of, proposals, n_jobs)]
    points = np.unique(np.concatenate([*found, np.zeros(0, dtype=np.intp)]))
    return points[draw(len(points), config.rare_points, rng)]


def _merged(
    proposals: Sequence[Proposal],
    votes: Array,
    rows: IntArray,
    rare: IntArray,
    config: PoolConfig,
    n_jobs: int | None,
    known: Pool | None = None,
) -> Pool:
    """Merge near-copies into the candidate that agrees best with the whole pool.

    Candidates are compared on the points `rows`, and on the points `rare` of small clusters if there are any. `known`
    is a pool of the first of the proposals, compared on the same points.
    """
    from modeseek.selection.partition_loops import pair_agreement

    if not proposals:
        return Pool((), votes, np.ones((0, 0)), np.zeros((0, 0)))
    table, sizes, which = table_of([each.labels for each in proposals], np.concatenate([rows, rare]))
    compared = np.ascontiguousarray(table[:, : len(rows)])
    before = None if known is None else (known.agreement, known.entropy)
    agreement, entropy = pair_agreement(compared, sizes, n_jobs, before)
    same = agreement >= config.same_agreement
    if len(rare):
        on_rare, _ = pair_agreement(np.ascontiguousarray(table[:, len(rows) :]), sizes, n_jobs)
        same &= on_rare >= config.rare_agreement
    # the first of several equal partitions represents all of them
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
