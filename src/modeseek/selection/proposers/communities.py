"""Proposer: communities of graphs of shared neighbours."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from modeseek.selection.communities import shared_neighbor_graph
from modeseek.selection.config import DEFAULT, SelectionConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.proposers.base import Proposal


class Communities:
    """Communities by the Louvain method; each resolution starts from the communities of the next finer one.

    A setting is (number of neighbours from which the graph is built, resolution).
    """

    name: ClassVar[str] = "communities"
    needs_coordinates: ClassVar[bool] = False

    def __init__(self, config: SelectionConfig = DEFAULT) -> None:
        self.config = config.communities

    def propose(self, data: SelectionData, rng: np.random.Generator, sample_share: float = 1.0) -> list[Proposal]:
        found: list[Proposal] = []
        for count in self.config.neighbor_counts:
            if self.config.points_per_count * count < len(data) and count <= data.n_neighbors:
                found += self._from_neighbors(data, count)
        return found

    def _from_neighbors(self, data: SelectionData, count: int) -> list[Proposal]:
        from modeseek.selection.communities.kernels import merge_communities, move_nodes

        config, n = self.config, len(data)
        graph = shared_neighbor_graph(data.indices[:, :count])
        start, column = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
        weight, loops, labels = graph.data.astype(np.float64), np.zeros(n), np.arange(n)
        # the order of nodes must not depend on anything else
        rng = np.random.default_rng(0)
        found = []
        for resolution in config.resolutions:
            for _ in range(config.max_levels):
                size = len(start) - 1
                order = rng.permutation(size)
                community = move_nodes(start, column, weight, loops, resolution, order, config.max_sweeps)
                start, column, weight, loops, numbers = merge_communities(start, column, weight, loops, community)
                labels = numbers[labels]
                if len(start) - 1 == size:
                    break
            found.append(Proposal(self.name, labels.astype(np.int32), (float(count), resolution)))
        return found
