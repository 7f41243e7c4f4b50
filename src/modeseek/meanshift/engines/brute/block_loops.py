"""Compiled sums over blocks of points, with closed forms of the sums for flat and biweight profiles.

Let u be the offset of a point from the centre of a group, and v the centre minus the query. Inside the ball of radius h
around the query, the biweight's weight of the point is, up to a factor, 1 - |u + v|^2 / h^2. So the sums of weights and
of weighted differences u + v follow from the moments of the group. Groups outside the ball are skipped. If the surface
of the ball cuts a group of blocks, its blocks are visited; if it cuts a block, its points are visited.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from modeseek.meanshift.engines.brute import blocks as block_module
from modeseek.meanshift.engines.brute import loops
from modeseek.meanshift.engines.brute.blocks import BLOCK_POINTS, power_of
from modeseek.meanshift.engines.brute.loops import add_points
from modeseek.meanshift.engines.shared_loops import apply_shift

# Factor on distances that decide whether a group is outside or inside, so that rounding excludes no point.
SAFETY = 1.0 + 1e-9
# Position of a group relative to the ball of radius h around the query.
OUTSIDE, INSIDE, CUT = range(3)


@njit(inline="always")
def _place(moments, g, q, h, v):  # type: ignore[no-untyped-def]
    """Write the vector from the query to the centre of a group to `v`; return OUTSIDE, INSIDE or CUT."""
    square = 0.0
    for c in range(len(q)):
        v[c] = moments.centers[g, c] - q[c]
        square += v[c] * v[c]
    reach = (h + moments.radii[g]) * SAFETY
    if square > reach * reach:
        return OUTSIDE
    return INSIDE if (np.sqrt(square) + moments.radii[g]) * SAFETY <= h else CUT


@njit(inline="always")
def _has_moments(power, blocks):  # type: ignore[no-untyped-def]
    return power == 0 or (power == 1 and len(blocks.groups.second) > 0)


@njit(inline="always")
def _add_moments(power, moments, g, v, scale, inv, shift):  # type: ignore[no-untyped-def]
    """Add the weighted differences of a group inside the ball to `shift`; return the sum of weights.

    Moments, inv and `shift` are in the units of `Blocks.scale`, and `v` is converted to these units in place.
    """
    d, first, total = len(v), moments.first[g], moments.weight[g]
    for c in range(d):
        v[c] *= scale
    if power == 0:
        for c in range(d):
            shift[c] += total * v[c] + first[c]
        return total
    second, cubic = moments.second[g], moments.cubic[g]
    square = along = 0.0
    for c in range(d):
        square += v[c] * v[c]
        along += v[c] * first[c]
    middle = 1.0 - square * inv
    total = middle * total - inv * (2.0 * along + moments.square[g])
    for c in range(d):
        row, product = second[c], 0.0
        for e in range(d):
            product += row[e] * v[e]
        shift[c] += total * v[c] + middle * first[c] - inv * (2.0 * product + cubic[c])
    return total


@njit(inline="always")
def _shift(kind, power, weighted, blocks, h, spherical, buffers):  # type: ignore[no-untyped-def]
    """Write the new position of the point `buffers.q`; return the number of groups and points visited."""
    q, new, inside, v, distances = buffers
    inv, scaled_inv = 1.0 / (h * h), 1.0 / ((h * blocks.scale) * (h * blocks.scale))
    total, moments = 0.0, _has_moments(power, blocks)
    visited = g = 0
    new[:] = 0.0
    inside[:] = 0.0
    while g < len(blocks.after):
        visited += 1
        where = _place(blocks.groups, g, q, h, v)
        if where == OUTSIDE:
            g = blocks.after[g]
            continue
        if moments and where == INSIDE:
            total += _add_moments(power, blocks.groups, g, v, blocks.scale, scaled_inv, inside)
            g = blocks.after[g]
            continue
        b = blocks.block[g]
        if b >= 0:
            m = blocks.sizes[b]
            visited += m
            start = b * BLOCK_POINTS
            total += add_points(kind, weighted, blocks.points[b], blocks.weights, start, m, q, inv, new, distances)
        g += 1
    scale = 1.0 / total if total > 0.0 else 0.0
    for c in range(len(q)):
        new[c] = (new[c] + inside[c] / blocks.scale) * scale
    apply_shift(len(q), q, new, spherical)
    return visited


@njit(inline="always")
def _move(power, moments, g, w, scale, old, new, u, v):  # type: ignore[no-untyped-def]
    """Update the ball and the moments of a group, one point of which has moved."""
    d, before, after = len(old), 0.0, 0.0
    for c in range(d):
        u[c], v[c] = (old[c] - moments.centers[g, c]) * scale, (new[c] - moments.centers[g, c]) * scale
        before += u[c] * u[c]
        after += v[c] * v[c]
    moments.radii[g] = max(moments.radii[g], np.sqrt(after) / scale)
    if power >= 0:
        for c in range(d):
            moments.first[g, c] += w * (v[c] - u[c])
    if power >= 1:
        moments.square[g] += w * (after - before)
        for c in range(d):
            row, a, b = moments.second[g, c], w * v[c], w * u[c]
            moments.cubic[g, c] += after * a - before * b
            for e in range(d):
                row[e] += a * v[e] - b * u[e]


class BlockShifts(NamedTuple):
    """Compiled functions for one profile.

    Attributes
    ----------
    power : int
        See `blocks.make_blocks`.
    each : callable
        ``(blocks, updates, spherical, most, buffers)``: apply updates in order, whose indices are places in the
        blocks, until more than `most` groups and points are visited. Returns the number of updates and of visits.
    all : callable
        ``(blocks, queries, spherical, buffers)``: shift queries; return the number of visits.
    """

    power: int
    each: Callable[..., tuple[int, int]]
    all: Callable[..., int]


def compile_blocks(kind: Any, weighted: int, jit: Callable[..., Any]) -> BlockShifts:
    """Compile the functions for the code of a profile or its compiled weight; only codes 0 and 1 have closed forms."""
    power = power_of(kind)

    def each(blocks, updates, spherical, most, buffers):  # type: ignore[no-untyped-def]
        d, X = blocks.points.shape[1], blocks.points
        moments = power if _has_moments(power, blocks) else -1
        q, new, u, v, _ = buffers
        visited = k = 0
        while k < len(updates.indices) and visited <= most:
            i = updates.indices[k]
            b, j = i // BLOCK_POINTS, i % BLOCK_POINTS
            for c in range(d):
                q[c] = X[b, c, j]
            visited += _shift(kind, power, weighted, blocks, updates.bandwidths[k], spherical, buffers)
            square = 0.0
            for c in range(d):
                X[b, c, j] = new[c]
                new[c] = X[b, c, j]  # rounded to the type of the points
                square += (new[c] - q[c]) ** 2
            updates.lengths[k] = np.sqrt(square)
            g = blocks.group[b]
            while g >= 0:
                _move(moments, blocks.groups, g, blocks.weights[i], blocks.scale, q, new, u, v)
                g = blocks.parents[g]
            k += 1
        return k, visited

    def all_(blocks, queries, spherical, buffers):  # type: ignore[no-untyped-def]
        visited, q, new = 0, buffers.q, buffers.new
        for k in range(len(queries.points)):
            for c in range(len(q)):
                q[c] = queries.points[k, c]
            visited += _shift(kind, power, weighted, blocks, queries.bandwidths[k], spherical, buffers)
            for c in range(len(q)):
                queries.moved[k, c] = new[c]
        return visited

    return BlockShifts(power, jit(each, loops, block_module), jit(all_, loops, block_module))
