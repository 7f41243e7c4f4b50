"""Compiled mean shifts over a list of groups of coincident points.

A sum runs over the groups within reach in ascending order, whichever list contains them. The result therefore does not
depend on when lists are built, bit for bit.
"""

import numpy as np

from modeseek._common.jit import inlined
from modeseek.meanshift.engines.shared_loops import weigh


@inlined
def sum_over(kind, positions, weights, q, h, source, low, high, shift, scratch):  # type: ignore[no-untyped-def]
    """Write the mean shift of q over the groups `source[low:high]`; `scratch` has two arrays, see `ListBuffers`."""
    n, blocks, width = positions.shape
    rows, x = positions.reshape(n, blocks * width), q.reshape(blocks * width)
    limit = h * h * (1.0 + 1e-6)  # a little beyond h: the weight decides at the boundary
    shift[:] = 0.0
    near, ids = scratch
    if blocks == 1:
        total = _sum_short(kind, rows, weights, x, 1.0 / (h * h), limit, source, low, high, shift, near, ids)
    else:
        total = _sum_long(
            kind, positions, rows, weights, q, x, 1.0 / (h * h), limit, source, low, high, shift, near, ids
        )
    scale = 1.0 / total if total > 0.0 else 0.0  # a query without groups within h stays
    for c in range(len(shift)):
        shift[c] *= scale


@inlined
def _sum_short(kind, rows, weights, x, inv, limit, source, low, high, shift, near, ids):  # type: ignore[no-untyped-def]
    """Sum over short rows: four distances at a time, and all distances before the weighted sum."""
    d = len(x)
    zero = x[0] - x[0]  # zero of the type of the points, so that float32 rows use float32 instructions
    m, last = 0, high - 1
    for k in range(low, high, 4):
        # the last four may contain a row twice; it is measured twice and stored once
        j0, j1 = np.uint64(source[k]), np.uint64(source[min(k + 1, last)])
        j2, j3 = np.uint64(source[min(k + 2, last)]), np.uint64(source[min(k + 3, last)])
        r0 = r1 = r2 = r3 = zero
        for c in range(d):
            y = x[c]
            a0, a1, a2, a3 = rows[j0, c] - y, rows[j1, c] - y, rows[j2, c] - y, rows[j3, c] - y
            r0 += a0 * a0
            r1 += a1 * a1
            r2 += a2 * a2
            r3 += a3 * a3
        ids[m], near[m] = j0, r0
        m += r0 <= limit
        ids[m], near[m] = j1, r1
        m += (r1 <= limit) & (k + 1 <= last)
        ids[m], near[m] = j2, r2
        m += (r2 <= limit) & (k + 2 <= last)
        ids[m], near[m] = j3, r3
        m += (r3 <= limit) & (k + 3 <= last)
    total = 0.0
    for k in range(m):
        near[k] = weigh(kind, near[k] * inv) * weights[ids[k]]
        total += near[k]
    whole = m - m % 4
    for k in range(0, whole, 4):
        _add_four(rows, x, ids, near, k, shift)
    for k in range(whole, m):
        for c in range(d):
            shift[c] += near[k] * (rows[ids[k], c] - x[c])
    return total


@inlined
def _sum_long(kind, positions, rows, weights, q, x, inv, limit, source, low, high, shift, g, ids):  # type: ignore[no-untyped-def]
    """Sum over long rows: a distance is abandoned once it exceeds the limit, and rows are added while in the cache."""
    _, blocks, width = positions.shape
    total, m = 0.0, 0
    for k in range(low, high):
        j = np.uint64(source[k])
        r = q[0, 0] - q[0, 0]  # zero of the type of the points
        for b in range(blocks):
            s = q[0, 0] - q[0, 0]
            for e in range(width):
                a = positions[j, b, e] - q[b, e]
                s += a * a
            r += s
            if r > limit:
                break
        if r <= limit:
            ids[m], g[m] = j, weigh(kind, r * inv) * weights[j]
            m += 1
        if m == 4:
            _add_four(rows, x, ids, g, 0, shift)
            total += g[0] + g[1] + g[2] + g[3]
            m = 0
    for k in range(m):
        total += g[k]
        for c in range(len(x)):
            shift[c] += g[k] * (rows[ids[k], c] - x[c])
    return total


@inlined
def _add_four(rows, x, ids, g, k, shift):  # type: ignore[no-untyped-def]
    """Add four weighted rows at once, which reads and writes the sum less often. Array slices would be slower."""
    i0, i1, i2, i3 = ids[k], ids[k + 1], ids[k + 2], ids[k + 3]
    g0, g1, g2, g3 = g[k], g[k + 1], g[k + 2], g[k + 3]
    for c in range(len(shift)):
        y = x[c]
        shift[c] += g0 * (rows[i0, c] - y) + g1 * (rows[i1, c] - y) + g2 * (rows[i2, c] - y) + g3 * (rows[i3, c] - y)
