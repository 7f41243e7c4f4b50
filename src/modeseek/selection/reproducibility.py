"""Reproducibility: whether some proposer finds a candidate again on a random subsample."""

from __future__ import annotations

import numpy as np

from modeseek._common.threads import run_each
from modeseek._common.types import Array
from modeseek.selection.config import DEFAULT, SelectionConfig
from modeseek.selection.data import Subset, subsample
from modeseek.selection.pool import Pool, table_of
from modeseek.selection.proposers import PROPOSERS
from modeseek.selection.proposers.samples import draw


def reproducibility(base: Subset, pool: Pool, *, config: SelectionConfig = DEFAULT, n_jobs: int | None = None) -> Array:
    """Return for each candidate its best agreement with a proposal on a random subsample, as a mean over subsamples.

    It is NaN if the config has no subsamples.

    Parameters
    ----------
    base : Subset
        The points from which subsamples are drawn.
    pool : Pool
    config : SelectionConfig
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """

    def best(number: int) -> Array:
        return _best_agreement(base, pool, np.random.default_rng((config.seed, 1000 + number)), config)

    count = config.reproducibility.n_subsamples
    if not len(pool) or not count:
        return np.full(len(pool), np.nan)
    return np.mean(list(run_each(best, range(count), n_jobs)), axis=0)


def _best_agreement(base: Subset, pool: Pool, rng: np.random.Generator, config: SelectionConfig) -> Array:
    from modeseek.selection.partition_loops import best_agreement

    own = config.reproducibility
    some, rows = subsample(base.data, rng, own)
    again = [
        each.labels for name in own.proposers for each in PROPOSERS[name](config).propose(some, rng, own.sample_share)
    ]
    if not again:
        return np.zeros(len(pool))
    compared = draw(len(rows), own.compared_points, rng)
    theirs, their_sizes, _ = table_of(again, compared)
    ours, our_sizes, which = table_of([each.labels for each in pool.candidates], base.rows[rows[compared]])
    return best_agreement(ours, our_sizes, theirs, their_sizes)[0][which]
