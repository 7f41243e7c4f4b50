"""Votes: random subsamples, clustered by the proposer of the selected partition, for memberships and confidence."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import IntArray
from modeseek.meanshift.consensus import Vote
from modeseek.selection.config import SelectionConfig
from modeseek.selection.data import SelectionData, Subset, subsample
from modeseek.selection.pool import table_of
from modeseek.selection.proposers import PROPOSERS, Proposal
from modeseek.selection.proposers.base import ABSORBED, REFINED, SPHERICAL
from modeseek.selection.proposers.samples import draw
from modeseek.selection.refinements import absorb_small, refine_as_mixture, spherical_k_means


def vote(data: SelectionData, base: Subset, chosen: Proposal, seed: tuple[int, int], config: SelectionConfig) -> Vote:
    """Return the points of a random subsample of `base` and their partition.

    The proposer of the chosen partition proposes again, and the proposal that agrees best with the chosen partition is
    the vote. If `base` is a sample, the points outside of the subsample get the label of a neighbour.
    """
    rng = np.random.default_rng(seed)
    some, rows = subsample(base.data, rng, config.votes)
    rows = base.rows[rows]
    wanted = chosen.labels[rows]
    labels = _proposed_again(some, wanted, chosen, rng, config)
    if chosen.variant == SPHERICAL:
        labels = spherical_k_means(some.points.astype(np.float32), labels, config.refinements.max_spherical_steps)
    if len(base.rows) == len(data):
        return rows, labels
    from modeseek.selection.partition_loops import fill

    everywhere = np.full(len(data), -1, dtype=np.int32)
    everywhere[rows] = labels
    return np.arange(len(data)), fill(everywhere, data.indices, data.n_neighbors)


def _proposed_again(
    data: SelectionData, wanted: IntArray, chosen: Proposal, rng: np.random.Generator, config: SelectionConfig
) -> IntArray:
    from modeseek.selection.partition_loops import best_agreement

    if chosen.variant == REFINED:
        rows = draw(len(data), config.refinements.max_points, rng)
        labels = refine_as_mixture(data, wanted, rows, config.refinements)
        return wanted if labels is None else labels
    found = PROPOSERS[chosen.proposer](config).propose(data, rng, config.votes.sample_share)
    if chosen.variant == ABSORBED:
        found = [*absorb_small(data, found, config.refinements), *found]
    if not found:
        return np.zeros(len(data), dtype=np.int32)
    compared = draw(len(data), config.votes.compared_points, rng)
    table, sizes, which = table_of([each.labels for each in found], compared)
    own, own_sizes, _ = table_of([wanted], compared)
    best = best_agreement(own, own_sizes, table, sizes)[1][0]
    return found[int(np.flatnonzero(which == best)[0])].labels
