"""Many points as one image, which a browser draws faster than markers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray

# a group narrower than this share of the axes is drawn as one disc
COLLAPSED_SHARE = 0.004
# side of the square of pixels that a point covers
DOT_PIXELS = 2


def to_rgba(colors: Sequence[str], alpha: float) -> IntArray:
    """Return colours such as "#0072B2" as uint32 values of an RGBA image.

    Examples
    --------
    >>> to_rgba(["#0072B2"], 1.0).view(np.uint8)
    array([  0, 114, 178, 255], dtype=uint8)
    """
    table = np.array([[*bytes.fromhex(color[1:]), round(255 * alpha)] for color in colors], dtype=np.uint8)
    return np.ascontiguousarray(table).view(np.uint32)[:, 0]


def paint(
    positions: Array, colors: IntArray, table: IntArray, window: Sequence[float], shape: tuple[int, int]
) -> IntArray:
    """Return an image of the points in a window (left, right, bottom, top); its first row is at the bottom.

    Examples
    --------
    >>> paint(np.array([[0.5, 0.1]]), np.array([0]), np.array([7], np.uint32), (0, 1, 0, 1), (3, 4))
    array([[0, 0, 7, 7],
           [0, 0, 7, 7],
           [0, 0, 0, 0]], dtype=uint32)
    """
    left, right, bottom, top = window
    height, width = shape
    x = (positions[:, 0] - left) / (right - left) * width
    y = (positions[:, 1] - bottom) / (top - bottom) * height
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    columns, rows, chosen = x[inside].astype(np.intp), y[inside].astype(np.intp), table[colors[inside]]
    image = np.zeros((height + DOT_PIXELS, width + DOT_PIXELS), dtype=np.uint32)
    for down, across in np.ndindex(DOT_PIXELS, DOT_PIXELS):
        image[rows + down, columns + across] = chosen
    return np.ascontiguousarray(image[:height, :width])


class Discs(NamedTuple):
    """Groups of points that have collapsed to one position.

    Attributes
    ----------
    x, y : (m,) array
    colors : (m,) integer array
    shares : (m,) array
        Share of all points.
    """

    x: Array
    y: Array
    colors: IntArray
    shares: Array


def collapsed_groups(positions: Array, colors: IntArray, extent: Sequence[float], n_colors: int) -> Discs:
    """Return the groups of one colour, 0 to n_colors - 1, whose points are at one position.

    Examples
    --------
    >>> positions = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> collapsed_groups(positions, np.array([0, 0, 1, 1]), (1.0, 1.0), 2)
    Discs(x=array([0.]), y=array([0.]), colors=array([0]), shares=array([0.5]))
    """
    sizes = np.bincount(colors, minlength=256)[:n_colors]
    used = np.flatnonzero(sizes)

    def mean(values: Array) -> Array:
        return np.bincount(colors, weights=values, minlength=256)[used] / sizes[used]

    xy = positions.astype(np.float64)
    means = np.stack([mean(column) for column in xy.T])
    variances = np.stack([mean(column * column) for column in xy.T]) - means**2
    narrow = (np.sqrt(np.maximum(variances, 0.0)) <= COLLAPSED_SHARE * np.asarray(extent)[:, None]).all(axis=0)
    x, y = means[:, narrow]
    return Discs(x, y, used[narrow], sizes[used[narrow]] / len(positions))
