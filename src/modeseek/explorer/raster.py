"""Many points as one image, which a browser shows faster than as many markers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray

__all__ = ["Discs", "discs", "paint", "rgba"]

# a group narrower than this share of the window has collapsed, and is drawn as one disc
COLLAPSED = 0.004
# sides of the square that a point covers
DOT = 2


def rgba(colours: Sequence[str], alpha: float) -> IntArray:
    """Return colours like "#0072B2" as numbers for an image of type uint32.

    Examples
    --------
    >>> rgba(["#0072B2"], 1.0).view(np.uint8)
    array([  0, 114, 178, 255], dtype=uint8)
    """
    table = np.array([[*bytes.fromhex(colour[1:]), round(255 * alpha)] for colour in colours], dtype=np.uint8)
    return np.ascontiguousarray(table).view(np.uint32)[:, 0]


def paint(
    places: Array, colours: IntArray, table: IntArray, window: tuple[float, float, float, float], shape: tuple[int, int]
) -> IntArray:
    """Return an image of the points in a window (left, right, bottom, top), its first row at the bottom.

    Examples
    --------
    >>> paint(np.array([[0.5, 0.1]]), np.array([0]), np.array([7], np.uint32), (0, 1, 0, 1), (3, 4))
    array([[0, 0, 7, 7],
           [0, 0, 7, 7],
           [0, 0, 0, 0]], dtype=uint32)
    """
    left, right, bottom, top = window
    height, width = shape
    x = (places[:, 0] - left) / (right - left) * width
    y = (places[:, 1] - bottom) / (top - bottom) * height
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    columns, rows, chosen = x[inside].astype(np.intp), y[inside].astype(np.intp), table[colours[inside]]
    image = np.zeros((height + DOT, width + DOT), dtype=np.uint32)
    for down in range(DOT):
        for right_by in range(DOT):
            image[rows + down, columns + right_by] = chosen
    return np.ascontiguousarray(image[:height, :width])


class Discs(NamedTuple):
    """Groups that have come to one place.

    Attributes
    ----------
    x, y : (m,) array
    colours : (m,) integer array
    shares : (m,) array
        Of all points.
    """

    x: Array
    y: Array
    colours: IntArray
    shares: Array


def discs(places: Array, colours: IntArray, extent: tuple[float, float], count: int) -> Discs:
    """Return where groups of one colour, 0 to count - 1, have come together.

    Examples
    --------
    >>> discs(np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.array([0, 0, 1, 1]), (1.0, 1.0), 2)
    Discs(x=array([0.]), y=array([0.]), colours=array([0]), shares=array([0.5]))
    """
    sizes = np.bincount(colours, minlength=256)[:count]
    number = np.flatnonzero(sizes)
    narrow = np.ones(len(number), dtype=bool)
    means = []
    for column, length in zip(places.T.astype(np.float64), extent, strict=True):
        mean = np.bincount(colours, weights=column, minlength=256)[number] / sizes[number]
        square = np.bincount(colours, weights=column * column, minlength=256)[number] / sizes[number]
        narrow &= np.sqrt(np.maximum(square - mean * mean, 0.0)) <= COLLAPSED * length
        means.append(mean[:])
    return Discs(means[0][narrow], means[1][narrow], number[narrow], sizes[number[narrow]] / len(places))
