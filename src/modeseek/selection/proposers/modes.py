"""Proposer: modes of nearest-neighbour densities, merged by prominence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from modeseek._common.threads import Later
from modeseek._common.types import Array, IntArray
from modeseek.selection.config import DEFAULT, SelectionConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.modes import MergeTree, PointTree, cut, cuts, level_for, merge_tree, tree_of_sorted
from modeseek.selection.proposers.base import Proposal
from modeseek.selection.sorting import ascending_integers


class Modes:
    """Clusters around the modes of a density; modes of low prominence merge into higher ones.

    A setting is (number of neighbours k of the density estimate, least prominence in standard errors 2 / sqrt(k)).
    """

    name: ClassVar[str] = "modes"
    needs_coordinates: ClassVar[bool] = False

    def __init__(self, config: SelectionConfig = DEFAULT) -> None:
        self.config = config.modes

    def propose(self, data: SelectionData, rng: np.random.Generator, sample_share: float = 1.0) -> list[Proposal]:
        return [
            Proposal(self.name, labels, (float(count), errors))
            for count, tree in self.trees(data, self.counts(data))
            for errors, labels in self._cuts(tree, count)
        ]

    def _cuts(self, tree: PointTree, count: int) -> Iterator[tuple[float, IntArray]]:
        errors = self.config.standard_errors
        return zip(errors, cuts(tree, [prominence_level(each, count) for each in errors]), strict=True)

    def with_clusters(self, data: SelectionData, n_clusters: int) -> Proposal:
        """Return the cut with the fewest clusters, but at least `n_clusters`; if there is none, the one with the most.

        If modes have equal prominence, or the graph has several connected components, there may be no cut with exactly
        `n_clusters` clusters.
        """
        found = []
        for count, tree in self.trees(data, self.usable_counts(data)):
            level = level_for(tree, n_clusters)
            labels = cut(tree, level).astype(np.int32)
            found.append(Proposal(self.name, labels, (float(count), float(level * np.sqrt(count) / 2.0))))
        numbers = [int(each.labels.max()) + 1 for each in found]
        enough = [i for i, number in enumerate(numbers) if number >= n_clusters]
        return found[min(enough, key=lambda i: numbers[i]) if enough else int(np.argmax(numbers))]

    def usable_counts(self, data: SelectionData) -> list[int]:
        """Return `counts(data)`, or one small number of neighbours if there are too few points for all of them."""
        return self.counts(data) or [min(self.config.neighbor_counts[0], data.n_neighbors)]

    def counts(self, data: SelectionData) -> list[int]:
        """Return the numbers of neighbours for which there are enough points."""
        n, config = len(data), self.config
        return [
            count
            for count in config.neighbor_counts
            if config.points_per_count * count < n - 1
            and (count <= config.large_count or config.points_per_large_count * count <= n)
            and count <= data.n_neighbors
            and (count >= config.least_count or n < config.many_points)
        ]

    def trees(self, data: SelectionData, counts: list[int]) -> Iterator[tuple[int, PointTree]]:
        """Yield the merge tree of the density from each number of neighbours k.

        The log density of point i is ln(W_i) - dimension * ln(r_i), where r_i is the distance to its k-th neighbour and
        W_i the mean weight of the point and these k neighbours. The saddle on an edge is the lower density of its two
        ends, or the density that corresponds to the length of the edge if that density is lower.
        """
        width = min(self.config.n_edges, data.n_neighbors)
        edges = data.edges.setdefault(width, Later(lambda: _edges(data, width)))
        for count in counts:
            if (width, count) not in data.trees:
                low, high, along = edges()
                mass = np.log(weight_up_to(data, count) / (count + 1))
                heights = mass - data.dimension * np.log(data.distances[:, count - 1])
                saddles = along + np.minimum(mass[low], mass[high])
                data.trees[width, count] = tree_of_sorted(heights, low, high, saddles)
            yield count, data.trees[width, count]


def weight_up_to(data: SelectionData, count: int) -> Array:
    """Return the weight of each point and its `count` nearest neighbours."""
    if (data.weights == data.weights[0]).all():
        return np.full(len(data), (count + 1) * data.weights[0])
    return data.weights + data.weights[data.indices[:, :count]].sum(axis=1)


def prominence_level(standard_errors: float, count: float) -> float:
    """Convert a prominence in standard errors of the log density, 2 / sqrt(count) each, to one in log density."""
    return float(2.0 * standard_errors / np.sqrt(count))


def _edges(data: SelectionData, width: int) -> tuple[IntArray, IntArray, Array]:
    """Return the edges to the first `width` neighbours, and the log densities that correspond to their lengths."""
    return unique_edges(data.indices[:, :width], -data.dimension * np.log(data.distances[:, :width]))


def unique_edges(near: IntArray, values: Array) -> tuple[IntArray, IntArray, Array]:
    """Return the ends (low, high) and values of the edges between neighbours; each edge once, sorted by its ends."""
    n = len(near)
    own, other = np.repeat(np.arange(n), near.shape[1]), near.ravel().astype(np.int64)
    key = np.minimum(own, other) * n + np.maximum(own, other)
    order = ascending_integers(key, n * n)
    ordered = key[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    low, high = np.divmod(ordered[first], n)
    return low, high, values.ravel()[order[first]]


def density_tree(data: SelectionData, inverse: IntArray, setting: tuple[float, float] | None = None) -> MergeTree:
    """Return the merge tree of one density, for users.

    Parameters
    ----------
    data : SelectionData
    inverse : (n_rows,) integer array
        Point of each row.
    setting : tuple of float, optional
        Setting of `Modes`. If None, the density has the middle one of the usable numbers of neighbours, and the tree
        has no level.
    """
    modes = Modes()
    counts = modes.usable_counts(data)
    count = counts[len(counts) // 2] if setting is None else int(setting[0])
    level = None if setting is None else prominence_level(setting[1], count)
    ((_, tree),) = modes.trees(data, [count])
    return merge_tree(tree, weights=data.weights, inverse=inverse, level=level, n_neighbors=count)
