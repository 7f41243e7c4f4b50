"""Compiled sums over all pairs, for `engine="brute"`.

Coordinates are contiguous and the inner loops have no branches, so that they use vector instructions. Importing this
module compiles nothing; the first call of the functions that `shifts` returns does.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from modeseek._common.jit import FAST_MATH
from modeseek.meanshift.engines.shared_loops import apply_shift, cached_sum, leave_group, nearly_equal, sum_low, weigh

# Up to this dimension, all coordinates of the query and the sums stay in registers.
MAX_LOW = 3
# Points per block in higher dimensions: distances, weights and one coordinate of a block fit into the L1 cache.
BLOCK = 512


@njit(inline="always")
def _shift_low(kind, dim, weighted, X, n, w, q, inv, shift):  # type: ignore[no-untyped-def]
    """Write the mean shift of q over the first n columns of X, computed in one pass, for dim <= MAX_LOW."""
    place = q[0], q[min(1, dim - 1)], q[min(2, dim - 1)]
    total, s0, s1, s2 = sum_low(kind, dim, weighted, X, n, w, place, inv)
    scale = 1.0 / total if total > 0.0 else 0.0  # a query without points within h stays
    shift[0] = s0 * scale
    if dim > 1:
        shift[1] = s1 * scale
    if dim > 2:
        shift[2] = s2 * scale


@njit(inline="always")
def add_points(kind, weighted, X, w, start, m, q, inv, shift, buffer):  # type: ignore[no-untyped-def]
    """Add the weighted differences x - q of m columns of X to `shift`; return the sum of weights.

    `start` is the index in w of the weight of the first of these columns.
    """
    r = buffer[:m]
    r[:] = 0.0
    for c in range(len(q)):
        x, q_c = X[c], q[c]
        for j in range(m):
            a = x[j] - q_c
            r[j] += a * a
    total = 0.0
    for j in range(m):
        g = weigh(kind, r[j] * inv)
        if weighted:
            g *= w[start + j]
        r[j] = g
        total += g
    if total > 0.0:
        for c in range(len(q)):
            x, q_c = X[c], q[c]
            s = 0.0
            for j in range(m):
                s += r[j] * (x[j] - q_c)
            shift[c] += s
    return total


@njit(inline="always")
def _shift_any(kind, weighted, X, n, w, q, inv, shift, buffer):  # type: ignore[no-untyped-def]
    """Write the mean shift of q over blocks of points, computed one coordinate after the other."""
    total = 0.0
    shift[:] = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        total += add_points(kind, weighted, X[:, start : start + m], w, start, m, q, inv, shift, buffer)
    scale = 1.0 / total if total > 0.0 else 0.0
    for c in range(len(q)):
        shift[c] *= scale


@njit(inline="always")
def _shift(kind, dim, weighted, X, n, w, q, h, spherical, new, buffer):  # type: ignore[no-untyped-def]
    """Write the new position of q into `new`."""
    if dim <= MAX_LOW:
        _shift_low(kind, dim, weighted, X, n, w, q, 1.0 / (h * h), new)
    else:
        _shift_any(kind, weighted, X, n, w, q, 1.0 / (h * h), new, buffer)
    apply_shift(dim if dim <= MAX_LOW else X.shape[0], q, new, spherical)


@njit(inline="always")
def apply_each(kind, dim, weighted, X, w, updates, spherical):  # type: ignore[no-untyped-def]
    """Apply updates to the columns of X in order; see `BruteShifts.each`."""
    d = dim if dim <= MAX_LOW else X.shape[0]  # a constant where possible
    q, new, buffer = np.empty(d), np.empty(d), np.empty(BLOCK)
    for k in range(len(updates.indices)):
        i = updates.indices[k]
        for c in range(d):
            q[c] = X[c, i]
        _shift(kind, dim, weighted, X, X.shape[1], w, q, updates.bandwidths[k], spherical, new, buffer)
        square = 0.0
        for c in range(d):
            X[c, i] = new[c]
            square += (X[c, i] - q[c]) ** 2
        updates.lengths[k] = np.sqrt(square)


@njit(inline="always")
def apply_to_groups(kind, dim, X, groups, used, tolerance, updates, spherical):  # type: ignore[no-untyped-def]
    """Apply updates to groups of coincident points; see `BruteShifts.each_group`."""
    d = dim if dim <= MAX_LOW else X.shape[0]
    q, new, buffer = np.empty(d), np.empty(d), np.empty(BLOCK)
    evaluations = done = 0
    while done < len(updates.indices) and used < X.shape[1]:
        i = updates.indices[done]
        g = groups.group[i]
        for c in range(d):
            q[c] = X[c, g]
        _shift(kind, dim, 1, X, used, groups.weights, q, updates.bandwidths[done], spherical, new, buffer)
        evaluations += used
        square = 0.0
        if groups.counts[g] == 1 or not nearly_equal(d, q, new, tolerance):
            if groups.counts[g] > 1:
                leave_group(groups, i, used)
                g = used
                used += 1
            for c in range(d):
                X[c, g] = new[c]
                square += (X[c, g] - q[c]) ** 2
        updates.lengths[done] = np.sqrt(square)
        done += 1
    return done, used, evaluations


class BruteShifts(NamedTuple):
    """Compiled functions for one profile and one class of dimensions. X has the coordinates of the points as rows.

    Attributes
    ----------
    each : callable
        ``(X, w, updates, spherical)``: apply updates to the columns of X in order.
    each_group : callable
        ``(X, groups, used, tolerance, updates, spherical)``: apply updates to groups of coincident points until all
        columns of X are used; each column stands for a group. A point that leaves other points of its group takes an
        unused column. Returns the number of updates done, the number of columns used, and the number of distances.
    all : callable
        ``(X, w, queries, spherical)``: shift queries, with sums over X; return the number of distances.
    sweeps : callable
        See `sweep_loops.compile_sweeps`.
    blocks : BlockShifts
        The functions for points that are sorted into blocks.
    """

    each: Callable[..., None]
    each_group: Callable[..., tuple[int, int, int]]
    all: Callable[..., int]
    sweeps: Callable[..., tuple[int, int, int]]
    blocks: Any


@cache
def shifts(code: int, dim: int, weighted: int) -> BruteShifts:
    """Return the compiled functions of a built-in profile; dim = MAX_LOW + 1 stands for every higher dimension."""
    return _compile(code, dim, weighted, cached_sum)


def custom_shifts(weight: Callable[[Any], Any], dim: int, weighted: int) -> BruteShifts:
    """Return the functions compiled for a user's weight on [0, 1], without disk cache."""
    on_interval = njit(weight)

    @njit
    def on_half_line(t):  # type: ignore[no-untyped-def]
        return on_interval(min(t, 1.0)) if t <= 1.0 else 0.0

    return _compile(on_half_line, dim, weighted, lambda function, *modules: njit(**FAST_MATH)(function))


def _compile(kind: Any, dim: int, weighted: int, jit: Callable[..., Any]) -> BruteShifts:
    # These loops are written out, because Numba would spend most of its compile time copying inlined functions.
    @jit
    def each(X, w, updates, spherical):  # type: ignore[no-untyped-def]
        apply_each(kind, dim, weighted, X, w, updates, spherical)

    @jit
    def each_group(X, groups, used, tolerance, updates, spherical):  # type: ignore[no-untyped-def]
        return apply_to_groups(kind, dim, X, groups, used, tolerance, updates, spherical)

    @jit
    def all_(X, w, queries, spherical):  # type: ignore[no-untyped-def]
        d = dim if dim <= MAX_LOW else X.shape[0]
        q, new, buffer = np.empty(d), np.empty(d), np.empty(BLOCK)
        for k in range(len(queries.points)):
            for c in range(d):
                q[c] = queries.points[k, c]
            _shift(kind, dim, weighted, X, X.shape[1], w, q, queries.bandwidths[k], spherical, new, buffer)
            for c in range(d):
                queries.moved[k, c] = new[c]
        return len(queries.points) * X.shape[1]

    from modeseek.meanshift.engines.brute.block_loops import compile_blocks
    from modeseek.meanshift.engines.brute.sweep_loops import compile_sweeps

    others = compile_sweeps(kind, dim, weighted, jit), compile_blocks(kind, weighted, jit)
    return BruteShifts(each, each_group, all_, *others)
