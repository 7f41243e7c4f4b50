"""The arrays of the moment tree.

A node is a box divided into FAN[d]^d cells. A cell either contains another node or holds points. For each cell, the
node keeps the moments sum_j w_j u^alpha of the points x_j in the cell, where u is the offset of x_j from the centre of
the node in units of half its side. All moments of a node have one centre, so that those of several cells can be added.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray

# Number of points in a chunk, the unit in which a cell stores points. A chunk fills whole vector registers.
CHUNK = 16
# Number of chunks whose points are weighted in one loop.
CHUNKS_AT_ONCE = 4
# Number of 64-bit values in a cache line.
LINE = 8
# Number of slices of a node along each axis, by dimension.
FAN = (0, 16, 4, 2)


class Monomials(NamedTuple):
    """Monomials u^alpha up to degree 2 m + 1 in graded order, and their products; all arrays are flattened.

    Attributes
    ----------
    parent, axis : (K,) integer array
        Monomial k is monomial `parent[k]` times `u[axis[k]]`.
    raised : (K2, d) integer array
        Index of the product of monomial k and u_c, for all k of degree <= 2 m.
    factors : (2 d + 1, K2) integer array
        Index of the product of monomial k and term t of the quadratic (1, u_c, u_c^2); -1 if its degree exceeds 2 m.
    """

    parent: IntArray
    axis: IntArray
    raised: IntArray
    factors: IntArray


class Basis(NamedTuple):
    """The dimension d, the power m of the weight (1 - t)^m, and the monomials.

    Attributes
    ----------
    dims, power : tuple
        Tuples of length d and m. The length of a tuple is known to the compiler, an integer is not.
    monomials : Monomials
    """

    dims: tuple[int, ...]
    power: tuple[int, ...]
    monomials: Monomials


@cache
def make_basis(d: int, m: int) -> Basis:
    """Return the basis for weights (1 - t)^m in d dimensions."""
    top = 2 * m + 1
    exponents = sorted(
        (alpha for alpha in product(range(top + 1), repeat=d) if sum(alpha) <= top), key=lambda a: (sum(a), a)
    )
    number = {alpha: k for k, alpha in enumerate(exponents)}

    def times(alpha: tuple[int, ...], c: int, power: int) -> tuple[int, ...]:
        return tuple(e + power * (axis == c) for axis, e in enumerate(alpha))

    axis = [next((c for c in range(d) if alpha[c]), 0) for alpha in exponents]
    parent = [number[times(alpha, c, -1)] if any(alpha) else 0 for alpha, c in zip(exponents, axis, strict=True)]
    low = [alpha for alpha in exponents if sum(alpha) <= 2 * m]
    raised = [[number[times(alpha, c, 1)] for c in range(d)] for alpha in low]
    terms = [(0, 0), *((c, 1) for c in range(d)), *((c, 2) for c in range(d))]
    factors = [[number[times(alpha, *t)] if sum(alpha) + t[1] <= 2 * m else -1 for alpha in low] for t in terms]
    columns = (np.array(column, dtype=np.int64).ravel() for column in (parent, axis, raised, factors))
    return Basis((0,) * d, (0,) * m, Monomials(*columns))


def n_moments(basis: Basis) -> int:
    """Return the number of moments of a cell. This function is compiled too.

    For flat (m = 0) and biweight (m = 1) profiles, only the moments in use are kept: w, w u, and for m = 1 also
    w u_a u_b and w |u|^2 u. For larger m, all moments up to degree 2 m + 1 are kept.
    """
    d, degree = len(basis.dims), 2 * len(basis.power) + 1
    if len(basis.power) == 0:
        return 1 + d
    if len(basis.power) == 1:
        return 1 + 2 * d + d * (d + 1) // 2
    if d == 1:
        return degree + 1
    if d == 2:
        return (degree + 1) * (degree + 2) // 2
    return (degree + 1) * (degree + 2) * (degree + 3) // 6


class Tree(NamedTuple):
    """N nodes of L cells each. Cell c of node k has the number k * L + c.

    Attributes
    ----------
    points, weights : (n, d) and (n,) arrays
    slack : float
        Bound on the rounding error of a distance. Cells this close to the sphere of radius h are opened.
    max_h : float
        The largest bandwidth. Nodes with a larger half-side have no moments.
    boxes : (N, d + 2) array
        Centre of a node, half its side, and the inverse of half its side.
    parent_cell : (N,) integer array
        The cell that a node fills; -1 for the root.
    counts : (N L,) integer array
        Number of points in each cell.
    content : (N L,) integer array
        What a cell contains: a node with this number if >= 0, nothing if -1, otherwise the points of the chunk with
        number -2 - content and of the chunks linked to it.
    moments, max_weight : (N L, K) and (N L,) arrays
        Moments of each cell, and the largest weight that the cell has had.
    worn : (N L,) boolean array
        Whether a cell has lost most of its weight: what is left of its moments may be rounding error.
    chunks : (M, d + 1, CHUNK) array
        Coordinates and weights of the points of a chunk; weight 0 marks an unused slot. The last chunk is empty.
    chunk_points : (M CHUNK,) integer array
        The point in each slot.
    chunk_sizes, next_chunk : (M,) integer array
        Number of points in a chunk; the next chunk of the same cell, or the next free chunk. Only the first chunk of a
        cell has unused slots.
    free_chunk : (1,) integer array
        The first free chunk.
    cell_of, slot_of : (n,) integer array
        The cell and the slot (chunk * CHUNK + position) of each point.
    """

    points: Array
    weights: Array
    slack: float
    max_h: float
    boxes: Array
    parent_cell: IntArray
    counts: IntArray
    content: IntArray
    moments: Array
    max_weight: Array
    worn: Array
    chunks: Array
    chunk_points: IntArray
    chunk_sizes: IntArray
    next_chunk: IntArray
    free_chunk: IntArray
    cell_of: IntArray
    slot_of: IntArray


def empty_tree(
    basis: Basis, points: Array, weights: Array, bounds: tuple[float, float], root: Array, max_nodes: int
) -> Tree:
    """Return a tree that has only the root and no chunks.

    Parameters
    ----------
    basis : Basis
    points, weights : (n, d) and (n,) arrays
    bounds : tuple of float
        The fields `slack` and `max_h`.
    root : (d + 1,) array
        Centre and half-side of the root.
    max_nodes : int
    """
    d, n_cells = len(basis.dims), max_nodes * FAN[len(basis.dims)] ** len(basis.dims)
    boxes = np.empty((max_nodes, d + 2))
    boxes[0] = [*root, 1.0 / root[d]]
    return Tree(
        points,
        weights,
        *bounds,
        boxes=boxes,
        parent_cell=np.full(max_nodes, -1),
        counts=np.zeros(n_cells, dtype=np.int32),
        content=np.full(n_cells, -1, dtype=np.int32),
        moments=_aligned(n_cells, n_moments(basis)),
        max_weight=np.zeros(n_cells),
        worn=np.zeros(n_cells, dtype=np.bool_),
        cell_of=np.empty(len(points), dtype=np.int64),
        **_chunks(d, 0, len(points)),
    )


def with_chunks(tree: Tree, n_nodes: int) -> Tree:
    """Return the tree after as many chunks are allocated as its points can ever need."""
    n, d = tree.points.shape
    # each cell has at most one chunk with unused slots; the last chunk is always empty
    return tree._replace(**_chunks(d, n // CHUNK + min(n, n_nodes * FAN[d] ** d) + 2, n))


def _aligned(*shape: int) -> Array:
    """Return zeros that start at the start of a cache line, so that a row of eight values is a single line."""
    size = int(np.prod(shape))
    values = np.zeros(size + LINE)
    start = -(values.ctypes.data // values.itemsize) % LINE
    return values[start : start + size].reshape(shape)


def _chunks(d: int, count: int, n: int) -> dict[str, Any]:
    return {
        "chunks": _aligned(count, d + 1, CHUNK),  # zeros, because 0 * NaN is NaN
        "chunk_points": np.empty(count * CHUNK, dtype=np.int32),
        "chunk_sizes": np.zeros(count, dtype=np.int32),
        "next_chunk": np.arange(1, count + 1),
        "free_chunk": np.zeros(1, dtype=np.int64),
        "slot_of": np.empty(n, dtype=np.int64),
    }


def build_scratch(tree: Tree) -> tuple[Array, ...]:
    """Return scratch arrays for `updates.divide`."""
    (n, d), max_nodes = tree.points.shape, len(tree.parent_cell)
    sizes = n, n, max_nodes, max_nodes, FAN[d] ** d + 1
    return *(np.empty(size, dtype=np.int64) for size in sizes), np.empty_like(tree.moments[0])


class QueryScratch(NamedTuple):
    """Scratch arrays for the sums of one query.

    Attributes
    ----------
    sums : (K,) array
        Sums of moments.
    near, far : (L,) arrays
        Squared smallest and largest distance to each cell of a node.
    coefficients : (3, K2) array
        The quadratic, its current power, and the next power.
    queue, ends : integer arrays
        The visited nodes, and the number of cells in `inside` up to and including each of these nodes.
    inside, leaves : integer arrays
        Cells inside the sphere, and undivided cells that the sphere cuts.
    listed : integer array
        The chunks of the cells in `leaves`.
    """

    sums: Array
    near: Array
    far: Array
    coefficients: Array
    queue: IntArray
    ends: IntArray
    inside: IntArray
    leaves: IntArray
    listed: IntArray

    @classmethod
    def make(cls, basis: Basis, tree: Tree) -> QueryScratch:
        """Allocate the arrays."""
        d, lanes = len(basis.dims), FAN[len(basis.dims)] ** len(basis.dims)
        n_low = max(len(basis.monomials.raised) // d, 2 * d + 1)
        near, far = np.empty((2, lanes))
        nodes, cells, chunks = len(tree.parent_cell), len(tree.counts), len(tree.chunks)
        # a value may be written behind the last one, and empty chunks are
        lists = (np.empty(size + CHUNKS_AT_ONCE, dtype=np.int64) for size in (nodes, nodes, cells, cells, chunks))
        return cls(np.empty(n_moments(basis)), near, far, np.empty((3, n_low)), *lists)
