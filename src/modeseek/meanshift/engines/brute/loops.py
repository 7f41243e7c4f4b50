"""Compiled sums over all pairs, for `engine="brute"`.

Coordinates are contiguous and the inner loops have no branches, so that they use vector instructions. Importing this
module compiles nothing; the first call of the functions that `shifts` returns does. No function allocates an array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from modeseek._common.jit import C_ENTRY, FAST_MATH, NO_REFERENCE_COUNTS, CompiledFunction, address_of
from modeseek.meanshift.engines.coincident_points import Groups
from modeseek.meanshift.engines.shared_loops import apply_shift, cached_sum, leave_group, nearly_equal, sum_low, weigh
from modeseek.meanshift.engines.workspace import BLOCK, Buffers, UpdateBlock

if TYPE_CHECKING:
    from modeseek.meanshift.engines.brute.block_loops import BlockShifts

# Arguments whose types are those of `apply_sweeps`.
SOME_POINTS, SOME_WEIGHTS, SOME_BUFFERS = np.empty((1, 1)), np.empty(1), Buffers.empty(1)
SOME_UPDATES = UpdateBlock(np.empty(1, dtype=np.intp), SOME_WEIGHTS, SOME_WEIGHTS)
SOME_GROUPS = Groups(SOME_WEIGHTS, SOME_UPDATES.indices, SOME_UPDATES.indices, SOME_WEIGHTS, False)
# Up to this dimension, all coordinates of the query and the sums stay in registers.
MAX_LOW = 3


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
def _shift_low(kind, dim, weighted, X, n, w, q, h, spherical, new, distances):  # type: ignore[no-untyped-def]
    """Compute all sums in one pass, for dim <= MAX_LOW."""
    place = q[0], q[min(1, dim - 1)], q[min(2, dim - 1)]
    total, s0, s1, s2 = sum_low(kind, dim, weighted, X, n, w, place, 1.0 / (h * h))
    scale = 1.0 / total if total > 0.0 else 0.0  # a query without points within h stays
    new[0] = s0 * scale
    if dim > 1:
        new[1] = s1 * scale
    if dim > 2:
        new[2] = s2 * scale
    apply_shift(dim, q, new, spherical)


@njit(inline="always")
def _shift_any(kind, dim, weighted, X, n, w, q, h, spherical, new, distances):  # type: ignore[no-untyped-def]
    """Compute the sums over blocks of points, one coordinate after the other."""
    inv, total = 1.0 / (h * h), 0.0
    new[:] = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        total += add_points(kind, weighted, X[:, start : start + m], w, start, m, q, inv, new, distances)
    scale = 1.0 / total if total > 0.0 else 0.0
    for c in range(len(q)):
        new[c] *= scale
    apply_shift(X.shape[0], q, new, spherical)


@njit(inline="always")
def _shift(kind, dim, weighted, X, n, w, q, h, spherical, new, distances):  # type: ignore[no-untyped-def]
    """Write the new position of q, by sums over the first n columns of X."""
    if dim <= MAX_LOW:
        _shift_low(kind, dim, weighted, X, n, w, q, h, spherical, new, distances)
    else:
        _shift_any(kind, dim, weighted, X, n, w, q, h, spherical, new, distances)


@dataclass(frozen=True)
class BruteShifts:
    """Compiled functions for one profile and one class of dimensions. X has the coordinates of the points as rows.

    Attributes
    ----------
    each : callable
        ``(X, w, updates, spherical, buffers)``: apply updates to the columns of X in order.
    each_group : callable
        ``(X, groups, used, tolerance, updates, spherical, buffers)``: apply updates to groups of coincident points
        until all columns of X are used; each column stands for a group. A point that leaves other points of its group
        takes an unused column. Returns the number of updates done, the number of columns used, and the number of
        distances.
    all : callable
        ``(X, w, queries, spherical, buffers)``: shift queries, with sums over X; return the number of distances.
    blocks : BlockShifts
        The functions for points that are sorted into blocks.
    """

    each: CompiledFunction
    each_group: CompiledFunction
    all: CompiledFunction
    blocks: BlockShifts

    def __reduce__(self) -> tuple[Any, ...]:
        # addresses of compiled code are those of this process
        return BruteShifts, (self.each, self.each_group, self.all, self.blocks)

    @cached_property
    def each_address(self) -> int:
        """The address of `each` for points in double precision, which is compiled if necessary."""
        return address_of(self.each, SOME_POINTS, SOME_WEIGHTS, SOME_UPDATES, False, SOME_BUFFERS)

    @cached_property
    def each_group_address(self) -> int:
        """The address of `each_group` for points in double precision."""
        return address_of(self.each_group, SOME_POINTS, SOME_GROUPS, 0, 0.0, SOME_UPDATES, False, SOME_BUFFERS)


@cache
def shifts(code: int, dim: int, weighted: int) -> BruteShifts:
    """Return the compiled functions of a built-in profile; dim = MAX_LOW + 1 stands for every higher dimension."""
    return _compile(code, dim, weighted, partial(cached_sum, **NO_REFERENCE_COUNTS))


def custom_shifts(weight: Callable[[Any], Any], dim: int, weighted: int) -> BruteShifts:
    """Return the functions compiled for a user's weight on [0, 1], without disk cache."""
    on_interval = njit(weight)

    @njit
    def on_half_line(t):  # type: ignore[no-untyped-def]
        return on_interval(min(t, 1.0)) if t <= 1.0 else 0.0

    def compiled(function: Callable[..., Any], *modules: ModuleType, **options: Any) -> CompiledFunction:
        return CompiledFunction(njit(**FAST_MATH, **NO_REFERENCE_COUNTS)(function))

    return _compile(on_half_line, dim, weighted, compiled)


def _compile(kind: Any, dim: int, weighted: int, jit: Callable[..., CompiledFunction]) -> BruteShifts:
    # These loops are written out, because Numba would spend most of its compile time copying inlined functions.
    def each(X, w, updates, spherical, buffers):  # type: ignore[no-untyped-def]
        d = dim if dim <= MAX_LOW else X.shape[0]  # a constant where possible
        q, new = buffers.q, buffers.new
        for k in range(len(updates.indices)):
            i, h = updates.indices[k], updates.bandwidths[k]
            for c in range(d):
                q[c] = X[c, i]
            _shift(kind, dim, weighted, X, X.shape[1], w, q, h, spherical, new, buffers.distances)
            square = 0.0
            for c in range(d):
                X[c, i] = new[c]
                square += (X[c, i] - q[c]) ** 2
            updates.lengths[k] = np.sqrt(square)

    def each_group(X, groups, used, tolerance, updates, spherical, buffers):  # type: ignore[no-untyped-def]
        d = dim if dim <= MAX_LOW else X.shape[0]
        q, new = buffers.q, buffers.new
        evaluations = done = 0
        while done < len(updates.indices) and used < X.shape[1]:
            i, h = updates.indices[done], updates.bandwidths[done]
            g = groups.group[i]
            for c in range(d):
                q[c] = X[c, g]
            _shift(kind, dim, 1, X, used, groups.weights, q, h, spherical, new, buffers.distances)
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

    def all_(X, w, queries, spherical, buffers):  # type: ignore[no-untyped-def]
        d = dim if dim <= MAX_LOW else X.shape[0]
        q, new = buffers.q, buffers.new
        for k in range(len(queries.points)):
            for c in range(d):
                q[c] = queries.points[k, c]
            h = queries.bandwidths[k]
            _shift(kind, dim, weighted, X, X.shape[1], w, q, h, spherical, new, buffers.distances)
            for c in range(d):
                queries.moved[k, c] = new[c]
        return len(queries.points) * X.shape[1]

    from modeseek.meanshift.engines.brute.block_loops import compile_blocks

    called = jit(each, **C_ENTRY), jit(each_group, **C_ENTRY)
    return BruteShifts(*called, jit(all_), compile_blocks(kind, weighted, jit))
