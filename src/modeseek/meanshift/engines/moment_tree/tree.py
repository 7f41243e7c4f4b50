"""The tree of `moments` as arrays: nodes cut into cells, which keep the moments of their points.

A node is a box cut into FAN[d]^d cells. It keeps the moments sum_j w_j u^alpha of each cell about its own centre, u
being the offset in units of half its side, so that those of several cells can be added up. Points lie in chunks of 16
of each coordinate. The dimension and the power m of the kernel (1 - t)^m are lengths of tuples, `dims` and `power`: a
compiler knows those beforehand.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray

__all__ = ["CHUNK", "FAN", "Table", "Tree", "rooms", "scratch_of", "size", "sprout", "table", "with_chunks"]

# points in one piece of a cell: whole vector registers, no remainder
CHUNK = 16
# slices of a node along each axis, by dimension
FAN = (0, 16, 4, 2)


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


def size(dims: tuple[int, ...], power: tuple[int, ...]) -> int:
    """Return how many moments a cell has, given tuples as long as the dimension and the power m of (1 - t)^m.

    Up to the biweight only those that matter are kept: w, w u, w u_a u_b, w |u|^2 u. Beyond, all up to degree 2 m + 1.
    """
    d, degree = len(dims), 2 * len(power) + 1
    if len(power) == 0:
        return 1 + d
    if len(power) == 1:
        return 1 + 2 * d + d * (d + 1) // 2
    if d == 1:
        return degree + 1
    if d == 2:
        return (degree + 1) * (degree + 2) // 2
    return (degree + 1) * (degree + 2) * (degree + 3) // 6


def scratch_of(order: IntArray, tree: Tree) -> tuple[Array | IntArray, ...]:
    """Return what `plant` needs beside the tree: the order of points, and room."""
    limit = len(tree.above)
    sizes = len(order), len(order), limit, limit, len(tree.counts) // limit + 1
    return order, *(np.empty(size, dtype=np.int64) for size in sizes), np.empty_like(tree.moments[0])


def rooms(dims: tuple[int, ...], power: tuple[int, ...]) -> tuple[Array | IntArray, ...]:
    """Return scratch for queries, one at a time."""
    lanes, d = FAN[len(dims)] ** len(dims), len(dims)
    n_low = max(len(table(len(power), d).raised) // d, 2 * d + 1)
    inside, near, far, room = np.empty(size(dims, power)), np.empty(lanes), np.empty(lanes), np.empty((3, n_low))
    # a node leaves at most all its cells to wait, and 1100 halvings lead from the largest number to the smallest
    stack = np.empty(lanes * 1100, dtype=np.int64)
    cut, whole = np.empty(lanes + 1, dtype=np.int64), np.empty(lanes + 1, dtype=np.int64)
    return inside, near, far, room, stack, cut, whole
