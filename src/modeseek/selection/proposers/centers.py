"""Proposer: Ward's clusters, and k-means that starts from them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from modeseek.selection.config import SelectionConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.proposers.base import Proposal
from modeseek.selection.proposers.samples import draw, nearest_center, ward_clusters, ward_tree


class Centers:
    """Clusters around centers, from Ward's tree of a sample; other points are assigned to the nearest center.

    A setting is (number of centers, 0 for Ward's clusters or 1 for k-means).
    """

    name: ClassVar[str] = "centers"
    needs_coordinates: ClassVar[bool] = True

    def __init__(self, config: SelectionConfig) -> None:
        self.config = config.centers

    def propose(self, data: SelectionData, rng: np.random.Generator, sample_share: float = 1.0) -> list[Proposal]:
        from modeseek.selection.proposers.centers_loops import k_means

        config = self.config
        rows = draw(len(data), int(sample_share * config.max_points), rng)
        x, weights = np.ascontiguousarray(data.components[rows]), data.weights[rows]
        tree = ward_tree(x)
        found = []
        for k in config.n_centers:
            if k * config.min_points_per_center > len(x):
                break
            labels = ward_clusters(tree, k)
            start, means = k_means(x, weights, labels, k, config.max_steps)
            ward = labels if len(rows) == len(data) else nearest_center(data.components, start)
            found.append(Proposal(self.name, ward, (float(k), 0.0)))
            found.append(Proposal(self.name, nearest_center(data.components, means), (float(k), 1.0)))
        return found

    def with_clusters(self, data: SelectionData, n_clusters: int) -> Proposal:
        """Return `n_clusters` clusters by Ward's method; if there are many points, from a random sample."""
        rows = draw(len(data), max(self.config.max_points, 2 * n_clusters), np.random.default_rng(0))
        x, weights = data.components[rows], data.weights[rows]
        labels = ward_clusters(ward_tree(x), n_clusters)
        if len(rows) < len(data):
            sums = np.array([np.bincount(labels, weights * column, n_clusters) for column in x.T])
            means = (sums / np.bincount(labels, weights, n_clusters)).T
            labels = np.unique(nearest_center(data.components, means), return_inverse=True)[1].astype(np.int32)
        return Proposal(self.name, labels, (float(n_clusters), 0.0))
