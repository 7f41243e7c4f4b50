"""Compiled loops of `gaussian_mixture`.

Sums and assignments of whole arrays are written as loops, because Numba compiles loops several times as fast. Compiled
functions allocate no arrays. No compiled function calls another one, because Numba would compile the latter twice.
"""

from __future__ import annotations

import math

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray

# number of points whose components are found at a time
BLOCK_ROWS = 1 << 11


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
    """Return the inverse Cholesky factors of covariances (lower triangles), and the log determinants of the factors."""
    inverse, log_scale = np.zeros(covariance.shape), np.zeros(len(covariance))
    _cholesky_loop(covariance, np.empty(covariance.shape[1:]), inverse, log_scale)
    return inverse, log_scale


@cached_loop
def _densities_loop(columns, means, inverse, offset, part, dense, top, best, densities, total):  # type: ignore[no-untyped-def]
    d, n = columns.shape
    for c in range(len(means)):
        height = densities[c]
        for i in range(n):
            height[i] = 0.0
        for a in range(d):
            for i in range(n):
                part[i] = 0.0
            for b in range(a + 1):
                column, mean, factor = columns[b], means[c, b], inverse[c, a, b]
                for i in range(n):
                    part[i] += factor * (column[i] - mean)
            for i in range(n):
                height[i] += part[i] * part[i]
        for i in range(n):
            height[i] = offset[c] - 0.5 * height[i]
            best[i] = c if height[i] > top[i] else best[i]
            top[i] = height[i] if height[i] > top[i] else top[i]
    if len(total) == 0:
        return
    for c in range(len(means)):
        # list the larger densities first, because a loop with a condition would compute exponentials for all points
        count, height = 0, densities[c]
        for i in range(n):
            part[i], height[i] = height[i] - top[i], 0.0
            if part[i] > -30:
                dense[count] = i
                count += 1
        for place in range(count):
            i = dense[place]
            height[i] = np.exp(part[i])
            total[i] += height[i]


def relative_densities(
    columns: Array, means: Array, inverse: Array, offset: Array
) -> tuple[Array, IntArray, Array, Array]:
    """Evaluate Gaussians at points.

    Parameters
    ----------
    columns : (d, n) array
        The points, one in each column, so that the loops over points use vector instructions.
    means, inverse : (k, d) and (k, d, d) arrays
        Means and inverse Cholesky factors of the covariances.
    offset : (k,) array
        Log density of each Gaussian at its mean.

    Returns
    -------
    top, best : (n,) arrays
        The largest log density at each point, and which Gaussian it belongs to.
    densities : (k, n) array
        Densities relative to the largest one; those whose logarithm is lower by 30 or more are 0.
    total : (n,) array
        Sum of the relative densities at each point.
    """
    total = np.zeros(columns.shape[1])
    return *_evaluate(columns, means, inverse, offset, total), total


def _evaluate(
    columns: Array, means: Array, inverse: Array, offset: Array, total: Array
) -> tuple[Array, IntArray, Array]:
    """Return `top`, `best` and `densities`, and add up `total`; if `total` is empty, `densities` are logarithms."""
    n = columns.shape[1]
    top, best, densities = np.full(n, -np.inf), np.zeros(n, dtype=np.int32), np.empty((len(means), n))
    part, dense = np.empty(n), np.empty(n, dtype=np.int32)
    _densities_loop(columns, means, inverse, offset, part, dense, top, best, densities, total)
    return top, best, densities


@cached_loop
def _moments_loop(points, weights, shares, mass, means, scatter, away):  # type: ignore[no-untyped-def]
    """Write weight, mean and scatter matrix (lower triangle) of each component."""
    n, d = points.shape
    for c in range(len(mass)):
        for i in range(n):
            part = weights[i] * shares[c, i]
            if part > 1e-10:
                mass[c] += part
                for a in range(d):
                    means[c, a] += part * points[i, a]
        for a in range(d):
            means[c, a] /= max(mass[c], 1e-300)
        for i in range(n):
            part = weights[i] * shares[c, i]
            if part > 1e-10:
                for a in range(d):
                    away[a] = points[i, a] - means[c, a]
                for a in range(d):
                    for b in range(a + 1):
                        scatter[c, a, b] += part * away[a] * away[b]


def _covariances(scatter: Array, mass: Array, form: int, floor: float) -> Array:
    """Return the covariances, with `floor` added to the diagonal; one covariance if all components share it."""
    d = scatter.shape[1]
    covariance = scatter / mass[:, None, None] if form == 0 else scatter.sum(axis=0, keepdims=True) / mass.sum()
    if form == 2:
        covariance = np.eye(d)[None] * sum(float(covariance[0, a, a]) / d for a in range(d))
    covariance.reshape(-1, d * d)[:, :: d + 1] += floor
    return covariance


def expectation_maximization(
    points: Array, weights: Array, labels: IntArray, k: int, form: int, steps: int, tol: float
) -> tuple[Array, Array, Array, Array, float]:
    """Fit a Gaussian mixture, starting from a partition; `form` is 0 for full, 1 for tied, 2 for ball covariances.

    Returns weights, means, inverse Cholesky factors, log scales and the mean log likelihood, which is -inf if a
    component lost its points.
    """
    n, d = points.shape
    total = float(weights.sum())
    variance = float(weights @ np.square(points - weights @ points / total).sum(axis=1)) / (total * d)
    shares, columns = np.zeros((k, n)), np.ascontiguousarray(points.T)
    shares[labels, np.arange(n)] = 1.0
    floor, half, away = 1e-3 * variance + 1e-300, 0.5 * d * math.log(2 * math.pi), np.empty(d)
    inverse, log_scale = np.zeros((k, d, d)), np.zeros(k)
    part, dense, top, best, added = np.empty(n), np.empty(n, np.int32), np.empty(n), np.empty(n, np.int32), np.empty(n)
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
        offset = np.array([math.log(each / total) for each in shares_of]) + log_scale - half
        top.fill(-math.inf)
        added.fill(0.0)
        _densities_loop(columns, means, inverse, offset, part, dense, top, best, shares, added)
        shares /= added
        now = float(weights @ (top + np.log(added))) / total
        if now - before < tol:
            break
        before = now
    return mass / total, means, inverse, log_scale, now


def most_likely(points: Array, mass: Array, means: Array, inverse: Array, log_scale: Array) -> IntArray:
    """Return the most likely component of each point."""
    out, offset = np.empty(len(points), dtype=np.int32), np.log(mass) + log_scale
    for start in range(0, len(points), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        out[part] = _evaluate(np.ascontiguousarray(points[part].T), means, inverse, offset, np.empty(0))[1]
    return out
