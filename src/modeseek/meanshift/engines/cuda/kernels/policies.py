"""Bandwidth policies on the device, compiled from `modeseek.meanshift.bandwidth.formulas`.

A policy is a row of numbers: the fields of `modeseek.meanshift.bandwidth.PolicyCode`.
"""

from modeseek.meanshift.bandwidth import PolicyCode, formulas
from modeseek.meanshift.engines.cuda.kernels.block import device
from modeseek.meanshift.engines.cuda.kernels.translate import translated

# The policies, by their position in `CODED_POLICIES`.
UNIFORM = 1
SHRINKING = 2
ANCHORED = 3
WALK = 4
# The columns of a row.
H_MIN = PolicyCode._fields.index("h_min")
H_0 = PolicyCode._fields.index("h_0")
H_MAX = PolicyCode._fields.index("h_max")
NU = PolicyCode._fields.index("nu")
A = PolicyCode._fields.index("a")
# As in `meanshift.chains.random_updates`: a bandwidth is fixed if a draw changes it by at most this share.
FROZEN = 1e-5

_log_log = device(translated(formulas.log_log))
_power = device(translated(formulas.power))
_uniform = device(translated(formulas.uniform))
_shrinking = device(translated(formulas.shrinking))
_shrinking_upper = device(translated(formulas.shrinking_upper))
_anchored = device(translated(formulas.anchored))
_anchored_max_delta = device(translated(formulas.anchored_max_delta))
_anchored_upper = device(translated(formulas.anchored_upper))
_walk = device(translated(formulas.walk))
_walk_max_delta = device(translated(formulas.walk_max_delta))


@device
def nu_of(policy, k):  # type: ignore[no-untyped-def]
    """Return nu_k."""
    return _log_log(float(k)) if policy[NU] == 0 else _power(float(k), policy[A])


@device
def draw(policy, u, k):  # type: ignore[no-untyped-def]
    """Return the bandwidth of draw k = 1, 2, ... from the uniform number u; for a walk see `draw_walk`."""
    h_min, h_0, h_max = policy[H_MIN], policy[H_0], policy[H_MAX]
    if policy[0] == UNIFORM:
        return _uniform(u, h_min, h_max)
    if policy[0] == SHRINKING:
        return _shrinking(u, nu_of(policy, k), h_min, h_0, h_max)
    if policy[0] == ANCHORED:
        return _anchored(u, nu_of(policy, k), _anchored_max_delta(h_min, h_0, h_max), h_min, h_0, h_max)
    return h_0


@device
def draw_walk(policy, u, nu, h):  # type: ignore[no-untyped-def]
    """Return the next bandwidth of a walk at h."""
    delta = _walk_max_delta((h / policy[H_MIN]) ** 2, (h / policy[H_MAX]) ** 2)
    return h if delta == 0.0 else _walk(u, nu, delta, h, policy[H_MIN], policy[H_MAX])


@device
def upper(policy, h, k):  # type: ignore[no-untyped-def]
    """Return the largest bandwidth that can be drawn after k draws."""
    h_min, h_0, h_max = policy[H_MIN], policy[H_0], policy[H_MAX]
    if policy[0] == SHRINKING:
        return _shrinking_upper(nu_of(policy, k + 1), h_0, h_max)
    if policy[0] == ANCHORED:
        return _anchored_upper(nu_of(policy, k + 1), _anchored_max_delta(h_min, h_0, h_max), h_0, h_max)
    if policy[0] == WALK:
        return h if _walk_max_delta((h / h_min) ** 2, (h / h_max) ** 2) == 0.0 else h_max
    return h_max


@device
def frozen(policy, h, k):  # type: ignore[no-untyped-def]
    """Return whether the next draw changes h by at most FROZEN * h."""
    largest = 1.0 - 2.0**-53
    if policy[0] == WALK:
        nu = nu_of(policy, k + 1)
        low, high = draw_walk(policy, 0.0, nu, h), draw_walk(policy, largest, nu, h)
    else:
        low, high = draw(policy, 0.0, k + 1), draw(policy, largest, k + 1)
    return abs(low - h) <= FROZEN * h and abs(high - h) <= FROZEN * h
