"""The compiled loop of `gaussians`."""

from __future__ import annotations

import numpy as np
from numba import njit

from modeseek._common.jit import FAST_MATH, cached
from modeseek.selection import gaussian_mixture_loops
from modeseek.selection.gaussian_mixture_loops import invert_cholesky, squared_distance


@njit(**FAST_MATH)
def _scatter_matrices(points, labels, k):  # type: ignore[no-untyped-def]
    """Return sizes, means and scatter matrices (lower triangles) of clusters."""
    n, d = points.shape
    counts, means, scatter = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    for i in range(n):
        counts[labels[i]] += 1
        for a in range(d):
            means[labels[i], a] += points[i, a]
    for c in range(k):
        for a in range(d):
            means[c, a] /= max(counts[c], 1.0)
    away = np.empty(d)
    for i in range(n):
        c = labels[i]
        for a in range(d):
            away[a] = points[i, a] - means[c, a]
        for a in range(d):
            for b in range(a + 1):
                scatter[c, a, b] += away[a] * away[b]
    return counts, means, scatter


@njit(**FAST_MATH)
def _mean_variance(points):  # type: ignore[no-untyped-def]
    """Return the mean variance of the columns."""
    n, d = points.shape
    mean, variance = np.zeros(d), 0.0
    for i in range(n):
        for a in range(d):
            mean[a] += points[i, a] / n
    for i in range(n):
        for a in range(d):
            variance += (points[i, a] - mean[a]) ** 2
    return variance / (n * d)


def gaussian_scores(train, train_labels, test, k):  # type: ignore[no-untyped-def]
    """Fit a Gaussian to each cluster, with covariances shrunk towards the pooled one, and evaluate test points.

    Returns the log density of each test point, its most likely cluster, and the probability of that cluster.
    """
    n, d = train.shape
    counts, means, scatter = _scatter_matrices(train, train_labels, k)
    pooled = np.zeros((d, d))
    for c in range(k):
        for a in range(d):
            for b in range(a + 1):
                pooled[a, b] += scatter[c, a, b] / max(n - k, 1)
    floor = 1e-4 * _mean_variance(train) + 1e-300
    for a in range(d):
        pooled[a, a] += floor
    prior = d + 2.0
    covariance, factor, inverse = np.zeros((d, d)), np.zeros((d, d)), np.zeros((k, d, d))
    height = np.empty(k)
    for c in range(k):
        for a in range(d):
            for b in range(a + 1):
                covariance[a, b] = (scatter[c, a, b] + prior * pooled[a, b]) / (counts[c] + prior)
        height[c] = invert_cholesky(covariance, factor, inverse[c]) - 0.5 * d * np.log(2 * np.pi)
        height[c] += np.log(counts[c] / n)
    m = len(test)
    logs, best, sure = np.empty(m), np.zeros(m, dtype=np.int64), np.empty(m)
    part = np.empty(k)
    for i in range(m):
        top = -np.inf
        for c in range(k):
            part[c] = height[c] - 0.5 * squared_distance(test[i], means[c], inverse[c])
            if part[c] > top:
                top, best[i] = part[c], c
        added = 0.0
        for c in range(k):
            if part[c] - top > -30:
                added += np.exp(part[c] - top)
        logs[i] = top + np.log(added)
        sure[i] = 1.0 / added
    return logs, best, sure


gaussian_scores = cached(gaussian_scores, gaussian_mixture_loops)
