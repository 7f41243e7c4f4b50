"""Compiled loops of `graph`."""

from __future__ import annotations

import numpy as np
from numba import njit

from modeseek._common.jit import FAST_MATH, cached


@njit(**FAST_MATH)
def _neighbors_inside(labels, rows, indices, out):  # type: ignore[no-untyped-def]
    """Write the mean share of neighbours in the same cluster into column 2; return three totals over `rows`."""
    width = indices.shape[1]
    near, few = min(15, width), min(5, width)
    counted = np.zeros(len(out))
    inside15, inside5, minority = 0.0, 0.0, 0.0
    for r in range(len(rows)):
        i = rows[r]
        own, same, first = labels[i], 0, 0
        for j in range(near):
            if labels[indices[i, j]] == own:
                same += 1
                if j < few:
                    first += 1
        counted[own] += 1
        out[own, 2] += same / near
        inside15 += same / near
        inside5 += first / few
        if 2 * same < near:
            minority += 1
    for c in range(len(out)):
        out[c, 2] = out[c, 2] / counted[c] if counted[c] > 0 else 1.0
    m = max(len(rows), 1)
    return inside15 / m, inside5 / m, minority / m


@njit(**FAST_MATH)
def _saddles(labels, indices, step, densities, edges, out):  # type: ignore[no-untyped-def]
    """Write the edges that leave, the highest saddles and the mean heights of edges that leave.

    All edges count, because a single high one joins two clusters; of very many points, those of every `step`-th point.
    """
    n, width = edges.shape
    for c in range(len(out)):
        out[c, 4] = out[c, 8] = -np.inf
    for i in range(0, n, step):
        own = labels[i]
        for j in range(width):
            other = labels[indices[i, j]]
            if other != own:
                h8 = min(min(densities[0, i], densities[0, indices[i, j]]), edges[i, j])
                h24 = min(densities[1, i], densities[1, indices[i, j]])
                out[own, 3] += 1
                out[own, 7] += h8
                out[own, 11] += h24
                out[own, 4], out[other, 4] = max(out[own, 4], h8), max(out[other, 4], h8)
                out[own, 8], out[other, 8] = max(out[own, 8], h24), max(out[other, 8], h24)
    for c in range(len(out)):
        if out[c, 3] > 0:
            out[c, 7] /= out[c, 3]
            out[c, 11] /= out[c, 3]


@cached
def graph_statistics(labels, k, indices, weights, step, rows, densities, orders, edges):  # type: ignore[no-untyped-def]
    """Return statistics of each cluster on the neighbour graph, and three totals.

    The columns are: weight, points (of every `step`-th), mean share of the 15 nearest neighbours in the same cluster,
    edges that leave; then for each of the two densities the highest saddle, 95th percentile, median, and mean height of
    the edges that leave. The totals are the mean share of neighbours in the same cluster (15 and 5 nearest) and the
    share of points with most of their neighbours in other clusters.
    """
    n = len(labels)
    out = np.zeros((k, 12))
    for i in range(n):
        out[labels[i], 0] += weights[i]
    for i in range(0, n, step):
        out[labels[i], 1] += 1.0
    totals = _neighbors_inside(labels, rows, indices, out)
    _saddles(labels, indices, step, densities, edges, out)
    # quantiles of the density in each cluster, by one pass over the points in ascending order of it
    half, high = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    for c in range(k):
        half[c], high[c] = int(0.5 * (out[c, 1] - 1)), int(0.95 * (out[c, 1] - 1))
    for which in range(2):
        at = 5 + 4 * which
        count = np.zeros(k, dtype=np.int64)
        for r in range(orders.shape[1]):
            i = orders[which, r]
            c = labels[i]
            if count[c] == half[c]:
                out[c, at + 1] = densities[which, i]
            if count[c] == high[c]:
                out[c, at] = densities[which, i]
            count[c] += 1
    return out, totals[0], totals[1], totals[2]
