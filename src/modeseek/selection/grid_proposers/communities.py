"""Proposer: communities of graphs of shared neighbours, for data of high intrinsic dimension."""

from __future__ import annotations

from modeseek.selection.candidates import Partitions, Setting
from modeseek.selection.communities import louvain, shared_neighbor_graph
from modeseek.selection.grid_proposers.base import GridProposer
from modeseek.selection.knn_graph import KnnGraph

__all__ = ["Communities"]


class Communities(GridProposer):
    """Louvain communities of graphs of shared neighbours.

    A setting is (number of neighbours, resolution). Densities are too noisy in high dimension; in low dimension, this
    proposer would split elongated clusters.
    """

    name = "communities"

    def applies(self, graph: KnnGraph) -> bool:
        return graph.dimension >= self.config.communities_dimension

    def partitions(self, graph: KnnGraph, only: Setting | None = None) -> Partitions:
        config = self.config.communities
        counts, resolutions = (config.neighbor_counts, config.resolutions) if only is None else zip(only)
        found = {}
        for count in counts:
            if only is None and 4 * count >= len(graph) / graph.share:
                continue
            # lists of a subsample are shorter, so that they reach as far as those of the whole graph
            length = max(2, round(graph.share * count))
            shared = shared_neighbor_graph(graph.neighbors.indices[:, :length])
            for resolution in resolutions:
                found[float(count), resolution] = louvain(shared, resolution, config=config)
        return found
