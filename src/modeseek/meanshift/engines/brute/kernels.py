"""Compiled sums for `brute`: coordinates contiguous, no branch in the inner loop, one branch per profile.

Importing this module compiles nothing; the first call of what `shifts` returns does, and leaves the result on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from modeseek._common.jit import FAST_MATH
from modeseek._common.types import Array, IntArray
from modeseek.meanshift.engines.shared_kernels import (
    cached_sum,
    check_code,
    leave,
    settle_in_place,
    weigh,
    within_rounding,
)

__all__ = ["LOW", "Shifts", "Sites", "own_shifts", "shifts"]

# up to this dimension all coordinates stay in registers
LOW = 3
# points per block in higher dimension: distances, weights and a coordinate of a block fit the first-level cache
BLOCK = 512


@njit(inline="always")
def _shift_low(kind, dim, weighted, X, n, w, q, inv, shift):  # type: ignore[no-untyped-def]
    """Mean shift of q in one pass over the first n columns of X, for dim <= LOW.

    `dim` and `weighted` are constants by the time this compiles, so their branches are gone. Equal weights are not
    even loaded: they cancel, and reading them would cost a third of the traffic.
    """
    x0, x1, x2 = X[0], X[min(1, dim - 1)], X[min(2, dim - 1)]
    q0, q1, q2 = q[0], q[min(1, dim - 1)], q[min(2, dim - 1)]
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
    scale = 1.0 / total if total > 0.0 else 0.0  # no point in reach: stay
    shift[0] = s0 * scale
    if dim > 1:
        shift[1] = s1 * scale
    if dim > 2:
        shift[2] = s2 * scale


@njit(inline="always")
def _shift_any(kind, weighted, X, n, w, q, inv, shift, buffer):  # type: ignore[no-untyped-def]
    """Mean shift of q block by block of points, one coordinate after the other."""
    d = X.shape[0]
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
            g = weigh(kind, r[j] * inv)
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
def _each(kind, dim, weighted, X, w, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
    d = dim if dim <= LOW else X.shape[0]  # a constant where it can be
    q, new, buffer = np.empty(d), np.empty(d), np.empty(BLOCK)
    for k in range(len(indices)):
        i, inv = indices[k], 1.0 / (bandwidths[k] * bandwidths[k])
        for c in range(d):
            q[c] = X[c, i]
        if dim <= LOW:
            _shift_low(kind, dim, weighted, X, X.shape[1], w, q, inv, new)
        else:
            _shift_any(kind, weighted, X, X.shape[1], w, q, inv, new, buffer)
        settle_in_place(d, q, new, spherical)
        square = 0.0
        for c in range(d):
            X[c, i] = new[c]
            square += (X[c, i] - q[c]) ** 2
        lengths[k] = np.sqrt(square)


@njit(inline="always")
def _each_site(kind, dim, X, sites, weights, equal, ulps, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
    """Apply draws to points held as sites, the columns of X; return how many were done when the room ran out.

    A point that leaves others behind takes a new column, one that is alone takes its column along.
    """
    d = dim if dim <= LOW else X.shape[0]
    w, counts, site, tally = sites
    q, new, buffer = np.empty(d), np.empty(d), np.empty(BLOCK)
    n, work, done = tally[0], 0, 0
    while done < len(indices) and n < X.shape[1]:
        i, inv = indices[done], 1.0 / (bandwidths[done] * bandwidths[done])
        s = site[i]
        for c in range(d):
            q[c] = X[c, s]
        if dim <= LOW:
            _shift_low(kind, dim, 1, X, n, w, q, inv, new)
        else:
            _shift_any(kind, 1, X, n, w, q, inv, new, buffer)
        work += n
        settle_in_place(d, q, new, spherical)
        square = 0.0
        if counts[s] == 1 or not within_rounding(d, q, new, ulps):
            if counts[s] > 1:
                leave(s, i, n, equal, w, counts, site, weights)
                s = n
                n += 1
            for c in range(d):
                X[c, s] = new[c]
                square += (X[c, s] - q[c]) ** 2
        lengths[done] = np.sqrt(square)
        done += 1
    tally[0], tally[1] = n, tally[1] + work
    return done


@njit(inline="always")
def _all(kind, dim, weighted, X, w, queries, bandwidths, spherical, moved):  # type: ignore[no-untyped-def]
    d = dim if dim <= LOW else X.shape[0]  # a constant where it can be
    q, new, buffer = np.empty(d), np.empty(d), np.empty(BLOCK)
    for k in range(len(queries)):
        inv = 1.0 / (bandwidths[k] * bandwidths[k])
        for c in range(d):
            q[c] = queries[k, c]
        if dim <= LOW:
            _shift_low(kind, dim, weighted, X, X.shape[1], w, q, inv, new)
        else:
            _shift_any(kind, weighted, X, X.shape[1], w, q, inv, new, buffer)
        settle_in_place(d, q, new, spherical)
        for c in range(d):
            moved[k, c] = new[c]


class Sites(NamedTuple):
    """Coincident points as one; their places are columns of an array beside.

    Attributes
    ----------
    weights, counts : (room,) arrays
        Weight and number of the points at each site.
    site : (n,) array
        The site of each point.
    tally : (2,) integer array
        Sites in use, and evaluations so far.
    """

    weights: Array
    counts: IntArray
    site: IntArray
    tally: IntArray


class Shifts(NamedTuple):
    """The compiled verbs for one profile and one class of dimensions.

    Attributes
    ----------
    each : callable
        (X, w, indices, bandwidths, spherical, lengths): apply draws in order to X, coordinates by rows.
    each_site : callable
        (X, sites, weights, equal, ulps, indices, bandwidths, spherical, lengths): the same where columns are sites;
        returns how many draws were done before the room for new sites ran out.
    all : callable
        (X, w, queries, bandwidths, spherical, moved): shift queries against X.
    """

    each: Callable[..., None]
    each_site: Callable[..., int]
    all: Callable[..., None]


@cache
def shifts(code: int, dim: int, weighted: int) -> Shifts:
    """Return the compiled verbs of a built-in profile; dim = LOW + 1 stands for every higher dimension."""
    check_code(code, __name__)

    @cached_sum
    def each(X, w, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
        _each(code, dim, weighted, X, w, indices, bandwidths, spherical, lengths)

    @cached_sum
    def each_site(X, sites, weights, equal, ulps, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
        return _each_site(code, dim, X, sites, weights, equal, ulps, indices, bandwidths, spherical, lengths)

    @cached_sum
    def all_(X, w, queries, bandwidths, spherical, moved):  # type: ignore[no-untyped-def]
        _all(code, dim, weighted, X, w, queries, bandwidths, spherical, moved)

    return Shifts(each, each_site, all_)


def own_shifts(function: Callable[[Any], Any], dim: int, weighted: int) -> Shifts:
    """Return the verbs compiled around a user's weight on [0, 1]; in this process only, nothing on disk."""
    inside = njit(function)

    @njit
    def weight(t):  # type: ignore[no-untyped-def]
        return inside(min(t, 1.0)) if t <= 1.0 else 0.0

    @njit(**FAST_MATH)
    def each(X, w, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
        _each(weight, dim, weighted, X, w, indices, bandwidths, spherical, lengths)

    @njit(**FAST_MATH)
    def each_site(X, sites, weights, equal, ulps, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
        return _each_site(weight, dim, X, sites, weights, equal, ulps, indices, bandwidths, spherical, lengths)

    @njit(**FAST_MATH)
    def all_(X, w, queries, bandwidths, spherical, moved):  # type: ignore[no-untyped-def]
        _all(weight, dim, weighted, X, w, queries, bandwidths, spherical, moved)

    return Shifts(each, each_site, all_)
