"""Several partitions in one object, so that one call computes a value for each cluster of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modeseek._common.types import Array, IntArray


@dataclass(frozen=True, eq=False)
class ClusterRanges:
    """The clusters of several partitions, one partition after the other.

    Attributes
    ----------
    start : (c,) array
        Index of the first cluster of each partition.
    sizes : (c,) array
        Number of clusters of each partition, at least 1.
    """

    start: IntArray
    sizes: IntArray

    @property
    def partition(self) -> IntArray:
        """Index of the partition of each cluster."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def total(self, values: Array) -> Array:
        """Return the sum over the clusters of each partition."""
        return np.add.reduceat(values, self.start)

    def least(self, values: Array) -> Array:
        """Return the minimum over the clusters of each partition."""
        return np.minimum.reduceat(values, self.start)

    def largest(self, values: Array) -> Array:
        """Return the maximum over the clusters of each partition."""
        return np.maximum.reduceat(values, self.start)

    def to_clusters(self, values: Array) -> Array:
        """Return for each cluster the value of its partition."""
        return np.repeat(values, self.sizes)

    def quantiles(self, values: Array, weights: Array, q: float) -> Array:
        """Return the weighted quantile q of the values of the clusters of each partition.

        `values` is a table with a column for each cluster; the result has a column for each partition.

        Examples
        --------
        >>> clusters = ClusterRanges(np.array([0, 3]), np.array([3, 1]))
        >>> clusters.quantiles(np.array([[3.0, 1.0, 2.0, 7.0]]), np.array([1.0, 1.0, 8.0, 1.0]), 0.5)
        array([[2., 7.]])
        """
        partition = self.partition
        order = np.lexsort((values, np.broadcast_to(partition, values.shape)), axis=1)
        mass = weights[order]
        total = np.cumsum(mass, axis=1)
        total -= (total[:, self.start] - mass[:, self.start])[:, partition]
        limit = q * total[:, self.start + self.sizes - 1]
        below = np.add.reduceat(total < limit[:, partition], self.start, axis=1, dtype=np.intp)
        place = self.start + np.minimum(below, self.sizes - 1)
        return np.take_along_axis(values, np.take_along_axis(order, place, axis=1), axis=1)


@dataclass(frozen=True, eq=False)
class Partitions(ClusterRanges):
    """Some partitions of the same points.

    Attributes
    ----------
    labels : (c, n) array of int32
        Cluster of each point in each partition.
    """

    labels: IntArray

    @classmethod
    def of(cls, partitions: Sequence[IntArray]) -> Partitions:
        """Return `Partitions` for arrays of labels, each numbered from 0.

        Examples
        --------
        >>> Partitions.of([np.array([0, 1, 1]), np.array([1, 0, 2])]).labels
        array([[0, 1, 1],
               [3, 2, 4]], dtype=int32)
        """
        labels = np.array(partitions, dtype=np.int32)
        return _numbered(labels, labels.max(axis=1).astype(np.intp) + 1)

    @property
    def n_clusters(self) -> int:
        """Number of clusters of all partitions."""
        return int(self.sizes.sum())

    def of_points(self, rows: IntArray) -> Partitions:
        """Return the partitions restricted to some of the points, without clusters that become empty.

        Clusters are numbered by first appearance.
        """
        from modeseek.selection.partition_loops import compact_each

        return _numbered(*compact_each(self.labels.take(rows, axis=1), self.n_clusters))

    def counts(self) -> IntArray:
        """Return the number of points of each cluster."""
        return np.bincount(self.labels.ravel(), minlength=self.n_clusters)

    def members(self) -> tuple[IntArray, IntArray]:
        """Return the points of all clusters, one cluster after the other, and where each cluster starts."""
        local = self.labels - self.start[:, None]
        # NumPy sorts short integers fastest
        local = local.astype(np.int16 if local.max(initial=0) < 1 << 15 else np.int32)
        return np.argsort(local, axis=1, kind="stable").ravel(), np.concatenate([[0], np.cumsum(self.counts())])

    def weights(self, weights: Array) -> Array:
        """Return the weight of each cluster."""
        each = zip(self.labels, self.start, self.sizes, strict=True)
        return np.concatenate([np.bincount(labels - first, weights, size) for labels, first, size in each])

    def largest_clusters(self, most: int, least: int) -> IntArray:
        """Return for each partition its `most` largest clusters with at least `least` points."""
        counts = self.counts()
        order = np.lexsort((-counts, self.partition))
        place = np.arange(len(order)) - self.to_clusters(self.start)
        return order[(place < most) & (counts[order] >= least)]

    def selected(self, clusters: IntArray) -> tuple[IntArray, ClusterRanges]:
        """Return the partitions of the given clusters, and the clusters as `ClusterRanges`, sorted by partition."""
        owner, start, sizes = np.unique(self.partition[clusters], return_index=True, return_counts=True)
        return owner, ClusterRanges(start, sizes)


def _numbered(labels: IntArray, sizes: IntArray) -> Partitions:
    start = np.cumsum(sizes) - sizes
    return Partitions(start, sizes, labels + start[:, None].astype(np.int32))
