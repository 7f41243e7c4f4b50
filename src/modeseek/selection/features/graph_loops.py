"""Compiled loops of `graph`; they allocate no arrays."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray


@cached_loop
def _neighbors_loop(labels, rows, indices, counted, out, totals):  # type: ignore[no-untyped-def]
    """Write the mean share of neighbours in the same cluster into column 2, and three totals over `rows`."""
    width = indices.shape[1]
    near, few = (15 if width > 15 else width), (5 if width > 5 else width)
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
    totals[0], totals[1], totals[2] = inside15 / m, inside5 / m, minority / m


@cached_loop
def _contrast_loop(labels, rows, indices, densities, changes, counted, sums):  # type: ignore[no-untyped-def]
    """Add the second density of `rows` by cluster; return the mean of `changes` along edges that leave a cluster."""
    total, leaving = 0.0, 0
    for r in range(len(rows)):
        i = rows[r]
        own = labels[i]
        counted[own] += 1
        sums[own] += densities[1, i]
        for j in range(changes.shape[1]):
            if labels[indices[i, j]] != own:
                total += changes[r, j]
                leaving += 1
    return total / max(leaving, 1)


def density_contrast(
    labels: IntArray, k: int, rows: IntArray, indices: IntArray, densities: Array, changes: Array
) -> tuple[float, float]:
    """Return the sum of squares of the second density between clusters, and its mean change along leaving edges.

    The density has mean 0 over `rows`.
    """
    counted, sums = np.zeros(k), np.zeros(k)
    change = _contrast_loop(labels, rows, indices, densities, changes, counted, sums)
    return float((sums**2 / np.maximum(counted, 1)).sum()), float(change)


@cached_loop
def _saddles_loop(labels, indices, step, densities, edges, out):  # type: ignore[no-untyped-def]
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


@cached_loop
def _quantiles_loop(labels, densities, orders, half, high, out):  # type: ignore[no-untyped-def]
    """Write quantiles of the density in each cluster, by one pass over the points in ascending order of it.

    `half` and `high` are the ranks of the quantiles; they are counted down.
    """
    for which in range(2):
        at = 5 + 4 * which
        for r in range(orders.shape[1]):
            i = orders[which, r]
            c = labels[i]
            if half[which, c] == 0:
                out[c, at + 1] = densities[which, i]
            if high[which, c] == 0:
                out[c, at] = densities[which, i]
            half[which, c] -= 1
            high[which, c] -= 1


def graph_statistics(
    labels: IntArray,
    k: int,
    indices: IntArray,
    weights: Array,
    step: int,
    rows: IntArray,
    densities: Array,
    orders: IntArray,
    edges: Array,
) -> tuple[Array, float, float, float]:
    """Return statistics of each cluster on the neighbour graph, and three totals.

    The columns are: weight, points (of every `step`-th), mean share of the 15 nearest neighbours in the same cluster,
    edges that leave; then for each of the two densities the highest saddle, 95th percentile, median, and mean height of
    the edges that leave. The totals are the mean share of neighbours in the same cluster (15 and 5 nearest) and the
    share of points with most of their neighbours in other clusters.
    """
    out, totals = np.zeros((k, 12)), np.empty(3)
    points = np.bincount(labels[::step], minlength=k)
    out[:, 0], out[:, 1] = np.bincount(labels, weights=weights, minlength=k), points
    _neighbors_loop(labels, rows, indices, np.zeros(k), out, totals)
    _saddles_loop(labels, indices, step, densities, edges, out)
    half, high = (np.tile((share * (points - 1)).astype(np.int64), (2, 1)) for share in (0.5, 0.95))
    _quantiles_loop(labels, densities, orders, half, high, out)
    return out, float(totals[0]), float(totals[1]), float(totals[2])
