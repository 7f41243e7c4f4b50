"""The compiled part of `modeseek.meanshift.engines.weight_within_radius`."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached

__all__ = ["sum_within"]


@cached
def sum_within(coordinates, weights, strips, low, side, queries, h, reach, masses):  # type: ignore[no-untyped-def]
    """Add up the weights within h of each query.

    coordinates are (d, n), in strips of a height by the second one, each sorted by the first; strip s begins at
    strips[s], and the first begins at `low`.
    """
    d, across, last, square = len(coordinates), coordinates[0], len(strips) - 2, h * h
    for k in range(len(queries)):
        x, total = queries[k], 0.0
        bottom, top = 0, last
        if d > 1:
            bottom = int(min(max(0.0, (x[1] - reach - low) / side), last + 1.0))
            top = int(min(max(-1.0, (x[1] + reach - low) / side), float(last)))
        for strip in range(bottom, top + 1):
            begin, end = strips[strip], strips[strip + 1]
            row = across[begin:end]
            first = begin + np.searchsorted(row, x[0] - reach)
            stop = begin + np.searchsorted(row, x[0] + reach, side="right")
            if d == 2:  # in vector lanes
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
        masses[k] = total
