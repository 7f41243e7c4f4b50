"""Compiled loops of `geometry`.

The names of compiled functions end in `_loop`. They allocate no arrays; the functions that call them do.
"""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray
from modeseek.selection import distance_loops
from modeseek.selection.distance_loops import squared_distances
from modeseek.selection.features.partitions import Partitions


@cached_loop
def _silhouette_loop(distances, table, start, sizes, counts, sums, outer, out):  # type: ignore[no-untyped-def]
    m = len(distances)
    for p in range(len(table)):
        labels, first, k = table[p], start[p], sizes[p]
        for c in range(k):
            for i in range(m):
                sums[c, i] = 0.0
        for j in range(m):
            counts[labels[j]] += 1
            own, row = sums[labels[j] - first], distances[j]
            for i in range(m):
                own[i] += row[i]
        for i in range(m):
            outer[i] = np.inf
        for c in range(k):
            count, row = counts[first + c], sums[c]
            for i in range(m):
                outer[i] = min(outer[i], np.inf if labels[i] == first + c else row[i] / count)
        for i in range(m):
            count = counts[labels[i]]
            if count >= 2 and np.isfinite(outer[i]):
                inner = sums[labels[i] - first, i] / (count - 1)
                out[p, i] = (outer[i] - inner) / max(max(inner, outer[i]), 1e-300)


def silhouettes(distances: Array, partitions: Partitions) -> Array:
    """Return the silhouette of each point, from the distances between all points; 0 for the only point of a cluster."""
    m, labels = len(distances), partitions.labels
    sums, out = np.empty((partitions.sizes.max(), m)), np.zeros(labels.shape)
    counts = np.zeros(partitions.n_clusters)
    _silhouette_loop(distances, labels, partitions.start, partitions.sizes, counts, sums, np.empty(m), out)
    return out


def _center_loop(columns, table, start, sizes, counts, centers, squares, own, other):  # type: ignore[no-untyped-def]
    d, m = columns.shape
    for p in range(len(table)):
        labels = table[p]
        for i in range(m):
            counts[labels[i]] += 1
            for a in range(d):
                centers[labels[i], a] += columns[a, i]
        for c in range(start[p], start[p] + sizes[p]):
            for a in range(d):
                centers[c, a] /= counts[c]
            squared_distances(columns, centers[c], squares)
            for i in range(m):
                own[p, i] = squares[i] if labels[i] == c else own[p, i]
                other[p, i] = min(other[p, i], np.inf if labels[i] == c else squares[i])


_center_loop = cached_loop(_center_loop, distance_loops)


def center_statistics(x: Array, partitions: Partitions) -> tuple[Array, Array, Array, Array]:
    """Return centers, sums of squares within clusters, and distances of points to their center and to the next one."""
    # columns are contiguous, so that the loops over points use vector instructions
    columns, labels, d = np.ascontiguousarray(x.T), partitions.labels, x.shape[1]
    counts, centers = np.zeros(partitions.n_clusters), np.zeros((partitions.n_clusters, d))
    own, other = np.zeros(labels.shape), np.full(labels.shape, np.inf)
    _center_loop(columns, labels, partitions.start, partitions.sizes, counts, centers, np.empty(len(x)), own, other)
    # added up in order, because another order would visibly change a small share of explained variance
    return centers, np.cumsum(own, axis=1)[:, -1], np.sqrt(own), np.sqrt(other)


@cached_loop
def _split_loop(x, members, start, largest, centers, lines, scatter, axis, new, t, out):  # type: ignore[no-untyped-def]
    """Write the share of variance along the longest axis of each cluster that is left after the best split in two."""
    d = x.shape[1]
    for r in range(len(largest)):
        c = largest[r]
        first, n = start[c], start[c + 1] - start[c]
        # a row for each feature, so that the sums over points use vector instructions
        for a in range(d):
            for q in range(n):
                lines[a, q] = x[members[first + q], a] - centers[c, a]
        for a in range(d):
            for b in range(a + 1):
                v = 0.0
                for q in range(n):
                    v += lines[a, q] * lines[b, q]
                scatter[a, b] = scatter[b, a] = v
        # the first principal direction, by power iteration
        for a in range(d):
            axis[a] = 1.0 + 0.1 * a
        for _ in range(12):
            square = 0.0
            for a in range(d):
                v = 0.0
                for b in range(d):
                    v += scatter[a, b] * axis[b]
                new[a] = v
                square += v * v
            if square <= 0:
                break
            for a in range(d):
                axis[a] = new[a] / np.sqrt(square)
        for q in range(n):
            t[q] = 0.0
        for a in range(d):
            for q in range(n):
                t[q] += lines[a, q] * axis[a]
        # Shell's method compiles in a tenth of the time of NumPy's sort
        gap = 1
        while gap < n // 3:
            gap = 3 * gap + 1
        while gap > 0:
            for q in range(gap, n):
                v, j = t[q], q
                while j >= gap and t[j - gap] > v:
                    t[j] = t[j - gap]
                    j -= gap
                t[j] = v
            gap //= 3
        total, run, between = 1e-300, 0.0, 0.0
        for q in range(n):
            total += t[q] * t[q]
        for q in range(n - 1):
            run += t[q]
            between = max(between, run * run / (q + 1) + run * run / (n - q - 1))
        out[r, 2] = 1.0 - between / total


@cached_loop
def _line_loop(x, members, start, largest, first_of, last_of, centers, line, t, out):  # type: ignore[no-untyped-def]
    """Write separation and valley between each cluster and its nearest one, along the line between their centers."""
    d = x.shape[1]
    for r in range(len(largest)):
        c = largest[r]
        near, square = c, np.inf
        for o in range(first_of[r], last_of[r]):
            if o != c:
                s = 0.0
                for a in range(d):
                    s += (centers[o, a] - centers[c, a]) ** 2
                if s < square:
                    near, square = o, s
        if near == c:
            continue
        # positions on the line are 0 at the center of the cluster and 1 at the nearest center
        for a in range(d):
            line[a] = (centers[near, a] - centers[c, a]) / (square + 1e-300)
        spread = 0.0
        low = middle = high = 0
        both = c
        for _ in range(2):
            first, n = start[both], start[both + 1] - start[both]
            mean, variance = 0.0, 0.0
            for q in range(n):
                s = 0.0
                for a in range(d):
                    s += (x[members[first + q], a] - centers[c, a]) * line[a]
                t[q] = s
                low += abs(s) < 0.12
                middle += abs(s - 0.5) < 0.12
                high += abs(s - 1.0) < 0.12
            for q in range(n):
                mean += t[q] / n
            for q in range(n):
                variance += (t[q] - mean) ** 2 / n
            spread += variance / 2
            both = near
        out[r, 0] = 1.0 / np.sqrt(spread + 1e-4)
        out[r, 1] = min(5.0, (middle + 0.5) / (min(low, high) + 1.0))


def separations(x: Array, partitions: Partitions, centers: Array, largest: IntArray) -> Array:
    """Return an array with one row for each cluster in `largest`, and three columns.

    The columns are: separation from the nearest cluster along the line between the centers, height of the valley
    between the two clusters, and share of the variance that is left after the best split in two along the longest axis.
    """
    members, start = partitions.members()
    d, out, t = x.shape[1], np.full((len(largest), 3), np.nan), np.empty(len(x))
    first = partitions.to_clusters(partitions.start)[largest]
    last = first + partitions.to_clusters(partitions.sizes)[largest]
    lines, scatter = np.empty((d, len(x))), np.empty((d, d))
    _split_loop(x, members, start, largest, centers, lines, scatter, np.empty(d), np.empty(d), t, out)
    _line_loop(x, members, start, largest, first, last, centers, np.empty(d), t, out)
    return out
