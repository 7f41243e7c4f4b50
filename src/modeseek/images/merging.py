"""Merging of adjacent regions, the most similar first, into a tree of nested segmentations."""

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.images.config import SegmentConfig
from modeseek.images.region_graph import RegionGraph
from modeseek.images.regions import node_components


class RegionTree(NamedTuple):
    """Tree of merges: the k regions are nodes 0 to k - 1, and merge m joins two earlier nodes into node k + m.

    Attributes
    ----------
    n_regions : int
        Number of regions before merging.
    children : (m, 2) integer array
        The two nodes that each merge joins.
    heights : (m,) array
        Dissimilarity of the two nodes, or the height of one of them if that is larger.
    """

    n_regions: int
    children: IntArray
    heights: Array

    def cut(self, threshold: float) -> IntArray:
        """Return the group of each region after all merges of height up to `threshold`."""
        return self._groups(self.heights <= threshold)

    def cut_into(self, n_groups: int) -> IntArray:
        """Return the group of each region after the lowest merges, made until `n_groups` groups are left."""
        lowest = np.argsort(self.heights, kind="stable")[: max(self.n_regions - n_groups, 0)]
        return self._groups(np.isin(np.arange(len(self.heights)), lowest))

    def _groups(self, done: Array) -> IntArray:
        merges = np.flatnonzero(done)
        links = np.column_stack([np.repeat(merges + self.n_regions, 2), self.children[merges].ravel()])
        return node_components(self.n_regions + len(self.heights), links)[: self.n_regions]


def merge_regions(graph: RegionGraph, config: SegmentConfig) -> RegionTree:
    """Merge pairs of regions that are each other's most similar neighbour, in rounds, until no pair is left."""
    k = len(graph.sizes)
    reference_size = config.reference_share * float(graph.sizes.sum())
    nodes, heights = np.arange(k), np.zeros(k)
    children = [np.zeros((0, 2), np.int64)]
    while len(graph.pairs):
        values = graph.dissimilarities(reference_size, config)
        chosen = _mutually_closest(graph.pairs, values, len(nodes))
        first, second = graph.pairs[chosen].T
        joined = np.column_stack([nodes[first], nodes[second]])
        nodes[first] = len(heights) + np.arange(len(chosen))
        heights = np.append(heights, np.maximum(values[chosen], heights[joined].max(axis=1)))
        children.append(joined)
        kept = np.ones(len(nodes), bool)
        kept[second] = False
        groups = np.cumsum(kept) - 1
        groups[second] = groups[first]
        nodes, graph = nodes[kept], graph.merged(groups)
    return RegionTree(k, np.concatenate(children), heights[k:])


def _mutually_closest(pairs: IntArray, values: Array, k: int) -> IntArray:
    """Return the pairs that have the smallest value among all pairs of both of their regions."""
    rank = np.empty(len(pairs), np.intp)
    rank[np.argsort(values, kind="stable")] = np.arange(len(pairs))
    best = np.full(k, len(pairs))
    np.minimum.at(best, pairs.ravel(), np.repeat(rank, 2))
    return np.flatnonzero((best[pairs] == rank[:, None]).all(axis=1))
