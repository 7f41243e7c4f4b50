"""Saddles between the components of a mixture."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array
from modeseek.selection.mixture.em import Mixture, log_density
from modeseek.selection.rules_config import DEFAULT, MixtureConfig

__all__ = ["saddle_depths"]


def saddle_depths(mixture: Mixture, config: MixtureConfig = DEFAULT.mixture) -> Array:
    """Return the depth of the saddle between any two components, in log density.

    All modes of two Gaussians lie on the ridge line between their means, the points at which the gradients of both
    are opposite. The depth is the prominence of the lower of the two peaks on that line; it is 0 if one component is a
    shoulder of the other.

    Parameters
    ----------
    mixture : Mixture
    config : MixtureConfig

    Returns
    -------
    depths : (k, k) array
        Symmetric, with an infinite diagonal.

    References
    ----------
    S. Ray, B. Lindsay, "The topography of multivariate normal mixtures", Annals of Statistics 33, 2005.

    Examples
    --------
    >>> def pair(gap):
    ...     return Mixture(np.full(2, 0.5), np.array([[0.0], [gap]]), np.ones((2, 1, 1)), "ball", 0.0)
    >>> [round(float(saddle_depths(pair(gap))[0, 1]), 2) for gap in (1.0, 2.0, 3.0, 5.0)]
    [0.0, 0.0, 0.44, 2.43]
    """
    k = len(mixture.weights)
    precisions = np.einsum("kab,kac->kbc", mixture.factors, mixture.factors)
    pulls = np.einsum("kab,kb->ka", precisions, mixture.means)
    steps = np.linspace(0.0, 1.0, config.saddle_steps)
    depths = np.full((k, k), np.inf)
    for i in range(k):
        for j in range(i):
            gap = mixture.means[j] - mixture.means[i]
            # steps in standard deviations: even steps would miss the saddle beside a much narrower component
            from_i, from_j = (max(float(np.sqrt(gap @ precisions[each] @ gap)), 1e-300) for each in (i, j))
            share = steps * from_i / (steps * from_i + (1.0 - steps) * from_j)
            both = (1.0 - share)[:, None, None] * precisions[i] + share[:, None, None] * precisions[j]
            pull = (1.0 - share)[:, None] * pulls[i] + share[:, None] * pulls[j]
            height = log_density(mixture, np.linalg.solve(both, pull[:, :, None])[:, :, 0])
            left, right = np.maximum.accumulate(height), np.maximum.accumulate(height[::-1])[::-1]
            depths[i, j] = depths[j, i] = float((np.minimum(left, right) - height).max())
    return depths
