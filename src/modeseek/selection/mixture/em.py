"""Expectation maximization for Gaussian mixtures of weighted points; scikit-learn's takes no weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.rules_config import DEFAULT, MixtureConfig

__all__ = ["FORMS", "Mixture", "fit", "log_density", "n_parameters", "posterior"]

# covariances: any; one for all components; diagonal; one multiple of the identity for all components
FORMS = ("full", "tied", "diagonal", "ball")
# a component with a smaller share of the weight is lost
MIN_SHARE = 1e-6


class Mixture(NamedTuple):
    """A mixture of Gaussians.

    Attributes
    ----------
    weights : (k,) array
        Shares of the components; they add up to 1.
    means : (k, d) array
    factors : (k, d, d) array
        Lower triangles L with L^T L the inverse covariance: L (x - mean) is standard normal.
    form : str
        Form of the covariances, one of `FORMS`.
    bic : float
        Bayesian information criterion, -2 log likelihood + parameters * ln(total weight); lower is better.
    """

    weights: Array
    means: Array
    factors: Array
    form: str
    bic: float


def fit(
    points: Array, weights: Array, labels: IntArray, form: str, config: MixtureConfig = DEFAULT.mixture
) -> Mixture | None:
    """Fit a mixture, starting from a partition; return None if a component loses all its points.

    Parameters
    ----------
    points : (n, d) float64 array
    weights : (n,) array
    labels : (n,) integer array
        The partition: 0, 1, ..., k - 1, each at least once.
    form : str
        One of `FORMS`.
    config : MixtureConfig

    Examples
    --------
    >>> points = np.array([[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]])
    >>> found = fit(points, np.ones(6), np.array([0, 0, 0, 1, 1, 1]), "ball")
    >>> found.means.ravel()
    array([0.2, 5.2])
    """
    from modeseek.selection.mixture.kernels import posteriors, sums

    total = float(weights.sum())
    centered = points - np.average(points, axis=0, weights=weights)
    ridge = config.min_variance * float(weights @ np.square(centered).mean(axis=1)) / total or 1.0
    shares = np.eye(int(labels.max()) + 1)[labels]
    before = -np.inf
    for _ in range(config.max_iterations):
        mass, means, scatter = sums(points, weights, shares)
        if mass.min() < MIN_SHARE * total:
            return None
        factors = _factors(scatter, mass, form, ridge)
        logs, shares = posteriors(points, np.log(mass / total), means, factors, _log_determinants(factors))
        now = float(weights @ logs) / total
        if now - before < config.tol:
            break
        before = now
    bic = -2.0 * now * total + n_parameters(len(mass), points.shape[1], form) * np.log(total)
    return Mixture(mass / total, means, factors, form, float(bic))


def log_density(mixture: Mixture, points: Array) -> Array:
    """Return the log density of a mixture at each point."""
    return _evaluate(mixture, points)[0]


def posterior(mixture: Mixture, points: Array) -> Array:
    """Return the probability of each component at each point, of shape (n, k)."""
    return _evaluate(mixture, points)[1]


def n_parameters(k: int, d: int, form: str) -> int:
    """Return the number of parameters of k components in d dimensions.

    Examples
    --------
    >>> [n_parameters(3, 2, form) for form in FORMS]
    [17, 11, 14, 9]
    """
    covariances = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diagonal": k * d, "ball": 1}[form]
    return covariances + k * d + k - 1


def _evaluate(mixture: Mixture, points: Array) -> tuple[Array, Array]:
    from modeseek.selection.mixture.kernels import posteriors

    factors = mixture.factors
    log_weights = np.log(mixture.weights)
    return posteriors(np.ascontiguousarray(points), log_weights, mixture.means, factors, _log_determinants(factors))


def _factors(scatter: Array, mass: Array, form: str, ridge: float) -> Array:
    """Return the inverse Cholesky factors of the covariances, with `ridge` added to their diagonals."""
    d = scatter.shape[1]
    eye = np.eye(d)
    covariances = scatter / mass[:, None, None]
    if form in ("tied", "ball"):
        covariances = np.broadcast_to(scatter.sum(axis=0) / mass.sum(), scatter.shape)
    if form == "diagonal":
        covariances = covariances * eye
    if form == "ball":
        covariances = eye * (np.trace(covariances, axis1=1, axis2=2) / d)[:, None, None]
    return np.linalg.inv(np.linalg.cholesky(covariances + ridge * eye))


def _log_determinants(factors: Array) -> Array:
    return np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
