"""Several partitions at a time, so that few calls describe all of their clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray


class Partitions(NamedTuple):
    """Some partitions of the same points. Their clusters are numbered one after the other.

    Attributes
    ----------
    labels : (c, n) array of int32
        Cluster of each point in each partition.
    start : (c,) array
        First cluster of each partition.
    sizes : (c,) array
        Number of clusters of each partition.
    """

    labels: IntArray
    start: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, partitions: Sequence[IntArray]) -> Partitions:
        """Return partitions whose clusters are numbered from 0, without gaps.

        Examples
        --------
        >>> Partitions.of([np.array([0, 1, 1]), np.array([1, 0, 2])]).labels
        array([[0, 1, 1],
               [3, 2, 4]], dtype=int32)
        """
        labels = np.array(partitions, dtype=np.int32)
        sizes = labels.max(axis=1).astype(np.intp) + 1
        start = np.cumsum(sizes) - sizes
        labels += start[:, None].astype(np.int32)
        return cls(labels, start, sizes)

    @property
    def n_clusters(self) -> int:
        """Number of clusters of all partitions."""
        return int(self.sizes.sum())

    def weight_of_clusters(self, weights: Array) -> Array:
        """Return the weight of each cluster."""
        numbers = zip(self.labels, self.start, strict=True)
        return np.concatenate([np.bincount(each - first, weights) for each, first in numbers])

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
        """Return values of partitions as values of their clusters."""
        return np.repeat(values, self.sizes)

    def quantiles(self, values: Array, weights: Array, q: float) -> Array:
        """Return `weighted_quantile` over the clusters of each partition, for each row of a table."""
        partition = np.repeat(np.arange(len(self.sizes)), self.sizes)
        order = np.lexsort((values, np.broadcast_to(partition, values.shape)), axis=1)
        mass = weights[order]
        total = np.cumsum(mass, axis=1)
        total -= (total[:, self.start] - mass[:, self.start])[:, partition]
        limit = q * total[:, self.start + self.sizes - 1]
        below = np.add.reduceat(total < limit[:, partition], self.start, axis=1, dtype=np.intp)
        place = self.start + np.minimum(below, self.sizes - 1)
        return np.take_along_axis(values, np.take_along_axis(order, place, axis=1), axis=1)
