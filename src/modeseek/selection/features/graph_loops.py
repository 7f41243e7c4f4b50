"""Compiled loops of `graph`; they allocate no arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array
from modeseek.selection.features.partitions import Partitions

if TYPE_CHECKING:
    from modeseek.selection.features.graph import GraphSample


@cached_loop
def _neighbors_loop(table, rows, indices, densities, changes, out, totals):  # type: ignore[no-untyped-def]
    """Compare `rows` with their neighbours: write columns 1, 11 and 12, and four totals of each partition."""
    width = indices.shape[1]
    near, few = (15 if width > 15 else width), (5 if width > 5 else width)
    m = max(len(rows), 1)
    for p in range(len(table)):
        labels, change, leaving = table[p], 0.0, 0
        inside15, inside5, minority = 0.0, 0.0, 0.0
        for r in range(len(rows)):
            i = rows[r]
            own, same, first = labels[i], 0, 0
            for j in range(near):
                if labels[indices[i, j]] == own:
                    same += 1
                    if j < few:
                        first += 1
                elif j < changes.shape[1]:
                    change += changes[r, j]
                    leaving += 1
            out[own, 1] += same / near
            out[own, 11] += 1
            out[own, 12] += densities[1, i]
            inside15 += same / near
            inside5 += first / few
            if 2 * same < near:
                minority += 1
        totals[p, 0], totals[p, 1], totals[p, 2] = inside15 / m, inside5 / m, minority / m
        totals[p, 3] = change / max(leaving, 1)
    for c in range(len(out)):
        out[c, 1] = out[c, 1] / out[c, 11] if out[c, 11] > 0 else 1.0


@cached_loop
def _saddles_loop(table, indices, step, densities, edges, out):  # type: ignore[no-untyped-def]
    """Write for each cluster the number, the highest saddle and the mean height of the edges that leave it.

    All edges are used, because one high edge is enough to join two clusters; with very many points, those of every
    `step`-th point.
    """
    n, width = edges.shape
    for c in range(len(out)):
        out[c, 3] = out[c, 7] = -np.inf
    for p in range(len(table)):
        labels = table[p]
        for i in range(0, n, step):
            own = labels[i]
            for j in range(width):
                other = labels[indices[i, j]]
                if other != own:
                    h8 = min(min(densities[0, i], densities[0, indices[i, j]]), edges[i, j])
                    h24 = min(densities[1, i], densities[1, indices[i, j]])
                    out[own, 2] += 1
                    out[own, 6] += h8
                    out[own, 10] += h24
                    out[own, 3], out[other, 3] = max(out[own, 3], h8), max(out[other, 3], h8)
                    out[own, 7], out[other, 7] = max(out[own, 7], h24), max(out[other, 7], h24)
    for c in range(len(out)):
        if out[c, 2] > 0:
            out[c, 6] /= out[c, 2]
            out[c, 10] /= out[c, 2]


@cached_loop
def _quantiles_loop(table, densities, orders, half, high, out):  # type: ignore[no-untyped-def]
    """Write quantiles of the density in each cluster, by one pass over the points in ascending order of it.

    `half` and `high` are the ranks of the quantiles; they are counted down.
    """
    for p in range(len(table)):
        labels = table[p]
        for which in range(2):
            at = 4 + 4 * which
            for r in range(orders.shape[1]):
                i = orders[which, r]
                c = labels[i]
                if half[which, c] == 0:
                    out[c, at + 1] = densities[which, i]
                if high[which, c] == 0:
                    out[c, at] = densities[which, i]
                half[which, c] -= 1
                high[which, c] -= 1


def graph_statistics(partitions: Partitions, sample: GraphSample) -> tuple[Array, Array]:
    """Return statistics of each cluster on the neighbour graph, and four totals of each partition.

    The columns are: points (of every `step`-th), mean share of the 15 nearest neighbours in the same cluster, edges
    that leave; then for each of the two densities the highest saddle, 95th percentile, median, and mean height of the
    edges that leave; points of `sample.rows`, and the sum of their second densities. The totals are the mean share of
    neighbours in the same cluster (15 and 5 nearest), the share of points with most of their neighbours in other
    clusters, and the mean change of the second density along edges that leave.
    """
    indices, step, densities, table = sample.indices, sample.step, sample.densities, partitions.labels
    out, totals = np.zeros((partitions.n_clusters, 13)), np.empty((len(table), 4))
    points = np.bincount(table[:, ::step].ravel(), minlength=len(out))
    out[:, 0] = points
    _neighbors_loop(table, sample.rows, indices, densities, sample.changes, out, totals)
    _saddles_loop(table, indices, step, densities, sample.edges, out)
    half, high = (np.tile((share * (points - 1)).astype(np.int64), (2, 1)) for share in (0.5, 0.95))
    _quantiles_loop(table, densities, sample.orders, half, high, out)
    return out, totals
