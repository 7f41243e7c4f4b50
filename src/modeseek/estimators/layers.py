"""Layers: nested partitions of a fitted estimator, from coarse to fine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from modeseek._common.neighbors import nearest_neighbors
from modeseek._common.types import IntArray
from modeseek._common.validation import check_integer
from modeseek.estimators.result import FitResult, FittedMixin
from modeseek.meanshift.partition import rank_by_weight
from modeseek.selection import DEFAULT, Pool, base_sample, prepare_data
from modeseek.selection.graph_data import graph_config, graph_data
from modeseek.selection.hierarchy import DEFAULT as CONFIG
from modeseek.selection.hierarchy import Hierarchy, MergeGraph, build_hierarchy
from modeseek.selection.modes import cut, level_for
from modeseek.selection.proposers import Proposal
from modeseek.selection.proposers.modes import prominence_level
from modeseek.selection.reproducibility import reproducibility

# numbers of clusters of two layers in `layers_` differ at least by this factor
FACTOR = 1.5
MAX_LAYERS = 6
# cache of the hierarchies of fits; kept outside of `FitResult`, so that model files and pickles do not contain it
_HIERARCHIES: WeakKeyDictionary[FitResult, tuple[Hierarchy, IntArray]] = WeakKeyDictionary()


class Layer(NamedTuple):
    """One of several nested partitions.

    Attributes
    ----------
    labels : integer array of shape (n_samples,)
        Cluster of each row, numbered by decreasing weight; -1 for noise.
    n_clusters : int
        Number of clusters.
    stability : float
        Adjusted Rand index with the most similar partition that the proposers of `ModeSeek` find on a random subsample
        of 70 % of the rows; mean over subsamples. For the layer of `labels_` it is `stability_`, if the estimator has
        this attribute.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from modeseek import MeanShift
    >>> X, _ = make_blobs(60, centers=[[0, 0], [3, 0], [20, 0]], cluster_std=0.3, random_state=0)
    >>> coarse, *_ = MeanShift(1.5).fit(X).layers_
    >>> coarse.n_clusters, len(coarse.labels)
    (2, 60)
    """

    labels: IntArray
    n_clusters: int
    stability: float

    def __repr__(self) -> str:
        words = "1 cluster" if self.n_clusters == 1 else f"{self.n_clusters} clusters"
        return f"Layer({words}, stability {self.stability:.2f})"


class LayersMixin(FittedMixin):
    """Nested partitions of a fitted estimator."""

    @property
    def layers_(self) -> list[Layer]:
        """Nested partitions from coarse to fine; `labels_` is one of them. Computed on access."""
        result = self._result_for("layers_")
        hierarchy, clustered = _hierarchy(result, self.n_jobs)
        labels = [_point_labels(result, hierarchy.cut(count), clustered) for count in _shown(hierarchy)]
        stability = _stability(result, labels) if len(clustered) >= CONFIG.min_points else [1.0]
        numbers = [int(each.max(initial=-1)) + 1 for each in labels]
        if result.stability is not None:
            stability[numbers.index(result.n_clusters)] = result.stability
        rows = [each[result.index.points.inverse] for each in labels]
        return [Layer(*each) for each in zip(rows, numbers, stability, strict=True)]

    def cut(self, n_clusters: int) -> IntArray:
        """Return labels with a given number of clusters, nested with `labels_`.

        If `n_clusters` is smaller than `n_clusters_`, the new clusters are unions of the fitted clusters. If it is
        larger, they are parts of the fitted clusters. The model itself does not change.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.

        Returns
        -------
        labels : integer array of shape (n_samples,)
            Cluster of each row, numbered by decreasing weight; -1 for noise.

        Raises
        ------
        ValueError
            If there is no nested partition with this number of clusters; the message says which numbers are possible.
        """
        check_integer("n_clusters", n_clusters, low=1)
        result = self._result_for("layers_")
        hierarchy, clustered = _hierarchy(result, self.n_jobs)
        counts = hierarchy.counts
        if n_clusters not in counts:
            raise ValueError(
                f"there is no nested partition of {n_clusters} clusters: n_clusters must be from {counts[0]} to "
                f"{counts[-1]}. A fit with n_clusters={n_clusters} may find one that is not nested."
            )
        return _point_labels(result, hierarchy.cut(n_clusters), clustered)[result.index.points.inverse]


def _hierarchy(result: FitResult, n_jobs: int | None) -> tuple[Hierarchy, IntArray]:
    """Return the hierarchy of the points that are not noise, and the indices of these points."""
    if result not in _HIERARCHIES:
        labels = result.index.labels
        clustered = np.flatnonzero(labels >= 0)
        if len(clustered) < CONFIG.min_points:
            found = Hierarchy(labels[clustered], (), result.n_clusters)
        else:
            found, _ = build_layers(result, clustered, n_jobs)
        _HIERARCHIES[result] = found, clustered
    return _HIERARCHIES[result]


def build_layers(result: FitResult, rows: IntArray, n_jobs: int | None) -> tuple[Hierarchy, MergeGraph]:
    """Return the hierarchy of the points `rows`, and the graph of these points."""
    index, points = result.index, result.index.points
    near = index.neighbors
    if near is None:
        near = nearest_neighbors(points.values, min(CONFIG.n_neighbors, len(points.values) - 1), n_jobs=n_jobs)
    edges = MergeGraph.of(near, points.weights, None if index.neighbors else points.values, CONFIG).within(rows)
    return build_hierarchy(index.labels[rows], edges, (each[rows] for each in _finer(result)), CONFIG), edges


def _finer(result: FitResult) -> Iterator[IntArray]:
    """Yield partitions of the points into more clusters: the finest alternative, and modes of the density."""
    finest = max(result.alternatives, key=lambda each: each.n_clusters, default=None)
    if finest is not None and finest.n_clusters > result.n_clusters:
        yield finest.labels
    tree, n = result.tree, len(result.index.points.values)
    # if rounded values were spread, the tree has more points, and is left out
    if tree is not None and len(tree.weights) == n and tree.n_neighbors is not None:
        level = max(prominence_level(1.0, tree.n_neighbors), level_for(tree.point_tree, CONFIG.max_parts // 2))
        yield cut(tree.point_tree, level)


def _shown(hierarchy: Hierarchy) -> list[int]:
    """Return the numbers of clusters of the layers: that of the partition, the largest, and the most persistent."""
    shown = {hierarchy.n_clusters, hierarchy.counts[-1]}
    for count in sorted(hierarchy.counts, key=lambda count: -hierarchy.persistence(count)):
        apart = all(max(count, other) >= FACTOR * min(count, other) for other in shown)
        if count > 1 and apart and len(shown) < MAX_LAYERS:
            shown.add(count)
    return sorted(shown)


def _stability(result: FitResult, layers: Sequence[IntArray]) -> list[float]:
    """Return the reproducibility of each partition: its agreement with proposals of `ModeSeek` on subsamples."""
    index = result.index
    if index.neighbors is None:
        data, config = prepare_data(index.points), DEFAULT
    else:
        data, config = graph_data(index.neighbors, index.points.weights), graph_config()
    # noise is compared as if it were a cluster
    labels = [np.where(each < 0, each.max() + 1, each).astype(np.int32) for each in layers]
    pool = Pool(tuple(Proposal("", each) for each in labels), *(np.zeros((0, 0)) for _ in range(3)))
    return [float(each) for each in reproducibility(base_sample(data, config), pool, config=config)]


def _point_labels(result: FitResult, labels: IntArray, clustered: IntArray) -> IntArray:
    """Return the cluster of each point, numbered by weight, from labels of the points that are not noise."""
    weights = result.index.points.weights
    numbers = np.full(len(weights), -1)
    if len(clustered):
        numbers[clustered] = rank_by_weight(labels, weights[clustered]).labels
    return numbers
