"""Compiled functions that several engines call: weights of the profiles, moves of a point, coincident points.

Importing this module imports Numba and compiles nothing.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from modeseek._common.jit import INLINED, CompiledFunction, cached, inlined
from modeseek.meanshift.engines import coincident_points, workspace
from modeseek.meanshift.engines.workspace import SHORTEST
from modeseek.meanshift.kernels import formulas

# Weights of the profiles by code, without their constant factor: it cancels in S_h and would cost a multiplication.
SHAPES = (
    formulas.flat_weight,
    formulas.biweight_shape,
    formulas.triweight_shape,
    formulas.quadweight_shape,
    formulas.gaussian_k,
)
flat, biweight, triweight, quadweight, gaussian = map(inlined, SHAPES)


def cached_sum(function: Callable[..., Any], *modules: ModuleType, **options: Any) -> CompiledFunction:
    """Compile a function that uses the weights of profiles or other functions of this module; see `jit.cached`.

    It may be a closure over integers only: a compiled function in a closure cannot be cached on disk.
    """
    own = formulas, sys.modules[__name__], workspace, coincident_points
    return cached(function, *own, *modules, **options)


def weigh(kind, t):  # type: ignore[no-untyped-def]
    """Return the weight at t without its constant factor; only compiled code can call this function.

    `kind` is the code of a built-in profile or a compiled function. A code is a constant in compiled code, so that
    only one branch remains.
    """
    raise NotImplementedError("weigh() can be called from compiled code only")


@overload(weigh, jit_options=INLINED)
def _weigh(kind, t):  # type: ignore[no-untyped-def]
    if isinstance(kind, types.Dispatcher):
        return lambda kind, t: kind(t)

    def by_code(kind, t):  # type: ignore[no-untyped-def]
        if kind == 0:
            return flat(t)
        if kind == 1:
            return biweight(t)
        if kind == 2:
            return triweight(t)
        if kind == 3:
            return quadweight(t)
        return gaussian(t)

    return by_code


@njit(inline="always")
def sum_low(kind, dim, weighted, X, n, w, q, inv):  # type: ignore[no-untyped-def]
    """Return the sums of weights and of weighted differences x - q over n columns of X, up to three dimensions.

    `dim` and `weighted` are compile-time constants, so their branches disappear. Equal weights are not even loaded,
    because they cancel.
    """
    x0, x1, x2 = X[0], X[min(1, dim - 1)], X[min(2, dim - 1)]
    q0, q1, q2 = q
    total = s0 = s1 = s2 = 0.0
    for j in range(n):
        a = x0[j] - q0
        r = a * a
        b = c = 0.0
        if dim > 1:
            b = x1[j] - q1
            r += b * b
        if dim > 2:
            c = x2[j] - q2
            r += c * c
        g = weigh(kind, r * inv)
        if weighted:
            g *= w[j]
        total += g
        s0 += g * a
        if dim > 1:
            s1 += g * b
        if dim > 2:
            s2 += g * c
    return total, s0, s1, s2


@njit(inline="always")
def apply_shift(d, q, shift, spherical):  # type: ignore[no-untyped-def]
    """Replace `shift` by the new position of q; the compiled version of `workspace.apply_shift`."""
    square = 0.0
    for c in range(d):
        shift[c] += q[c]
        square += shift[c] * shift[c]
    if spherical:
        length = np.sqrt(square)
        for c in range(d):
            shift[c] = shift[c] / length if length > SHORTEST else q[c]


@njit(inline="always")
def nearly_equal(d, old, new, tolerance):  # type: ignore[no-untyped-def]
    """Return whether no coordinate differs by more than `tolerance` times the largest coordinate."""
    largest = gap = 0.0
    for c in range(d):
        largest = max(largest, abs(old[c]))
        gap = max(gap, abs(new[c] - old[c]))
    return gap <= tolerance * largest


@njit(inline="always")
def leave_group(groups, i, fresh):  # type: ignore[no-untyped-def]
    """Move point i from its group, which keeps other points, to the unused group `fresh`."""
    weights, counts, group, point_weights, equal_weights = groups
    old = group[i]
    group[i], counts[fresh], weights[fresh] = fresh, 1, point_weights[i]
    counts[old] -= 1
    if equal_weights:
        weights[old] = counts[old] * point_weights[i]
    else:  # summed again, because subtracting a large weight would leave its rounding error
        left = 0.0
        for j in range(len(group)):
            left += point_weights[j] if group[j] == old else 0.0
        weights[old] = left


@cached
def assign_leaders(points, line, order, window, tolerance, look_back, leader):  # type: ignore[no-untyped-def]
    """Set `leader[i]` to a point that equals point i up to rounding, for points sorted along a line.

    Only the last `look_back` leaders within `window` along the line are compared.
    """
    n, d = points.shape
    leaders = np.empty(n, dtype=np.int64)
    m = 0
    for k in range(n):
        i = order[k]
        leader[i] = i
        for back in range(1, min(look_back, m) + 1):
            j = leaders[m - back]
            if line[i] - line[j] > window:
                break
            if nearly_equal(d, points[j], points[i], tolerance):
                leader[i] = j
                break
        if leader[i] == i:
            leaders[m] = i
            m += 1
