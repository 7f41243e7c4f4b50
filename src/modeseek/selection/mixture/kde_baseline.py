"""Kernel densities, the baseline that a mixture must match on held-out points."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from modeseek._common.resources import check_memory
from modeseek._common.types import Array
from modeseek.selection.rules_config import DEFAULT, KdeConfig

__all__ = ["kernel_log_density"]


def kernel_log_density(
    points: Array, weights: Array, queries: Array, config: KdeConfig = DEFAULT.mixture.kde
) -> dict[tuple[bool, int, float], Array]:
    """Return the log of several Gaussian kernel densities of the points, at the queries.

    Parameters
    ----------
    points : (n, d) array
    weights : (n,) array
    queries : (m, d) array
    config : KdeConfig

    Returns
    -------
    densities : dict
        Arrays of shape (m,). Keys are (whether the points were whitened, neighbour that sets an adaptive bandwidth or 0
        for a fixed one, factor on the bandwidth).

    Examples
    --------
    >>> points, queries = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[1.5]])
    >>> densities = kernel_log_density(points, np.ones(4), queries)
    >>> round(float(densities[False, 0, 0.35][0]), 2)
    -1.4
    """
    from modeseek.selection.mixture.kernels import adaptive_log_density

    n, d = points.shape
    check_memory(8.0 * n * (2 * n + 2 * len(queries)), f"kernel densities of {n:,} points", "Take a sample of them.")
    log_mass = np.log(weights / weights.sum())
    found = {}
    for whitened in (False, True):
        transform = _whitening(points, weights) if whitened else np.eye(d)
        log_volume = float(np.log(np.diagonal(transform)).sum())
        here, there = points @ transform.T, queries @ transform.T
        order = np.sort(cdist(here, here), axis=1)
        squares = cdist(there, here, "sqeuclidean")
        middle = float(np.median(order[:, min(config.fixed_neighbor, n - 1)])) or 1.0
        widths = {(0, c): np.full(n, c * middle) for c in config.fixed_factors}
        for k in (k for k in config.adaptive_neighbors if k < n):
            widths |= {
                (k, c): np.maximum(c * order[:, k], config.min_bandwidth * middle) for c in config.adaptive_factors
            }
        for (k, c), width in widths.items():
            found[whitened, k, c] = adaptive_log_density(squares, log_mass, width, d) + log_volume
    return found


def _whitening(points: Array, weights: Array) -> Array:
    """Return the lower triangle that turns the covariance of the points into the identity."""
    d = points.shape[1]
    covariance = np.cov(points.T, aweights=weights).reshape(d, d)
    return np.linalg.inv(np.linalg.cholesky(covariance + 1e-6 * (np.trace(covariance) / d or 1.0) * np.eye(d)))
