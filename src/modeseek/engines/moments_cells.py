"""The tree of `moments`: nodes cut into cells, which keep the moments of their points and follow every move.

A node is a box cut into FAN[d]^d cells. It keeps the moments sum_j w_j u^alpha of each cell about its own centre, u
being the offset in units of half its side, so that those of several cells can be added up. Points lie in chunks of 16
of each coordinate. The dimension and the power m of the kernel (1 - t)^m are lengths of tuples, `dims` and `power`: a
compiler knows those beforehand. No compiled function makes an array, so none needs to count references.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numba import njit
from numba.core.options import DefaultOptions

from modeseek.engines.brute_kernels import OPTIONS
from modeseek.engines.moments import size
from modeseek.types import Array, IntArray

__all__ = ["CHUNK", "FAN", "UNCOUNTED", "Table", "Tree", "at_", "fill", "move", "plant", "relocate", "sprout", "table"]

# points in one piece of a cell: whole vector registers, no remainder
CHUNK = 16
# slices of a node along each axis, by dimension
FAN = (0, 16, 4, 2)
# counting references to arrays, which Numba does for every call, would cost more than the sums do
UNCOUNTED = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


class Table(NamedTuple):
    """Monomials u^alpha up to degree 2 m + 1, in graded order, and how they multiply.

    Attributes
    ----------
    parent, axis : (K,) integer array
        Monomial k is monomial parent[k] times u[axis[k]].
    raised : (K2, d) integer array
        Monomial k times u_c, for all k of degree <= 2 m.
    factors : (2 d + 1, K2) integer array
        Monomial k times term t of the quadratic (1, u_c, u_c^2); -1 where the degree leaves 2 m.
    """

    parent: IntArray
    axis: IntArray
    raised: IntArray
    factors: IntArray


@cache
def table(m: int, d: int) -> Table:
    """Return the monomials that (1 - t)^m needs in d dimensions."""
    top = 2 * m + 1
    exponents = sorted(
        (alpha for alpha in product(range(top + 1), repeat=d) if sum(alpha) <= top), key=lambda a: (sum(a), a)
    )
    number = {alpha: k for k, alpha in enumerate(exponents)}

    def up(alpha: tuple[int, ...], c: int, by: int) -> tuple[int, ...]:
        return tuple(e + by * (axis == c) for axis, e in enumerate(alpha))

    axis = [next((c for c in range(d) if alpha[c]), 0) for alpha in exponents]
    parent = [number[up(alpha, c, -1)] if any(alpha) else 0 for alpha, c in zip(exponents, axis, strict=True)]
    low = [alpha for alpha in exponents if sum(alpha) <= 2 * m]
    raised = [[number[up(alpha, c, 1)] for c in range(d)] for alpha in low]
    terms = [(0, 0), *((c, 1) for c in range(d)), *((c, 2) for c in range(d))]
    factors = [[number[up(alpha, *t)] if sum(alpha) + t[1] <= 2 * m else -1 for alpha in low] for t in terms]
    return Table(*(np.array(column, dtype=np.int64).ravel() for column in (parent, axis, raised, factors)))


class Tree(NamedTuple):
    """Nodes, each a box cut into L cells; a cell leads to a node or holds points. All arrays are flat.

    Attributes
    ----------
    boxes : (N, d + 2) array
        Centre of a node, half its side and one over that.
    above : (N,) integer array
        The cell that a node fills, as node * L + cell; -1 for the root.
    counts, link : (N L,) integer array
        Points in a cell. What is in it: node `link` if >= 0, else chunk -2 - link and those behind it, -1 for nothing.
    moments, fullest : (N L, K), (N L,) array
        The sums of w_j u^alpha over a cell's points; the largest weight that the cell has had. Kept where a node is no
        larger than the largest bandwidth.
    chunks : (M, d + 1, CHUNK) array
        Coordinates and weights (0 where there is room) of the points of a chunk.
    ids : (M CHUNK,) integer array
        The points of a chunk.
    used, behind : (M,) integer array
        Points in a chunk; the next chunk, of its cell or of the free ones. Only the first of a cell has room.
    free : (1,) integer array
        First free chunk.
    cell, spot : (n,) integer array
        Where a point is: node * L + cell, chunk * CHUNK + place.
    """

    boxes: Array
    above: IntArray
    counts: IntArray
    link: IntArray
    moments: Array
    fullest: Array
    chunks: Array
    ids: IntArray
    used: IntArray
    behind: IntArray
    free: IntArray
    cell: IntArray
    spot: IntArray


def sprout(dims: tuple[int, ...], power: tuple[int, ...], n: int, limit: int, root: Array) -> Tree:
    """Return a tree with room for so many nodes, of which the root is there; it has no chunks yet."""
    d, lanes = len(dims), FAN[len(dims)] ** len(dims)
    boxes = np.empty((limit, d + 2))
    boxes[0] = [*root, 1.0 / root[d]]
    return Tree(
        boxes=boxes,
        above=np.full(limit, -1),
        counts=np.zeros(limit * lanes, dtype=np.int32),
        link=np.full(limit * lanes, -1, dtype=np.int32),
        moments=np.zeros((limit * lanes, size(dims, power))),
        fullest=np.zeros(limit * lanes),
        cell=np.empty(n, dtype=np.int64),
        **_chunks(d, 0, n),
    )


def with_chunks(dims: tuple[int, ...], tree: Tree, n_nodes: int) -> Tree:
    """Return the tree with as many chunks as its points can ever need."""
    d, n = len(dims), len(tree.cell)
    # a cell has at most one chunk with room
    return tree._replace(**_chunks(d, n // CHUNK + min(n, n_nodes * FAN[d] ** d) + 1, n))


def _chunks(d: int, count: int, n: int) -> dict[str, Array]:
    return {
        "chunks": np.zeros((count, d + 1, CHUNK)),  # zeros: a weight of 0 does not undo a NaN
        "ids": np.empty(count * CHUNK, dtype=np.int32),
        "used": np.zeros(count, dtype=np.int32),
        "behind": np.arange(1, count + 1),
        "free": np.zeros(1, dtype=np.int64),
        "spot": np.empty(n, dtype=np.int64),
    }


_size = njit(**UNCOUNTED)(size)


@njit(**UNCOUNTED)
def at_(dims, points, i):  # type: ignore[no-untyped-def]
    """Return the place of a point, in three numbers whatever the dimension."""
    x0 = np.float64(points[i, 0])
    x1 = np.float64(points[i, 1]) if len(dims) > 1 else 0.0
    x2 = np.float64(points[i, 2]) if len(dims) > 2 else 0.0
    return x0, x1, x2


@njit(**UNCOUNTED)
def _slice(fan, u):  # type: ignore[no-untyped-def]
    """Return which of the slices of [-1, 1] holds u."""
    return min(max(int((u + 1.0) * (0.5 * fan)), 0), fan - 1)


@njit(**UNCOUNTED)
def _lane(dims, boxes, node, x0, x1, x2):  # type: ignore[no-untyped-def]
    """Return which cell of a node holds x."""
    d = len(dims)
    fan, scale = FAN[d], boxes[node, d + 1]
    lane = _slice(fan, (x0 - boxes[node, 0]) * scale)
    if d > 1:
        lane = lane * fan + _slice(fan, (x1 - boxes[node, 1]) * scale)
    if d > 2:
        lane = lane * fan + _slice(fan, (x2 - boxes[node, 2]) * scale)
    return lane


@njit(**UNCOUNTED)
def _add(dims, power, terms, boxes, node, x0, x1, x2, w, moments, at, mono):  # type: ignore[no-untyped-def]
    """Add a point to the moments of a cell of a node.

    Up to the biweight the few that matter are written out: w, w u, w u_a u_b, w |u|^2 u.
    """
    d = len(dims)
    scale = boxes[node, d + 1]
    u0 = (x0 - boxes[node, 0]) * scale
    u1 = (x1 - boxes[node, 1]) * scale if d > 1 else 0.0
    u2 = (x2 - boxes[node, 2]) * scale if d > 2 else 0.0
    moments[at, 0] += w
    if len(power) <= 1:
        a, b, c = w * u0, w * u1, w * u2
        moments[at, 1] += a
        if d > 1:
            moments[at, 2] += b
        if d > 2:
            moments[at, 3] += c
        if len(power) == 1:
            square, k = u0 * u0 + u1 * u1 + u2 * u2, 1 + d
            moments[at, k] += a * u0
            moments[at, k + 1] += a * square
            if d > 1:
                moments[at, k + 2] += a * u1
                moments[at, k + 3] += b * u1
                moments[at, k + 4] += b * square
            if d > 2:
                moments[at, k + 5] += a * u2
                moments[at, k + 6] += b * u2
                moments[at, k + 7] += c * u2
                moments[at, k + 8] += c * square
    else:
        mono[0] = w
        for k in range(1, _size(dims, power)):
            axis = terms.axis[k]
            mono[k] = mono[terms.parent[k]] * (u0 if axis == 0 else (u1 if axis == 1 else u2))
            moments[at, k] += mono[k]


@njit(**UNCOUNTED)
def _put(dims, tree, cell, i, x0, x1, x2, w):  # type: ignore[no-untyped-def]
    """Store a point in a cell without nodes below."""
    d, link, chunks, used = len(dims), tree.link, tree.chunks, tree.used
    here = -2 - link[cell]
    if here < 0 or used[here] == CHUNK:
        fresh = tree.free[0]
        tree.free[0] = tree.behind[fresh]
        tree.behind[fresh] = here
        used[fresh] = 0
        for j in range(CHUNK):
            chunks[fresh, d, j] = 0.0
        link[cell] = -2 - fresh
        here = fresh
    place = used[here]
    chunks[here, 0, place] = x0
    if d > 1:
        chunks[here, 1, place] = x1
    if d > 2:
        chunks[here, 2, place] = x2
    chunks[here, d, place] = w
    used[here] = place + 1
    tree.ids[here * CHUNK + place] = i
    tree.cell[i], tree.spot[i] = cell, here * CHUNK + place


@njit(**UNCOUNTED)
def _drop(dims, tree, i):  # type: ignore[no-untyped-def]
    """Take a point out of its cell: the last of the cell's first chunk takes its place."""
    d, link, chunks, used = len(dims), tree.link, tree.chunks, tree.used
    spot, cell = tree.spot[i], tree.cell[i]
    first = -2 - link[cell]
    last = used[first] - 1
    other = tree.ids[first * CHUNK + last]
    for c in range(d + 1):
        chunks[spot // CHUNK, c, spot % CHUNK] = chunks[first, c, last]
    chunks[first, d, last] = 0.0
    tree.ids[spot] = other
    tree.spot[other] = spot
    used[first] = last
    if last == 0:
        link[cell] = -2 - tree.behind[first]
        tree.behind[first] = tree.free[0]
        tree.free[0] = first


@njit(**UNCOUNTED)
def _cell_in(dims, boxes, node, x):  # type: ignore[no-untyped-def]
    """Return the cell of a node that holds x; -1 if the box does not."""
    d, scale = len(dims), boxes[node, len(dims) + 1]
    for c in range(d):
        if not abs(x[c] - boxes[node, c]) * scale < 1.0 - 1e-9:
            return -1
    return node * FAN[d] ** d + _lane(dims, boxes, node, x[0], x[1], x[2])


@njit(**UNCOUNTED)
def move(dims, power, terms, tree, top, i, old, new, w, mono):  # type: ignore[no-untyped-def]
    """Move a point, with the moments of all cells above both places."""
    d, lanes = len(dims), FAN[len(dims)] ** len(dims)
    boxes, counts, link, moments, fullest = tree.boxes, tree.counts, tree.link, tree.moments, tree.fullest
    at = tree.cell[i]
    if at == _cell_in(dims, boxes, at // lanes, new):
        # most moves end where they began: no way down, no other chunk
        spot = tree.spot[i]
        for c in range(d):
            tree.chunks[spot // CHUNK, c, spot % CHUNK] = new[c]
        while at >= 0 and boxes[at // lanes, d] <= top:
            node = at // lanes
            _add(dims, power, terms, boxes, node, old[0], old[1], old[2], -w, moments, at, mono)
            _add(dims, power, terms, boxes, node, new[0], new[1], new[2], w, moments, at, mono)
            at = tree.above[node]
        return
    while at >= 0:
        node = at // lanes
        counts[at] -= 1
        if boxes[node, d] <= top:
            if counts[at] > 0:
                _add(dims, power, terms, boxes, node, old[0], old[1], old[2], -w, moments, at, mono)
            else:
                for k in range(_size(dims, power)):
                    moments[at, k] = 0.0
                fullest[at] = 0.0
        at = tree.above[node]
    node = 0
    while True:
        at = node * lanes + _lane(dims, boxes, node, new[0], new[1], new[2])
        counts[at] += 1
        if boxes[node, d] <= top:
            _add(dims, power, terms, boxes, node, new[0], new[1], new[2], w, moments, at, mono)
            fullest[at] = max(fullest[at], moments[at, 0])
        if link[at] < 0:
            break
        node = link[at]
    _drop(dims, tree, i)
    _put(dims, tree, at, i, new[0], new[1], new[2], w)


@njit(cache=True, **UNCOUNTED, **OPTIONS)
def plant(dims, power, terms, tree, points, w, bounds, scratch):  # type: ignore[no-untyped-def]
    """Cut the root's box into nodes, sum their moments; return how many nodes there are.

    `bounds` are the most points in a cell, the half-side below which no cell is cut, and the largest bandwidth. -1
    comes back where the tree has no room for all nodes. `scratch` is the order of the points, by cells at the end, and
    room.
    """
    d, fan, lanes = len(dims), FAN[len(dims)], FAN[len(dims)] ** len(dims)
    boxes, above, counts, link, moments = tree.boxes, tree.above, tree.counts, tree.link, tree.moments
    order, spare, which, first, last, ends, mono = scratch
    crowd, smallest, top = bounds
    first[0], last[0] = 0, len(points)
    n_nodes, node = 1, 0
    while node < n_nodes:
        a, b, half = first[node], last[node], boxes[node, d]
        for k in range(a, b):
            i = order[k]
            x0, x1, x2 = at_(dims, points, i)
            at = node * lanes + _lane(dims, boxes, node, x0, x1, x2)
            which[k] = at
            tree.cell[i] = at
            counts[at] += 1
            if half <= top:
                _add(dims, power, terms, boxes, node, x0, x1, x2, w[i], moments, at, mono)
        ends[0] = a
        for lane in range(lanes):
            at = node * lanes + lane
            tree.fullest[at] = moments[at, 0]
            ends[lane + 1] = ends[lane] + counts[at]
            if counts[at] > crowd and half / fan > smallest:
                if n_nodes == len(above):
                    return -1
                rest = lane
                for c in range(d - 1, -1, -1):
                    boxes[n_nodes, c] = boxes[node, c] + half * ((2 * (rest % fan) + 1) / fan - 1.0)
                    rest //= fan
                boxes[n_nodes, d] = half / fan
                boxes[n_nodes, d + 1] = fan / half
                above[n_nodes] = at
                first[n_nodes], last[n_nodes] = ends[lane], ends[lane + 1]
                link[at] = n_nodes
                n_nodes += 1
        for k in range(a, b):
            lane = which[k] - node * lanes
            spare[ends[lane]] = order[k]
            ends[lane] += 1
        for k in range(a, b):
            order[k] = spare[k]
        node += 1
    return n_nodes


@njit(cache=True, **UNCOUNTED, **OPTIONS)
def fill(dims, tree, points, w, order):  # type: ignore[no-untyped-def]
    """Put the points into chunks, those of a cell side by side."""
    for k in range(len(order)):
        i = order[k]
        x0, x1, x2 = at_(dims, points, i)
        _put(dims, tree, tree.cell[i], i, x0, x1, x2, w[i])


@njit(cache=True, **UNCOUNTED, **OPTIONS)
def relocate(dims, power, terms, tree, points, w, members, values, top, mono):  # type: ignore[no-untyped-def]
    """Put some points elsewhere, within the root's box."""
    for k in range(len(members)):
        i = members[k]
        old = at_(dims, points, i)
        for c in range(len(dims)):
            points[i, c] = values[k, c]
        move(dims, power, terms, tree, top, i, old, at_(dims, points, i), w[i], mono)
