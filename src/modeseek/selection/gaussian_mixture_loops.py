"""Compiled loops of `gaussian_mixture`.

Sums and assignments of whole arrays are written as loops: Numba compiles those several times as fast. Compiled
functions allocate no arrays, and one calls another only where it has to, because Numba compiles that one twice.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from modeseek._common.jit import FAST_MATH, NO_REFERENCE_COUNTS, cached_loop
from modeseek._common.types import Array, IntArray


@cached_loop
def _cholesky_loop(covariance, factor, inverse, log_scale):  # type: ignore[no-untyped-def]
    d = len(factor)
    for c in range(len(covariance)):
        for a in range(d):
            for b in range(a + 1):
                v = covariance[c, a, b]
                for q in range(b):
                    v -= factor[a, q] * factor[b, q]
                factor[a, b] = np.sqrt(max(v, 1e-300)) if a == b else v / factor[b, b]
        for b in range(d):
            inverse[c, b, b] = 1.0 / factor[b, b]
            log_scale[c] += np.log(inverse[c, b, b])
            for a in range(b + 1, d):
                v = 0.0
                for q in range(b, a):
                    v -= factor[a, q] * inverse[c, q, b]
                inverse[c, a, b] = v / factor[a, a]


def invert_cholesky(covariance: Array) -> tuple[Array, Array]:
    """Return the inverse Cholesky factors of covariances (lower triangles), and their log determinants."""
    inverse, log_scale = np.zeros(covariance.shape), np.zeros(len(covariance))
    _cholesky_loop(covariance, np.empty(covariance.shape[1:]), inverse, log_scale)
    return inverse, log_scale


@njit(**FAST_MATH, **NO_REFERENCE_COUNTS)
def squared_distance(point, mean, inverse):  # type: ignore[no-untyped-def]
    """Return the squared Mahalanobis distance of a point from a mean."""
    square = 0.0
    for a in range(len(point)):
        v = 0.0
        for b in range(a + 1):
            v += inverse[a, b] * (point[b] - mean[b])
        square += v * v
    return square


@cached_loop
def _moments_loop(points, weights, shares, mass, means, scatter, away):  # type: ignore[no-untyped-def]
    """Write weight, mean and scatter matrix (lower triangle) of each component."""
    n, d = points.shape
    k = shares.shape[1]
    for i in range(n):
        for c in range(k):
            part = weights[i] * shares[i, c]
            if part > 1e-10:
                mass[c] += part
                for a in range(d):
                    means[c, a] += part * points[i, a]
    for c in range(k):
        for a in range(d):
            means[c, a] /= max(mass[c], 1e-300)
    for i in range(n):
        for c in range(k):
            part = weights[i] * shares[i, c]
            if part > 1e-10:
                for a in range(d):
                    away[a] = points[i, a] - means[c, a]
                for a in range(d):
                    for b in range(a + 1):
                        scatter[c, a, b] += part * away[a] * away[b]


def _covariances(scatter: Array, mass: Array, form: int, floor: float) -> Array:
    """Return the covariances of a form, with a floor on the diagonal; one if all components share it."""
    d = scatter.shape[1]
    covariance = scatter / mass[:, None, None] if form == 0 else scatter.sum(axis=0, keepdims=True) / mass.sum()
    if form == 2:
        covariance = np.eye(d)[None] * sum(float(covariance[0, a, a]) / d for a in range(d))
    covariance.reshape(-1, d * d)[:, :: d + 1] += floor
    return covariance


@cached_loop
def _expectation_loop(points, weights, means, inverse, height, total, shares):  # type: ignore[no-untyped-def]
    """Write the share of each component in each point; return the mean log likelihood."""
    k, mean_log = len(height), 0.0
    for i in range(len(points)):
        top = -np.inf
        for c in range(k):
            shares[i, c] = height[c] - 0.5 * squared_distance(points[i], means[c], inverse[c])
            top = max(top, shares[i, c])
        added = 0.0
        for c in range(k):
            v = shares[i, c] - top
            shares[i, c] = np.exp(v) if v > -30 else 0.0
            added += shares[i, c]
        for c in range(k):
            shares[i, c] /= added
        mean_log += weights[i] * (top + np.log(added)) / total
    return mean_log


def expectation_maximization(
    points: Array, weights: Array, labels: IntArray, k: int, form: int, steps: int, tol: float
) -> tuple[Array, Array, Array, Array, float]:
    """Fit a Gaussian mixture from a partition; form 0 full, 1 tied, 2 ball.

    Returns weights, means, inverse Cholesky factors, log scales and the mean log likelihood, which is -inf if a
    component lost its points.
    """
    n, d = points.shape
    total = float(weights.sum())
    variance = float(weights @ np.square(points - weights @ points / total).sum(axis=1)) / (total * d)
    shares = np.zeros((n, k))
    shares[np.arange(n), labels] = 1.0
    floor, half, away = 1e-3 * variance + 1e-300, 0.5 * d * math.log(2 * math.pi), np.empty(d)
    inverse, log_scale = np.zeros((k, d, d)), np.zeros(k)
    before, now = -math.inf, -math.inf
    for _ in range(steps):
        mass, means, scatter = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
        _moments_loop(points, weights, shares, mass, means, scatter, away)
        shares_of = mass.tolist()
        if min(shares_of) < 1e-6 * total:
            return mass, means, inverse, log_scale, -math.inf
        inverse, log_scale = invert_cholesky(_covariances(scatter, mass, form, floor))
        if len(inverse) < k:  # all components share one covariance
            inverse, log_scale = np.repeat(inverse, k, axis=0), np.repeat(log_scale, k)
        height = np.array([math.log(each / total) for each in shares_of]) + log_scale - half
        now = _expectation_loop(points, weights, means, inverse, height, total, shares)
        if now - before < tol:
            break
        before = now
    return mass / total, means, inverse, log_scale, now


@cached_loop
def _most_likely_loop(points, means, inverse, height, out):  # type: ignore[no-untyped-def]
    for i in range(len(points)):
        top = -np.inf
        for c in range(len(height)):
            v = height[c] - 0.5 * squared_distance(points[i], means[c], inverse[c])
            if v > top:
                top, out[i] = v, c


def most_likely(points: Array, mass: Array, means: Array, inverse: Array, log_scale: Array) -> IntArray:
    """Return the most likely component of each point."""
    out = np.zeros(len(points), dtype=np.int32)
    _most_likely_loop(points, means, inverse, np.log(mass) + log_scale, out)
    return out
