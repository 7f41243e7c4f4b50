"""What a mixture must beat: the best of several kernel densities, on points that neither has seen."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from modeseek._common.resources import check_memory
from modeseek._common.types import Array

__all__ = ["kernel_log_density"]

# widths, as multiples of a neighbour distance: of the median over points, or of each point's own
FIXED, FIXED_NEIGHBOUR = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0), 6
ADAPTIVE, ADAPTIVE_NEIGHBOURS = (0.5, 0.7, 1.0), (6, 16)
NARROWEST = 0.01


def kernel_log_density(seen: Array, weights: Array, unseen: Array) -> dict[tuple[bool, int, float], Array]:
    """Return the log of Gaussian kernel densities of the points seen, at points unseen, by setting.

    A setting is (whitened first or not, neighbour that an adaptive width goes by or 0 for one width, multiple).

    Parameters
    ----------
    seen : (n, d) array
    weights : (n,) array
    unseen : (m, d) array

    Examples
    --------
    >>> seen, unseen = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[1.5]])
    >>> densities = kernel_log_density(seen, np.ones(4), unseen)
    >>> round(float(densities[False, 0, 0.35][0]), 2)
    -1.4
    """
    from modeseek.selection.mixture.kernels import adaptive_log_density

    n, d = seen.shape
    check_memory(8.0 * n * (2 * n + 2 * len(unseen)), f"kernel densities of {n:,} points", "Take a sample of them.")
    log_mass = np.log(weights / weights.sum())
    found = {}
    for whitened in (False, True):
        turn = _whitening(seen, weights) if whitened else np.eye(d)
        log_volume = float(np.log(np.diagonal(turn)).sum())
        here, there = seen @ turn.T, unseen @ turn.T
        order = np.sort(cdist(here, here), axis=1)
        squares = cdist(there, here, "sqeuclidean")
        middle = float(np.median(order[:, min(FIXED_NEIGHBOUR, len(here) - 1)])) or 1.0
        widths = {(0, c): np.full(len(here), c * middle) for c in FIXED}
        for k in (k for k in ADAPTIVE_NEIGHBOURS if k < len(here)):
            widths |= {(k, c): np.maximum(c * order[:, k], NARROWEST * middle) for c in ADAPTIVE}
        for (k, c), width in widths.items():
            found[whitened, k, c] = adaptive_log_density(squares, log_mass, width, d) + log_volume
    return found


def _whitening(points: Array, weights: Array) -> Array:
    """Return the lower triangle that makes the covariance of points the identity."""
    d = points.shape[1]
    covariance = np.cov(points.T, aweights=weights).reshape(d, d)
    return np.linalg.inv(np.linalg.cholesky(covariance + 1e-6 * (np.trace(covariance) / d or 1.0) * np.eye(d)))
