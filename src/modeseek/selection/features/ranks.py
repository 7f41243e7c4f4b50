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
    for name in ranked:
        column = table[:-1, names.index(name)].astype(np.float32)
        known = np.flatnonzero(np.isfinite(column))
        if len(known) > 1:
            own = column[known]
            lower, equal = ((compare(own, own[:, None])).sum(axis=1) for compare in (np.less, np.equal))
            table[known, names.index(f"rank_{name}")] = (lower + (equal - 1) / 2) / (len(known) - 1)
