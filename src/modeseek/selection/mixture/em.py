"""A Gaussian mixture of weighted points, from a first partition, by expectation and maximisation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray

__all__ = ["FORMS", "Mixture", "fit", "log_density", "n_parameters", "posterior"]

# what covariances may be: any, one for all, along the axes, one round one for all
FORMS = ("full", "tied", "diagonal", "ball")
# no direction of a component is thinner than this share of the data's mean variance: a component is no single point
LEAST_VARIANCE = 1e-3
ITERATIONS, GAIN = 100, 1e-4


class Mixture(NamedTuple):
    """A mixture of Gaussians.

    Attributes
    ----------
    weights : (k,) array
        They add up to 1.
    means : (k, d) array
    factors : (k, d, d) array
        Lower triangles: factor @ (x - mean) is standard normal.
    form : str
        Of `FORMS`.
    bic : float
        -2 log likelihood + parameters * ln(weight of the points): less is better.
    """

    weights: Array
    means: Array
    factors: Array
    form: str
    bic: float


def fit(points: Array, weights: Array, labels: IntArray, form: str) -> Mixture | None:
    """Fit a mixture, from a partition as the start; None where a component dies out.

    Parameters
    ----------
    points : (n, d) float64 array
    weights : (n,) array
    labels : (n,) integer array
        0, 1, ..., each of them there.
    form : str

    Examples
    --------
    >>> points = np.array([[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]])
    >>> found = fit(points, np.ones(6), np.array([0, 0, 0, 1, 1, 1]), "ball")
    >>> found.means.ravel()
    array([0.2, 5.2])
    """
    from modeseek.selection.mixture.kernels import posteriors, sums

    total = float(weights.sum())
    centred = points - np.average(points, axis=0, weights=weights)
    least = LEAST_VARIANCE * float(weights @ np.square(centred).mean(axis=1)) / total or 1.0
    shares = np.eye(int(labels.max()) + 1)[labels]
    before = -np.inf
    for _ in range(ITERATIONS):
        mass, means, scatter = sums(points, weights, shares)
        if mass.min() < 1e-6 * total:
            return None
        factors = _factors(scatter, mass, form, least)
        logs, shares = posteriors(points, np.log(mass / total), means, factors, _log_scales(factors))
        now = float(weights @ logs) / total
        if now - before < GAIN:
            break
        before = now
    bic = -2.0 * now * total + n_parameters(len(mass), points.shape[1], form) * np.log(total)
    return Mixture(mass / total, means, factors, form, float(bic))


def log_density(mixture: Mixture, points: Array) -> Array:
    """Return the log density of a mixture at points."""
    return _evaluated(mixture, points)[0]


def posterior(mixture: Mixture, points: Array) -> Array:
    """Return the share of each component in the density at points: shape (n, k), rows add up to 1."""
    return _evaluated(mixture, points)[1]


def n_parameters(k: int, d: int, form: str) -> int:
    """Return how many numbers k components in d dimensions have.

    Examples
    --------
    >>> [n_parameters(3, 2, form) for form in FORMS]
    [17, 11, 14, 9]
    """
    covariances = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diagonal": k * d, "ball": 1}[form]
    return covariances + k * d + k - 1


def _evaluated(mixture: Mixture, points: Array) -> tuple[Array, Array]:
    from modeseek.selection.mixture.kernels import posteriors

    log_scales = _log_scales(mixture.factors)
    return posteriors(np.ascontiguousarray(points), np.log(mixture.weights), mixture.means, mixture.factors, log_scales)


def _factors(scatter: Array, mass: Array, form: str, least: float) -> Array:
    d = scatter.shape[1]
    eye = np.eye(d)
    covariances = scatter / mass[:, None, None]
    if form in ("tied", "ball"):
        covariances = np.broadcast_to(scatter.sum(axis=0) / mass.sum(), scatter.shape)
    if form == "diagonal":
        covariances = covariances * eye
    if form == "ball":
        covariances = eye * (np.trace(covariances, axis1=1, axis2=2) / d)[:, None, None]
    return np.linalg.inv(np.linalg.cholesky(covariances + least * eye))


def _log_scales(factors: Array) -> Array:
    return np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
