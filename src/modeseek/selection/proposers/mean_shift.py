"""Proposer: mean shift and doubly stochastic mean shift, the paper's algorithm, at several bandwidths."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from modeseek.selection.config import SelectionConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.proposers.base import Proposal
from modeseek.selection.proposers.samples import draw, nearest_point


class MeanShiftProposer:
    """Clusters of mean shift on a sample; other points get the label of the nearest point of the sample.

    Mean shift has the bandwidth h. Doubly stochastic mean shift draws the bandwidth of each update from [h / 2, 2 h], a
    range that shrinks to h over the sweeps. A setting is (k, h), where h is the median distance to the k-th neighbour.
    """

    name: ClassVar[str] = "mean_shift"
    needs_coordinates: ClassVar[bool] = True

    def __init__(self, config: SelectionConfig) -> None:
        self.config = config.mean_shift

    def propose(self, data: SelectionData, rng: np.random.Generator, sample_share: float = 1.0) -> list[Proposal]:
        from modeseek.selection.proposers.mean_shift_loops import climb, components_within, run_chain

        config = self.config
        rows = draw(len(data), int(sample_share * config.max_points), rng)
        whole = data.points if data.points.shape[1] <= config.max_features else data.components
        x, weights, m = whole[rows].astype(np.float64), data.weights[rows], len(rows)
        squares = np.square(x).sum(axis=1)
        distances = np.sort(np.sqrt(np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0.0)), axis=1)
        owner = None if m == len(data) else nearest_point(whole, x)
        found = []
        shares = np.geomspace(max(2, config.least_share * m), config.largest_share * m, config.n_bandwidths)
        for count in np.unique(np.round(shares).astype(int)):
            h = float(np.median(distances[:, min(count, m - 1)]))
            if h <= 0:
                continue
            words = rng.random((2, config.max_sweeps * m))
            width = np.log(2.0) / (1.0 + np.arange(1, config.max_sweeps * m + 1) / m)
            ends = run_chain(x, weights, words[0], h * np.exp((2 * words[1] - 1) * width), config.max_sweeps)
            for each in (ends, climb(x, weights, h, config.max_sweeps)):
                labels = components_within(each, config.radius * h)
                if 0 < labels.max() < m / 2:
                    found.append(Proposal(self.name, labels if owner is None else labels[owner], (float(count), h)))
        return found
