"""Bandwidth policies on the device: the arithmetic of `modeseek.meanshift.bandwidth.formulas`, chosen by number.

A recipe is a row of numbers: policy, h_min, h_0, h_max, nu, a, as in `modeseek.meanshift.bandwidth.PolicyCode`.
"""

from __future__ import annotations

from modeseek.meanshift.bandwidth import formulas
from modeseek.meanshift.engines.cuda.kernels.device import device
from modeseek.meanshift.engines.cuda.kernels.translate import translated

__all__ = ["H_0", "WALK", "drawn", "frozen", "nu_of", "upper", "walked"]

CONSTANT, UNIFORM, SHRINKING, ANCHORED, WALK = range(5)
H_MIN, H_0, H_MAX, NU, A = range(1, 6)
# as in `meanshift.chains.algorithms`: a bandwidth that a draw changes by less than this share of it counts as fixed
FROZEN = 1e-5

_log_log = device(translated(formulas.log_log))
_power = device(translated(formulas.power))
_uniform = device(translated(formulas.uniform))
_shrinking = device(translated(formulas.shrinking))
_shrinking_upper = device(translated(formulas.shrinking_upper))
_anchored = device(translated(formulas.anchored))
_anchored_room = device(translated(formulas.anchored_max_delta))
_anchored_upper = device(translated(formulas.anchored_upper))
_walk = device(translated(formulas.walk))
_walk_room = device(translated(formulas.walk_max_delta))


@device
def nu_of(recipe, k):  # type: ignore[no-untyped-def]
    """Return nu_k."""
    return _log_log(float(k)) if recipe[NU] == 0 else _power(float(k), recipe[A])


@device
def drawn(recipe, u, k):  # type: ignore[no-untyped-def]
    """Return the bandwidth of draw k = 1, 2, ...; a walk needs `walked`."""
    if recipe[0] == UNIFORM:
        return _uniform(u, recipe[H_MIN], recipe[H_MAX])
    if recipe[0] == SHRINKING:
        return _shrinking(u, nu_of(recipe, k), recipe[H_MIN], recipe[H_0], recipe[H_MAX])
    if recipe[0] == ANCHORED:
        room = _anchored_room(recipe[H_MIN], recipe[H_0], recipe[H_MAX])
        return _anchored(u, nu_of(recipe, k), room, recipe[H_MIN], recipe[H_0], recipe[H_MAX])
    return recipe[H_0]


@device
def walked(recipe, u, nu, h):  # type: ignore[no-untyped-def]
    """Return where a walk goes from h."""
    room = _walk_room(h, recipe[H_MIN], recipe[H_MAX])
    return h if room == 0.0 else _walk(u, nu, room, h, recipe[H_MIN], recipe[H_MAX])


@device
def upper(recipe, h, k):  # type: ignore[no-untyped-def]
    """Return the largest bandwidth still to come after k draws."""
    if recipe[0] == SHRINKING:
        return _shrinking_upper(nu_of(recipe, k + 1), recipe[H_0], recipe[H_MAX])
    if recipe[0] == ANCHORED:
        room = _anchored_room(recipe[H_MIN], recipe[H_0], recipe[H_MAX])
        return _anchored_upper(nu_of(recipe, k + 1), room, recipe[H_0], recipe[H_MAX])
    if recipe[0] == WALK:
        return h if _walk_room(h, recipe[H_MIN], recipe[H_MAX]) == 0.0 else recipe[H_MAX]
    return recipe[H_MAX]


@device
def frozen(recipe, h, k):  # type: ignore[no-untyped-def]
    """Tell whether the next draw cannot change h by more than FROZEN of it."""
    if recipe[0] == WALK:
        nu = nu_of(recipe, k + 1)
        low, high = walked(recipe, 0.0, nu, h), walked(recipe, 1.0 - 2.0**-53, nu, h)
    else:
        low, high = drawn(recipe, 0.0, k + 1), drawn(recipe, 1.0 - 2.0**-53, k + 1)
    return abs(low - h) <= FROZEN * h and abs(high - h) <= FROZEN * h
