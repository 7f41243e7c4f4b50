"""Compiled loops of `gaussians`; they allocate no arrays."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray
from modeseek.selection.gaussian_mixture_loops import invert_cholesky, relative_densities


@cached_loop
def _scatter_loop(points, labels, away, counts, means, scatter):  # type: ignore[no-untyped-def]
    """Write the sizes, means and scatter matrices (lower triangles) of clusters; all outputs start at 0."""
    n, d = points.shape
    for i in range(n):
        counts[labels[i]] += 1
        for a in range(d):
            means[labels[i], a] += points[i, a]
    for c in range(len(counts)):
        for a in range(d):
            means[c, a] /= max(counts[c], 1.0)
    for i in range(n):
        c = labels[i]
        for a in range(d):
            away[a] = points[i, a] - means[c, a]
        for a in range(d):
            for b in range(a + 1):
                scatter[c, a, b] += away[a] * away[b]


def gaussian_scores(train: Array, labels: IntArray, test: Array, k: int) -> tuple[Array, IntArray, Array]:
    """Fit a Gaussian to each cluster, with covariances shrunk towards the pooled covariance; evaluate test points.

    Returns the log density of each test point, its most likely cluster, and the probability of that cluster.
    """
    n, d = train.shape
    counts, means, scatter = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    _scatter_loop(train, labels, np.empty(d), counts, means, scatter)
    pooled = scatter.sum(axis=0) / max(n - k, 1)
    pooled.reshape(-1)[:: d + 1] += 1e-4 * float(train.var(axis=0).mean()) + 1e-300
    prior = d + 2.0
    inverse, log_scale = invert_cholesky((scatter + prior * pooled) / (counts + prior)[:, None, None])
    offset = log_scale - 0.5 * d * np.log(2 * np.pi) + np.log(counts / n)
    top, best, _, total = relative_densities(np.ascontiguousarray(test.T), means, inverse, offset)
    return top + np.log(total), best, 1.0 / total
