"""Tests of a fitted mixture: against held-out points, and against uniform data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.metrics import rand_agreement
from modeseek.selection.config import MixtureConfig
from modeseek.selection.mixture.em import FORMS, Mixture, fit, log_density, posterior
from modeseek.selection.mixture.kde_baseline import kernel_log_density
from modeseek.selection.mixture.search import cut_ward_tree, ward_tree

__all__ = ["HeldOut", "best_single_bic", "component_labels", "fit_components", "hold_out", "uniform_gain"]


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


def hold_out(
    points: Array, weights: Array, mixture: Mixture, rng: np.random.Generator, *, n_splits: int, config: MixtureConfig
) -> HeldOut:
    """Fit mixtures of the same size and form to random shares of the points, and evaluate them on the rest.

    Parameters
    ----------
    points : (n, d) array
    weights : (n,) array
    mixture : Mixture
        Fitted to all points.
    rng : Generator
    n_splits : int
    config : MixtureConfig
    """
    labels = component_labels(mixture, points)
    n, cut = len(points), round(config.train_share * len(points))
    agreement, gaussian, kernel = [], [], []
    for _ in range(n_splits):
        order = rng.permutation(n)
        train, test = order[:cut], order[cut:]
        k, form = len(mixture.weights), mixture.form
        again = fit_components(points[train], weights[train], k, form, config, hint=labels[train])
        if again is None:
            return HeldOut(0.0, -np.inf)
        agreement.append(rand_agreement(labels, component_labels(again, points)))
        gaussian.append(log_density(again, points[test]))
        kernel.append(kernel_log_density(points[train], weights[train], points[test], config.kde))
    settings = [each for each in kernel[0] if all(each in one for one in kernel)]
    densities = {each: np.concatenate([one[each] for one in kernel]) for each in settings}
    best = max(settings, key=lambda each: float(densities[each].mean()))
    lead = np.concatenate(gaussian) - densities[best]
    return HeldOut(float(np.mean(agreement)), float(lead.mean() / (lead.std() / np.sqrt(n) + 1e-12)))


def uniform_gain(
    points: Array, weights: Array, k: int, form: str, rng: np.random.Generator, config: MixtureConfig
) -> float:
    """Return a high quantile of the gain of mixtures on uniform data with the spread of the points."""
    mean = np.average(points, axis=0, weights=weights)
    spread = np.sqrt(np.average(np.square(points - mean), axis=0, weights=weights))
    gains = []
    for _ in range(config.n_uniform):
        uniform = (rng.random(points.shape) - 0.5) * np.sqrt(12.0) * spread
        mixture = fit_components(uniform, weights, k, form, config)
        gains.append(best_single_bic(uniform, weights, config) - mixture.bic if mixture is not None else 0.0)
    return float(np.mean(gains) + config.uniform_margin * np.std(gains, ddof=1))


def best_single_bic(points: Array, weights: Array, config: MixtureConfig) -> float:
    """Return the Bayesian information criterion of the best single Gaussian."""
    labels = np.zeros(len(points), dtype=np.intp)
    fits = [fit(points, weights, labels, form, config) for form in FORMS]
    return min((each.bic for each in fits if each is not None), default=np.inf)


def fit_components(
    points: Array, weights: Array, k: int, form: str, config: MixtureConfig, *, hint: IntArray | None = None
) -> Mixture | None:
    """Return the better of the fits that start from Ward's tree and from the labels `hint`; None if there is none."""
    found = [fit(points, weights, cut_ward_tree(ward_tree(points), k), form, config)]
    if hint is not None:
        start = np.unique(hint, return_inverse=True)[1]
        if int(start.max()) + 1 == k:
            found.append(fit(points, weights, start, form, config))
    return min((each for each in found if each is not None), key=lambda each: each.bic, default=None)


def component_labels(mixture: Mixture, points: Array) -> IntArray:
    """Return the most probable component of each point, numbered without gaps."""
    return np.unique(posterior(mixture, points).argmax(axis=1), return_inverse=True)[1]
