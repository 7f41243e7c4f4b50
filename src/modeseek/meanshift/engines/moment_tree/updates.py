"""Compiled updates of the moment tree: building it, and moving points between cells.

No compiled function here allocates an array, so none needs to count references.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from modeseek._common.jit import NO_ENTRIES, NO_REFERENCE_COUNTS
from modeseek.meanshift.engines.moment_tree import tree as tree_module
from modeseek.meanshift.engines.moment_tree.tree import CHUNK, FAN, n_moments
from modeseek.meanshift.engines.shared_loops import cached_sum

# A cell is opened if its weight is less than this share of the largest weight that it has had.
MIN_WEIGHT_SHARE = 0.125

# Helpers are always inlined, because a call would copy all fields of the tree. They are typed as Any, because the
# private option is not in Numba's signatures.
helper: Any = partial(njit, forceinline=True, **NO_REFERENCE_COUNTS, **NO_ENTRIES)
count_moments = helper(n_moments)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that Python calls."""
    return cached_sum(function, sys.modules[__name__], tree_module, **NO_REFERENCE_COUNTS)


@helper
def position(basis, points, i):  # type: ignore[no-untyped-def]
    """Return the coordinates of a point as three numbers, zero beyond the dimension."""
    x0 = np.float64(points[i, 0])
    x1 = np.float64(points[i, 1]) if len(basis.dims) > 1 else 0.0
    x2 = np.float64(points[i, 2]) if len(basis.dims) > 2 else 0.0
    return x0, x1, x2


@helper
def _slice(fan, u):  # type: ignore[no-untyped-def]
    """Return which slice of [-1, 1] contains u."""
    return min(max(int((u + 1.0) * (0.5 * fan)), 0), fan - 1)


@helper
def _cell(basis, tree, node, x):  # type: ignore[no-untyped-def]
    """Return the cell of a node that contains x."""
    d, boxes = len(basis.dims), tree.boxes
    fan, scale = FAN[d], boxes[node, d + 1]
    lane = _slice(fan, (x[0] - boxes[node, 0]) * scale)
    if d > 1:
        lane = lane * fan + _slice(fan, (x[1] - boxes[node, 1]) * scale)
    if d > 2:
        lane = lane * fan + _slice(fan, (x[2] - boxes[node, 2]) * scale)
    return node * FAN[d] ** d + lane


@helper
def _add(basis, tree, cell, x, w, powers):  # type: ignore[no-untyped-def]
    """Add a point to the moments of a cell. For flat and biweight profiles, the few moments are written out."""
    d, m = len(basis.dims), len(basis.power)
    node, boxes, moments = cell // FAN[d] ** d, tree.boxes, tree.moments
    scale = boxes[node, d + 1]
    u0 = (x[0] - boxes[node, 0]) * scale
    u1 = (x[1] - boxes[node, 1]) * scale if d > 1 else 0.0
    u2 = (x[2] - boxes[node, 2]) * scale if d > 2 else 0.0
    moments[cell, 0] += w
    if m <= 1:
        a, b, c = w * u0, w * u1, w * u2
        moments[cell, 1] += a
        if d > 1:
            moments[cell, 2] += b
        if d > 2:
            moments[cell, 3] += c
        if m == 1:
            square, k = u0 * u0 + u1 * u1 + u2 * u2, 1 + d
            moments[cell, k] += a * u0
            moments[cell, k + 1] += a * square
            if d > 1:
                moments[cell, k + 2] += a * u1
                moments[cell, k + 3] += b * u1
                moments[cell, k + 4] += b * square
            if d > 2:
                moments[cell, k + 5] += a * u2
                moments[cell, k + 6] += b * u2
                moments[cell, k + 7] += c * u2
                moments[cell, k + 8] += c * square
    else:
        powers[0] = w
        for k in range(1, count_moments(basis)):
            axis = basis.monomials.axis[k]
            powers[k] = powers[basis.monomials.parent[k]] * (u0 if axis == 0 else (u1 if axis == 1 else u2))
            moments[cell, k] += powers[k]


@helper
def _store(basis, tree, cell, i, x):  # type: ignore[no-untyped-def]
    """Store a point in a cell that contains no node."""
    d, chunks, sizes = len(basis.dims), tree.chunks, tree.chunk_sizes
    chunk = -2 - tree.content[cell]
    if chunk < 0 or sizes[chunk] == CHUNK:
        fresh = tree.free_chunk[0]
        tree.free_chunk[0] = tree.next_chunk[fresh]
        tree.next_chunk[fresh] = chunk
        sizes[fresh] = 0
        for j in range(CHUNK):
            chunks[fresh, d, j] = 0.0
        tree.content[cell] = -2 - fresh
        chunk = fresh
    slot = sizes[chunk]
    chunks[chunk, 0, slot] = x[0]
    if d > 1:
        chunks[chunk, 1, slot] = x[1]
    if d > 2:
        chunks[chunk, 2, slot] = x[2]
    chunks[chunk, d, slot] = tree.weights[i]
    sizes[chunk] = slot + 1
    tree.chunk_points[chunk * CHUNK + slot] = i
    tree.cell_of[i], tree.slot_of[i] = cell, chunk * CHUNK + slot


@helper
def _remove(basis, tree, i):  # type: ignore[no-untyped-def]
    """Remove a point from its cell; the last point of the cell's first chunk takes its slot."""
    d, chunks, sizes = len(basis.dims), tree.chunks, tree.chunk_sizes
    slot, cell = tree.slot_of[i], tree.cell_of[i]
    first = -2 - tree.content[cell]
    last = sizes[first] - 1
    other = tree.chunk_points[first * CHUNK + last]
    for c in range(d + 1):
        chunks[slot // CHUNK, c, slot % CHUNK] = chunks[first, c, last]
    chunks[first, d, last] = 0.0
    tree.chunk_points[slot] = other
    tree.slot_of[other] = slot
    sizes[first] = last
    if last == 0:
        tree.content[cell] = -2 - tree.next_chunk[first]
        tree.next_chunk[first] = tree.free_chunk[0]
        tree.free_chunk[0] = first


@helper
def _same_cell(basis, tree, cell, x):  # type: ignore[no-untyped-def]
    """Return whether x lies in a cell, and not so near the boundary of the node that rounding could matter."""
    d, node = len(basis.dims), cell // FAN[len(basis.dims)] ** len(basis.dims)
    for c in range(d):
        if not abs(x[c] - tree.boxes[node, c]) * tree.boxes[node, d + 1] < 1.0 - 1e-9:
            return False
    return cell == _cell(basis, tree, node, x)


@helper
def _note_wear(tree, cell):  # type: ignore[no-untyped-def]
    """Record whether a cell has lost most of its weight."""
    tree.worn[cell] = tree.moments[cell, 0] < MIN_WEIGHT_SHARE * tree.max_weight[cell]


@helper
def move(basis, tree, i, old, new, powers):  # type: ignore[no-untyped-def]
    """Move a point, and update the moments of all cells that contain its old or its new position."""
    d, lanes = len(basis.dims), FAN[len(basis.dims)] ** len(basis.dims)
    boxes, counts, moments = tree.boxes, tree.counts, tree.moments
    cell, w = tree.cell_of[i], tree.weights[i]
    if _same_cell(basis, tree, cell, new):
        # most points stay in their cell when they move, and keep their slot
        slot = tree.slot_of[i]
        for c in range(d):
            tree.chunks[slot // CHUNK, c, slot % CHUNK] = new[c]
        while cell >= 0 and boxes[cell // lanes, d] <= tree.max_h:
            _add(basis, tree, cell, old, -w, powers)
            _add(basis, tree, cell, new, w, powers)
            cell = tree.parent_cell[cell // lanes]
        return
    while cell >= 0:
        counts[cell] -= 1
        if boxes[cell // lanes, d] <= tree.max_h:
            if counts[cell] > 0:
                _add(basis, tree, cell, old, -w, powers)
            else:
                for k in range(count_moments(basis)):
                    moments[cell, k] = 0.0
                tree.max_weight[cell] = 0.0
            _note_wear(tree, cell)
        cell = tree.parent_cell[cell // lanes]
    node = 0
    while True:
        cell = _cell(basis, tree, node, new)
        counts[cell] += 1
        if boxes[node, d] <= tree.max_h:
            _add(basis, tree, cell, new, w, powers)
            tree.max_weight[cell] = max(tree.max_weight[cell], moments[cell, 0])
            _note_wear(tree, cell)
        if tree.content[cell] < 0:
            break
        node = tree.content[cell]
    _remove(basis, tree, i)
    _store(basis, tree, cell, i, new)


@compiled
def divide(basis, tree, max_points, min_half, order, scratch):  # type: ignore[no-untyped-def]
    """Divide the root into nodes and sum their moments; return the number of nodes.

    Cells with more than `max_points` points are divided, unless their half-side is at most `min_half`. Return -1 if the
    tree has no room for all nodes. `order` lists the points, and is sorted by cell in place. `scratch` comes from
    `build_scratch`.
    """
    d, fan, lanes = len(basis.dims), FAN[len(basis.dims)], FAN[len(basis.dims)] ** len(basis.dims)
    boxes, counts, moments = tree.boxes, tree.counts, tree.moments
    spare, cells, first, last, ends, powers = scratch
    first[0], last[0] = 0, len(tree.points)
    n_nodes, node = 1, 0
    while node < n_nodes:
        a, b, half = first[node], last[node], boxes[node, d]
        for k in range(a, b):
            i = order[k]
            x = position(basis, tree.points, i)
            cell = _cell(basis, tree, node, x)
            cells[k] = cell
            tree.cell_of[i] = cell
            counts[cell] += 1
            if half <= tree.max_h:
                _add(basis, tree, cell, x, tree.weights[i], powers)
        ends[0] = a
        for lane in range(lanes):
            cell = node * lanes + lane
            tree.max_weight[cell] = moments[cell, 0]
            ends[lane + 1] = ends[lane] + counts[cell]
            if counts[cell] > max_points and half / fan > min_half:
                if n_nodes == len(tree.parent_cell):
                    return -1
                rest = lane
                for c in range(d - 1, -1, -1):
                    boxes[n_nodes, c] = boxes[node, c] + half * ((2 * (rest % fan) + 1) / fan - 1.0)
                    rest //= fan
                boxes[n_nodes, d] = half / fan
                boxes[n_nodes, d + 1] = fan / half
                tree.parent_cell[n_nodes] = cell
                first[n_nodes], last[n_nodes] = ends[lane], ends[lane + 1]
                tree.content[cell] = n_nodes
                n_nodes += 1
        for k in range(a, b):
            lane = cells[k] - node * lanes
            spare[ends[lane]] = order[k]
            ends[lane] += 1
        for k in range(a, b):
            order[k] = spare[k]
        node += 1
    return n_nodes


@compiled
def fill_chunks(basis, tree, order):  # type: ignore[no-untyped-def]
    """Store the points in chunks, in the given order."""
    for k in range(len(order)):
        i = order[k]
        _store(basis, tree, tree.cell_of[i], i, position(basis, tree.points, i))


@compiled
def place(basis, tree, members, values, powers):  # type: ignore[no-untyped-def]
    """Set the positions of the points with indices `members`; new positions must be inside the root."""
    for k in range(len(members)):
        i = members[k]
        old = position(basis, tree.points, i)
        for c in range(len(basis.dims)):
            tree.points[i, c] = values[k, c]
        move(basis, tree, i, old, position(basis, tree.points, i), powers)
