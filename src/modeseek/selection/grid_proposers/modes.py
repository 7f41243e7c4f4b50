"""Proposer: modes of nearest-neighbour densities, merged by prominence, for data of low intrinsic dimension."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.candidates import Candidate, Partitions, Setting, is_trivial
from modeseek.selection.grid_proposers.base import GridProposer
from modeseek.selection.knn_graph import KnnGraph
from modeseek.selection.modes import MergeTree, PointTree, cut, level_for, merge_tree, point_tree
from modeseek.selection.progress import SelectionProgress

__all__ = ["Modes", "density_tree"]


class Modes(GridProposer):
    """Clusters around the modes of a density; modes of low prominence merge into higher ones.

    A setting is (number of neighbours k of the density estimate, least prominence in standard errors 2 / sqrt(k)).
    """

    name = "modes"

    def applies(self, graph: KnnGraph) -> bool:
        return graph.dimension < self.config.communities_dimension

    def partitions(self, graph: KnnGraph, only: Setting | None = None) -> Partitions:
        counts, levels = (None, self.config.modes.standard_errors) if only is None else ((only[0],), (only[1],))
        return {
            (float(count), errors): cut(tree, prominence_level(errors, count))
            for count, tree in self.trees(graph, counts).items()
            for errors in levels
        }

    def trees(self, graph: KnnGraph, counts: Collection[float] | None = None) -> dict[int, PointTree]:
        """Return the merge trees of the densities from each number of neighbours, or from some of them."""
        return {count: point_tree(*density) for count, density in self.densities(graph, counts).items()}

    def densities(
        self, graph: KnnGraph, counts: Collection[float] | None = None
    ) -> dict[int, tuple[Array, IntArray, Array]]:
        """Return heights of the points, edges, and saddles on the edges, from each number of neighbours k.

        The log density of point i is ln(W_i) - dimension * ln(r_i), where r_i is the distance to its k-th neighbour and
        W_i the mean weight up to there. The saddle on an edge is the lower density of its ends, or the density that
        corresponds to the length of the edge if that is lower.
        """
        n_edges = self.config.modes.n_edges
        indices, distances = graph.neighbors
        edges, along = _unique_edges(indices[:, :n_edges], -graph.dimension * np.log(distances[:, :n_edges]))
        running = graph.weights[:, None] + np.cumsum(graph.weights[indices], axis=1)
        found = {}
        for count in (each for each in graph.counts if counts is None or each in counts):
            mass = np.log(running[:, count - 1] / (count + 1))
            heights = mass - graph.dimension * np.log(distances[:, count - 1])
            found[count] = heights, edges, along + np.minimum(mass[edges[:, 0]], mass[edges[:, 1]])
        return found

    def is_significant(self, candidate: Candidate, graph: KnnGraph) -> bool:
        config, excess = self.config, self.excess_prominence(graph)
        clear = excess >= config.clear_excess_prominence
        least = config.min_stability_clear if clear else config.min_stability
        return excess >= config.min_excess_prominence and candidate.stability >= least

    def excess_prominence(self, graph: KnnGraph) -> float:
        """Return by how much the second mode exceeds the prominence that is expected in unclustered data.

        The result is the largest c, in steps of `modes.prominence_step` and at most `clear_excess_prominence`, for
        which some density still has two non-trivial clusters at prominence ln(n) / k + c; it is negative if none has at
        c = 0.
        """
        step = self.config.modes.prominence_step
        n, best = len(graph), -step
        for count, tree in self.trees(graph).items():
            c = self.config.clear_excess_prominence
            while c > best and is_trivial(cut(tree, np.log(n) / count + c), graph.weights):
                c -= step
            best = max(best, c)
        return best

    def propose_n_clusters(
        self, graph: KnnGraph, n_clusters: int, seed: int, progress: SelectionProgress
    ) -> list[Candidate]:
        """Return candidates with `n_clusters` clusters, one for each density, best first.

        If modes have equal prominence, or the graph has several connected components, the number may be larger.
        """
        levels = {count: level_for(tree, n_clusters) for count, tree in self.trees(graph).items()}
        settings = [(float(count), float(level * np.sqrt(count) / 2.0)) for count, level in levels.items()]

        def propose(graph: KnnGraph) -> Partitions:
            return {setting: self.partitions(graph, setting)[setting] for setting in settings}

        return self.judge(graph, propose, seed, progress, keep_trivial=True)


def prominence_level(standard_errors: float, count: float) -> float:
    """Return a number of standard errors of the log density, which is 2 / sqrt(count), as a prominence."""
    return float(2.0 * standard_errors / np.sqrt(count))


def density_tree(graph: KnnGraph, inverse: IntArray, setting: Setting | None = None) -> MergeTree:
    """Return the merge tree of one density, for users.

    Parameters
    ----------
    graph : KnnGraph
    inverse : (n_rows,) integer array
        Point of each row.
    setting : tuple of float, optional
        Setting of `Modes`. None: the middle number of neighbours, and no level.
    """
    count = graph.counts[len(graph.counts) // 2] if setting is None else int(setting[0])
    level = None if setting is None else prominence_level(setting[1], count)
    tree = Modes().trees(graph, (count,))[count]
    return merge_tree(tree, weights=graph.weights, inverse=inverse, level=level, n_neighbors=count)


def _unique_edges(near: IntArray, values: Array) -> tuple[IntArray, Array]:
    """Return the edges from points to their neighbours, each once and sorted, with their values."""
    n = len(near)
    own = np.repeat(np.arange(n), near.shape[1])
    key = np.minimum(own, near.ravel()) * n + np.maximum(own, near.ravel())
    key, first = np.unique(key, return_index=True)
    return np.column_stack([key // n, key % n]), values.ravel()[first]
