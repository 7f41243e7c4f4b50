"""Compiled search for coincident points."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached

__all__ = ["lead"]


@cached
def lead(points, line, order, window, ulps, look_back, leader):  # type: ignore[no-untyped-def]
    """Walk along the line; a point joins a leader not far behind if no coordinate tells them apart."""
    n, d = points.shape
    leaders = np.empty(n, dtype=np.int64)
    m = 0
    for k in range(n):
        i = order[k]
        leader[i] = i
        for back in range(1, look_back + 1):
            if back > m:
                break
            j = leaders[m - back]
            if line[i] - line[j] > window:
                break
            largest = gap = 0.0
            for c in range(d):
                largest = max(largest, abs(points[j, c]))
                gap = max(gap, abs(points[i, c] - points[j, c]))
            if gap <= ulps * largest:
                leader[i] = j
                break
        if leader[i] == i:
            leaders[m] = i
            m += 1
