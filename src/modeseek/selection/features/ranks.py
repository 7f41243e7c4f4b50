"""Comparisons of a candidate with the pool: its rank by each feature, and the best value of some features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from modeseek._common.types import Array

BEST = (
    "stable", "votes", "agree_votes", "agree_q90", "inside15", "modularity", "purity_q10", "dip8_q10", "dip24_q10",
    "dipz24_q10", "mid24_q10", "edge24_q10", "edge24_mean", "r2", "calinski", "simple_silhouette", "silhouette",
    "apart_q10", "apart_mean", "gain", "gauss_accuracy", "bic_gain", "dip24_min_big", "dip8_min_big", "density_r2",
    "contrast", "pair_q10", "pair_gain_mean",
)  # fmt: skip


def add_best(table: Array, names: Sequence[str]) -> None:
    """Fill the columns `best_...`: the largest value of a feature over all rows but the last, the single cluster."""
    for name in BEST:
        column = table[:-1, names.index(name)]
        known = column[np.isfinite(column)]
        if len(known):
            table[:, names.index(f"best_{name}")] = known.max()


def add_ranks(table: Array, names: Sequence[str], ranked: Sequence[str]) -> None:
    """Fill the columns `rank_...`: ranks of the candidates from 0 to 1; ties share their mean rank.

    Values are compared in single precision, so that values that differ only by rounding errors tie.
    """
    columns = table[:-1, [names.index(name) for name in ranked]].astype(np.float32)
    columns[~np.isfinite(columns)] = np.nan
    count, order = np.isfinite(columns).sum(axis=0), np.argsort(columns, axis=0)
    # NaN comes last, and differs from itself
    ordered, place = np.take_along_axis(columns, order, axis=0), np.arange(len(columns))[:, None]
    starts = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=starts[1:])
    first = np.maximum.accumulate(np.where(starts, place, 0))
    last = np.minimum.accumulate(np.where(np.roll(starts, -1, axis=0), place, len(ordered))[::-1])[::-1]
    ranks = np.empty(columns.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 / np.maximum(count - 1, 1), axis=0)
    ranks[np.isnan(columns) | (count < 2)] = np.nan
    table[:-1, [names.index(f"rank_{name}") for name in ranked]] = ranks
