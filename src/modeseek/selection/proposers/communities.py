"""Proposer: communities of graphs of shared neighbours."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from modeseek.selection.communities import nested_communities, shared_neighbor_graph
from modeseek.selection.config import SelectionConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.proposers.base import Proposal


class Communities:
    """Communities by the Louvain method; each resolution starts from the communities of the next finer one.

    A setting is (number of neighbours from which the graph is built, resolution).
    """

    name: ClassVar[str] = "communities"
    needs_coordinates: ClassVar[bool] = False

    def __init__(self, config: SelectionConfig) -> None:
        self.config = config.communities

    def propose(self, data: SelectionData, rng: np.random.Generator, sample_share: float = 1.0) -> list[Proposal]:
        found = []
        for count in self.config.neighbor_counts:
            if self.config.points_per_count * count >= len(data) or count > data.n_neighbors:
                continue
            nested = nested_communities(
                shared_neighbor_graph(data.indices[:, :count]), self.config.resolutions, config=self.config
            )
            for resolution, labels in zip(self.config.resolutions, nested, strict=True):
                found.append(Proposal(self.name, labels, (float(count), resolution)))
        return found
