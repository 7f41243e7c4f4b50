"""Inputs of the plots: labels or a fitted estimator, the run of a chain, or a merge tree."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from modeseek._common.neighbors import nearest
from modeseek._common.types import IntArray
from modeseek._common.validation import check_number
from modeseek.estimators import ModeSeek
from modeseek.estimators.base import BaseClusterer
from modeseek.estimators.chain_clusterer import ChainClusterer
from modeseek.estimators.result import FitResult, FitSettings
from modeseek.meanshift.chains import ChainResult, Outcome, Series, Trace
from modeseek.selection.modes import MergeTree

ClusteringSource: TypeAlias = ArrayLike | BaseEstimator
RunSource: TypeAlias = ChainClusterer | ChainResult
TreeSource: TypeAlias = MergeTree | ModeSeek


class Clustering(NamedTuple):
    """The labels of points, and the centres, confidence and feature names of the estimator, if it has them."""

    labels: ArrayLike
    centers: ArrayLike | None = None
    confidence: ArrayLike | None = None
    feature_names: Sequence[str] | None = None


class Run(NamedTuple):
    """A run of a chain.

    Attributes
    ----------
    trace : Trace
        What was recorded.
    outcome : Outcome
        How the run ended.
    labels : (n,) integer array or None
        Cluster of each point that moved; None for a ChainResult.
    settings : FitSettings
        Settings of the fit, including values chosen from the data; empty for a ChainResult.
    n_chains : int
        Number of chains; the run is the first of them.
    """

    trace: Trace
    outcome: Outcome
    labels: IntArray | None
    settings: FitSettings
    n_chains: int = 1

    @property
    def which(self) -> str:
        """Text that says which chain is drawn, such as "first of 8 chains"; "" if there is only one."""
        return "" if self.n_chains == 1 else f"first of {self.n_chains} chains"

    def recorded(self, name: str) -> Series:
        """Return a recorded series; if it was not recorded, raise an error that says how to record it."""
        series: Series | None = getattr(self.trace, name)
        if series is None or not len(series.k):
            raise ValueError(f"{name} was not recorded: {self.how_to_record([name])}.")
        return series

    def how_to_record(self, names: Sequence[str]) -> str:
        """Return the part of an error message that says how to record the named quantities."""
        if self.labels is None:
            return f"run with record=Record({', '.join(f'{name}=1' for name in names)})"
        return f"fit with record={list(names)}"

    def labels_of_points(self, labels: ArrayLike | None, n: int) -> IntArray:
        """Return `labels` or, if None, the labels of the estimator, or n zeros for a ChainResult."""
        if labels is not None:
            return check_column("labels", labels, n)
        return np.zeros(n, dtype=np.intp) if self.labels is None else self.labels


class TreeClusters(NamedTuple):
    """A merge tree, and the clusters in whose colours it is drawn.

    Attributes
    ----------
    tree : MergeTree
    level : float or None
        Prominence that a mode needs to be a cluster; None if the clusters were not chosen by prominence.
    labels : (n_rows,) integer array
        Cluster of each row; -1 for noise.
    is_top : (m,) boolean array
        Whether each mode is the most prominent of its cluster.
    sizes : (n_clusters,) integer array
        Number of rows of each cluster.
    """

    tree: MergeTree
    level: float | None
    labels: IntArray
    is_top: NDArray[np.bool_]
    sizes: IntArray

    @property
    def n_noise(self) -> int:
        """Number of noise rows."""
        return int((self.labels < 0).sum())


def read_clustering(source: ClusteringSource) -> Clustering:
    """Return the labels, centres, confidence and feature names of a fitted estimator, or only the given labels.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> read_clustering(KMeans(1, n_init=1).fit([[0.0, 0.0], [2.0, 4.0]])).centers
    array([[1., 2.]])
    """
    if not isinstance(source, BaseEstimator):
        return Clustering(source)
    check_is_fitted(source)
    # attribute names of scikit-learn; estimators of other libraries may lack them
    names = getattr(source, "feature_names_in_", None)
    names = None if names is None else list(names)
    if isinstance(source, BaseClusterer):
        return Clustering(source.result_.labels, source.result_.centers, source.result_.confidence, names)
    if not hasattr(source, "labels_"):
        raise TypeError(f"{type(source).__name__} has no labels_: pass labels, such as those of its predict(X).")
    return Clustering(source.labels_, getattr(source, "cluster_centers_", None), None, names)


def read_run(source: RunSource) -> Run:
    """Return the run of a fitted estimator or of a ChainResult."""
    if isinstance(source, ChainResult):
        return Run(source.trace, source.outcome, None, FitSettings())
    if not isinstance(source, ChainClusterer):
        raise TypeError(
            "source must be a fitted MeanShift, BlurringMeanShift, StochasticMeanShift or DoublyStochasticMeanShift, "
            f"or the ChainResult of a run; got {type(source).__name__}."
        )
    check_is_fitted(source)
    result = source.result_
    assert result.trace is not None
    return Run(result.trace, result.outcome, _labels_of_climbers(result), result.settings, result.n_chains)


def read_tree(source: TreeSource, level: float | None) -> TreeClusters:
    """Return the merge tree of a source and its clusters at `level`, or by default those of the estimator."""
    if isinstance(source, ModeSeek):
        check_is_fitted(source)
        tree = source.tree_
    elif isinstance(source, MergeTree):
        tree = source
    else:
        raise TypeError(f"source must be a MergeTree or a fitted ModeSeek; got {type(source).__name__}.")
    if isinstance(source, ModeSeek) and level is None:
        labels, level = source.labels_, tree.level
    else:
        level = tree.level if level is None else check_number("level", level, strict=False)
        labels = np.zeros(len(tree.inverse), dtype=np.intp) if level is None else tree.cut(level)
    # modes are ordered by prominence, so the first mode of a cluster is its most prominent one
    mode_labels = labels[tree.row]
    is_top = np.zeros(len(tree), dtype=bool)
    is_top[np.unique(mode_labels, return_index=True)[1]] = True
    return TreeClusters(tree, level, labels, is_top & (mode_labels >= 0), np.bincount(labels[labels >= 0]))


def check_column(name: str, values: ArrayLike, n: int) -> NDArray[np.generic]:
    """Return values as an array with one entry for each of n points."""
    column = np.asarray(values)
    if column.shape != (n,):
        raise ValueError(f"{name} must have one entry for each of the {n:,} points; got shape {column.shape}.")
    return column


def sample_rows(labels: IntArray, n_most: int, n_each: int = 1) -> IntArray:
    """Return a reproducible random sample of at most `n_most` rows, in random order.

    The sample takes up to `n_each` rows of each cluster first. If there are more than `n_most` clusters, it has one row
    of each. Because of the random order, clusters do not cover each other when the rows are drawn.

    Examples
    --------
    >>> 4 in sample_rows(np.array([0, 0, 0, 0, 7]), 2)
    True
    """
    order = np.random.default_rng(0).permutation(len(labels))
    if len(labels) <= n_most:
        return order
    # rank of each row within its cluster
    by_label = np.argsort(labels[order], kind="stable")
    ordered = labels[order][by_label]
    rank = np.empty(len(order), dtype=np.intp)
    rank[by_label] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    n_taken = max(n_most, int((rank == 0).sum()))
    first = np.argsort(np.where(rank < n_each, rank, n_each), kind="stable")[:n_taken]
    return order[np.sort(first)]


def _labels_of_climbers(result: FitResult) -> IntArray:
    """Return the label of each point that moved: that of its row, or of the nearest mode for a run from seeds."""
    snapshots = None if result.trace is None else result.trace.snapshots
    if snapshots is None or snapshots.values.shape[1] == len(result.labels):
        return np.asarray(result.labels)
    ends = snapshots.values[-1]
    return nearest(result.centers, ends) if len(result.centers) else np.full(len(ends), -1)
