"""Proposer: clusters of the minimum spanning tree of mutual reachability distances.

These are the clusters of HDBSCAN (Campello, Moulavi, Sander, "Density-based clustering based on hierarchical density
estimates", 2013), on the edges of the nearest-neighbour graph. They are selected both by excess of mass and as leaves.
Points that HDBSCAN calls noise get the label of a neighbour.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.config import SelectionConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.proposers.base import Proposal
from modeseek.selection.sorting import ascending


class Edges(NamedTuple):
    """Edges of a graph: two points and a length each."""

    left: IntArray
    right: IntArray
    length: Array

    def by_length(self) -> Edges:
        """Return the edges in ascending order of length."""
        order = ascending(self.length)
        return Edges(*(each[order] for each in self))


class SpanningTree:
    """Clusters selected from the single-linkage tree of mutual reachability distances.

    A setting is (number of the neighbour that defines the core distance, least weight of a cluster). The weight is
    negative if leaves of the tree are selected.
    """

    name: ClassVar[str] = "spanning_tree"
    needs_coordinates: ClassVar[bool] = False

    def __init__(self, config: SelectionConfig) -> None:
        self.config = config.spanning_tree

    def propose(self, data: SelectionData, rng: np.random.Generator, sample_share: float = 1.0) -> list[Proposal]:
        from modeseek.selection.partition_loops import fill
        from modeseek.selection.proposers.spanning_tree_loops import condensed_labels, single_linkage

        n, n_fill = len(data), min(self.config.n_fill, data.n_neighbors)
        graph = self._graph(data)
        found = []
        for count in self.config.core_counts:
            if count >= data.n_neighbors:
                continue
            core = data.distances[:, count - 1]
            reach = np.maximum(graph.length, np.maximum(core[graph.left], core[graph.right]))
            tree = _spanning_tree(graph._replace(length=reach), data)
            child, size = single_linkage(n, tree.left, tree.right, data.weights)
            for least in self._least_weights(data):
                for leaves in (False, True):
                    labels = condensed_labels(n, child, tree.length, size, least, leaves)
                    if labels.max() >= 1:
                        setting = float(count), -least if leaves else least
                        found.append(Proposal(self.name, fill(labels, data.indices, n_fill), setting))
        return found

    def _least_weights(self, data: SelectionData) -> list[float]:
        total = data.total_weight
        sizes = [*self.config.least_sizes, *(int(total // share) for share in self.config.least_shares)]
        smallest = min(self.config.least_sizes)
        return sorted({float(min(size, max(2, int(total // 4)))) for size in sizes if size >= smallest})

    def _graph(self, data: SelectionData) -> Edges:
        """Return the edges from points to their neighbours.

        An edge is listed twice if each end is a neighbour of the other. The copy with left > right is then left out.
        Copies that remain because of equal lengths do not change the spanning tree.
        """
        n, width = len(data), min(data.n_neighbors, self.config.n_edges)
        left, right = np.repeat(np.arange(n, dtype=np.int32), width), data.indices[:, :width].ravel()
        length = data.distances[:, :width].ravel()
        # a graph without coordinates need not be symmetric
        once = (left < right) | (length >= data.distances[right, width - 1]) | (not data.has_coordinates)
        return Edges(left[once], right[once], length[once])


def _spanning_tree(graph: Edges, data: SelectionData) -> Edges:
    from modeseek.selection.proposers.spanning_tree_loops import spanning_forest

    ordered, n = graph.by_length(), len(data)
    kept = spanning_forest(n, ordered.left, ordered.right)
    forest = Edges(*(each[kept] for each in ordered))
    return forest if len(kept) == n - 1 else _joined(forest, data)


def _joined(forest: Edges, data: SelectionData) -> Edges:
    """Join the parts of a spanning forest, each to the nearest part that is joined already."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    x, n = data.components, len(data)
    edges = csr_array((np.ones(len(forest.left)), (forest.left, forest.right)), shape=(n, n))
    count, part = connected_components(edges, directed=False)
    rows = np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part))[:-1])
    centers = np.array([x[each].mean(axis=0) for each in rows])
    first = int(np.bincount(part).argmax())
    joined, more = [first], []
    rest = [c for c in range(count) if c != first]
    for c in sorted(rest, key=lambda c: np.square(centers[c] - centers[first]).sum()):
        near = joined[int(np.square(centers[joined] - centers[c]).sum(axis=1).argmin())]
        i = rows[c][int(np.square(x[rows[c]] - centers[near]).sum(axis=1).argmin())]
        j = rows[near][int(np.square(x[rows[near]] - x[i]).sum(axis=1).argmin())]
        more.append((i, j, np.linalg.norm(x[i] - x[j]) if data.has_coordinates else np.inf))
        joined.append(c)
    left, right, length = (np.array(each) for each in zip(*more, strict=True))
    return Edges(
        np.concatenate([forest.left, left.astype(np.int32)]),
        np.concatenate([forest.right, right.astype(np.int32)]),
        np.concatenate([forest.length, length]),
    ).by_length()
