"""Whether the components of a mixture are modes, with a dip between them."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array
from modeseek.selection.mixture.em import Mixture, log_density

__all__ = ["saddle_depths"]

STEPS = 41


def saddle_depths(mixture: Mixture) -> Array:
    """Return how far the log density saddle_depths between each two components: shape (k, k), infinite on the diagonal.

    All modes of two Gaussians lie on the ridge line between their means, the points where no direction leads up in
    both. The dip is the prominence of the lower of two peaks on it, 0 where one component is a shoulder of the other.

    Parameters
    ----------
    mixture : Mixture

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
    steps = np.linspace(0.0, 1.0, STEPS)
    found = np.full((k, k), np.inf)
    for i in range(k):
        for j in range(i):
            gap = mixture.means[j] - mixture.means[i]
            # steps of standard deviations: where one component is far narrower, even steps would leap the valley
            from_i, from_j = (max(float(np.sqrt(gap @ precisions[each] @ gap)), 1e-300) for each in (i, j))
            share = steps * from_i / (steps * from_i + (1.0 - steps) * from_j)
            both = (1.0 - share)[:, None, None] * precisions[i] + share[:, None, None] * precisions[j]
            pull = (1.0 - share)[:, None] * pulls[i] + share[:, None] * pulls[j]
            height = log_density(mixture, np.linalg.solve(both, pull[:, :, None])[:, :, 0])
            left, right = np.maximum.accumulate(height), np.maximum.accumulate(height[::-1])[::-1]
            found[i, j] = found[j, i] = float((np.minimum(left, right) - height).max())
    return found
