"""Reproducibility of a candidate: its agreement with the most similar proposal on random subsamples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.threads import run_each
from modeseek._common.types import Array, IntArray
from modeseek.selection.config import DEFAULT, SelectionConfig
from modeseek.selection.data import Subset, subsample
from modeseek.selection.pool import Pool, table_of
from modeseek.selection.proposers import PROPOSERS
from modeseek.selection.proposers.samples import draw


class Repeat(NamedTuple):
    """Partitions that were proposed again on a random subsample.

    Attributes
    ----------
    rows : integer array
        Indices, in the base sample, of the points on which partitions are compared.
    table, sizes : arrays
        The distinct partitions of these points, one in each row, and their numbers of clusters.
    """

    rows: IntArray
    table: IntArray
    sizes: IntArray


def propose_again(base: Subset, number: int, config: SelectionConfig) -> Repeat | None:
    """Return the partitions that are proposed on a random subsample of `base`; None if there are none."""
    own, rng = config.reproducibility, np.random.default_rng((config.seed, 1000 + number))
    some, rows = subsample(base.data, rng, own)
    again = [
        each.labels for name in own.proposers for each in PROPOSERS[name](config).propose(some, rng, own.sample_share)
    ]
    if not again:
        return None
    compared = draw(len(rows), own.compared_points, rng)
    table, sizes, _ = table_of(again, compared)
    return Repeat(rows[compared], table, sizes)


def reproducibility(
    base: Subset,
    pool: Pool,
    *,
    config: SelectionConfig = DEFAULT,
    n_jobs: int | None = None,
    repeats: Sequence[Callable[[], Repeat | None]] = (),
) -> Array:
    """Return for each candidate the mean, over subsamples, of its best agreement with a proposal on the subsample.

    The result is NaN if the config has no subsamples.

    Parameters
    ----------
    base : Subset
        The points from which subsamples are drawn.
    pool : Pool
    config : SelectionConfig
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    repeats : sequence of callables, optional
        One function for each subsample, which returns the result of `propose_again`.
    """
    from modeseek.selection.partition_loops import best_agreement

    def best(number: int) -> Array:
        again = repeats[number]() if repeats else propose_again(base, number, config)
        if again is None:
            return np.zeros(len(pool))
        ours, sizes, which = table_of([each.labels for each in pool.candidates], base.rows[again.rows])
        return best_agreement(ours, sizes, again.table, again.sizes)[0][which]

    count = config.reproducibility.n_subsamples
    if not len(pool) or not count:
        return np.full(len(pool), np.nan)
    return np.mean(list(run_each(best, range(count), n_jobs)), axis=0)
