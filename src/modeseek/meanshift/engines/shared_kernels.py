"""Compiled functions that several engines call: the weights, and moves of a point.

Importing this module imports Numba and compiles nothing. Compiled functions are closures over integers only, because a
compiled function in a closure cannot be cached on disk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from modeseek._common.jit import CompiledFunction, cached
from modeseek.meanshift.kernels import formulas

__all__ = ["cached_sum", "check_code", "leave", "settle_in_place", "weigh", "within_rounding"]

# weights up to a factor, which cancels in S_h and would cost a multiplication a pair
flat = njit(formulas.flat_weight)
biweight = njit(formulas.biweight_shape)
triweight = njit(formulas.triweight_shape)
quadweight = njit(formulas.quadweight_shape)
gaussian = njit(formulas.gaussian_k)


def cached_sum(function: Callable[..., Any], *modules: ModuleType, **options: Any) -> CompiledFunction:
    """Compile a function that uses the weights of profiles or other functions of this module; see `jit.cached`."""
    return cached(function, formulas, sys.modules[__name__], *modules, **options)


def check_code(code: int, where: str) -> int:
    """Refuse a profile that has no compiled branch."""
    if code not in range(5):
        raise ValueError(f"profile code {code} has no branch in {where}: add one.")
    return code


def weigh(kind, t):  # type: ignore[no-untyped-def]
    """Return the weight up to a factor, in compiled code: `kind` is a profile's code, or a compiled function.

    A code is a constant by the time this compiles, so that one branch is left of it.
    """
    raise NotImplementedError("for compiled code only")


@overload(weigh)
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
def settle_in_place(d, q, shift, spherical):  # type: ignore[no-untyped-def]
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
def within_rounding(d, old, new, ulps):  # type: ignore[no-untyped-def]
    """Whether no coordinate tells a new place from the old; the twin of the test in `sites_kernels`."""
    largest = gap = 0.0
    for c in range(d):
        largest = max(largest, abs(old[c]))
        gap = max(gap, abs(new[c] - old[c]))
    return gap <= ulps * largest


@njit(inline="always")
def leave(s, i, fresh, equal, w, counts, site, weights):  # type: ignore[no-untyped-def]
    """Take point i out of site s, where others stay, and give it the site `fresh`.

    The weight left behind is added up anew where weights differ: subtraction would leave the rounding of the heavy.
    """
    site[i], counts[fresh], w[fresh] = fresh, 1, weights[i]
    counts[s] -= 1
    if equal:
        w[s] = counts[s] * weights[i]
    else:
        left = 0.0
        for j in range(len(site)):
            left += weights[j] if site[j] == s else 0.0
        w[s] = left
