"""Compiled loops of `centers`; scikit-learn's k-means takes ten times as long for so few points."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached


@cached
def cut_linkage(tree, k):  # type: ignore[no-untyped-def]
    """Return k clusters of a linkage matrix, numbered by first appearance."""
    n = len(tree) + 1
    # the cluster that each node belongs to, from the root down
    owner = np.empty(2 * n - 1, dtype=np.int64)
    owner[2 * n - 2] = 2 * n - 2
    for node in range(2 * n - 2, n - 1, -1):
        for side in range(2):
            below = int(tree[node - n, side])
            owner[below] = below if node > 2 * n - 1 - k else owner[node]
    number = np.full(2 * n - 1, -1, dtype=np.int32)
    labels, count = np.empty(n, dtype=np.int32), 0
    for i in range(n):
        if number[owner[i]] < 0:
            number[owner[i]] = count
            count += 1
        labels[i] = number[owner[i]]
    return labels


@cached
def k_means(x, weights, labels, k, steps):  # type: ignore[no-untyped-def]
    """Return the means of clusters, and the centers after k-means that starts from them, of at most `steps` steps."""
    n, d = x.shape
    start, counts = np.zeros((k, d)), np.zeros(k)
    for i in range(n):
        counts[labels[i]] += 1
        for a in range(d):
            start[labels[i], a] += x[i, a]
    for c in range(k):
        for a in range(d):
            start[c, a] /= counts[c]
    centers = start.copy()
    label = np.full(n, -1, dtype=np.int64)
    for _ in range(steps):
        changed = False
        mass, sums = np.zeros(k), np.zeros((k, d))
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
    return start, centers
