"""A part of compiled loops: squared distances of all points from one."""

from __future__ import annotations

from modeseek._common.jit import loop_part

# number of features that are added at a time, so that sums are read and written less often
UNROLLED = 4


@loop_part
def squared_distances(columns, center, out):  # type: ignore[no-untyped-def]
    """Write the squared distances of points, the columns of a (d, n) array, from `center`."""
    d, n = len(center), len(out)
    for i in range(n):
        out[i] = 0.0
    for a in range(0, d - UNROLLED + 1, UNROLLED):
        first, second, third, fourth = columns[a], columns[a + 1], columns[a + 2], columns[a + 3]
        p, q, r, s = center[a], center[a + 1], center[a + 2], center[a + 3]
        for i in range(n):
            out[i] += (
                (first[i] - p) * (first[i] - p)
                + (second[i] - q) * (second[i] - q)
                + (third[i] - r) * (third[i] - r)
                + (fourth[i] - s) * (fourth[i] - s)
            )
    for a in range(d - d % UNROLLED, d):
        column, p = columns[a], center[a]
        for i in range(n):
            out[i] += (column[i] - p) * (column[i] - p)
