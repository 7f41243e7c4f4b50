"""Compiled loops of `graph`; they allocate no arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array
from modeseek.selection.features.partitions import Partitions

if TYPE_CHECKING:
    from modeseek.selection.features.graph import GraphSample

# columns of three tables: of clusters, of clusters for one density, and of partitions
POINTS, INSIDE, LEAVING, COUNTED, DENSITY_SUM = range(5)
SADDLE, PEAK, MEDIAN, BORDER = range(4)
INSIDE_15, INSIDE_5, MINORITY, CHANGE = range(4)


class Heights(NamedTuple):
    """Log densities in each cluster.

    Attributes
    ----------
    saddle, border : (c,) arrays
        Highest and mean height of the edges that leave the cluster.
    peak, median : (c,) arrays
        95th percentile and median.
    """

    saddle: Array
    peak: Array
    median: Array
    border: Array


class GraphStatistics(NamedTuple):
    """Statistics of clusters and partitions on the neighbour graph.

    Attributes
    ----------
    points, leaving : (c,) arrays
        Number of points of each cluster, of every `step`-th, and of the edges that leave it.
    inside : (c,) array
        Mean share of the 15 nearest neighbours in the same cluster.
    counted, density_sum : (c,) arrays
        Number of points of `GraphSample.rows` in each cluster, and the sum of their second densities.
    heights : tuple of Heights
        For each of the two densities.
    inside_15, inside_5 : (p,) arrays
        Mean share of the 15 and 5 nearest neighbours in the same cluster, for each partition.
    minority : (p,) array
        Share of points with most of their neighbours in other clusters.
    change : (p,) array
        Mean change of the second density along edges that leave a cluster.
    """

    points: Array
    leaving: Array
    inside: Array
    counted: Array
    density_sum: Array
    heights: tuple[Heights, ...]
    inside_15: Array
    inside_5: Array
    minority: Array
    change: Array


@cached_loop
def _neighbors_loop(table, rows, indices, densities, changes, out, totals):  # type: ignore[no-untyped-def]
    """Compare `rows` with their neighbours: write what is counted over them in clusters, and totals of partitions."""
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
            out[own, INSIDE] += same / near
            out[own, COUNTED] += 1
            out[own, DENSITY_SUM] += densities[1, i]
            inside15 += same / near
            inside5 += first / few
            if 2 * same < near:
                minority += 1
        totals[p, INSIDE_15], totals[p, INSIDE_5], totals[p, MINORITY] = inside15 / m, inside5 / m, minority / m
        totals[p, CHANGE] = change / max(leaving, 1)
    for c in range(len(out)):
        out[c, INSIDE] = out[c, INSIDE] / out[c, COUNTED] if out[c, COUNTED] > 0 else 1.0


@cached_loop
def _saddles_loop(table, indices, step, densities, edges, out, heights):  # type: ignore[no-untyped-def]
    """Write for each cluster the number, the highest saddle and the mean height of the edges that leave it.

    All edges are used, because one high edge is enough to join two clusters; with very many points, those of every
    `step`-th point.
    """
    n, width = edges.shape
    first, second = heights[0], heights[1]
    for c in range(len(out)):
        first[c, SADDLE] = second[c, SADDLE] = -np.inf
    for p in range(len(table)):
        labels = table[p]
        for i in range(0, n, step):
            own = labels[i]
            for j in range(width):
                other = labels[indices[i, j]]
                if other != own:
                    h8 = min(min(densities[0, i], densities[0, indices[i, j]]), edges[i, j])
                    h24 = min(densities[1, i], densities[1, indices[i, j]])
                    out[own, LEAVING] += 1
                    first[own, BORDER] += h8
                    second[own, BORDER] += h24
                    first[own, SADDLE] = max(first[own, SADDLE], h8)
                    first[other, SADDLE] = max(first[other, SADDLE], h8)
                    second[own, SADDLE] = max(second[own, SADDLE], h24)
                    second[other, SADDLE] = max(second[other, SADDLE], h24)
    for c in range(len(out)):
        leaving = out[c, LEAVING]
        if leaving > 0:
            first[c, BORDER] /= leaving
            second[c, BORDER] /= leaving


@cached_loop
def _quantiles_loop(table, densities, orders, half, high, heights):  # type: ignore[no-untyped-def]
    """Write quantiles of the density in each cluster, by one pass over the points in ascending order of it.

    `half` and `high` are the ranks of the quantiles; they are counted down.
    """
    for p in range(len(table)):
        labels = table[p]
        for which in range(2):
            for r in range(orders.shape[1]):
                i = orders[which, r]
                c = labels[i]
                if half[which, c] == 0:
                    heights[which, c, MEDIAN] = densities[which, i]
                if high[which, c] == 0:
                    heights[which, c, PEAK] = densities[which, i]
                half[which, c] -= 1
                high[which, c] -= 1


def graph_statistics(partitions: Partitions, sample: GraphSample) -> GraphStatistics:
    """Return statistics of all clusters and partitions."""
    indices, step, densities, table = sample.indices, sample.step, sample.densities, partitions.labels
    out, heights = np.zeros((partitions.n_clusters, 5)), np.zeros((2, partitions.n_clusters, 4))
    totals = np.empty((len(table), 4))
    points = np.bincount(table[:, ::step].ravel(), minlength=len(out))
    out[:, POINTS] = points
    _neighbors_loop(table, sample.rows, indices, densities, sample.changes, out, totals)
    _saddles_loop(table, indices, step, densities, sample.edges, out, heights)
    half, high = (np.tile((share * (points - 1)).astype(np.int64), (2, 1)) for share in (0.5, 0.95))
    _quantiles_loop(table, densities, sample.orders, half, high, heights)
    return GraphStatistics(
        out[:, POINTS], out[:, LEAVING], out[:, INSIDE], out[:, COUNTED], out[:, DENSITY_SUM],
        tuple(Heights(*each.T) for each in heights),
        *totals.T,
    )  # fmt: skip
