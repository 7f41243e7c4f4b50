"""Points in blocks of near points, and a tree of groups of blocks with moments and balls, for `engine="brute"`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from modeseek._common.blas import one_blas_thread
from modeseek._common.types import Array, IntArray

# Largest number of points in a block. The smallest groups have at most FAN_OUT blocks, and groups of the next level at
# most FAN_OUT times as many.
BLOCK_POINTS = 128
FAN_OUT = 16
# Sets of more than FAN_OUT ** MAX_LEVEL blocks are no groups: computing their moments would take much memory.
MAX_LEVEL = 2
# A set of points is divided until its standard deviation along each axis is at most this share of the bandwidth.
MAX_DEVIATION = 0.3
# Each part of a division has at least this share of the points, so that outliers cause few divisions.
MIN_SHARE = 1 / 16
# In more dimensions, second moments take more time and memory than they save.
MAX_SECOND_DIMENSION = 64
# Number of blocks whose moments are computed at a time.
BLOCKS_AT_ONCE = 64
# Number of points from which visits are estimated.
SAMPLE_POINTS = 64


class Group(NamedTuple):
    """Consecutive points in the order that `divide` returns.

    Attributes
    ----------
    start, stop : int
        Position of the first point of the group, and of the first point after it.
    parent : int
        The number of the smallest group that contains it, or -1. Groups are numbered in depth-first order.
    is_block : bool
        Whether it contains no other groups.
    """

    start: int
    stop: int
    parent: int
    is_block: bool


class Members(NamedTuple):
    """Points (k, m, d) and weights (k, m) of k groups, and flags (k, m) of places that have a point."""

    points: Array
    weights: Array
    exists: Array


class GroupMoments(NamedTuple):
    """Balls around groups of points, and the moments of the scaled offsets u of points from the centres of the balls.

    Attributes
    ----------
    centers, radii : (g, d) and (g,) arrays
    weight, square : (g,) arrays
        Sums of w and of w |u|^2.
    first, cubic : (g, d) arrays
        Sums of w u and of w |u|^2 u.
    second : (g, d, d) array
        Sums of w u u^T. Arrays of moments that are not used are empty.
    """

    centers: Array
    radii: Array
    weight: Array
    square: Array
    first: Array
    cubic: Array
    second: Array


class Blocks(NamedTuple):
    """The points of a state, sorted into blocks.

    Attributes
    ----------
    points : (b, d, BLOCK_POINTS) array
        Coordinates. A block may have unused columns at its end.
    sizes : (b,) array
        Number of points of each block.
    weights : (b * BLOCK_POINTS,) array
    groups : GroupMoments
        Balls and moments of the groups, in depth-first order.
    parents, after, block : (g,) arrays
        For each group: its parent; the next group that it does not contain; and its number as a block, or -1.
    group : (b,) array
        For each block: its number as a group.
    scale : float
        Factor on the offsets in moments: a power of two, which is exact, of the order of 1 / h. Without it, third
        powers of very small or very large offsets would vanish or overflow.
    """

    points: Array
    sizes: IntArray
    weights: Array
    groups: GroupMoments
    parents: IntArray
    after: IntArray
    block: IntArray
    group: IntArray
    scale: float


@one_blas_thread()
def make_blocks(rows: Array, weights: Array, h: float, power: int) -> tuple[Blocks, IntArray]:
    """Sort points into blocks for bandwidths of at least h; return the blocks and the place of each point in them.

    Parameters
    ----------
    rows, weights : (n, d) and (n,) arrays
        Equal weights become 1: they cancel, and compiled sums over points leave them out.
    h : float
    power : int
        Inside the ball, weights are (1 - t)^power. Only powers 0 and 1 use moments; -1 stands for all other profiles.

    Returns
    -------
    blocks : Blocks
    places : (n,) integer array
        Column j of block b is place b * BLOCK_POINTS + j.
    """
    n, d = rows.shape
    order, groups = divide(rows, BLOCK_POINTS, h)
    starts, stops, parents, is_block = (np.array(values) for values in zip(*groups, strict=True))
    group = np.flatnonzero(is_block)
    count, sizes = len(group), (stops - starts)[group]
    used = np.repeat(np.arange(count) * BLOCK_POINTS - starts[group], sizes) + np.arange(n)
    points, ordered_weights = np.zeros((count * BLOCK_POINTS, d), dtype=rows.dtype), np.zeros(count * BLOCK_POINTS)
    points[used], ordered_weights[used] = rows[order], 1.0 if np.ptp(weights) == 0 else weights[order]
    block = np.full(len(groups), -1)
    block[group] = np.arange(count)
    scale = float(np.ldexp(1.0, -int(np.frexp(h)[1])))
    moments = _empty_moments(len(groups), d, _used_power(power, d))
    exists = np.arange(BLOCK_POINTS) < sizes[:, None]
    in_blocks = Members(points.reshape(count, BLOCK_POINTS, d), ordered_weights.reshape(count, -1), exists)
    for first in range(0, count, BLOCKS_AT_ONCE):
        some = slice(first, first + BLOCKS_AT_ONCE)
        _find_moments(moments, group[some], Members(*(values[some] for values in in_blocks)), scale)
    for g in np.flatnonzero(~is_block):
        some = slice(used[starts[g]], used[stops[g] - 1] + 1)
        members = Members(points[None, some], ordered_weights[None, some], exists.reshape(1, -1)[:, some])
        _find_moments(moments, np.array([g]), members, scale)
    places = np.empty(n, dtype=order.dtype)
    places[order] = used
    columns, after = np.ascontiguousarray(in_blocks.points.transpose(0, 2, 1)), np.searchsorted(starts, stops)
    return Blocks(columns, sizes, ordered_weights, moments, parents, after, block, group, scale), places


def expected_visits(points: Array, h: float, power: int) -> float:
    """Estimate from a sample how many groups and points the sum of a query visits.

    Examples
    --------
    >>> near = np.random.default_rng(0).random((2000, 5))
    >>> expected_visits(near, 0.5, 1) > 1000  # most blocks may have points within h
    True
    >>> expected_visits(near, 9.0, 1) < 100  # all are inside the ball, so that their moments are enough
    True
    """
    order, groups = divide(points, BLOCK_POINTS, h)
    starts = np.array([group.start for group in groups if group.is_block])
    sizes = np.diff(starts, append=len(points))
    x = points[order].astype(np.float64, copy=False)
    centers = np.add.reduceat(x, starts) / sizes[:, None]
    offsets = x - np.repeat(centers, sizes, axis=0)
    radii = np.sqrt(np.maximum.reduceat(np.einsum("ij,ij->i", offsets, offsets), starts))
    sample = points[np.linspace(0, len(points) - 1, min(SAMPLE_POINTS, len(points))).astype(np.intp)]
    distances = cdist(sample, centers)
    opened = distances <= h + radii
    if _used_power(power, points.shape[1]) >= 0:
        opened &= distances + radii > h
    return len(groups) + float((opened @ sizes).mean())


def power_of(kind: Any) -> int:
    """Return the argument `power` of `make_blocks` for a profile, given as its code or compiled weight."""
    return kind if isinstance(kind, int) and kind <= 1 else -1


def _used_power(power: int, d: int) -> int:
    return power if power < 1 or d <= MAX_SECOND_DIMENSION else -1


def divide(points: Array, size: int, h: float) -> tuple[IntArray, list[Group]]:
    """Return an order of the points, and groups of consecutive points that are close to each other.

    Points are divided at their mean along the widest axis, until their standard deviation is small compared with h.
    Points that are not divided further are sorted by their distance from the mean, so that points that have come
    together are not mixed with other points. Blocks have at most `size` points. A set of blocks is a group if it is not
    divided further, or if the next larger group has far more blocks.

    Examples
    --------
    >>> order, groups = divide(np.array([[0.0], [5.0], [1.0], [6.0]]), 2, 1.0)
    >>> order
    array([0, 2, 1, 3])
    >>> [(group.start, group.stop) for group in groups]
    [(0, 2), (2, 4)]
    """
    order, groups = np.arange(len(points)), []
    points = np.array(points, dtype=np.float64, order="C")  # sorted together with `order`, so that parts are contiguous
    parts = [(0, len(points), -1, min(_level(len(points), size), MAX_LEVEL + 1), False)]
    while parts:
        low, high, parent, above, is_sorted = parts.pop()
        level = _level(high - low, size)
        if level == 0:
            groups.append(Group(low, high, parent, True))
            continue
        middle = 0 if is_sorted else _divide_once(points[low:high], order[low:high], size, h)
        if level <= MAX_LEVEL and (level < above or not middle):
            groups.append(Group(low, high, parent, False))
            parent, above = len(groups) - 1, level
        if middle:
            parts += [(low + middle, high, parent, above, False), (low, low + middle, parent, above, False)]
        else:
            step = size * FAN_OUT ** (level - 1)
            chunks = [(start, min(start + step, high), parent, above, True) for start in range(low, high, step)]
            parts += reversed(chunks)
    return order, groups


def _level(count: int, size: int) -> int:
    """Return how often `size` has to be multiplied by FAN_OUT to be at least `count`; 0 for a block."""
    level = 0
    while count > size:
        size, level = size * FAN_OUT, level + 1
    return level


def _divide_once(points: Array, order: IntArray, size: int, h: float) -> int:
    """Sort `points` and `order` in place, first the points on one side of a cut; return the number of these points.

    The cut is at the mean along the widest axis. If the points are close together, they are sorted by their distance
    from the mean instead, and the result is 0.
    """
    offsets = points - points.mean(axis=0)
    deviation = np.sqrt(np.einsum("ij,ij->j", offsets, offsets) / len(points))
    axis, middle = deviation.argmax(), 0
    if deviation[axis] > MAX_DEVIATION * h:
        along, least = offsets[:, axis], max(1, size // 2, int(MIN_SHARE * len(points)))
        middle = int(np.clip(np.count_nonzero(along < 0.0), least, len(points) - least))
        found = np.argpartition(along, middle)
    else:
        found = np.argsort(np.einsum("ij,ij->i", offsets, offsets), kind="stable")
    points[:], order[:] = points[found], order[found]
    return middle


def _empty_moments(count: int, d: int, power: int) -> GroupMoments:
    first, second = count * (power >= 0), count * (power >= 1)
    shapes = (count, d), (count,), (first,), (second,), (first, d), (second, d), (second, d, d)
    return GroupMoments(*map(np.empty, shapes))


def _find_moments(found: GroupMoments, g: IntArray, members: Members, scale: float) -> None:
    """Set balls and moments of some groups."""
    points, weights, exists = members
    x = points.astype(np.float64, copy=False)
    centers = x.sum(axis=1) / exists.sum(axis=1)[:, None]
    u = x - centers[:, None]
    u[~exists] = 0.0
    found.centers[g] = centers
    found.radii[g] = np.sqrt(np.einsum("kmi,kmi->km", u, u).max(axis=1))
    if not len(found.first):
        return
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is harmless: a group that wide is never inside a ball
        u *= scale
        weighted = u * weights[:, :, None]
        found.weight[g], found.first[g] = weights.sum(axis=1), weighted.sum(axis=1)
        if len(found.second):
            squares = np.einsum("kmi,kmi->km", u, u)
            found.square[g] = np.einsum("km,km->k", squares, weights)
            found.cubic[g] = np.einsum("km,kmi->ki", squares, weighted)
            found.second[g] = np.matmul(weighted.transpose(0, 2, 1), u)
