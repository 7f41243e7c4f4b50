"""Number of components and form of a mixture, by the Bayesian information criterion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek.selection.mixture.em import FORMS, Mixture, fit, n_parameters
from modeseek.selection.rules_config import DEFAULT, MixtureConfig

__all__ = ["FoundMixture", "cut_ward_tree", "search_mixtures", "ward_tree"]


class FoundMixture(NamedTuple):
    """The best mixture of two or more components.

    Attributes
    ----------
    mixture : Mixture
    gain : float
        Bayesian information criterion of the best single Gaussian minus that of the mixture.
    """

    mixture: Mixture
    gain: float


def ward_tree(points: Array) -> Array:
    """Return Ward's hierarchical clustering, from which fits start; it involves no chance."""
    n = len(points)
    check_memory(8.0 * n * n, f"Ward's tree of {n:,} points", "Take a sample of them.")
    return linkage(points, "ward")


def cut_ward_tree(tree: Array, k: int) -> IntArray:
    """Return the partition of a tree into k clusters, or fewer if merges have equal heights."""
    return np.unique(fcluster(tree, k, "maxclust"), return_inverse=True)[1]


def search_mixtures(points: Array, weights: Array, config: MixtureConfig = DEFAULT.mixture) -> FoundMixture | None:
    """Return the best mixture of 2 to `config.max_components` Gaussians; None if there are too few points.

    Parameters
    ----------
    points : (n, d) float64 array
    weights : (n,) array
    config : MixtureConfig

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> points = np.concatenate([rng.normal(c, 1.0, (50, 2)) for c in (0.0, 8.0, 16.0)])
    >>> found = search_mixtures(points, np.ones(150))
    >>> len(found.mixture.weights), found.mixture.form, found.gain > 100
    (3, 'ball', True)
    """
    n, d = points.shape
    tree = ward_tree(points)
    single, best = np.inf, None
    for form in FORMS:
        lowest, worse = np.inf, 0
        for k in range(1, config.max_components + 1):
            if 2 * n_parameters(k, d, form) > n or worse == config.patience:
                break
            mixture = fit(points, weights, cut_ward_tree(tree, k), form, config)
            if mixture is None or mixture.bic >= lowest:
                worse += 1
            else:
                lowest, worse = mixture.bic, 0
            # not by k: a tree with equal heights may have fewer clusters
            if mixture is not None and len(mixture.weights) == 1:
                single = min(single, mixture.bic)
            elif mixture is not None and (best is None or mixture.bic < best.bic):
                best = mixture
    return None if best is None else FoundMixture(best, single - best.bic)
