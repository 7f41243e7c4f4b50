"""Compiled loops of `gaussian_mixture`.

Whole fits are compiled, because with few points the calls from Python would take longer than the computation. Compiled
functions allocate no arrays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from modeseek._common.jit import cached_loop, loop_part
from modeseek._common.types import Array, IntArray

# number of points whose components are found at a time
BLOCK_ROWS = 1 << 11


class Model(NamedTuple):
    """Weights, means, inverse Cholesky factors of the covariances, and log determinants of these factors."""

    mass: Array
    means: Array
    inverse: Array
    log_scale: Array


class Scratch(NamedTuple):
    """Temporary values of a fit.

    Attributes
    ----------
    shares : (k, n) array
        Share of each component in each point; only those of the points in `dense` are defined.
    dense, counts : (k, n) and (k,) integer arrays
        The points in which a component has a share, in the first `counts` entries of each row.
    scatter, factor, lines, offset, part, top, best, added : arrays
    """

    shares: Array
    dense: IntArray
    counts: IntArray
    scatter: Array
    factor: Array
    lines: Array
    offset: Array
    part: Array
    top: Array
    best: IntArray
    added: Array


@loop_part
def invert_cholesky(covariance, factor, inverse):  # type: ignore[no-untyped-def]
    """Write the inverse of the Cholesky factor of a covariance (lower triangle); return its log determinant."""
    d = len(factor)
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


@loop_part
def log_densities(columns, means, inverse, offset, part, lines, top, best, densities):  # type: ignore[no-untyped-def]
    """Write the log density of each Gaussian at each point, the largest one, and which Gaussian it belongs to.

    Points are columns, so that the loops over points use vector instructions. `offset` has the log density of each
    Gaussian at its mean. `part` and `lines` are scratch.
    """
    d, n = len(columns), len(top)
    for i in range(n):
        top[i] = -np.inf
    for c in range(len(offset)):
        height = densities[c]
        for i in range(n):
            height[i] = 0.0
        for a in range(d):
            line, column, mean = lines[a], columns[a], means[c, a]
            for i in range(n):
                line[i], part[i] = column[i] - mean, 0.0
            for b in range(a + 1):
                other, factor = lines[b], inverse[c, a, b]
                for i in range(n):
                    part[i] += factor * other[i]
            for i in range(n):
                height[i] += part[i] * part[i]
        for i in range(n):
            height[i] = offset[c] - 0.5 * height[i]
            best[i] = c if height[i] > top[i] else best[i]
            top[i] = height[i] if height[i] > top[i] else top[i]


@loop_part
def add_densities(height, top, dense, total):  # type: ignore[no-untyped-def]
    """Replace log densities of a Gaussian by densities relative to the largest one at each point; add them to `total`.

    Only the densities whose logarithm is lower by less than 30 are used. Returns their number; the first entries of
    `dense` are their points.
    """
    count = 0
    for i in range(len(height)):
        # without a branch, which processors could not predict
        dense[count] = i
        count += height[i] - top[i] > -30
    for place in range(count):
        i = dense[place]
        height[i] = np.exp(height[i] - top[i])
        total[i] += height[i]
    return count


@loop_part
def _moments(columns, weights, model, scratch):  # type: ignore[no-untyped-def]
    """Write weight, mean and scatter matrix (lower triangle) of each component, from the points in `dense`."""
    shares, dense, lines, part, own = scratch.shares, scratch.dense, scratch.lines, scratch.part, scratch.best
    added = scratch.added
    for c in range(len(model.mass)):
        n, mass = 0, 0.0
        for place in range(scratch.counts[c]):
            i = dense[c, place]
            own[n], part[n] = i, weights[i] * shares[c, i]
            n += part[n] > 1e-10
        for q in range(n):
            mass += part[q]
        model.mass[c] = mass
        for a in range(len(columns)):
            line, mean = lines[a], 0.0
            for q in range(n):
                line[q] = columns[a, own[q]]
            for q in range(n):
                mean += part[q] * line[q]
            mean /= max(mass, 1e-300)
            model.means[c, a] = mean
            for q in range(n):
                line[q] -= mean
                added[q] = part[q] * line[q]
            for b in range(a + 1):
                other, v = lines[b], 0.0
                for q in range(n):
                    v += added[q] * other[q]
                scratch.scatter[c, a, b] = v


@loop_part
def _to_covariances(scatter, mass, form, floor):  # type: ignore[no-untyped-def]
    """Turn scatter matrices into covariances, and add `floor` to the diagonal; return the number of different ones."""
    k, d = len(scatter), scatter.shape[1]
    whole = 0.0
    for c in range(k):
        whole += mass[c]
    for c in range(1, k if form > 0 else 1):
        for a in range(d):
            for b in range(a + 1):
                scatter[0, a, b] += scatter[c, a, b]
    count = 1 if form > 0 else k
    for c in range(count):
        variance = 0.0
        for a in range(d):
            for b in range(a + 1):
                scatter[c, a, b] /= whole if form > 0 else mass[c]
            variance += scatter[c, a, a] / d
        for a in range(d):
            if form == 2:
                for b in range(a):
                    scatter[c, a, b] = 0.0
                scatter[c, a, a] = variance
            scatter[c, a, a] += floor
    return count


@cached_loop
def _fit_loop(columns, weights, total, form, floor, steps, tol, model, scratch):  # type: ignore[no-untyped-def]
    """Fit a mixture in place; return its mean log likelihood, or -inf if a component lost its points."""
    mass, means, inverse, log_scale = model
    shares, dense, counts, scatter, factor, lines, offset, part, top, best, added = scratch
    d, n = columns.shape
    k, before, now = len(mass), -np.inf, -np.inf
    for _ in range(steps):
        _moments(columns, weights, model, scratch)
        for c in range(k):
            if mass[c] < 1e-6 * total:
                return -np.inf
        different = _to_covariances(scatter, mass, form, floor)
        for c in range(different):
            log_scale[c] = invert_cholesky(scatter[c], factor, inverse[c])
        for c in range(different, k):  # all components share one covariance
            log_scale[c] = log_scale[0]
            for a in range(d):
                for b in range(a + 1):
                    inverse[c, a, b] = inverse[0, a, b]
        for c in range(k):
            offset[c] = math.log(mass[c] / total) + log_scale[c] - 0.5 * d * math.log(2 * math.pi)
        log_densities(columns, means, inverse, offset, part, lines, top, best, shares)
        for i in range(n):
            added[i] = 0.0
        for c in range(k):
            counts[c] = add_densities(shares[c], top, dense[c], added)
        for c in range(k):
            for place in range(counts[c]):
                shares[c, dense[c, place]] /= added[dense[c, place]]
        now = 0.0
        for i in range(n):
            now += weights[i] * (top[i] + math.log(added[i]))
        now /= total
        if now - before < tol:
            break
        before = now
    return now


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
    counts, dense = np.bincount(labels, minlength=k), np.empty((k, n), dtype=np.int32)
    dense[np.arange(n) < counts[:, None]] = np.argsort(labels, kind="stable")
    model = Model(np.empty(k), np.empty((k, d)), np.zeros((k, d, d)), np.empty(k))
    scatter, factor, best = np.empty((k, d, d)), np.empty((d, d)), np.empty(n, dtype=np.int32)
    part, top, added = np.empty((3, n))
    scratch = Scratch(
        np.ones((k, n)), dense, counts, scatter, factor, np.empty((d, n)), np.empty(k), part, top, best, added
    )  # fmt: skip
    floor = 1e-3 * variance + 1e-300
    log_likelihood = _fit_loop(
        np.ascontiguousarray(points.T), weights, total, form, floor, steps, tol, model, scratch
    )  # fmt: skip
    return model.mass / total, *model[1:], log_likelihood


@cached_loop
def _most_likely_loop(points, means, inverse, offset, columns, part, lines, top, densities, out):  # type: ignore[no-untyped-def]
    d, size = columns.shape
    for start in range(0, len(points), size):
        n = min(size, len(points) - start)
        for i in range(n):
            for a in range(d):
                columns[a, i] = points[start + i, a]
        log_densities(columns, means, inverse, offset, part, lines, top[:n], out[start : start + n], densities)


def most_likely(points: Array, mass: Array, means: Array, inverse: Array, log_scale: Array) -> IntArray:
    """Return the most likely component of each point."""
    n, d = points.shape
    size = min(n, BLOCK_ROWS)
    out, some = np.zeros(n, dtype=np.int32), np.empty((len(mass) + 2 * d + 2, size))
    offset = np.log(mass) + log_scale
    _most_likely_loop(
        points, means, inverse, offset, some[2 : d + 2], some[0], some[d + 2 :], some[1], some[2 * d + 2 :], out
    )
    return out
