"""Points in blocks of near points, with the moments and a ball around each block, for `engine="brute"`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray

# Points per block, and blocks per superblock.
BLOCK_POINTS = 128
SUPERBLOCK = 16
# A set of points is divided until its standard deviation along each axis is at most this share of the bandwidth.
MAX_DEVIATION = 0.3
# Each part of a division has at least this share of the points, so that outliers cause few divisions.
MIN_SHARE = 1 / 16
# From more dimensions on, second moments take more time and memory than they save.
MAX_SECOND_DIMENSION = 64


class Moments(NamedTuple):
    """Balls around groups of points, and the moments of the scaled offsets u from their centers.

    Attributes
    ----------
    centers, radii : (g, d) and (g,) arrays
    weight, square : (g,) arrays
        Sums of w and of w |u|^2.
    first, cubic : (g, d) arrays
        Sums of w u and of w |u|^2 u.
    second : (g, d, d) array
        Sums of w u u^T. This and other moments that are not used have no groups.
    """

    centers: Array
    radii: Array
    weight: Array
    square: Array
    first: Array
    cubic: Array
    second: Array


class Blocks(NamedTuple):
    """The points of a state, sorted into blocks, and these into superblocks.

    Attributes
    ----------
    points : (b, d, BLOCK_POINTS) array
        Coordinates; the last block may have unused columns.
    weights : (n,) array
        In the order of the blocks.
    small, large : Moments
        Of the blocks and of the superblocks.
    scale : float
        Factor on the offsets in moments: a power of two, which is exact, of the order of 1 / h. Without it, third
        powers of very small or very large offsets would vanish or overflow.
    """

    points: Array
    weights: Array
    small: Moments
    large: Moments
    scale: float


def make_blocks(rows: Array, weights: Array, h: float, power: int) -> tuple[Blocks, IntArray]:
    """Sort points into blocks for bandwidths from h on; return the blocks and the order of the points.

    Parameters
    ----------
    rows, weights : (n, d) and (n,) arrays
        Equal weights become 1: they cancel, and compiled sums over points leave them out.
    h : float
    power : int
        Inside the ball, weights are this power of 1 - t. 0 and 1 have moments; -1 stands for all other profiles.
    """
    order = block_order(rows, BLOCK_POINTS, h)
    n, d = rows.shape
    count, scale = -(-n // BLOCK_POINTS), float(np.ldexp(1.0, -int(np.frexp(h)[1])))
    ordered = rows[order]
    weights = np.ones(n) if np.ptp(weights) == 0 else weights[order]
    padded = np.zeros((count * BLOCK_POINTS, d), dtype=rows.dtype)
    padded[:n] = ordered
    points = np.ascontiguousarray(padded.reshape(count, BLOCK_POINTS, d).transpose(0, 2, 1))
    power = power if power < 1 or d <= MAX_SECOND_DIMENSION else -1
    small, large = (
        find_moments(ordered, weights, size, scale, power) for size in (BLOCK_POINTS, BLOCK_POINTS * SUPERBLOCK)
    )
    return Blocks(points, weights, small, large, scale), order


def block_order(points: Array, size: int, h: float) -> IntArray:
    """Return an order in which each `size` consecutive points are close to each other.

    Points are divided at their mean along the widest axis, until their standard deviation is small beside h. Each part
    is sorted by the distance from its mean, so that points that have contracted are not mixed with others.

    Examples
    --------
    >>> block_order(np.array([[0.0], [5.0], [1.0], [6.0]]), 2, 1.0)
    array([0, 2, 1, 3])
    """
    order, parts = np.arange(len(points)), [(0, len(points))]
    while parts:
        low, high = parts.pop()
        most = size * ((high - low - 1) // size)  # first point of the last block
        if not most:
            continue
        inside = points[order[low:high]].astype(np.float64, copy=False)
        center = inside.mean(axis=0)
        deviation = inside.std(axis=0)
        axis = deviation.argmax()
        if deviation[axis] > MAX_DEVIATION * h:
            along = inside[:, axis]
            least = size * max(1, int(MIN_SHARE * (high - low) / size))
            below = size * round(np.count_nonzero(along < center[axis]) / size)
            middle = min(max(below, least), size * ((high - low - least) // size) or most, most)
            order[low:high] = order[low:high][np.argpartition(along, middle)]
            parts += [(low, low + middle), (low + middle, high)]
        else:
            order[low:high] = order[low:high][np.argsort(np.square(inside - center).sum(axis=1), kind="stable")]
    return order


def find_moments(points: Array, weights: Array, size: int, scale: float, power: int) -> Moments:
    """Return balls and moments of each `size` consecutive points; see `make_blocks`."""
    n, d = points.shape
    starts = np.arange(0, n, size)
    g = len(starts)
    first, second = g * (power >= 0), g * (power >= 1)
    shapes = (g, d), (g,), (first,), (second,), (first, d), (second, d), (second, d, d)
    found = Moments(*map(np.empty, shapes))
    for g, start in enumerate(starts):
        x, w = points[start : start + size].astype(np.float64, copy=False), weights[start : start + size]
        found.centers[g] = x.mean(axis=0)
        u = x - found.centers[g]
        found.radii[g] = np.sqrt(np.einsum("ij,ij->i", u, u).max())
        if power < 0:
            continue
        with np.errstate(over="ignore", invalid="ignore"):  # far points: their group is never inside a ball
            u *= scale
            weighted = u * w[:, None]
            found.weight[g], found.first[g] = w.sum(), weighted.sum(axis=0)
            if power >= 1:
                squares = np.einsum("ij,ij->i", u, u)
                found.square[g], found.cubic[g] = squares @ w, squares @ weighted
                found.second[g] = weighted.T @ u
    return found
