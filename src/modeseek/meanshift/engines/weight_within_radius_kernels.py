"""The compiled part of `weight_within_radius`."""

from typing import NamedTuple

import numpy as np

from modeseek._common.jit import cached
from modeseek._common.types import Array, IntArray


class Strips(NamedTuple):
    """Points in strips of equal height along the second coordinate, each strip sorted by the first coordinate.

    Attributes
    ----------
    coordinates : (d, n) array
    weights : (n,) array
    starts : (strips + 1,) integer array
        Index of the first point of each strip.
    low, height : float
        Where the first strip begins, and the height of a strip.
    """

    coordinates: Array
    weights: Array
    starts: IntArray
    low: float
    height: float


@cached
def sum_weights(strips, queries, h, found):  # type: ignore[no-untyped-def]
    """Add up the weights within h of each query."""
    coordinates, weights, starts, low, height = strips
    d, across, last, square = len(coordinates), coordinates[0], len(starts) - 2, h * h
    reach = h * (1 + 1e-6)  # rounding must not exclude a point at distance h
    for k in range(len(queries)):
        x, total = queries[k], 0.0
        bottom, top = 0, last
        if d > 1:
            bottom = int(min(max(0.0, (x[1] - reach - low) / height), last + 1.0))
            top = int(min(max(-1.0, (x[1] + reach - low) / height), float(last)))
        for strip in range(bottom, top + 1):
            begin, end = starts[strip], starts[strip + 1]
            row = across[begin:end]
            first = begin + np.searchsorted(row, x[0] - reach)
            stop = begin + np.searchsorted(row, x[0] + reach, side="right")
            if d == 2:  # written without an inner loop, so that it uses vector instructions
                a, b, near = across[first:stop], coordinates[1, first:stop], weights[first:stop]
                for j in range(len(near)):
                    r = (a[j] - x[0]) ** 2 + (b[j] - x[1]) ** 2
                    total += near[j] if r <= square else 0.0
                continue
            for j in range(first, stop):
                r = 0.0
                for c in range(d):
                    gap = coordinates[c, j] - x[c]
                    r += gap * gap
                total += weights[j] if r <= square else 0.0
        found[k] = total
