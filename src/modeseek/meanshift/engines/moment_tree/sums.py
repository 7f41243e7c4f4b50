"""Sums of polynomial kernels over the tree of `moments_cells`, exactly.

Inside the ball of radius h a polynomial profile has, up to a factor, G = (1 - |x_j - x|^2 / h^2)^m. With v the vector
from the query to a node's centre and s u the offset of a point from it, s being half the node's side,

    1 - |v + s u|^2 / h^2 = A + B.u + C |u|^2,   A = 1 - |v|^2 / h^2,   B = -2 s v / h^2,   C = -s^2 / h^2,

so points within the ball contribute by their moments sum_j w_j u^alpha, |alpha| <= 2 m + 1. The moments of all cells
of a node within the ball are added up first, and the polynomial is evaluated once. Cells out of reach contribute
nothing. Only cells that the sphere cuts are opened: into a node, or into points.
"""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import FAST_MATH
from modeseek.meanshift.engines.moment_tree.tree import CHUNK, FAN, size
from modeseek.meanshift.engines.moment_tree.updates import at_, helper, kernel, move
from modeseek.meanshift.engines.shared_kernels import weigh

__all__ = ["shift_each", "shift_queries"]

# moments of a cell that has lost all but this share of its weight may have drowned in rounding
TRUSTED = 0.125


_size = helper(size)


@helper(**FAST_MATH)
def _open(dims, power, chunks, here, q0, q1, q2, inv):  # type: ignore[no-untyped-def]
    """Return the sums over the points of a chunk, one by one."""
    d = len(dims)
    total = s0 = s1 = s2 = 0.0
    for j in range(CHUNK):
        a = chunks[here, 0, j] - q0
        r = a * a
        b = c = 0.0
        if d > 1:
            b = chunks[here, 1, j] - q1
            r += b * b
        if d > 2:
            c = chunks[here, 2, j] - q2
            r += c * c
        g = chunks[here, d, j] * weigh(len(power), r * inv)
        total += g
        s0 += g * a
        if d > 1:
            s1 += g * b
        if d > 2:
            s2 += g * c
    return total, s0, s1, s2


@helper(**FAST_MATH)
def _low(dims, power, mu, s, v0, v1, v2, inv):  # type: ignore[no-untyped-def]
    """Return the sums of moments `mu` about a node's centre, seen from the query, for flat weights and the biweight."""
    d = len(dims)
    m0, m1 = mu[1], mu[2] if d > 1 else 0.0
    m2 = mu[3] if d > 2 else 0.0
    total, s0, s1, s2 = mu[0], m0, m1, m2
    if len(power) == 1:
        k = 1 + d
        m00, r0 = mu[k], mu[k + 1]
        m01 = m11 = r1 = m02 = m12 = m22 = r2 = 0.0
        if d > 1:
            m01, m11, r1 = mu[k + 2], mu[k + 3], mu[k + 4]
        if d > 2:
            m02, m12, m22, r2 = mu[k + 5], mu[k + 6], mu[k + 7], mu[k + 8]
        a, slope, c = 1.0 - (v0 * v0 + v1 * v1 + v2 * v2) * inv, -2.0 * s * inv, -s * s * inv
        b0, b1, b2 = slope * v0, slope * v1, slope * v2
        total = a * mu[0] + b0 * m0 + b1 * m1 + b2 * m2 + c * (m00 + m11 + m22)
        s0 = a * m0 + b0 * m00 + b1 * m01 + b2 * m02 + c * r0
        s1 = a * m1 + b0 * m01 + b1 * m11 + b2 * m12 + c * r1
        s2 = a * m2 + b0 * m02 + b1 * m12 + b2 * m22 + c * r2
    return total, v0 * total + s * s0, v1 * total + s * s1, v2 * total + s * s2


@helper(**FAST_MATH)
def _high(dims, power, terms, mu, s, v0, v1, v2, inv, room):  # type: ignore[no-untyped-def]
    """Return the same for any power: its coefficients by multiplying the quadratic with itself."""
    d, n_low = len(dims), len(terms.raised) // len(dims)
    raised, factors = terms.raised, terms.factors
    # rows of room: the quadratic, its power so far, the next power
    room[0, 0] = 1.0 - (v0 * v0 + v1 * v1 + v2 * v2) * inv
    room[0, 1] = -2.0 * s * inv * v0
    if d > 1:
        room[0, 2] = -2.0 * s * inv * v1
    if d > 2:
        room[0, 3] = -2.0 * s * inv * v2
    for c in range(d):
        room[0, 1 + d + c] = -s * s * inv
    for k in range(n_low):
        room[1, k] = 0.0
    for t in range(2 * d + 1):
        room[1, factors[t * n_low]] = room[0, t]
    for _ in range(len(power) - 1):
        for k in range(n_low):
            room[2, k] = 0.0
        for t in range(2 * d + 1):
            for k in range(n_low):
                if factors[t * n_low + k] >= 0:
                    room[2, factors[t * n_low + k]] += room[0, t] * room[1, k]
        for k in range(n_low):
            room[1, k] = room[2, k]
    total = s0 = s1 = s2 = 0.0
    for k in range(n_low):
        total += room[1, k] * mu[k]
        s0 += room[1, k] * mu[raised[k * d]]
        if d > 1:
            s1 += room[1, k] * mu[raised[k * d + 1]]
        if d > 2:
            s2 += room[1, k] * mu[raised[k * d + 2]]
    return total, v0 * total + s * s0, v1 * total + s * s1, v2 * total + s * s2


@helper(**FAST_MATH)
def _distances(dims, half, v0, v1, v2, near, far):  # type: ignore[no-untyped-def]
    """Put the squares of the smallest and largest distance to each cell of a node into `near` and `far`."""
    d = len(dims)
    fan = FAN[d]
    lanes, width = fan**d, half / FAN[d]
    for lane in range(lanes):
        f0 = lane // fan ** (d - 1)
        a = abs(v0 + half * ((2 * f0 + 1) / fan - 1.0))
        low, high = max(a - width, 0.0), a + width
        close, away = low * low, high * high
        if d > 1:
            f1 = lane // fan ** (d - 2) % fan
            a = abs(v1 + half * ((2 * f1 + 1) / fan - 1.0))
            low, high = max(a - width, 0.0), a + width
            close += low * low
            away += high * high
        if d > 2:
            f2 = lane % fan
            a = abs(v2 + half * ((2 * f2 + 1) / fan - 1.0))
            low, high = max(a - width, 0.0), a + width
            close += low * low
            away += high * high
        near[lane], far[lane] = close, away


@helper(**FAST_MATH)
def _shift(dims, power, terms, tree, q, h, sizes, rooms):  # type: ignore[no-untyped-def]
    """Return the mean shift of q and how many nodes and points were looked at."""
    d, lanes, size = len(dims), FAN[len(dims)] ** len(dims), _size(dims, power)
    boxes, counts, link, moments, fullest = tree.boxes, tree.counts, tree.link, tree.moments, tree.fullest
    chunks, behind = tree.chunks, tree.behind
    inside, near, far, room, stack, cut, whole = rooms
    slack, top = sizes
    inv, outer, inner = 1.0 / (h * h), (h + slack) ** 2, max(h - slack, 0.0) ** 2
    largest = min(h, top)
    total = s0 = s1 = s2 = 0.0
    looked, waiting = 0, 1
    stack[0] = 0
    q0, q1, q2 = q
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        looked += 1
        s = boxes[node, d]
        v0 = boxes[node, 0] - q0
        v1 = boxes[node, 1] - q1 if d > 1 else 0.0
        v2 = boxes[node, 2] - q2 if d > 2 else 0.0
        _distances(dims, s, v0, v1, v2, near, far)
        # two lists without a branch: which cells are cut is anybody's guess
        n_cut = n_whole = 0
        within = inner if s <= largest else -1.0
        for lane in range(lanes):
            at = node * lanes + lane
            seen = (counts[at] > 0) & (near[lane] <= outer)
            full = far[lane] <= within
            cut[n_cut] = at
            whole[n_whole] = at
            n_cut += seen & (not full)
            n_whole += seen & full
        some = False
        for j in range(n_whole):
            at = whole[j]
            if moments[at, 0] < TRUSTED * fullest[at]:
                cut[n_cut] = at
                n_cut += 1
            elif some:
                for k in range(size):
                    inside[k] += moments[at, k]
            else:
                for k in range(size):
                    inside[k] = moments[at, k]
                some = True
        if some:
            if len(power) <= 1:
                a, b, c, e = _low(dims, power, inside, s, v0, v1, v2, inv)
            else:
                a, b, c, e = _high(dims, power, terms, inside, s, v0, v1, v2, inv, room)
            total, s0, s1, s2 = total + a, s0 + b, s1 + c, s2 + e
        for j in range(n_cut):
            at = cut[j]
            if link[at] >= 0:
                stack[waiting] = link[at]
                waiting += 1
            else:
                looked += counts[at]
                here = -2 - link[at]
                while here >= 0:
                    a, b, c, e = _open(dims, power, chunks, here, q0, q1, q2, inv)
                    total, s0, s1, s2 = total + a, s0 + b, s1 + c, s2 + e
                    here = behind[here]
    scale = 1.0 / total if total > 0.0 else 0.0  # nobody in reach: stay
    return s0 * scale, s1 * scale, s2 * scale, looked


@helper
def _settled(q, shift, spherical):  # type: ignore[no-untyped-def]
    """Return the new place of q, on the unit sphere if asked; the twin of `engines.base.settle`."""
    x0, x1, x2 = q[0] + shift[0], q[1] + shift[1], q[2] + shift[2]
    if spherical:
        length = np.sqrt(x0 * x0 + x1 * x1 + x2 * x2)
        if length <= 1e-12:
            return q
        return x0 / length, x1 / length, x2 / length
    return x0, x1, x2


@kernel
def shift_each(dims, power, terms, tree, points, w, draws, sizes, spherical, lengths, rooms):  # type: ignore[no-untyped-def]
    """Apply draws in order; return how many nodes and points were looked at."""
    indices, bandwidths = draws
    looked = 0
    for k in range(len(indices)):
        i = indices[k]
        q = at_(dims, points, i)
        s0, s1, s2, seen = _shift(dims, power, terms, tree, q, bandwidths[k], sizes, rooms)
        looked += seen
        new = _settled(q, (s0, s1, s2), spherical)
        for c in range(len(dims)):
            points[i, c] = new[c]
        new = at_(dims, points, i)  # as stored
        square = (new[0] - q[0]) ** 2 + (new[1] - q[1]) ** 2 + (new[2] - q[2]) ** 2
        lengths[k] = np.sqrt(square)
        if square > 0.0:
            move(dims, power, terms, tree, sizes[1], i, q, new, w[i], rooms[0])
    return looked


@kernel
def shift_queries(dims, power, terms, tree, queries, bandwidths, sizes, spherical, moved, rooms):  # type: ignore[no-untyped-def]
    """Shift queries against the state; return how many nodes and points were looked at."""
    looked = 0
    for k in range(len(queries)):
        q = at_(dims, queries, k)
        s0, s1, s2, seen = _shift(dims, power, terms, tree, q, bandwidths[k], sizes, rooms)
        looked += seen
        new = _settled(q, (s0, s1, s2), spherical)
        for c in range(len(dims)):
            moved[k, c] = new[c]
    return looked
