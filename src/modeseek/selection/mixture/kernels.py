"""The compiled loops of `mixture`."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached

__all__ = ["adaptive_log_density", "posteriors", "sums"]

LOG_2_PI = float(np.log(2.0 * np.pi))


@cached
def posteriors(points, log_weights, means, factors, log_scales):  # type: ignore[no-untyped-def]
    """Return the log density of a mixture at each point, and the probability of each component."""
    n, d = points.shape
    k = len(log_weights)
    total, shares, away = np.empty(n), np.empty((n, k)), np.empty(d)
    for i in range(n):
        highest = -np.inf
        for j in range(k):
            for a in range(d):
                away[a] = points[i, a] - means[j, a]
            square = 0.0
            for a in range(d):
                part = 0.0
                for b in range(a + 1):
                    part += factors[j, a, b] * away[b]
                square += part * part
            shares[i, j] = log_weights[j] + log_scales[j] - 0.5 * (square + d * LOG_2_PI)
            highest = max(highest, shares[i, j])
        added = 0.0
        for j in range(k):
            added += np.exp(shares[i, j] - highest)
        total[i] = highest + np.log(added)
        for j in range(k):
            shares[i, j] = np.exp(shares[i, j] - total[i])
    return total, shares


@cached
def sums(points, weights, shares):  # type: ignore[no-untyped-def]
    """Return the weight, the mean and the scatter matrix of each component."""
    n, d = points.shape
    k = shares.shape[1]
    mass, means, scatter, away = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d)), np.empty(d)
    for i in range(n):
        for j in range(k):
            part = weights[i] * shares[i, j]
            mass[j] += part
            for a in range(d):
                means[j, a] += part * points[i, a]
    for j in range(k):
        for a in range(d):
            means[j, a] /= max(mass[j], 1e-300)
    for i in range(n):
        for j in range(k):
            if shares[i, j] < 1e-12:
                continue
            part = weights[i] * shares[i, j]
            for a in range(d):
                away[a] = points[i, a] - means[j, a]
            for a in range(d):
                for b in range(a + 1):
                    scatter[j, a, b] += part * away[a] * away[b]
    for j in range(k):
        for a in range(d):
            for b in range(a):
                scatter[j, b, a] = scatter[j, a, b]
    return mass, means, scatter


@cached
def adaptive_log_density(squares, log_mass, widths, d):  # type: ignore[no-untyped-def]
    """Return the log of a kernel density with one bandwidth per point, from squared distances."""
    n, m = squares.shape
    result, parts = np.empty(n), np.empty(m)
    for i in range(n):
        highest = -np.inf
        for j in range(m):
            parts[j] = log_mass[j] - 0.5 * squares[i, j] / (widths[j] * widths[j]) - d * np.log(widths[j])
            highest = max(highest, parts[j])
        added = 0.0
        for j in range(m):
            added += np.exp(parts[j] - highest)
        result[i] = highest + np.log(added) - 0.5 * d * LOG_2_PI
    return result
