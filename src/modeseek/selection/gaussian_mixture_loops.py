"""Compiled loops of `gaussian_mixture`.

Sums and assignments of whole arrays are written as loops: Numba compiles those several times as fast.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from modeseek._common.jit import FAST_MATH, cached


@njit(**FAST_MATH)
def invert_cholesky(covariance, factor, inverse):  # type: ignore[no-untyped-def]
    """Write the inverse Cholesky factor of a covariance (lower triangle) into `inverse`; return its log determinant."""
    d = len(covariance)
    log_scale = 0.0
    for a in range(d):
        for b in range(a + 1):
            v = covariance[a, b]
            for q in range(b):
                v -= factor[a, q] * factor[b, q]
            factor[a, b] = np.sqrt(max(v, 1e-300)) if a == b else v / factor[b, b]
    for b in range(d):
        inverse[b, b] = 1.0 / factor[b, b]
        log_scale += np.log(inverse[b, b])
        for a in range(b + 1, d):
            v = 0.0
            for q in range(b, a):
                v -= factor[a, q] * inverse[q, b]
            inverse[a, b] = v / factor[a, a]
    return log_scale


@njit(**FAST_MATH)
def squared_distance(point, mean, inverse):  # type: ignore[no-untyped-def]
    """Return the squared Mahalanobis distance of a point from a mean."""
    square = 0.0
    for a in range(len(point)):
        v = 0.0
        for b in range(a + 1):
            v += inverse[a, b] * (point[b] - mean[b])
        square += v * v
    return square


@njit(**FAST_MATH)
def _moments(points, weights, shares, mass, means, scatter):  # type: ignore[no-untyped-def]
    """Write weight, mean and scatter matrix (lower triangle) of each component."""
    n, d = points.shape
    k = shares.shape[1]
    for c in range(k):
        mass[c] = 0.0
        for a in range(d):
            means[c, a] = 0.0
            for b in range(d):
                scatter[c, a, b] = 0.0
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
    away = np.empty(d)
    for i in range(n):
        for c in range(k):
            part = weights[i] * shares[i, c]
            if part > 1e-10:
                for a in range(d):
                    away[a] = points[i, a] - means[c, a]
                for a in range(d):
                    for b in range(a + 1):
                        scatter[c, a, b] += part * away[a] * away[b]


@njit(**FAST_MATH)
def _covariances(scatter, mass, form, floor, inverse, log_scale):  # type: ignore[no-untyped-def]
    """Write the inverse Cholesky factor of each covariance of a form, and its log determinant."""
    k, d = scatter.shape[0], scatter.shape[1]
    total = 0.0
    for c in range(k):
        total += mass[c]
    covariance, factor = np.zeros((d, d)), np.zeros((d, d))
    for c in range(k if form == 0 else 1):
        for a in range(d):
            for b in range(a + 1):
                if form == 0:
                    covariance[a, b] = scatter[c, a, b] / mass[c]
                else:
                    pooled = 0.0
                    for e in range(k):
                        pooled += scatter[e, a, b]
                    covariance[a, b] = pooled / total
        if form == 2:
            trace = 0.0
            for a in range(d):
                trace += covariance[a, a] / d
            for a in range(d):
                for b in range(a):
                    covariance[a, b] = 0.0
                covariance[a, a] = trace
        for a in range(d):
            covariance[a, a] += floor
        log_scale[c] = invert_cholesky(covariance, factor, inverse[c])
    if form > 0:
        for c in range(1, k):
            for a in range(d):
                for b in range(a + 1):
                    inverse[c, a, b] = inverse[0, a, b]
            log_scale[c] = log_scale[0]


@cached
def expectation_maximization(points, weights, labels, k, form, steps, tol):  # type: ignore[no-untyped-def]
    """Fit a Gaussian mixture from a partition; form 0 full, 1 tied, 2 ball.

    Returns weights, means, inverse Cholesky factors, log scales and the mean log likelihood, which is -inf if a
    component lost its points.
    """
    n, d = points.shape
    total = 0.0
    for i in range(n):
        total += weights[i]
    center, variance = np.zeros(d), 0.0
    for i in range(n):
        for a in range(d):
            center[a] += weights[i] * points[i, a] / total
    for i in range(n):
        for a in range(d):
            variance += weights[i] * (points[i, a] - center[a]) ** 2 / (total * d)
    shares = np.zeros((n, k))
    for i in range(n):
        shares[i, labels[i]] = 1.0
    mass, means, scatter = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    inverse, log_scale, height = np.zeros((k, d, d)), np.zeros(k), np.zeros(k)
    before, now = -np.inf, -np.inf
    half = 0.5 * d * np.log(2 * np.pi)
    for _ in range(steps):
        _moments(points, weights, shares, mass, means, scatter)
        for c in range(k):
            if mass[c] < 1e-6 * total:
                return mass, means, inverse, log_scale, -np.inf
        _covariances(scatter, mass, form, 1e-3 * variance + 1e-300, inverse, log_scale)
        for c in range(k):
            height[c] = np.log(mass[c] / total) + log_scale[c] - half
        now = 0.0
        for i in range(n):
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
            now += weights[i] * (top + np.log(added)) / total
        if now - before < tol:
            break
        before = now
    return mass / total, means, inverse, log_scale, now


@cached
def most_likely(points, mass, means, inverse, log_scale):  # type: ignore[no-untyped-def]
    """Return the most likely component of each point."""
    n, k = len(points), len(mass)
    out, height = np.zeros(n, dtype=np.int32), np.empty(k)
    for c in range(k):
        height[c] = np.log(mass[c]) + log_scale[c]
    for i in range(n):
        top = -np.inf
        for c in range(k):
            v = height[c] - 0.5 * squared_distance(points[i], means[c], inverse[c])
            if v > top:
                top, out[i] = v, c
    return out
