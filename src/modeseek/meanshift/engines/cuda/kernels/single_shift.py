"""Moving one point on the device: a sum over all points, which the threads of a block share."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float64, uint32, uint64

from modeseek.meanshift.engines.cuda.kernels.device import LANES, block_of, device
from modeseek.meanshift.engines.cuda.kernels.translate import translated
from modeseek.meanshift.kernels import formulas

__all__ = ["FAR", "FAR_SINGLE", "GROUP", "LOW", "Shape", "any_mover", "low_mover", "weight_of"]

# up to this dimension all coordinates stay in registers
LOW = 3
# points summed before the next look at the index
GROUP = 4
# a place out of everyone's reach, whose squared distance is still a number
FAR, FAR_SINGLE = 1e153, 1e18

SHAPES = (
    formulas.flat_weight,
    formulas.biweight_shape,
    formulas.triweight_shape,
    formulas.quadweight_shape,
    formulas.gaussian_k,
)


class Shape(NamedTuple):
    """What a kernel is compiled for.

    Attributes
    ----------
    code : int
        The profile.
    dim : int
        Dimensions up to `LOW`; 0 for every higher number.
    weighted, spherical, single : bool
        Whether weights differ, points are on the unit sphere, numbers are of single precision.
    threads : int
        Threads in a block, a power of two.
    shared : bool
        Whether a state fits the memory that a block has for itself.
    """

    code: int
    dim: int
    weighted: bool
    spherical: bool
    single: bool
    threads: int
    shared: bool


@cache
def weight_of(code: int, single: bool) -> Callable[..., Any]:
    """Return the weight of a built-in profile, up to a factor."""
    return device(translated(SHAPES[code], np.float32 if single else np.float64))


@cache
def low_mover(shape: Shape) -> Callable[..., Any]:
    """Return the device function that moves a point, up to `LOW` dimensions.

    (xs, n, w, i, inv, known, place, partial, page) -> square of the length; inv is h^-2. xs are three arrays, of which
    the first `dim` have the coordinates, as many as a multiple of `GROUP` threads: beyond the points everything is far
    away. `place` is where the last moved point `known` is, and gets where i is. Indices have no sign, which spares
    a look at it.
    """
    dim, weighted, spherical, threads = shape.dim, shape.weighted, shape.spherical, shape.threads
    weight, total_of, sync = weight_of(shape.code, shape.single), block_of(threads).total, block_of(threads).sync
    fold, put, join = total_of
    real = np.float32 if shape.single else np.float64

    @device
    def add(sums, x0, x1, x2, w, j, last, q0, q1, q2, inv):  # type: ignore[no-untyped-def]
        """Add point j to the sums of weights and of weighted differences."""
        total, s0, s1, s2 = sums
        a = x0[j] - q0
        r = a * a
        b = c = real(0.0)
        if dim > 1:
            b = x1[j] - q1
            r += b * b
        if dim > 2:
            c = x2[j] - q2
            r += c * c
        g = weight(r * inv)
        if weighted:
            g *= w[min(j, last)]
        # a product with 0 is not nothing to a compiler, since the other number may be none
        return total + g, s0 + g * a, s1 + g * b if dim > 1 else s1, s2 + g * c if dim > 2 else s2

    @device
    def move(xs, n, w, i, inv, known, place, partial, page):  # type: ignore[no-untyped-def]
        me, (x0, x1, x2) = cuda.threadIdx.x, xs
        if i != known:
            place[0] = x0[i]
            if dim > 1:
                place[1] = x1[i]
            if dim > 2:
                place[2] = x2[i]
        q0 = place[0]
        q1, q2 = place[1] if dim > 1 else real(0.0), place[2] if dim > 2 else real(0.0)
        inv = real(inv)
        # as wide as an address: what is added to it is then part of the instruction that loads
        j, end, step, last = uint64(me), uint64(len(x0)), uint64(threads), uint64(n - 1)
        sums = (real(0.0), real(0.0), real(0.0), real(0.0))
        while j < end:  # several at a time, so that none waits for the one before
            sums = add(sums, x0, x1, x2, w, j, last, q0, q1, q2, inv)
            sums = add(sums, x0, x1, x2, w, j + step, last, q0, q1, q2, inv)
            sums = add(sums, x0, x1, x2, w, j + uint64(2) * step, last, q0, q1, q2, inv)
            sums = add(sums, x0, x1, x2, w, j + uint64(3) * step, last, q0, q1, q2, inv)
            j += uint64(GROUP) * step
        total, s0, s1, s2 = sums
        mass, m0, m1, m2 = fold(total), fold(s0), s1, s2
        put(partial, page, 0, mass)
        put(partial, page, 1, m0)
        if dim > 1:
            m1 = fold(s1)
            put(partial, page, 2, m1)
        if dim > 2:
            m2 = fold(s2)
            put(partial, page, 3, m2)
        sync()
        mass, m0 = real(join(partial, page, 0, mass)), real(join(partial, page, 1, m0))
        if dim > 1:
            m1 = real(join(partial, page, 2, m1))
        if dim > 2:
            m2 = real(join(partial, page, 3, m2))
        scale = real(1.0) / mass if mass > real(0.0) else real(0.0)
        m0, m1, m2 = q0 + m0 * scale, q1 + m1 * scale if dim > 1 else q1, q2 + m2 * scale if dim > 2 else q2
        if spherical:
            length = real(math.sqrt(m0 * m0 + m1 * m1 + m2 * m2))
            if length > real(1e-12):
                m0, m1, m2 = m0 / length, m1 / length, m2 / length
            else:
                m0, m1, m2 = q0, q1, q2
        place[0], place[1], place[2] = m0, m1, m2
        if uint32(me) == i % uint32(threads):  # who reads this point in sums to come: nobody has to wait
            x0[i] = m0
            if dim > 1:
                x1[i] = m1
            if dim > 2:
                x2[i] = m2
        a, b, c = m0 - q0, m1 - q1, m2 - q2
        square = a * a
        if dim > 1:
            square += b * b
        if dim > 2:
            square += c * c
        return square

    return move


@cache
def any_mover(shape: Shape) -> Callable[..., Any]:
    """Return the same for any dimension: weights of all points first, then one coordinate after the other.

    (x, n, stride, d, w, i, inv, g, new, partial) -> square of the length; g and new are room for n and d numbers.
    There is a barrier before it returns.
    """
    weighted, spherical, threads = shape.weighted, shape.spherical, shape.threads
    block, weight = block_of(threads), weight_of(shape.code, shape.single)
    sync, warps, (fold, put, join) = block.sync, block.warps, block.total
    real = np.float32 if shape.single else np.float64

    @device
    def block_sum(x, partial, page):  # type: ignore[no-untyped-def]
        x = fold(x)
        put(partial, page, 0, x)
        sync()
        return join(partial, page, 0, x)

    @device
    def move(x, n, stride, d, w, i, inv, g, new, partial):  # type: ignore[no-untyped-def]
        me = cuda.threadIdx.x
        inv = real(inv)
        total = real(0.0)
        for j in range(me, n, threads):
            r = s = real(0.0)
            for c in range(0, d - 1, 2):  # two at a time, so that one need not wait for the other
                a = x[c * stride + j] - x[c * stride + i]
                b = x[(c + 1) * stride + j] - x[(c + 1) * stride + i]
                r += a * a
                s += b * b
            if d % 2:
                a = x[(d - 1) * stride + j] - x[(d - 1) * stride + i]
                r += a * a
            r += s
            weight_j = weight(r * inv)
            if weighted:
                weight_j *= w[j]
            g[j] = weight_j
            total += weight_j
        mass = block_sum(float64(total), partial, 0)
        scale = 1.0 / mass if mass > 0.0 else 0.0
        for c in range(me // LANES, d, warps):
            at, s = x[c * stride + i], real(0.0)
            for j in range(me % LANES, n, LANES):
                if g[j] > 0.0:
                    s += g[j] * (x[c * stride + j] - at)
            moved = at + fold(float64(s)) * scale
            if me % LANES == 0:
                new[c] = moved
        sync()
        factor = 1.0
        if spherical:
            square = 0.0
            for c in range(me, d, threads):
                square += new[c] * new[c]
            factor = math.sqrt(block_sum(square, partial, 1))
        square = 0.0
        for c in range(me, d, threads):
            old = x[c * stride + i]
            if factor > 1e-12:
                x[c * stride + i] = real(new[c] / factor)
            gone = float64(x[c * stride + i]) - old
            square += gone * gone
        square = block_sum(square, partial, 0)
        sync()  # before the page is used again
        return square

    return move
