"""Bandwidth policies: the distribution of h_{k+1}, given h_k and k.

A policy is a pure function of uniform numbers. `Walk` is the paper's Algorithm 1b, which its theorems are about.
`Shrinking` is our reading of the paper's experiments. See docs/theory.md.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from modeseek._common.storable import storable
from modeseek._common.types import Array
from modeseek._common.validation import check_choice, check_number, check_range
from modeseek.meanshift.bandwidth import formulas
from modeseek.meanshift.bandwidth.nu import LogLog, NuSpec, Power, get_nu
from modeseek.meanshift.bandwidth.walks import Law, RangePolicy, Walk
from modeseek.meanshift.types import BandwidthPolicy


@storable()
@dataclass(frozen=True)
class Constant:
    """The same bandwidth for all updates, as in SMS.

    Examples
    --------
    >>> Constant(0.6).draw(np.array([0.1, 0.9]), 0.6, 0)
    array([0.6, 0.6])
    """

    law: ClassVar[Law] = Law.CONSTANT

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


@storable()
@dataclass(frozen=True)
class Shrinking(RangePolicy):
    """h_{k+1} ~ U[h_inf - nu_k (h_inf - h_min), h_inf + nu_k (h_max - h_inf)]: a range that shrinks to h_inf.

    This is our reading of the paper's experiments, whose table of settings has an h_inf that Algorithm 1b never uses.

    Examples
    --------
    >>> policy = Shrinking(0.2, 1.6, 0.6)
    >>> policy.draw(np.array([0.5]), h=0.6, k=0).round(3), policy.upper(0.6, 10**6) < 1.6
    (array([0.9]), True)
    """

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return independent draws from the shrinking range."""
        return formulas.shrinking(uniforms, self.nu_after(k, len(uniforms)), self.h_min, self.h_0, self.h_max)

    def upper(self, h: float, k: int) -> float:
        """Return the upper end of the current range."""
        return formulas.shrinking_upper(self.nu.sup(k + 1), self.h_0, self.h_max)


@storable()
@dataclass(frozen=True)
class Uniform(RangePolicy):
    """h_{k+1} ~ U[h_min, h_max], independent and identically distributed.

    Examples
    --------
    >>> Uniform(0.2, 1.6).draw(np.array([0.0, 0.5, 1.0]), h=0.6, k=0)
    array([0.2, 0.9, 1.6])
    """

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return independent draws from the whole range."""
        return formulas.uniform(uniforms, self.h_min, self.h_max)

    def upper(self, h: float, k: int) -> float:
        """Return h_max."""
        return self.h_max


@storable()
@dataclass(frozen=True)
class Anchored(RangePolicy):
    """h_{k+1} = h_inf / sqrt(alpha) with alpha ~ U(1 - delta, 1 + delta): one step of `Walk`, always from h_inf.

    delta = min{nu_k, (h_inf/h_min)^2 - 1, 1 - (h_inf/h_max)^2}.

    Examples
    --------
    >>> Anchored(0.2, 1.6, 0.6).draw(np.array([0.5]), h=0.9, k=0)
    array([0.6])
    """

    @property
    def max_delta(self) -> float:
        """The largest delta for which both ends of the step are in the range."""
        return formulas.anchored_max_delta(self.h_min, self.h_0, self.h_max)

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return independent draws around h_inf."""
        nu = self.nu_after(k, len(uniforms))
        return formulas.anchored(uniforms, nu, self.max_delta, self.h_min, self.h_0, self.h_max)

    def upper(self, h: float, k: int) -> float:
        """Return h_inf / sqrt(1 - delta), at most h_max."""
        return formulas.anchored_upper(self.nu.sup(k + 1), self.max_delta, self.h_0, self.h_max)


POLICIES: dict[str, type[RangePolicy]] = {
    "shrinking": Shrinking,
    "walk": Walk,
    "uniform": Uniform,
    "anchored": Anchored,
}


def make_policy(
    policy: str, h_min: float, h_max: float, h_inf: float | None, nu: NuSpec = "log-log"
) -> BandwidthPolicy:
    """Return the policy with a given name on [h_min, h_max]; "constant" stays at h_inf.

    Examples
    --------
    >>> make_policy("uniform", 0.2, 1.6, None).upper(0.6, 0)
    1.6
    """
    check_choice("policy", policy, [*POLICIES, "constant"])
    ranged = POLICIES.get(policy, RangePolicy)(*check_range(h_min, h_max, h_inf), get_nu(nu))
    return Constant(ranged.h_0) if policy == "constant" else ranged  # type: ignore[return-value]


class PolicyCode(NamedTuple):
    """A built-in policy as numbers, for compiled code.

    Attributes
    ----------
    policy : int
        Index of its class in `CODED_POLICIES`.
    h_min, h_0, h_max : float
        Its range and initial bandwidth.
    nu : int
        0 for `LogLog`, 1 for `Power`.
    a : float
        Exponent of `Power`.
    """

    policy: int
    h_min: float
    h_0: float
    h_max: float
    nu: int
    a: float


CODED_POLICIES: tuple[type, ...] = (Constant, Uniform, Shrinking, Anchored, Walk)


def encode_policy(policy: BandwidthPolicy) -> PolicyCode | None:
    """Return a policy as numbers; None if the policy or its nu is user-defined.

    Examples
    --------
    >>> encode_policy(Uniform(0.5, 2.0))
    PolicyCode(policy=1, h_min=0.5, h_0=1.0, h_max=2.0, nu=0, a=0.0)
    """
    if type(policy) not in CODED_POLICIES:  # a subclass may override the draws
        return None
    number = CODED_POLICIES.index(type(policy))
    if isinstance(policy, Constant):
        return PolicyCode(number, policy.h, policy.h, policy.h, 0, 0.0)
    assert isinstance(policy, RangePolicy)
    if type(policy.nu) not in (LogLog, Power):
        return None
    a = float(policy.nu.a) if isinstance(policy.nu, Power) else 0.0
    return PolicyCode(number, policy.h_min, policy.h_0, policy.h_max, int(isinstance(policy.nu, Power)), a)
