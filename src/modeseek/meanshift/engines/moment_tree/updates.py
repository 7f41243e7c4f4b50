"""Compiled bookkeeping of the tree of `moments`: points move between cells, moments follow.

No compiled function makes an array, so none needs to count references.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from modeseek._common.jit import NO_REFERENCE_COUNTS
from modeseek.meanshift.engines.moment_tree.tree import CHUNK, FAN, size
from modeseek.meanshift.engines.shared_kernels import cached_sum

__all__ = ["at_", "fill", "helper", "kernel", "move", "plant", "relocate"]

# the compiler's stubs know no such option
helper: Any = partial(njit, **NO_REFERENCE_COUNTS)
_size = helper(size)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile what Python calls; a change of this file or of the workspace's makes it anew."""
    return cached_sum(function, sys.modules[__name__], sys.modules[size.__module__], **NO_REFERENCE_COUNTS)


@helper
def at_(dims, points, i):  # type: ignore[no-untyped-def]
    """Return the place of a point, in three numbers whatever the dimension."""
    x0 = np.float64(points[i, 0])
    x1 = np.float64(points[i, 1]) if len(dims) > 1 else 0.0
    x2 = np.float64(points[i, 2]) if len(dims) > 2 else 0.0
    return x0, x1, x2


@helper
def _slice(fan, u):  # type: ignore[no-untyped-def]
    """Return which of the slices of [-1, 1] holds u."""
    return min(max(int((u + 1.0) * (0.5 * fan)), 0), fan - 1)


@helper
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


@helper
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


@helper
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


@helper
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


@helper
def _cell_in(dims, boxes, node, x):  # type: ignore[no-untyped-def]
    """Return the cell of a node that holds x; -1 if the box does not."""
    d, scale = len(dims), boxes[node, len(dims) + 1]
    for c in range(d):
        if not abs(x[c] - boxes[node, c]) * scale < 1.0 - 1e-9:
            return -1
    return node * FAN[d] ** d + _lane(dims, boxes, node, x[0], x[1], x[2])


@helper
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


@kernel
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


@kernel
def fill(dims, tree, points, w, order):  # type: ignore[no-untyped-def]
    """Put the points into chunks, those of a cell side by side."""
    for k in range(len(order)):
        i = order[k]
        x0, x1, x2 = at_(dims, points, i)
        _put(dims, tree, tree.cell[i], i, x0, x1, x2, w[i])


@kernel
def relocate(dims, power, terms, tree, points, w, members, values, top, mono):  # type: ignore[no-untyped-def]
    """Put some points elsewhere, within the root's box."""
    for k in range(len(members)):
        i = members[k]
        old = at_(dims, points, i)
        for c in range(len(dims)):
            points[i, c] = values[k, c]
        move(dims, power, terms, tree, top, i, old, at_(dims, points, i), w[i], mono)
