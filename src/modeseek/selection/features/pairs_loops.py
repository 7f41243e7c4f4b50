"""Compiled loops of `pairs`; they allocate no arrays."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop, loop_part
from modeseek._common.types import Array, IntArray
from modeseek.selection.features.partitions import Partitions

# points within this distance of a center, or of the middle, are counted; the centers are at 0 and 1
WINDOW = 0.12
# columns of the result, see `compare_pairs`; the last is half of the log determinant of the covariance
SIZE, DISTANCE, VALLEY, PAIR_GAIN, HALVES_GAIN, DETERMINANT = range(6)
# which points of a cluster: all before it is split, then those of its halves
WHOLE, FIRST, SECOND = range(3)
# steps of the power iteration and of 2-means
POWER_STEPS, HALVING_STEPS = 12, 6


@loop_part
def _log_determinant(matrix, factor):  # type: ignore[no-untyped-def]
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


@loop_part
def _moments(lines, away, share, floor, mean, covariance):  # type: ignore[no-untyped-def]
    """Write the mean and the covariance (lower triangle) of the members with share 1; return their number.

    `lines` has a row for each feature, so that the sums use vector instructions. `away` is scratch.
    """
    d, n = len(mean), 0.0
    for q in range(len(share)):
        n += share[q]
    for a in range(d):
        v = 0.0
        for q in range(len(share)):
            v += share[q] * lines[a, q]
        mean[a] = v / max(n, 1.0)
        for q in range(len(share)):
            away[a, q] = share[q] * (lines[a, q] - mean[a])
        for b in range(a + 1):
            v = 0.0
            for q in range(len(share)):
                v += away[a, q] * away[b, q]
            covariance[a, b] = v / max(n, 1.0)
        covariance[a, a] += floor
    return n


@loop_part
def _longest_axis(covariance, axis, product):  # type: ignore[no-untyped-def]
    """Write a unit vector along the longest axis, by power iteration; `product` is scratch."""
    d = len(axis)
    for a in range(d):
        axis[a] = 1.0 + 0.1 * a
    for _ in range(POWER_STEPS):
        square = 0.0
        for a in range(d):
            v = 0.0
            for b in range(d):
                v += (covariance[a, b] if a >= b else covariance[b, a]) * axis[b]
            product[a] = v
            square += v * v
        for a in range(d):
            axis[a] = product[a] / np.sqrt(square)


@loop_part
def _halve(lines, share, normal, middle, dot):  # type: ignore[no-untyped-def]
    """Split members in two by 2-means, and write the share of each in the first half: 1 or 0.

    The first border is perpendicular to `normal` and contains `middle`; both are overwritten. `dot` is scratch.
    """
    n = len(share)
    for _ in range(HALVING_STEPS):
        for q in range(n):
            dot[q] = 0.0
        for a in range(len(normal)):
            for q in range(n):
                dot[q] += (lines[a, q] - middle[a]) * normal[a]
        n_first = 0.0
        for q in range(n):
            share[q] = 1.0 if dot[q] > 0 else 0.0
            n_first += share[q]
        if n_first == 0 or n_first == n:
            break
        for a in range(len(normal)):
            first, second = 0.0, 0.0
            for q in range(n):
                first += share[q] * lines[a, q]
                second += (1.0 - share[q]) * lines[a, q]
            normal[a] = first / n_first - second / (n - n_first)
            middle[a] = 0.5 * (first / n_first + second / (n - n_first))


def _halves_loop(x, members, start, chosen, floor, lines, small, means, covariances, factor, out):  # type: ignore[no-untyped-def]
    """Write moments of clusters; split each in two by 2-means, and write the gain of two Gaussians over one."""
    d = x.shape[1]
    away, normal, middle, product = lines[d + 2 :], small[0], small[1], small[2]
    for r in range(len(chosen)):
        first = start[chosen[r]]
        n = start[chosen[r] + 1] - first
        share, dot = lines[d, :n], lines[d + 1, :n]
        for a in range(d):
            for q in range(n):
                lines[a, q] = x[members[first + q], a]
        for which in (WHOLE, FIRST, SECOND):
            for q in range(n):
                share[q] = 1.0 if which == WHOLE else share[q] if which == FIRST else 1.0 - share[q]
            place = r if which == WHOLE else len(chosen)
            count = _moments(lines, away, share, floor, means[place], covariances[place])
            determinant = _log_determinant(covariances[place], factor)
            if which == WHOLE:
                out[r, SIZE], out[r, HALVES_GAIN], out[r, DETERMINANT] = n, determinant, determinant
                _longest_axis(covariances[r], normal, product)
                for a in range(d):
                    middle[a] = means[r, a]
                _halve(lines, share, normal, middle, dot)
            elif count > 0:
                out[r, HALVES_GAIN] -= count * (determinant - np.log(count / n)) / n


@loop_part
def _solve_upper(factor, line):  # type: ignore[no-untyped-def]
    """Replace z by the solution of L' y = z, where L is a Cholesky factor."""
    d = len(line)
    for a in range(d - 1, -1, -1):
        v = line[a]
        for b in range(a + 1, d):
            v -= factor[b, a] * line[b]
        line[a] = v / factor[a, a]


@loop_part
def _compare(r, o, means, covariances, out, least, factor, line):  # type: ignore[no-untyped-def]
    """Return the squared distance of two clusters by their common covariance, or a lower bound of at least `least`.

    `factor` receives the Cholesky factor L of the covariance, and `line` the solution z of L z = difference of the
    means, both row by row until the bound is reached.
    """
    share, square, a = out[r, SIZE] / (out[r, SIZE] + out[o, SIZE]), 0.0, 0
    while a < len(line) and square < least:
        z = means[o, a] - means[r, a]
        for b in range(a + 1):
            v = share * covariances[r, a, b] + (1 - share) * covariances[o, a, b]
            for q in range(b):
                v -= factor[a, q] * factor[b, q]
            factor[a, b] = np.sqrt(max(v, 1e-300)) if a == b else v / factor[b, b]
        for b in range(a):
            z -= factor[a, b] * line[b]
        line[a] = z / factor[a, a]
        square += line[a] * line[a]
        a += 1
    return square


@loop_part
def _valley(x, members, start, pair, origin, discriminant, square):  # type: ignore[no-untyped-def]
    """Return the ratio of the points near the middle of two clusters to those near their centers, at most 5.

    `origin` is the mean of the first cluster, and the projection of the second mean is `square`.
    """
    low, middle, high = 0, 0, 0
    for c in pair:
        for q in range(start[c], start[c + 1]):
            t = 0.0
            for a in range(len(origin)):
                t += (x[members[q], a] - origin[a]) * discriminant[a]
            t /= square + 1e-300
            low += abs(t) < WINDOW
            middle += abs(t - 0.5) < WINDOW
            high += abs(t - 1.0) < WINDOW
    return min(5.0, (middle + 0.5) / (min(low, high) + 1.0))


def _pairs_loop(x, members, start, chosen, first_of, last_of, means, covariances, factor, line, out):  # type: ignore[no-untyped-def]
    """Find the nearest cluster of each, and write distance, valley and the gain of two Gaussians over one."""
    for r in range(len(chosen)):
        near, least = r, np.inf
        # the last step returns to the nearest cluster
        for step in range(first_of[r], last_of[r] + 1):
            last = step == last_of[r]
            o = near if last else step
            if o != r:
                square = _compare(r, o, means, covariances, out, np.inf if last else least, factor, line)
                if square < least:
                    near, least = o, square
        if near == r:
            continue
        within = 0.0
        for a in range(len(line)):
            within += np.log(factor[a, a])
        _solve_upper(factor, line)  # `line` is now the linear discriminant
        share = out[r, SIZE] / (out[r, SIZE] + out[near, SIZE])
        # determinant of the covariance of both clusters together: one more term of rank 1
        both = within + 0.5 * np.log(1 + share * (1 - share) * least)
        out[r, DISTANCE] = np.sqrt(least)
        own, other = out[r, DETERMINANT] - np.log(share), out[near, DETERMINANT] - np.log(1 - share)
        out[r, PAIR_GAIN] = both - share * own - (1 - share) * other
        out[r, VALLEY] = _valley(x, members, start, (chosen[r], chosen[near]), means[r], line, least)


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
    out, lines = np.zeros((k, DETERMINANT + 1)), np.empty((2 * d + 2, len(x)))
    # the last of these arrays is scratch
    means, covariances, factor = np.empty((k + 1, d)), np.zeros((k + 1, d, d)), np.zeros((d, d))
    _halves_loop(x, members, start, chosen, floor, lines, np.empty((3, d)), means, covariances, factor, out)
    _pairs_loop(x, members, start, chosen, first, last, means, covariances, factor, np.empty(d), out)
    return out[:, :DETERMINANT]
