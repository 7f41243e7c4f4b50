"""Bandwidth policies: how h_{k+1} is drawn from a uniform number, given h_k and k.

Chance enters by argument: a policy is a pure function of uniforms. `Walk` is the paper's Algorithm 1b and the only
one that the theorems cover; `Shrinking` is our reading of the paper's experiments; see docs/theory.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array
from modeseek._common.validation import check_choice, check_number, check_range
from modeseek.meanshift.bandwidth import steps
from modeseek.meanshift.bandwidth.nu import LogLog, Nu, NuSpec, Power, get_nu
from modeseek.meanshift.types import BandwidthPolicy

__all__ = [
    "POLICIES",
    "Absorption",
    "Anchored",
    "Constant",
    "PolicyCode",
    "Shrinking",
    "Uniform",
    "Walk",
    "encode_policy",
    "make_policy",
]


@dataclass(frozen=True)
class Constant:
    """One bandwidth for all updates: SMS.

    Examples
    --------
    >>> Constant(0.6).draw(np.array([0.1, 0.9]), 0.6, 0)
    array([0.6, 0.6])
    """

    h: float

    def __post_init__(self) -> None:
        check_number("bandwidth", self.h)

    @property
    def h_0(self) -> float:
        """The bandwidth."""
        return self.h

    @property
    def h_min(self) -> float:
        """The bandwidth."""
        return self.h

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return h for every update."""
        return np.full(len(uniforms), self.h)

    def upper(self, h: float, k: int) -> float:
        """Return h."""
        return self.h


@dataclass(frozen=True)
class _Ranged:
    """What the policies on [h_min, h_max] share."""

    h_min: float
    h_max: float
    h_inf: float | None = None
    nu: Nu = field(default_factory=LogLog)

    def __post_init__(self) -> None:
        check_range(self.h_min, self.h_max, self.h_inf)

    @property
    def h_0(self) -> float:
        """The start: h_inf where one is given, else the geometric middle of the range."""
        return float(np.sqrt(self.h_min * self.h_max)) if self.h_inf is None else self.h_inf

    def _nu(self, k: int, m: int) -> Array:
        return self.nu(np.arange(k + 1, k + m + 1, dtype=np.float64))  # nu starts at k = 1


class Absorption(NamedTuple):
    """Where a walk ends.

    Attributes
    ----------
    to_min, to_max : float or None
        Probabilities that h ends at h_min and at h_max; None where the walk need not end at either.
    message : str
        The same in words.
    """

    to_min: float | None
    to_max: float | None
    message: str


@dataclass(frozen=True)
class Walk(_Ranged):
    """Algorithm 1b to the letter: h_{k+1} = h_k / sqrt(alpha), alpha ~ U(1 - delta, 1 + delta).

    delta = min{nu_k, (h_k/h_min)^2 - 1, 1 - (h_k/h_max)^2}, clamped at 0. So 1/h^2 is a bounded martingale, and
    with a slow nu it is soon absorbed at an end of the range: see `absorption`.
    """

    def _room(self, h: float) -> float:
        return steps.walk_room(h, self.h_min, self.h_max)

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return the next steps of the walk."""
        bandwidths = np.empty(len(uniforms))
        for j, (u, nu) in enumerate(zip(uniforms.tolist(), self._nu(k, len(uniforms)).tolist(), strict=True)):
            room = self._room(h)
            if room == 0.0:  # absorbed: the rest of the path is h
                bandwidths[j:] = h
                break
            h = steps.walk(u, nu, room, h, self.h_min, self.h_max)
            bandwidths[j] = h
        return bandwidths

    def upper(self, h: float, k: int) -> float:
        """Return h once absorbed, h_max before: every h in the range can still come."""
        return h if self._room(h) == 0.0 else self.h_max

    def absorption(self, h: float | None = None) -> Absorption:
        """Return the probability that the walk from h (default h_0) ends at either end of its range.

        P(h -> h_min) = (h^-2 - h_max^-2) / (h_min^-2 - h_max^-2), by optional stopping, where the sum of nu_k^2
        diverges. Where it converges the walk may freeze inside, and there is no such probability.

        Examples
        --------
        >>> Walk(0.2, 1.6, 0.6).absorption().message
        'h ends at h_min = 0.2 with probability 9.70 % and at h_max = 1.6 with probability 90.30 %'
        >>> Walk(0.2, 1.6, 0.6, nu=get_nu("1/k")).absorption().to_min is None
        True
        """
        if self.nu.squares_diverge is None:
            return Absorption(
                None, None, "unknown: say whether the sum of nu^2 diverges, CustomNu(..., squares_diverge=)"
            )
        if not self.nu.squares_diverge:
            return Absorption(None, None, "none: the sum of nu^2 converges, so the walk may freeze inside its range")
        h = self.h_0 if h is None else h
        if self.h_min == self.h_max:
            return Absorption(1.0, 0.0, f"h is {self.h_min:g} from the start: the range is one point")
        to_min = (h**-2 - self.h_max**-2) / (self.h_min**-2 - self.h_max**-2)
        return Absorption(
            to_min,
            1.0 - to_min,
            f"h ends at h_min = {self.h_min:g} with probability {100 * to_min:.2f} % "
            f"and at h_max = {self.h_max:g} with probability {100 * (1 - to_min):.2f} %",
        )


@dataclass(frozen=True)
class Shrinking(_Ranged):
    """h_{k+1} ~ U[h_inf - nu_k (h_inf - h_min), h_inf + nu_k (h_max - h_inf)]: a range that closes on h_inf.

    Our reading of the paper's experiments, whose table has an h_inf that Algorithm 1b never uses.
    """

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return independent draws from the shrinking range."""
        return steps.shrinking(uniforms, self._nu(k, len(uniforms)), self.h_min, self.h_0, self.h_max)

    def upper(self, h: float, k: int) -> float:
        """Return the upper end of the range as it is now."""
        return steps.shrinking_upper(self.nu.sup(k + 1), self.h_0, self.h_max)


@dataclass(frozen=True)
class Uniform(_Ranged):
    """h_{k+1} ~ U[h_min, h_max], independent and identically distributed."""

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return independent draws from the whole range."""
        return steps.uniform(uniforms, self.h_min, self.h_max)

    def upper(self, h: float, k: int) -> float:
        """Return h_max."""
        return self.h_max


@dataclass(frozen=True)
class Anchored(_Ranged):
    """h_{k+1} = h_inf / sqrt(alpha), alpha ~ U(1 - delta, 1 + delta): one step of `Walk`, always from h_inf.

    delta = min{nu_k, (h_inf/h_min)^2 - 1, 1 - (h_inf/h_max)^2}.
    """

    def _room(self) -> float:
        return steps.anchored_room(self.h_min, self.h_0, self.h_max)

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return independent draws around h_inf."""
        nu = self._nu(k, len(uniforms))
        return steps.anchored(uniforms, nu, self._room(), self.h_min, self.h_0, self.h_max)

    def upper(self, h: float, k: int) -> float:
        """Return h_inf / sqrt(1 - delta), no more than h_max."""
        return steps.anchored_upper(self.nu.sup(k + 1), self._room(), self.h_0, self.h_max)


POLICIES: dict[str, type[_Ranged]] = {"shrinking": Shrinking, "walk": Walk, "uniform": Uniform, "anchored": Anchored}


def make_policy(
    policy: str, h_min: float, h_max: float, h_inf: float | None, nu: NuSpec = "log-log"
) -> BandwidthPolicy:
    """Return the policy of a name on [h_min, h_max]; "constant" stays at h_inf.

    Examples
    --------
    >>> make_policy("uniform", 0.2, 1.6, None).upper(0.6, 0)
    1.6
    """
    check_choice("policy", policy, [*POLICIES, "constant"])
    ranged = POLICIES.get(policy, _Ranged)(*check_range(h_min, h_max, h_inf), get_nu(nu))
    return Constant(ranged.h_0) if policy == "constant" else ranged  # type: ignore[return-value]


class PolicyCode(NamedTuple):
    """A policy that ships, in numbers: what draws it needs on another machine.

    Attributes
    ----------
    policy : int
        Which one, by its place in `CODED_POLICIES`.
    h_min, h_0, h_max : float
        Its range and where it starts.
    nu : int
        0 for the log-log sequence, 1 for a power.
    a : float
        The exponent.
    """

    policy: int
    h_min: float
    h_0: float
    h_max: float
    nu: int
    a: float


CODED_POLICIES: tuple[type, ...] = (Constant, Uniform, Shrinking, Anchored, Walk)


def encode_policy(policy: BandwidthPolicy) -> PolicyCode | None:
    """Return a policy in numbers; None for one of a user's own, or one with a sequence of a user's own.

    Examples
    --------
    >>> encode_policy(Uniform(0.5, 2.0))
    PolicyCode(policy=1, h_min=0.5, h_0=1.0, h_max=2.0, nu=0, a=0.0)
    """
    if type(policy) not in CODED_POLICIES:  # not a subclass either: it may draw as it likes
        return None
    number = CODED_POLICIES.index(type(policy))
    if isinstance(policy, Constant):
        return PolicyCode(number, policy.h, policy.h, policy.h, 0, 0.0)
    assert isinstance(policy, _Ranged)
    if type(policy.nu) not in (LogLog, Power):
        return None
    a = float(policy.nu.a) if isinstance(policy.nu, Power) else 0.0
    return PolicyCode(number, policy.h_min, policy.h_0, policy.h_max, int(isinstance(policy.nu, Power)), a)
