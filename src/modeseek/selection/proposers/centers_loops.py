"""The compiled loop of `centers`; scikit-learn's k-means takes ten times as long for samples of this size."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray
from modeseek.selection import distance_loops
from modeseek.selection.distance_loops import squared_distances


def _k_means_loop(x, columns, weights, labels, counts, start, steps, label, best, squares, near, centers, mass, sums):  # type: ignore[no-untyped-def]
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
            best[i], near[i] = 0, np.inf
        for c in range(k):
            squared_distances(columns, centers[c], squares)
            for i in range(n):
                best[i] = c if squares[i] < near[i] else best[i]
                near[i] = squares[i] if squares[i] < near[i] else near[i]
        for i in range(n):
            changed |= best[i] != label[i]
            label[i] = best[i]
            mass[best[i]] += weights[i]
            for a in range(d):
                sums[best[i], a] += weights[i] * x[i, a]
        if not changed:
            break
        for c in range(k):
            if mass[c] > 0:
                for a in range(d):
                    centers[c, a] = sums[c, a] / mass[c]


_k_means_loop = cached_loop(_k_means_loop, distance_loops)


def k_means(x: Array, weights: Array, labels: IntArray, k: int, steps: int) -> tuple[Array, Array]:
    """Return the means of the clusters `labels`, and the centers after at most `steps` steps of k-means from these."""
    (n, d), (label, best) = x.shape, np.full((2, len(x)), -1, dtype=np.int32)
    start, centers, sums, (squares, near) = np.zeros((k, d)), np.empty((k, d)), np.empty((k, d)), np.empty((2, n))
    # columns are contiguous, so that the loops over points use vector instructions
    columns = np.ascontiguousarray(x.T)
    _k_means_loop(
        x, columns, weights, labels, np.zeros(k), start, steps, label, best, squares, near, centers, np.empty(k), sums
    )  # fmt: skip
    return start, centers
