"""Exact sums of polynomial weights over the moment tree.

Within distance h of the query, the weight of a polynomial profile is, up to a factor, (1 - |x_j - x|^2 / h^2)^m. Let v
be the vector from the query to the centre of a node, s half the side of the node, and s u the offset of a point from
the centre. Then

    1 - |v + s u|^2 / h^2 = A + B.u + C |u|^2,   A = 1 - |v|^2 / h^2,   B = -2 s v / h^2,   C = -s^2 / h^2,

so the sum over points within the ball follows from their moments sum_j w_j u^alpha, |alpha| <= 2 m + 1. The moments of
all cells of a node inside the ball are added first, and the polynomial is evaluated once. Cells outside the ball are
skipped. Cells that the sphere of radius h cuts are opened: the node or the points in them are visited.

Nodes, moments and points are visited one list after the other, and the next entries of a list are prefetched: most of
the time would otherwise be spent on waiting for memory. Lists are filled without branches, because a processor cannot
predict which cells are cut.
"""

import numpy as np

from modeseek._common.jit import FAST_MATH, prefetch
from modeseek.meanshift.engines.moment_tree.tree import CHUNK, CHUNKS_AT_ONCE, FAN, LINE
from modeseek.meanshift.engines.moment_tree.updates import compiled, count_moments, helper, move, position
from modeseek.meanshift.engines.shared_loops import weigh
from modeseek.meanshift.engines.workspace import SHORTEST

# How many entries ahead lists are prefetched.
AHEAD, NODES_AHEAD = 8, 3


def low_power_sums(d, m, mu, s, v, inv):  # type: ignore[no-untyped-def]
    """Return the sums of weights and of weighted differences for moments of a node or cell, if m is 0 or 1.

    `mu` has the moments w, w u, and for m = 1 the moments w u_a u_b for a <= b and w |u|^2 u_b for each b. s is half
    the side, v the vector from the query to the centre, and inv is h^-2. This function is compiled for the GPU too.
    """
    v0, v1, v2 = v
    m0, m1 = mu[1], mu[2] if d > 1 else 0.0
    m2 = mu[3] if d > 2 else 0.0
    total, s0, s1, s2 = mu[0], m0, m1, m2
    if m == 1:
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


_low_power_sums = helper(inline="always")(low_power_sums)


@helper(**FAST_MATH)
def _high_power_sums(basis, mu, s, v, inv, coefficients):  # type: ignore[no-untyped-def]
    """Return the sums of `low_power_sums` for any m; the polynomial results from products with the quadratic."""
    d, n_low = len(basis.dims), len(basis.monomials.raised) // len(basis.dims)
    raised, factors = basis.monomials.raised, basis.monomials.factors
    quadratic, power, product = coefficients[0], coefficients[1], coefficients[2]
    v0, v1, v2 = v
    quadratic[0] = 1.0 - (v0 * v0 + v1 * v1 + v2 * v2) * inv
    quadratic[1] = -2.0 * s * inv * v0
    if d > 1:
        quadratic[2] = -2.0 * s * inv * v1
    if d > 2:
        quadratic[3] = -2.0 * s * inv * v2
    for c in range(d):
        quadratic[1 + d + c] = -s * s * inv
    for k in range(n_low):
        power[k] = 0.0
    for t in range(2 * d + 1):
        power[factors[t * n_low]] = quadratic[t]
    for _ in range(len(basis.power) - 1):
        for k in range(n_low):
            product[k] = 0.0
        for t in range(2 * d + 1):
            for k in range(n_low):
                if factors[t * n_low + k] >= 0:
                    product[factors[t * n_low + k]] += quadratic[t] * power[k]
        for k in range(n_low):
            power[k] = product[k]
    total = s0 = s1 = s2 = 0.0
    for k in range(n_low):
        total += power[k] * mu[k]
        s0 += power[k] * mu[raised[k * d]]
        if d > 1:
            s1 += power[k] * mu[raised[k * d + 1]]
        if d > 2:
            s2 += power[k] * mu[raised[k * d + 2]]
    return total, v0 * total + s * s0, v1 * total + s * s1, v2 * total + s * s2


@helper
def _to_center(basis, tree, node, q):  # type: ignore[no-untyped-def]
    """Return the vector from q to the centre of a node."""
    d, boxes = len(basis.dims), tree.boxes
    v1 = boxes[node, 1] - q[1] if d > 1 else 0.0
    v2 = boxes[node, 2] - q[2] if d > 2 else 0.0
    return boxes[node, 0] - q[0], v1, v2


@helper
def _extent(offset, width):  # type: ignore[no-untyped-def]
    """Return the squared smallest and largest distance from 0 to an interval, given its centre and half its width."""
    a = abs(offset)
    low, high = max(a - width, 0.0), a + width
    return low * low, high * high


@helper(**FAST_MATH)
def _cell_distances(basis, half, v, near, far):  # type: ignore[no-untyped-def]
    """Write the squared smallest and largest distance to each cell of a node into `near` and `far`."""
    d, fan = len(basis.dims), FAN[len(basis.dims)]
    width = half / FAN[d]
    for lane in range(fan**d):
        close, away = _extent(v[0] + half * ((2 * (lane // fan ** (d - 1)) + 1) / fan - 1.0), width)
        if d > 1:
            c, a = _extent(v[1] + half * ((2 * (lane // fan ** (d - 2) % fan) + 1) / fan - 1.0), width)
            close, away = close + c, away + a
        if d > 2:
            c, a = _extent(v[2] + half * ((2 * (lane % fan) + 1) / fan - 1.0), width)
            close, away = close + c, away + a
        near[lane], far[lane] = close, away


@helper
def _visit_nodes(basis, tree, q, h, scratch):  # type: ignore[no-untyped-def]
    """List the visited nodes, the cells inside the ball for each of them, and the cells with points that are cut."""
    d, lanes = len(basis.dims), FAN[len(basis.dims)] ** len(basis.dims)
    counts, content, queue, inside, leaves = tree.counts, tree.content, scratch.queue, scratch.inside, scratch.leaves
    outer, inner, max_half = (h + tree.slack) ** 2, max(h - tree.slack, 0.0) ** 2, min(h, tree.max_h)
    n_nodes, n_queued, n_inside, n_leaves = 0, 1, 0, 0
    queue[0] = 0
    while n_nodes < n_queued:
        node, later = queue[n_nodes], queue[min(n_nodes + NODES_AHEAD, n_queued - 1)]
        prefetch(tree.boxes, later * (d + 2))
        prefetch(counts, later * lanes)
        prefetch(content, later * lanes)
        prefetch(tree.worn, later * lanes)
        _cell_distances(basis, tree.boxes[node, d], _to_center(basis, tree, node, q), scratch.near, scratch.far)
        within = inner if tree.boxes[node, d] <= max_half else -1.0
        for lane in range(lanes):
            cell = node * lanes + lane
            reached = (counts[cell] > 0) & (scratch.near[lane] <= outer)
            whole = (scratch.far[lane] <= within) & (not tree.worn[cell])
            divided = content[cell] >= 0
            inside[n_inside], leaves[n_leaves], queue[n_queued] = cell, cell, content[cell]
            n_inside += reached & whole
            n_leaves += reached & (not whole) & (not divided)
            n_queued += reached & (not whole) & divided
        scratch.ends[n_nodes] = n_inside
        n_nodes += 1
    return n_nodes, n_leaves


@helper(**FAST_MATH)
def _sum_inside(basis, tree, q, inv, scratch, n_nodes):  # type: ignore[no-untyped-def]
    """Return the sums over the listed cells inside the ball."""
    size, moments, sums, inside = count_moments(basis), tree.moments, scratch.sums, scratch.inside
    total = s0 = s1 = s2 = 0.0
    start = 0
    for m in range(n_nodes):
        if scratch.ends[m] == start:
            continue
        for k in range(size):
            sums[k] = moments[inside[start], k]
        for j in range(start + 1, scratch.ends[m]):
            prefetch(moments, inside[min(j + AHEAD, scratch.ends[n_nodes - 1] - 1)] * size)
            for k in range(size):
                sums[k] += moments[inside[j], k]
        start = scratch.ends[m]
        node = scratch.queue[m]
        v, s = _to_center(basis, tree, node, q), tree.boxes[node, len(basis.dims)]
        if len(basis.power) <= 1:
            a, b, c, e = _low_power_sums(len(basis.dims), len(basis.power), sums, s, v, inv)
        else:
            a, b, c, e = _high_power_sums(basis, sums, s, v, inv, scratch.coefficients)
        total, s0, s1, s2 = total + a, s0 + b, s1 + c, s2 + e
    return total, s0, s1, s2


@helper
def _list_chunks(tree, scratch, n_leaves):  # type: ignore[no-untyped-def]
    """List the chunks of the listed cells, then empty chunks; return the numbers of chunks and of points."""
    leaves, listed, n_listed, n_points = scratch.leaves, scratch.listed, 0, 0
    for j in range(n_leaves):
        prefetch(tree.next_chunk, -2 - tree.content[leaves[min(j + AHEAD, n_leaves - 1)]])
        count, chunk = tree.counts[leaves[j]], -2 - tree.content[leaves[j]]
        n_points += count
        for _ in range(-(-count // CHUNK)):
            listed[n_listed] = chunk
            n_listed += 1
            chunk = tree.next_chunk[chunk]
    for j in range(n_listed, n_listed + CHUNKS_AT_ONCE):
        listed[j] = len(tree.chunks) - 1
    return n_listed, n_points


@helper(**FAST_MATH)
def _weigh_slot(basis, chunk, j, q, inv):  # type: ignore[no-untyped-def]
    """Return the weight of a point in a chunk, and its weighted difference from q."""
    d = len(basis.dims)
    x0 = chunk[0, j] - q[0]
    x1 = chunk[1, j] - q[1] if d > 1 else 0.0
    x2 = chunk[2, j] - q[2] if d > 2 else 0.0
    g = weigh(len(basis.power), (x0 * x0 + x1 * x1 + x2 * x2) * inv) * chunk[d, j]
    return g, g * x0, g * x1, g * x2


@helper(**FAST_MATH)
def _sum_chunks(basis, chunks, listed, n_listed, q, inv):  # type: ignore[no-untyped-def]
    """Return the sums over the points of the listed chunks, for four chunks at once."""
    d, total, s0, s1, s2 = len(basis.dims), 0.0, 0.0, 0.0, 0.0
    for k in range(0, n_listed, CHUNKS_AT_ONCE):
        for i in range(CHUNKS_AT_ONCE):
            later = listed[min(k + AHEAD, n_listed - 1) + i] * ((d + 1) * CHUNK)
            for j in range(0, (d + 1) * CHUNK, LINE):
                prefetch(chunks, later + j)
        c0, c1, c2, c3 = chunks[listed[k]], chunks[listed[k + 1]], chunks[listed[k + 2]], chunks[listed[k + 3]]
        for j in range(CHUNK):
            e0, e1 = _weigh_slot(basis, c0, j, q, inv), _weigh_slot(basis, c1, j, q, inv)
            e2, e3 = _weigh_slot(basis, c2, j, q, inv), _weigh_slot(basis, c3, j, q, inv)
            total += e0[0] + e1[0] + e2[0] + e3[0]
            s0 += e0[1] + e1[1] + e2[1] + e3[1]
            s1 += e0[2] + e1[2] + e2[2] + e3[2]
            s2 += e0[3] + e1[3] + e2[3] + e3[3]
    return total, s0, s1, s2


@helper
def _shift(basis, tree, q, h, scratch):  # type: ignore[no-untyped-def]
    """Return the mean shift of q, and the number of nodes and points visited."""
    inv = 1.0 / (h * h)
    n_nodes, n_leaves = _visit_nodes(basis, tree, q, h, scratch)
    total, s0, s1, s2 = _sum_inside(basis, tree, q, inv, scratch, n_nodes)
    n_listed, n_points = _list_chunks(tree, scratch, n_leaves)
    a, b, c, e = _sum_chunks(basis, tree.chunks, scratch.listed, n_listed, q, inv)
    total, s0, s1, s2 = total + a, s0 + b, s1 + c, s2 + e
    scale = 1.0 / total if total > 0.0 else 0.0  # a query without points within h stays
    return (s0 * scale, s1 * scale, s2 * scale), n_nodes + n_points


@helper
def _apply_shift(q, shift, spherical):  # type: ignore[no-untyped-def]
    """Return the new position of q; the compiled version of `workspace.apply_shift`."""
    x0, x1, x2 = q[0] + shift[0], q[1] + shift[1], q[2] + shift[2]
    if spherical:
        length = np.sqrt(x0 * x0 + x1 * x1 + x2 * x2)
        if length <= SHORTEST:
            return q
        return x0 / length, x1 / length, x2 / length
    return x0, x1, x2


@helper
def _prefetch_update(basis, tree, indices, k):  # type: ignore[no-untyped-def]
    """Prefetch what moves of later points read: first where a point is stored, later what is stored there."""
    d, last = len(basis.dims), len(indices) - 1
    i = indices[min(k + 2 * AHEAD, last)]
    prefetch(tree.points, i * d)
    prefetch(tree.weights, i)
    prefetch(tree.cell_of, i)
    prefetch(tree.slot_of, i)
    i = indices[min(k + AHEAD, last)]
    prefetch(tree.moments, tree.cell_of[i] * count_moments(basis))
    for c in range(d):
        prefetch(tree.chunks, (tree.slot_of[i] // CHUNK * (d + 1) + c) * CHUNK + tree.slot_of[i] % CHUNK)


@compiled
def shift_each(basis, tree, updates, spherical, scratch):  # type: ignore[no-untyped-def]
    """Apply updates in order; return the number of nodes and points visited."""
    points, evaluations = tree.points, 0
    for k in range(len(updates.indices)):
        _prefetch_update(basis, tree, updates.indices, k)
        i = updates.indices[k]
        q = position(basis, points, i)
        shift, visited = _shift(basis, tree, q, updates.bandwidths[k], scratch)
        evaluations += visited
        new = _apply_shift(q, shift, spherical)
        for c in range(len(basis.dims)):
            points[i, c] = new[c]
        new = position(basis, points, i)  # in the precision of the points
        square = (new[0] - q[0]) ** 2 + (new[1] - q[1]) ** 2 + (new[2] - q[2]) ** 2
        updates.lengths[k] = np.sqrt(square)
        if square > 0.0:
            move(basis, tree, i, q, new, scratch.sums)
    return evaluations


@compiled
def shift_queries(basis, tree, queries, spherical, scratch):  # type: ignore[no-untyped-def]
    """Apply one mean-shift step to the queries; return the number of visited nodes and points."""
    evaluations = 0
    for k in range(len(queries.points)):
        q = position(basis, queries.points, k)
        shift, visited = _shift(basis, tree, q, queries.bandwidths[k], scratch)
        evaluations += visited
        new = _apply_shift(q, shift, spherical)
        for c in range(len(basis.dims)):
            queries.moved[k, c] = new[c]
    return evaluations
