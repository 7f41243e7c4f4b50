"""Compiled mean shifts over a list of groups of coincident points.

A sum runs over the groups within reach in ascending order, whichever list contains them. The result therefore does not
depend on when lists are built, bit for bit.
"""

import numpy as np

from modeseek._common.jit import inlined
from modeseek.meanshift.engines.shared_loops import weigh

# Up to this dimension, all rows within reach are added after all distances are known. Longer rows are added CHUNK at a
# time, while they are in the cache.
MAX_SHORT = 64
CHUNK = 16


@inlined
def sum_over(kind, rows, weights, x, h, source, low, high, shift, scratch):  # type: ignore[no-untyped-def]
    """Write the mean shift of x over the groups `source[low:high]`; `scratch` has two arrays, see `ListBuffers`."""
    d, last, (near, ids) = len(x), high - 1, scratch
    inv, limit = 1.0 / (h * h), h * h * (1.0 + 1e-6)  # a little beyond h: the weight decides at the boundary
    zero = x[0] - x[0]  # zero of the type of the points, so that float32 rows use float32 instructions
    most = len(ids) if d <= MAX_SHORT else CHUNK
    total, m = 0.0, 0
    shift[:] = 0.0
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
        if m >= most:
            total += _add_rows(kind, rows, weights, x, inv, near, ids, most, shift)
            m -= most
            for j in range(m):
                ids[j], near[j] = ids[most + j], near[most + j]
    total += _add_rows(kind, rows, weights, x, inv, near, ids, m, shift)
    scale = 1.0 / total if total > 0.0 else 0.0  # a query without groups within h stays
    for c in range(d):
        shift[c] *= scale


@inlined
def _add_rows(kind, rows, weights, x, inv, near, ids, m, shift):  # type: ignore[no-untyped-def]
    """Add m weighted rows with squared distances `near`; return the sum of weights.

    Four rows are added at once, which reads and writes the sum less often. Array slices would be slower.
    """
    d, total = len(x), 0.0
    for k in range(m):
        near[k] = weigh(kind, near[k] * inv) * weights[ids[k]]
        total += near[k]
    whole = m - m % 4
    for k in range(0, whole, 4):
        i0, i1, i2, i3 = ids[k], ids[k + 1], ids[k + 2], ids[k + 3]
        g0, g1, g2, g3 = near[k], near[k + 1], near[k + 2], near[k + 3]
        for c in range(d):
            y = x[c]
            shift[c] += (
                g0 * (rows[i0, c] - y) + g1 * (rows[i1, c] - y) + g2 * (rows[i2, c] - y) + g3 * (rows[i3, c] - y)
            )
    for k in range(whole, m):
        for c in range(d):
            shift[c] += near[k] * (rows[ids[k], c] - x[c])
    return total
