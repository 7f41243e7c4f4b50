"""Proposer: Gaussian mixtures."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from modeseek.selection.config import SelectionConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.gaussian_mixture import FORMS, fit_mixture, n_parameters
from modeseek.selection.proposers.base import Proposal
from modeseek.selection.proposers.samples import draw, ward_clusters, ward_tree


class Mixtures:
    """Components of Gaussian mixtures that start from Ward's clusters, fitted to a sample.

    A setting is (number of components, index of the form of the covariances in `FORMS`).
    """

    name: ClassVar[str] = "mixture"
    needs_coordinates: ClassVar[bool] = True

    def __init__(self, config: SelectionConfig) -> None:
        self.config = config.mixture

    def propose(self, data: SelectionData, rng: np.random.Generator, sample_share: float = 1.0) -> list[Proposal]:
        config = self.config
        rows = draw(len(data), int(sample_share * config.max_points), rng)
        x, weights = np.ascontiguousarray(data.coordinates[rows]), data.weights[rows]
        m, d = x.shape
        tree = ward_tree(np.ascontiguousarray(data.components[rows]))
        starts = {k: ward_clusters(tree, k) for k in config.n_components if k <= m}
        one = np.zeros(m, dtype=np.int32)
        singles = [fit_mixture(x, weights, one, form, max_steps=3, tol=config.tol) for form in FORMS]
        single = min(each.bic for each in singles if each is not None)
        found = []
        for number, form in enumerate(FORMS):
            worse, lowest = 0, np.inf
            for k in config.n_components:
                if config.points_per_parameter * n_parameters(k, d, form) > m or worse == config.patience:
                    break
                fitted = fit_mixture(x, weights, starts[k], form, max_steps=config.max_steps, tol=config.tol)
                if fitted is None:
                    worse += 1
                    continue
                worse, lowest = (worse + 1, lowest) if fitted.bic >= lowest else (0, fitted.bic)
                labels, gain = fitted.labels(data.coordinates), (single - fitted.bic) / m
                found.append(Proposal(self.name, labels, (float(k), float(number)), gain))
        return found
