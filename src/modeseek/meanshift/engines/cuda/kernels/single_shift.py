"""Device functions that move one point: a sum over all points, shared by the threads of a block."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float64, uint32, uint64

from modeseek.meanshift.engines.cuda.kernels.block import LANES, block_of, device
from modeseek.meanshift.engines.cuda.kernels.translate import translated
from modeseek.meanshift.engines.shared_loops import SHAPES
from modeseek.meanshift.engines.workspace import SHORTEST

# Up to this dimension, all coordinates stay in registers.
MAX_LOW = 3
# Number of points that a thread adds between two tests of the loop condition.
UNROLL = 4


class KernelSpec(NamedTuple):
    """What a kernel is compiled for.

    Attributes
    ----------
    code : int
        The profile.
    dim : int
        The dimension up to `MAX_LOW`; 0 for every higher dimension.
    weighted, spherical, single : bool
        Whether weights differ, points lie on the unit sphere, numbers have single precision.
    threads : int
        Threads per block, a power of two.
    shared : bool
        Whether a state fits into shared memory.
    """

    code: int
    dim: int
    weighted: bool
    spherical: bool
    single: bool
    threads: int
    shared: bool = False

    @property
    def real(self) -> type:
        """The type of the coordinates."""
        return np.float32 if self.single else np.float64

    @property
    def far(self) -> Any:
        """A coordinate that is out of reach of every point, and small enough that its square is finite."""
        return self.real(1e18 if self.single else 1e153)


def stride_of(n: int, spec: KernelSpec) -> int:
    """Return the distance in memory between two coordinates of a point, in a state of n points."""
    whole = UNROLL * spec.threads
    return -(-n // whole) * whole if spec.dim else n


@cache
def weight_of(code: int, single: bool) -> Callable[..., Any]:
    """Return the device function of the weight of a built-in profile, without its constant factor."""
    return device(translated(SHAPES[code], np.float32 if single else np.float64))


@cache
def low_shifter(spec: KernelSpec) -> Callable[..., Any]:
    """Return the device function that moves a point, for up to `MAX_LOW` dimensions.

    ``(xs, n, w, i, inv, last, place, partial, page)`` returns the squared length of the move. xs are three arrays, the
    first `dim` of which hold the coordinates, padded by points far away to a multiple of UNROLL * threads. inv is h^-2.
    `last` is the point that moved before, and `place` has its position; the function writes the new position of point i
    to `place`. Indices are unsigned, which saves a test for negative indices.
    """
    dim, weighted, spherical, threads = spec.dim, spec.weighted, spec.spherical, spec.threads
    weight, block, real = weight_of(spec.code, spec.single), block_of(threads), spec.real
    sync, (warp, put, join, _) = block.sync, block.total

    @device
    def add(sums, xs, w, j, end, q, inv):  # type: ignore[no-untyped-def]
        """Add point j to the sums of weights and of weighted differences."""
        total, s0, s1, s2 = sums
        a = xs[0][j] - q[0]
        r = a * a
        b = c = real(0.0)
        if dim > 1:
            b = xs[1][j] - q[1]
            r += b * b
        if dim > 2:
            c = xs[2][j] - q[2]
            r += c * c
        g = weight(r * inv)
        if weighted:
            g *= w[min(j, end)]
        # the compiler cannot drop a product with 0, because the other factor may be NaN
        return total + g, s0 + g * a, s1 + g * b if dim > 1 else s1, s2 + g * c if dim > 2 else s2

    @device
    def shift(xs, n, w, i, inv, last, place, partial, page):  # type: ignore[no-untyped-def]
        me, (x0, x1, x2) = cuda.threadIdx.x, xs
        if i != last:
            place[0] = x0[i]
            if dim > 1:
                place[1] = x1[i]
            if dim > 2:
                place[2] = x2[i]
        q0 = place[0]
        q1, q2 = place[1] if dim > 1 else real(0.0), place[2] if dim > 2 else real(0.0)
        q, inv = (q0, q1, q2), real(inv)
        # 64 bits, as wide as an address: the load instruction then adds the offset itself
        j, end, step, final = uint64(me), uint64(len(x0)), uint64(threads), uint64(n - 1)
        sums = (real(0.0), real(0.0), real(0.0), real(0.0))
        while j < end:
            sums = add(sums, xs, w, j, final, q, inv)
            sums = add(sums, xs, w, j + step, final, q, inv)
            sums = add(sums, xs, w, j + uint64(2) * step, final, q, inv)
            sums = add(sums, xs, w, j + uint64(3) * step, final, q, inv)
            j += uint64(UNROLL) * step
        total, s0, s1, s2 = sums
        mass, m0, m1, m2 = warp(total), warp(s0), s1, s2
        put(partial, page, 0, mass)
        put(partial, page, 1, m0)
        if dim > 1:
            m1 = warp(s1)
            put(partial, page, 2, m1)
        if dim > 2:
            m2 = warp(s2)
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
            if length > real(SHORTEST):
                m0, m1, m2 = m0 / length, m1 / length, m2 / length
            else:
                m0, m1, m2 = q0, q1, q2
        place[0], place[1], place[2] = m0, m1, m2
        if uint32(me) == i % uint32(threads):  # written by the thread that later reads it: none has to wait
            x0[i] = m0
            if dim > 1:
                x1[i] = m1
            if dim > 2:
                x2[i] = m2
        square = (m0 - q0) * (m0 - q0)
        if dim > 1:
            square += (m1 - q1) * (m1 - q1)
        if dim > 2:
            square += (m2 - q2) * (m2 - q2)
        return square

    return shift


@cache
def high_shifter(spec: KernelSpec) -> Callable[..., Any]:
    """Return the device function that moves a point in any dimension: first all weights, then one coordinate at a time.

    ``(state, w, i, inv, g, new, partial)`` returns the squared length of the move after a barrier. `state` is the tuple
    (x, n, stride, d), and g and new are scratch for n and d numbers.
    """
    weighted, spherical, threads = spec.weighted, spec.spherical, spec.threads
    block, weight, real = block_of(threads), weight_of(spec.code, spec.single), spec.real
    sync, warps, (warp, _, _, block_sum) = block.sync, block.warps, block.total

    @device
    def shift(state, w, i, inv, g, new, partial):  # type: ignore[no-untyped-def]
        x, n, stride, d = state
        me, inv, total = cuda.threadIdx.x, real(inv), real(0.0)
        for j in range(me, n, threads):
            r = s = real(0.0)
            for c in range(0, d - 1, 2):  # two sums, so that neither waits for the other
                a = x[c * stride + j] - x[c * stride + i]
                r += a * a
                a = x[(c + 1) * stride + j] - x[(c + 1) * stride + i]
                s += a * a
            if d % 2:
                a = x[(d - 1) * stride + j] - x[(d - 1) * stride + i]
                r += a * a
            r += s
            weight_j = weight(r * inv)
            if weighted:
                weight_j *= w[j]
            g[j] = weight_j
            total += weight_j
        mass = block_sum(partial, 0, float64(total))
        scale = 1.0 / mass if mass > 0.0 else 0.0
        for c in range(me // LANES, d, warps):
            at, s = x[c * stride + i], real(0.0)
            for j in range(me % LANES, n, LANES):
                if g[j] > 0.0:
                    s += g[j] * (x[c * stride + j] - at)
            moved = at + warp(float64(s)) * scale
            if me % LANES == 0:
                new[c] = moved
        sync()
        length = 1.0
        if spherical:
            square = 0.0
            for c in range(me, d, threads):
                square += new[c] * new[c]
            length = math.sqrt(block_sum(partial, 1, square))
        square = 0.0
        for c in range(me, d, threads):
            old = x[c * stride + i]
            if length > SHORTEST:
                x[c * stride + i] = real(new[c] / length)
            gone = float64(x[c * stride + i]) - old
            square += gone * gone
        square = block_sum(partial, 0, square)
        sync()  # before the page of `partial` is used again
        return square

    return shift
