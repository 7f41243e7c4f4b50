"""Compiled loops of `pairs`; they allocate no arrays."""

from __future__ import annotations

import numpy as np
from numba import njit

from modeseek._common.jit import FAST_MATH, NO_REFERENCE_COUNTS, cached_loop
from modeseek._common.types import Array, IntArray
from modeseek.selection.features.partitions import Partitions

# points within this distance of a center, or of the middle, are counted; the centers are at 0 and 1
WINDOW = 0.12


@njit(**FAST_MATH, **NO_REFERENCE_COUNTS)
def log_determinant(matrix, factor):  # type: ignore[no-untyped-def]
    """Return half of the log determinant of a matrix (lower triangle), and write its Cholesky factor."""
    total = 0.0
    for a in range(len(factor)):
        for b in range(a + 1):
            v = matrix[a, b]
            for q in range(b):
                v -= factor[a, q] * factor[b, q]
            factor[a, b] = np.sqrt(max(v, 1e-300)) if a == b else v / factor[b, b]
        total += np.log(factor[a, a])
    return total


def _halves_loop(x, members, start, chosen, floor, side, axis, means, covariances, factor, out):  # type: ignore[no-untyped-def]
    """Write moments of clusters; split each in two by 2-means, and write the gain of two Gaussians over one."""
    d = x.shape[1]
    for r in range(len(chosen)):
        first, last = start[chosen[r]], start[chosen[r] + 1]
        size = last - first
        # the whole cluster, on side 0, is followed by its halves, on sides 1 and 2
        for which in range(3):
            place = r if which == 0 else len(chosen)
            mean, covariance = means[place], covariances[place]
            n = 0
            for a in range(d):
                mean[a] = 0.0
                for b in range(d):
                    covariance[a, b] = 0.0
            for q in range(first, last):
                if side[q] == which:
                    n += 1
                    for a in range(d):
                        mean[a] += x[members[q], a]
            for a in range(d):
                mean[a] /= max(n, 1)
            for q in range(first, last):
                if side[q] == which:
                    i = members[q]
                    for a in range(d):
                        for b in range(a + 1):
                            covariance[a, b] += (x[i, a] - mean[a]) * (x[i, b] - mean[b])
            for a in range(d):
                for b in range(a + 1):
                    covariance[a, b] /= max(n, 1)
                covariance[a, a] += floor
            determinant = log_determinant(covariance, factor)
            if which > 0:
                if n > 0:
                    out[r, 4] -= n * (determinant - np.log(n / size)) / size
                continue
            out[r, 0], out[r, 4], out[r, 5] = n, determinant, determinant
            # the longest axis, by power iteration
            for a in range(d):
                axis[0, a] = 1.0 + 0.1 * a
            for _ in range(12):
                square = 0.0
                for a in range(d):
                    v = 0.0
                    for b in range(d):
                        v += (covariance[a, b] if a >= b else covariance[b, a]) * axis[0, b]
                    axis[1, a] = v
                    square += v * v
                for a in range(d):
                    axis[0, a] = axis[1, a] / np.sqrt(square)
            for a in range(d):
                axis[2, a] = mean[a]
            # the border of two halves is perpendicular to axis 0 and contains axis 2
            for _ in range(6):
                low, high = 0, 0
                for a in range(d):
                    axis[3, a] = axis[4, a] = 0.0
                for q in range(first, last):
                    dot = 0.0
                    for a in range(d):
                        dot += (x[members[q], a] - axis[2, a]) * axis[0, a]
                    side[q] = 1 if dot > 0 else 2
                    if side[q] == 1:
                        low += 1
                    else:
                        high += 1
                    for a in range(d):
                        axis[2 + side[q], a] += x[members[q], a]
                if low == 0 or high == 0:
                    break
                for a in range(d):
                    axis[0, a] = axis[3, a] / low - axis[4, a] / high
                    axis[2, a] = 0.5 * (axis[3, a] / low + axis[4, a] / high)


def _pairs_loop(x, members, start, chosen, first_of, last_of, means, covariances, factor, line, out):  # type: ignore[no-untyped-def]
    """Find the nearest cluster of each, and write distance, valley and the gain of two Gaussians over one."""
    d = x.shape[1]
    common = covariances[-1]
    for r in range(len(chosen)):
        near, least, within = r, np.inf, 0.0
        # the last step returns to the nearest cluster
        for step in range(first_of[r], last_of[r] + 1):
            o = step if step < last_of[r] else near
            if o == r:
                continue
            share = out[r, 0] / (out[r, 0] + out[o, 0])
            for a in range(d):
                line[a] = means[o, a] - means[r, a]
                for b in range(a + 1):
                    common[a, b] = share * covariances[r, a, b] + (1 - share) * covariances[o, a, b]
            within = log_determinant(common, factor)
            # the solution of a linear system, by the Cholesky factor of its matrix
            square = 0.0
            for a in range(d):
                v = line[a]
                for b in range(a):
                    v -= factor[a, b] * line[b]
                line[a] = v / factor[a, a]
                square += line[a] * line[a]
            if step < last_of[r]:
                if square < least:
                    near, least = o, square
                continue
            for a in range(d - 1, -1, -1):
                v = line[a]
                for b in range(a + 1, d):
                    v -= factor[b, a] * line[b]
                line[a] = v / factor[a, a]
        if near == r:
            continue
        share = out[r, 0] / (out[r, 0] + out[near, 0])
        # determinant of the covariance of both clusters together: one more term of rank 1
        both = within + 0.5 * np.log(1 + share * (1 - share) * least)
        out[r, 1] = np.sqrt(least)
        out[r, 3] = both - share * (out[r, 5] - np.log(share)) - (1 - share) * (out[near, 5] - np.log(1 - share))
        low, middle, high = 0, 0, 0
        for side in range(2):
            each = chosen[r] if side == 0 else chosen[near]
            for q in range(start[each], start[each + 1]):
                t = 0.0
                for a in range(d):
                    t += (x[members[q], a] - means[r, a]) * line[a]
                t /= least + 1e-300
                low += abs(t) < WINDOW
                middle += abs(t - 0.5) < WINDOW
                high += abs(t - 1.0) < WINDOW
        out[r, 2] = min(5.0, (middle + 0.5) / (min(low, high) + 1.0))


_halves_loop, _pairs_loop = cached_loop(_halves_loop), cached_loop(_pairs_loop)


def compare_pairs(x: Array, partitions: Partitions, chosen: IntArray, floor: float) -> Array:
    """Return five columns for some clusters, sorted by partition; those of a partition are compared with each other.

    They are: points, Mahalanobis distance from the nearest cluster, height of the valley between the two along the
    linear discriminant, gain in log likelihood per point of two Gaussians over one for both together, and the same gain
    for the two halves of the cluster. `floor` is added to all variances.
    """
    members, start = partitions.members()
    clusters = partitions.selected(chosen)[1]
    first, last = (clusters.to_clusters(each) for each in (clusters.start, clusters.start + clusters.sizes))
    k, d = len(chosen), x.shape[1]
    out, side = np.zeros((k, 6)), np.zeros(len(members), dtype=np.int64)
    # the last of these arrays is work space
    means, covariances, factor = np.empty((k + 1, d)), np.zeros((k + 1, d, d)), np.zeros((d, d))
    _halves_loop(x, members, start, chosen, floor, side, np.empty((5, d)), means, covariances, factor, out)
    _pairs_loop(x, members, start, chosen, first, last, means, covariances, factor, np.empty(d), out)
    return out[:, :5]
