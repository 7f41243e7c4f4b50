"""Compiled code that makes the same draws as `DrawPlan`, bit for bit.

No operation may be reordered or contracted here. Values nu_k come from NumPy, whose logarithm may differ in the last
bit from that of compiled code. Importing this module imports Numba and compiles nothing.
"""

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from modeseek._common.jit import NO_ENTRIES, NO_REFERENCE_COUNTS
from modeseek.meanshift.bandwidth import formulas
from modeseek.meanshift.bandwidth.draws import KEY_STEPS, MULTIPLIERS, ROUNDS, UNUSED_BITS
from modeseek.meanshift.bandwidth.policies import CODED_POLICIES, Anchored, Shrinking, Uniform
from modeseek.meanshift.bandwidth.walks import Walk

FIRST_MULTIPLIER, SECOND_MULTIPLIER = map(np.uint64, MULTIPLIERS)
FIRST_STEP, SECOND_STEP = map(np.uint64, KEY_STEPS)
SHIFT, ZERO = np.uint64(UNUSED_BITS), np.uint64(0)
UNIFORM, SHRINKING, ANCHORED, WALK = map(CODED_POLICIES.index, (Uniform, Shrinking, Anchored, Walk))
# relative margin, larger than `draws.FROZEN_RTOL`, within which a bandwidth counts as fixed
FROZEN_MARGIN = 1e-4


def _exact(function: Any) -> Any:
    """Compile a function with `fastmath` set to False; if it were not set, Numba would use that of the caller."""
    return njit(fastmath=False, error_model="numpy", **NO_REFERENCE_COUNTS, **NO_ENTRIES)(function)


_uniform, _walk, _walk_max_delta = map(_exact, (formulas.uniform, formulas.walk, formulas.walk_max_delta))
_shrinking, _shrinking_upper = map(_exact, (formulas.shrinking, formulas.shrinking_upper))
_anchored, _anchored_upper = map(_exact, (formulas.anchored, formulas.anchored_upper))


@intrinsic
def _upper_word(typing_context, x, y):  # type: ignore[no-untyped-def]
    """Return the upper 64 bits of a product, by one instruction of the processor."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        word = arguments[0].type
        wide = type(word)(2 * word.width)
        a, b = (builder.zext(each, wide) for each in arguments)
        return builder.trunc(builder.lshr(builder.mul(a, b), wide(word.width)), word)

    return types.uint64(types.uint64, types.uint64), generate


@_exact
def uniform_pair(key, counter):  # type: ignore[no-untyped-def]
    """Return the first two uniform numbers of the block with counter (counter, 0, 0, 0)."""
    key0, key1 = key[0], key[1]
    c0, c1, c2, c3 = np.uint64(counter), ZERO, ZERO, ZERO
    for _ in range(ROUNDS):
        high0, low0 = _upper_word(c0, FIRST_MULTIPLIER), c0 * FIRST_MULTIPLIER
        high1, low1 = _upper_word(c2, SECOND_MULTIPLIER), c2 * SECOND_MULTIPLIER
        c0, c1, c2, c3 = high1 ^ c1 ^ key0, low1, high0 ^ c3 ^ key1, low0
        key0, key1 = key0 + FIRST_STEP, key1 + SECOND_STEP
    return np.float64(c0 >> SHIFT) * 2.0**-53, np.float64(c1 >> SHIFT) * 2.0**-53


@_exact
def draw_words(code, done, first, second):  # type: ignore[no-untyped-def]
    """Write the two uniform numbers of each update of a sweep to `first` and `second`.

    `done` is the number of updates since `code.first`.
    """
    for k in range(len(first)):
        first[k], second[k] = uniform_pair(code.key, code.first + done + k + 1)


@_exact
def draw_points(code, words, indices):  # type: ignore[no-untyped-def]
    """Write the index of the point that each uniform number selects, by weight unless `code.cumulative` is empty."""
    n, cumulative = len(indices), code.cumulative
    for k in range(n):
        if len(cumulative) == 0:
            indices[k] = min(np.int64(words[k] * n), n - 1)
            continue
        aim, low, high = words[k] * cumulative[n - 1], 0, n
        while low < high:
            middle = (low + high) // 2
            if cumulative[middle] <= aim:
                low = middle + 1
            else:
                high = middle
        indices[k] = min(low, n - 1)


@_exact
def draw_bandwidths(code, done, h, path, indices, bandwidths):  # type: ignore[no-untyped-def]
    """Replace uniform numbers in `path` by the policy's bandwidths; write these times all factors to `bandwidths`."""
    kind, h_min, h_0, h_max = code.policy.policy, code.policy.h_min, code.policy.h_0, code.policy.h_max
    max_delta = code.max_delta
    for k in range(len(path)):
        if kind == WALK:
            max_delta = _walk_max_delta((h / h_min) ** code.square, (h / h_max) ** code.square)
            if max_delta > 0.0:
                h = _walk(path[k], code.nu[done + k], max_delta, h, h_min, h_max)
        elif kind == SHRINKING:
            h = _shrinking(path[k], code.nu[done + k], h_min, h_0, h_max)
        elif kind == ANCHORED:
            h = _anchored(path[k], code.nu[done + k], max_delta, h_min, h_0, h_max)
        elif kind == UNIFORM:
            h = _uniform(path[k], h_min, h_max)
        else:
            h = h_0
        path[k] = h
        bandwidths[k] = h
        if len(code.scales) > 0:
            bandwidths[k] *= code.scales[indices[k]]
        bandwidths[k] *= code.reach


@_exact
def may_be_frozen(code, h, h_upper):  # type: ignore[no-untyped-def]
    """Return False if later draws certainly change the bandwidth; `h_upper` is an upper bound of later bandwidths."""
    return code.policy.policy == WALK or h_upper <= h * code.widest * code.reach * (1.0 + FROZEN_MARGIN)


@_exact
def upper_bound(code, done, h):  # type: ignore[no-untyped-def]
    """Return an upper bound of all later bandwidths, including the largest local scale."""
    kind, h_0, high = code.policy.policy, code.policy.h_0, code.policy.h_max
    if kind == SHRINKING:
        high = _shrinking_upper(code.nu[done], h_0, high)
    elif kind == ANCHORED:
        high = _anchored_upper(code.nu[done], code.max_delta, h_0, high)
    elif kind == WALK:
        low = code.policy.h_min
        high = h if _walk_max_delta((h / low) ** code.square, (h / high) ** code.square) == 0.0 else high
    return high * code.widest * code.reach
