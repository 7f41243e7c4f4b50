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


@loop_part
def _moments(x, members, side, which, floor, mean, covariance):  # type: ignore[no-untyped-def]
    """Write the mean and the covariance (lower triangle) of the members on one side; return their number."""
    d, n = x.shape[1], 0
    for a in range(d):
        mean[a] = 0.0
        for b in range(d):
            covariance[a, b] = 0.0
    for q in range(len(members)):
        if side[q] == which:
            n += 1
            for a in range(d):
                mean[a] += x[members[q], a]
    for a in range(d):
        mean[a] /= max(n, 1)
    for q in range(len(members)):
        if side[q] == which:
            i = members[q]
            for a in range(d):
                for b in range(a + 1):
                    covariance[a, b] += (x[i, a] - mean[a]) * (x[i, b] - mean[b])
    for a in range(d):
        for b in range(a + 1):
            covariance[a, b] /= max(n, 1)
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
def _halve(x, members, side, normal, middle, sums):  # type: ignore[no-untyped-def]
    """Split members in two by 2-means, and write the side of each.

    The first border is perpendicular to `normal` and contains `middle`; both are overwritten. `sums` is scratch, with a
    row for each side.
    """
    d = x.shape[1]
    for _ in range(HALVING_STEPS):
        n_first, n_second = 0, 0
        for a in range(d):
            sums[FIRST, a] = sums[SECOND, a] = 0.0
        for q in range(len(members)):
            dot = 0.0
            for a in range(d):
                dot += (x[members[q], a] - middle[a]) * normal[a]
            side[q] = FIRST if dot > 0 else SECOND
            if side[q] == FIRST:
                n_first += 1
            else:
                n_second += 1
            for a in range(d):
                sums[side[q], a] += x[members[q], a]
        if n_first == 0 or n_second == 0:
            break
        for a in range(d):
            normal[a] = sums[FIRST, a] / n_first - sums[SECOND, a] / n_second
            middle[a] = 0.5 * (sums[FIRST, a] / n_first + sums[SECOND, a] / n_second)


def _halves_loop(x, members, start, chosen, floor, side, lines, means, covariances, factor, out):  # type: ignore[no-untyped-def]
    """Write moments of clusters; split each in two by 2-means, and write the gain of two Gaussians over one."""
    normal, middle, product, sums = lines[0], lines[1], lines[2], lines[3:]
    for r in range(len(chosen)):
        own, sides = members[start[chosen[r]] : start[chosen[r] + 1]], side[start[chosen[r]] : start[chosen[r] + 1]]
        for which in (WHOLE, FIRST, SECOND):
            place = r if which == WHOLE else len(chosen)
            n = _moments(x, own, sides, which, floor, means[place], covariances[place])
            determinant = log_determinant(covariances[place], factor)
            if which == WHOLE:
                out[r, SIZE], out[r, HALVES_GAIN], out[r, DETERMINANT] = n, determinant, determinant
                _longest_axis(covariances[r], normal, product)
                for a in range(x.shape[1]):
                    middle[a] = means[r, a]
                _halve(x, own, sides, normal, middle, sums)
            elif n > 0:
                out[r, HALVES_GAIN] -= n * (determinant - np.log(n / len(own))) / len(own)


@loop_part
def _solve_lower(factor, line):  # type: ignore[no-untyped-def]
    """Replace b by the solution z of L z = b, where L is a Cholesky factor; return the square of its length."""
    square = 0.0
    for a in range(len(line)):
        v = line[a]
        for b in range(a):
            v -= factor[a, b] * line[b]
        line[a] = v / factor[a, a]
        square += line[a] * line[a]
    return square


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
def _compare(r, o, means, covariances, out, factor, line):  # type: ignore[no-untyped-def]
    """Return half of the log determinant of the common covariance of two clusters, and their squared distance by it.

    `factor` receives the Cholesky factor L of the covariance, and `line` the solution z of L z = difference of the
    means.
    """
    common, share = covariances[-1], out[r, SIZE] / (out[r, SIZE] + out[o, SIZE])
    for a in range(len(line)):
        line[a] = means[o, a] - means[r, a]
        for b in range(a + 1):
            common[a, b] = share * covariances[r, a, b] + (1 - share) * covariances[o, a, b]
    return log_determinant(common, factor), _solve_lower(factor, line)


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
        near, least, within = r, np.inf, 0.0
        # the last step returns to the nearest cluster
        for step in range(first_of[r], last_of[r] + 1):
            o = step if step < last_of[r] else near
            if o != r:
                within, square = _compare(r, o, means, covariances, out, factor, line)
                if square < least:
                    near, least = o, square
        if near == r:
            continue
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
    out, side = np.zeros((k, DETERMINANT + 1)), np.full(len(members), WHOLE)
    # the last of these arrays is scratch
    means, covariances, factor = np.empty((k + 1, d)), np.zeros((k + 1, d, d)), np.zeros((d, d))
    _halves_loop(x, members, start, chosen, floor, side, np.empty((6, d)), means, covariances, factor, out)
    _pairs_loop(x, members, start, chosen, first, last, means, covariances, factor, np.empty(d), out)
    return out[:, :DETERMINANT]
