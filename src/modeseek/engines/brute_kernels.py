"""Compiled sums for `brute`: coordinates contiguous, no branch in the inner loop, one branch per profile.

Importing this module imports Numba and compiles nothing; the first call of what `shifts` returns does, and leaves the
result on disk. Kernels are closures over integers only: a compiled function in a closure, or passed as an argument from
Python, would defeat the disk cache. The cache looks at this file alone, so names carry a checksum of `formulas`.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from modeseek import formulas

__all__ = ["LOW", "Shifts", "own_shifts", "shifts"]

# up to this dimension all coordinates stay in registers
LOW = 3
# points per block in higher dimension: distances, weights and a coordinate of a block fit the first-level cache
BLOCK = 512

# the order of sums may change (so they run in vector lanes); NaN and infinity keep their meaning
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}

# weights up to a factor, which cancels in S_h and would cost a multiplication a pair
flat = njit(formulas.flat_weight)
biweight = njit(formulas.biweight_shape)
triweight = njit(formulas.triweight_shape)
quadweight = njit(formulas.quadweight_shape)
gaussian = njit(formulas.gaussian_k)


@njit(inline="always")
def _shift_low(weight, dim, weighted, X, w, q, inv, shift):  # type: ignore[no-untyped-def]
    """Mean shift of q in one pass over all points, for dim <= LOW.

    `dim` and `weighted` are constants by the time this compiles, so their branches are gone. Equal weights are not
    even loaded: they cancel, and reading them would cost a third of the traffic.
    """
    x0, x1, x2 = X[0], X[min(1, dim - 1)], X[min(2, dim - 1)]
    q0, q1, q2 = q[0], q[min(1, dim - 1)], q[min(2, dim - 1)]
    total = s0 = s1 = s2 = 0.0
    for j in range(X.shape[1]):
        a = x0[j] - q0
        r = a * a
        b = c = 0.0
        if dim > 1:
            b = x1[j] - q1
            r += b * b
        if dim > 2:
            c = x2[j] - q2
            r += c * c
        g = weight(r * inv)
        if weighted:
            g *= w[j]
        total += g
        s0 += g * a
        if dim > 1:
            s1 += g * b
        if dim > 2:
            s2 += g * c
    scale = 1.0 / total if total > 0.0 else 0.0  # no point in reach: stay
    shift[0] = s0 * scale
    if dim > 1:
        shift[1] = s1 * scale
    if dim > 2:
        shift[2] = s2 * scale


@njit(inline="always")
def _shift_any(weight, weighted, X, w, q, inv, shift, buffer):  # type: ignore[no-untyped-def]
    """Mean shift of q block by block of points, one coordinate after the other."""
    d, n = X.shape
    total = 0.0
    for c in range(d):
        shift[c] = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        r = buffer[:m]
        r[:] = 0.0
        for c in range(d):
            x, q_c = X[c, start : start + m], q[c]
            for j in range(m):
                a = x[j] - q_c
                r[j] += a * a
        inside = 0.0
        for j in range(m):
            g = weight(r[j] * inv)
            if weighted:
                g *= w[start + j]
            r[j] = g
            inside += g
        if inside > 0.0:
            total += inside
            for c in range(d):
                x, q_c = X[c, start : start + m], q[c]
                s = 0.0
                for j in range(m):
                    s += r[j] * (x[j] - q_c)
                shift[c] += s
    scale = 1.0 / total if total > 0.0 else 0.0
    for c in range(d):
        shift[c] *= scale


@njit(inline="always")
def _settle(d, q, shift, spherical):  # type: ignore[no-untyped-def]
    """Turn the shift into the new place of q, on the unit sphere if asked; the twin of `engines.base.settle`."""
    square = 0.0
    for c in range(d):
        shift[c] += q[c]
        square += shift[c] * shift[c]
    if spherical:
        length = np.sqrt(square)
        for c in range(d):
            shift[c] = shift[c] / length if length > 1e-12 else q[c]


@njit(inline="always")
def _each(weight, dim, weighted, X, w, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
    d = dim if dim <= LOW else X.shape[0]  # a constant where it can be
    q, new, buffer = np.empty(d), np.empty(d), np.empty(BLOCK)
    for k in range(len(indices)):
        i, inv = indices[k], 1.0 / (bandwidths[k] * bandwidths[k])
        for c in range(d):
            q[c] = X[c, i]
        if dim <= LOW:
            _shift_low(weight, dim, weighted, X, w, q, inv, new)
        else:
            _shift_any(weight, weighted, X, w, q, inv, new, buffer)
        _settle(d, q, new, spherical)
        square = 0.0
        for c in range(d):
            X[c, i] = new[c]
            square += (X[c, i] - q[c]) ** 2
        lengths[k] = np.sqrt(square)


@njit(inline="always")
def _all(weight, dim, weighted, X, w, queries, bandwidths, spherical, moved):  # type: ignore[no-untyped-def]
    d = dim if dim <= LOW else X.shape[0]  # a constant where it can be
    q, new, buffer = np.empty(d), np.empty(d), np.empty(BLOCK)
    for k in range(len(queries)):
        inv = 1.0 / (bandwidths[k] * bandwidths[k])
        for c in range(d):
            q[c] = queries[k, c]
        if dim <= LOW:
            _shift_low(weight, dim, weighted, X, w, q, inv, new)
        else:
            _shift_any(weight, weighted, X, w, q, inv, new, buffer)
        _settle(d, q, new, spherical)
        for c in range(d):
            moved[k, c] = new[c]


class Shifts(NamedTuple):
    """The two compiled verbs for one profile and one class of dimensions.

    Attributes
    ----------
    each : callable
        (X, w, indices, bandwidths, spherical, lengths): apply draws in order to X, coordinates by rows.
    all : callable
        (X, w, queries, bandwidths, spherical, moved): shift queries against X.
    """

    each: Callable[..., None]
    all: Callable[..., None]


def _cached(function: Callable[..., None]) -> Callable[..., None]:
    """Compile with a disk cache that a change of the formulas makes anew."""
    function.__qualname__ += f"_{zlib.crc32(inspect.getsource(formulas).encode()):08x}"
    return njit(cache=True, **OPTIONS)(function)


@cache
def shifts(code: int, dim: int, weighted: int) -> Shifts:
    """Return the compiled verbs of a built-in profile; dim = LOW + 1 stands for every higher dimension."""
    if code not in range(5):
        raise ValueError(f"profile code {code} has no branch in {__name__}: add one.")

    @_cached
    def each(X, w, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
        if code == 0:
            _each(flat, dim, weighted, X, w, indices, bandwidths, spherical, lengths)
        elif code == 1:
            _each(biweight, dim, weighted, X, w, indices, bandwidths, spherical, lengths)
        elif code == 2:
            _each(triweight, dim, weighted, X, w, indices, bandwidths, spherical, lengths)
        elif code == 3:
            _each(quadweight, dim, weighted, X, w, indices, bandwidths, spherical, lengths)
        elif code == 4:
            _each(gaussian, dim, weighted, X, w, indices, bandwidths, spherical, lengths)

    @_cached
    def all_(X, w, queries, bandwidths, spherical, moved):  # type: ignore[no-untyped-def]
        if code == 0:
            _all(flat, dim, weighted, X, w, queries, bandwidths, spherical, moved)
        elif code == 1:
            _all(biweight, dim, weighted, X, w, queries, bandwidths, spherical, moved)
        elif code == 2:
            _all(triweight, dim, weighted, X, w, queries, bandwidths, spherical, moved)
        elif code == 3:
            _all(quadweight, dim, weighted, X, w, queries, bandwidths, spherical, moved)
        elif code == 4:
            _all(gaussian, dim, weighted, X, w, queries, bandwidths, spherical, moved)

    return Shifts(each, all_)


def own_shifts(function: Callable[[Any], Any], dim: int, weighted: int) -> Shifts:
    """Return the verbs compiled around a user's weight on [0, 1]; in this process only, nothing on disk."""
    inside = njit(function)

    @njit
    def weight(t):  # type: ignore[no-untyped-def]
        return inside(min(t, 1.0)) if t <= 1.0 else 0.0

    @njit(**OPTIONS)
    def each(X, w, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
        _each(weight, dim, weighted, X, w, indices, bandwidths, spherical, lengths)

    @njit(**OPTIONS)
    def all_(X, w, queries, bandwidths, spherical, moved):  # type: ignore[no-untyped-def]
        _all(weight, dim, weighted, X, w, queries, bandwidths, spherical, moved)

    return Shifts(each, all_)
