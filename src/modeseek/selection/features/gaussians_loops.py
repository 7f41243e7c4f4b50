"""The compiled loop of `gaussians`; it allocates no arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.jit import cached_loop, loop_part
from modeseek._common.types import Array, IntArray
from modeseek.selection import gaussian_mixture_loops
from modeseek.selection.gaussian_mixture_loops import add_densities, invert_cholesky, log_densities


class Scratch(NamedTuple):
    """Arrays for the Gaussians of one partition, and for temporary values."""

    counts: Array
    means: Array
    scatter: Array
    inverse: Array
    offset: Array
    pooled: Array
    factor: Array
    away: Array
    part: Array
    lines: Array
    dense: IntArray
    densities: Array


@loop_part
def _scatter(points, labels, k, away, counts, means, scatter):  # type: ignore[no-untyped-def]
    """Write the sizes, means and scatter matrices (lower triangles) of k clusters."""
    n, d = points.shape
    for c in range(k):
        counts[c] = 0.0
        for a in range(d):
            means[c, a] = 0.0
            for b in range(a + 1):
                scatter[c, a, b] = 0.0
    for i in range(n):
        counts[labels[i]] += 1
        for a in range(d):
            means[labels[i], a] += points[i, a]
    for c in range(k):
        for a in range(d):
            means[c, a] /= max(counts[c], 1.0)
    for i in range(n):
        c = labels[i]
        for a in range(d):
            away[a] = points[i, a] - means[c, a]
        for a in range(d):
            for b in range(a + 1):
                scatter[c, a, b] += away[a] * away[b]


def _scores_loop(train, columns, table, sizes, floor, scratch, top, best, total):  # type: ignore[no-untyped-def]
    counts, means, scatter, inverse, offset, pooled, factor, away, part, lines, dense, densities = scratch
    n, d = train.shape
    prior = d + 2.0
    for p in range(len(table)):
        k = sizes[p]
        _scatter(train, table[p], k, away, counts, means, scatter)
        for a in range(d):
            for b in range(a + 1):
                v = 0.0
                for c in range(k):
                    v += scatter[c, a, b]
                pooled[a, b] = v / max(n - k, 1)
            pooled[a, a] += floor
        for c in range(k):
            for a in range(d):
                for b in range(a + 1):
                    scatter[c, a, b] = (scatter[c, a, b] + prior * pooled[a, b]) / (counts[c] + prior)
            log_scale = invert_cholesky(scatter[c], factor, inverse[c])
            offset[c] = log_scale - 0.5 * d * np.log(2 * np.pi) + np.log(counts[c] / n)
        log_densities(columns, means, inverse, offset[:k], part, lines, top[p], best[p], densities)
        for c in range(k):
            add_densities(densities[c], top[p], dense, total[p])


_scores_loop = cached_loop(_scores_loop, gaussian_mixture_loops)


def gaussian_scores(train: Array, table: IntArray, sizes: IntArray, test: Array) -> tuple[Array, IntArray, Array]:
    """Fit a Gaussian to each cluster, with covariances shrunk towards the pooled covariance; evaluate test points.

    Each row of `table` is a partition of the points `train`, numbered from 0, and `sizes` has the numbers of clusters.
    Returns, with a row for each partition, the log density of each test point, its most likely cluster, and the
    probability of that cluster.
    """
    d, m, k = train.shape[1], len(test), int(sizes.max(initial=1))
    scratch = Scratch(
        np.empty(k), np.empty((k, d)), np.empty((k, d, d)), np.empty((k, d, d)), np.empty(k), np.empty((d, d)),
        np.empty((d, d)), np.empty(d), np.empty(m), np.empty((d, m)), np.empty(m, dtype=np.int32),
        np.empty((k, m)),
    )  # fmt: skip
    shape = len(table), m
    top, best, total = np.empty(shape), np.zeros(shape, dtype=np.int32), np.zeros(shape)
    floor = 1e-4 * float(train.var(axis=0).mean()) + 1e-300
    _scores_loop(train, np.ascontiguousarray(test.T), table, sizes, floor, scratch, top, best, total)
    return top + np.log(total), best, 1.0 / total
