"""What pictures of a run are drawn from: its trace, and what an estimator knows besides."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from modeseek._common.neighbors import nearest
from modeseek._common.types import Array, IntArray
from modeseek.estimators import ModeSeek
from modeseek.estimators.chain_clusterer import ChainClusterer
from modeseek.estimators.result import FitResult
from modeseek.meanshift.bandwidth import Constant
from modeseek.meanshift.chains import ChainResult, Outcome, Series, Trace
from modeseek.meanshift.types import BandwidthPolicy

__all__ = ["Run", "Watched", "given_labels", "recorded", "some_rows", "watch"]

Run: TypeAlias = ChainClusterer | ChainResult


class Watched(NamedTuple):
    """A run, as pictures see it.

    Attributes
    ----------
    trace : Trace
    outcome : Outcome
    by_hand : bool
        Whether somebody called `run`, rather than `fit`.
    labels : (n,) integer array or None
        Cluster of each row, where known.
    policy : BandwidthPolicy or None
        How h is drawn, where known.
    range : (h_min, h_inf, h_max) or None
        The range in force, where there is one.
    tau : float or None
        Distance at which clumps are read off, where known.
    plain : bool
        Whether the k-th draw is that of the k-th update, at the bandwidth that the policy says.
    n_chains : int
    """

    trace: Trace
    outcome: Outcome
    by_hand: bool
    labels: IntArray | None = None
    policy: BandwidthPolicy | None = None
    range: tuple[float, float, float] | None = None
    tau: float | None = None
    plain: bool = False
    n_chains: int = 1


def watch(source: Run) -> Watched:
    """Return what is known of a run."""
    if isinstance(source, ChainResult):
        return Watched(source.trace, source.outcome, by_hand=True)
    if isinstance(source, ModeSeek):
        raise TypeError(
            "source must have run a chain, and ModeSeek runs none: give a fitted MeanShift, BlurringMeanShift, "
            "StochasticMeanShift or DoublyStochasticMeanShift."
        )
    if not isinstance(source, ChainClusterer):
        raise TypeError(
            f"source must be a fitted estimator of modeseek or the ChainResult of a run; got {type(source).__name__}."
        )
    check_is_fitted(source)
    result = source.result_
    used, span = result.settings, None
    if used.h_min is not None and used.h_inf is not None and used.h_max is not None:
        span = None if isinstance(used.policy, Constant) else (used.h_min, used.h_inf, used.h_max)
    assert result.trace is not None
    return Watched(
        result.trace,
        result.outcome,
        False,
        _labels(result),
        used.policy,
        span,
        used.tau,
        used.single_updates,
        result.n_chains,
    )


def recorded(run: Watched, name: str) -> Series:
    """Return what was recorded under a name; where nothing was, say what to type."""
    series: Series | None = getattr(run.trace, name)
    if series is None or not len(series.k):
        how = f"record=Record({name}=1)" if run.by_hand else f"record=[{name!r}]"
        raise ValueError(f"{name} was not recorded: {'run' if run.by_hand else 'fit'} with {how}.")
    return series


def some_rows(labels: IntArray, most: int) -> IntArray:
    """Return at most so many rows (and one of each cluster at least), at random but always the same.

    Examples
    --------
    >>> 4 in some_rows(np.array([0, 0, 0, 0, 7]), 2)
    True
    """
    # a random order, so that no cluster lies on top of the others
    order = np.random.default_rng(0).permutation(len(labels))
    if len(labels) <= most:
        return order
    first = np.unique(labels[order], return_index=True)[1]
    rank = np.arange(len(order))
    rank[first] = -1
    return order[np.sort(np.argsort(rank, kind="stable")[: max(most, len(first))])]


def given_labels(run: Watched, labels: ArrayLike | None, n: int) -> IntArray:
    """Return the clusters of the n points of a run: those given, those found, or one for all."""
    if labels is None:
        return np.zeros(n, dtype=np.intp) if run.labels is None else run.labels
    mine = np.asarray(labels)
    if mine.shape != (n,):
        raise ValueError(f"labels must have one entry for each of the {n:,} points; got shape {mine.shape}.")
    return mine


def _labels(result: FitResult) -> IntArray:
    assert result.trace is not None
    snapshots, labels = result.trace.snapshots, np.asarray(result.labels)
    if snapshots is None or snapshots.values.shape[1] == len(labels):
        return labels
    # climbers from seeds: by the mode where they ended
    ends: Array = snapshots.values[-1]
    return nearest(result.centers, ends) if len(result.centers) else np.full(len(ends), -1)
