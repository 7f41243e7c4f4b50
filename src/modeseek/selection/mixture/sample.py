"""Fits of mixtures to one sample of points, and their tests against held-out points and uniform data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.metrics import rand_agreement
from modeseek.selection.mixture.em import FORMS, Mixture, fit, log_density, posterior
from modeseek.selection.mixture.kde_baseline import kernel_log_density
from modeseek.selection.mixture.search import FoundMixture, cut_ward_tree, search_mixtures, ward_tree
from modeseek.selection.rules_config import DEFAULT, MixtureConfig

__all__ = ["HeldOut", "MixtureSample", "component_labels"]


class HeldOut(NamedTuple):
    """Performance of a mixture on held-out points.

    Attributes
    ----------
    stability : float
        Mean adjusted Rand index between the mixture and those of the training points.
    lead : float
        Mean lead of the held-out log likelihood over the best kernel density, in standard errors.
    """

    stability: float
    lead: float


@dataclass(frozen=True, eq=False)
class MixtureSample:
    """The points that mixtures are fitted to.

    Attributes
    ----------
    points : (n, d) float64 array
    weights : (n,) array
    config : MixtureConfig
    """

    points: Array
    weights: Array
    config: MixtureConfig = DEFAULT.mixture

    def search(self) -> FoundMixture | None:
        """Return the best mixture of two or more components."""
        return search_mixtures(self.points, self.weights, self.config)

    def fit(self, k: int, form: str, hint: IntArray | None = None) -> Mixture | None:
        """Return the better of the fits that start from Ward's tree and from the labels `hint`; None without any."""
        starts = [cut_ward_tree(ward_tree(self.points), k)]
        if hint is not None:
            start = np.unique(hint, return_inverse=True)[1]
            starts += [start] if int(start.max()) + 1 == k else []
        return _best(fit(self.points, self.weights, start, form, self.config) for start in starts)

    def gain(self, mixture: Mixture) -> float:
        """Return the Bayesian information criterion of the best single Gaussian minus that of a mixture."""
        labels = np.zeros(len(self.points), dtype=np.intp)
        single = _best(fit(self.points, self.weights, labels, form, self.config) for form in FORMS)
        return (np.inf if single is None else single.bic) - mixture.bic

    def hold_out(self, mixture: Mixture, rng: np.random.Generator, n_splits: int) -> HeldOut:
        """Fit mixtures like the given one to random shares of the points, and evaluate them on the rest."""
        points, labels = self.points, component_labels(mixture, self.points)
        n, cut = len(points), round(self.config.train_share * len(points))
        agreement, gaussian, kernel = [], [], []
        for _ in range(n_splits):
            order = rng.permutation(n)
            train, test = replace(self, points=points[order[:cut]], weights=self.weights[order[:cut]]), order[cut:]
            again = train.fit(len(mixture.weights), mixture.form, hint=labels[order[:cut]])
            if again is None:
                return HeldOut(0.0, -np.inf)
            agreement.append(rand_agreement(labels, component_labels(again, points)))
            gaussian.append(log_density(again, points[test]))
            kernel.append(kernel_log_density(train.points, train.weights, points[test], self.config.kde))
        settings = [each for each in kernel[0] if all(each in one for one in kernel)]
        densities = {each: np.concatenate([one[each] for one in kernel]) for each in settings}
        best = max(settings, key=lambda each: float(densities[each].mean()))
        lead = np.concatenate(gaussian) - densities[best]
        return HeldOut(float(np.mean(agreement)), float(lead.mean() / (lead.std() / np.sqrt(n) + 1e-12)))

    def uniform_gain(self, k: int, form: str, rng: np.random.Generator) -> float:
        """Return a high quantile of the gain on uniform data with the spread of the points."""
        points, config = self.points, self.config
        mean = np.average(points, axis=0, weights=self.weights)
        spread = np.sqrt(np.average(np.square(points - mean), axis=0, weights=self.weights))
        gains = []
        for _ in range(config.n_uniform):
            uniform = replace(self, points=(rng.random(points.shape) - 0.5) * np.sqrt(12.0) * spread)
            mixture = uniform.fit(k, form)
            gains.append(0.0 if mixture is None else uniform.gain(mixture))
        return float(np.mean(gains) + config.uniform_margin * np.std(gains, ddof=1))


def component_labels(mixture: Mixture, points: Array) -> IntArray:
    """Return the most probable component of each point, numbered without gaps."""
    return np.unique(posterior(mixture, points).argmax(axis=1), return_inverse=True)[1]


def _best(fits: Iterable[Mixture | None]) -> Mixture | None:
    return min((each for each in fits if each is not None), key=lambda each: each.bic, default=None)
