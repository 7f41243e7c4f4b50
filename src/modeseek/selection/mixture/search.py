"""How many Gaussians, of which form: by the Bayesian information criterion, from Ward's tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek.selection.mixture.em import FORMS, Mixture, fit, n_parameters

__all__ = ["Found", "search", "starts"]

# after so many worse ones in a row, more components are not tried
PATIENCE = 3


class Found(NamedTuple):
    """The best mixture of two or more components, and what it gains.

    Attributes
    ----------
    mixture : Mixture
    gain : float
        Bayesian information criterion of the best single Gaussian, less that of the mixture.
    """

    mixture: Mixture
    gain: float


def starts(points: Array) -> Array:
    """Return the tree (Ward's) whose levels are the partitions that fits begin from: there is no chance in them."""
    n = len(points)
    check_memory(8.0 * n * n, f"Ward's tree of {n:,} points", "Take a sample of them.")
    return linkage(points, "ward")


def level(tree: Array, k: int) -> IntArray:
    """Return the partition of a tree into k clusters, or fewer where ties forbid it."""
    return np.unique(fcluster(tree, k, "maxclust"), return_inverse=True)[1]


def search(points: Array, weights: Array, *, most: int) -> Found | None:
    """Return the best mixture of 2 to `most` Gaussians; None where there are too few points for any.

    Parameters
    ----------
    points : (n, d) float64 array
    weights : (n,) array
    most : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> points = np.concatenate([rng.normal(c, 1.0, (50, 2)) for c in (0.0, 8.0, 16.0)])
    >>> found = search(points, np.ones(150), most=6)
    >>> len(found.mixture.weights), found.mixture.form, found.gain > 100
    (3, 'ball', True)
    """
    n, d = points.shape
    tree = starts(points)
    single, best = np.inf, None
    for form in FORMS:
        lowest, worse = np.inf, 0
        for k in range(1, most + 1):
            if 2 * n_parameters(k, d, form) > n or worse == PATIENCE:
                break
            mixture = fit(points, weights, level(tree, k), form)
            if mixture is None or mixture.bic >= lowest:
                worse += 1
            else:
                lowest, worse = mixture.bic, 0
            # by its components, not by k: ties in the tree leave fewer
            if mixture is not None and len(mixture.weights) == 1:
                single = min(single, mixture.bic)
            elif mixture is not None and (best is None or mixture.bic < best.bic):
                best = mixture
    return None if best is None else Found(best, single - best.bic)
