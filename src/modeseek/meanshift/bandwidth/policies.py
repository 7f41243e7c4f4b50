"""Bandwidth policies: the law of h_{k+1}, given h_k and k.

A policy is a pure function of uniform numbers. `Walk` is the paper's Algorithm 1b, which its theorems are about.
`Shrinking` is our reading of the paper's experiments. See docs/theory.md.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from modeseek._common.storable import storable
from modeseek._common.types import Array
from modeseek._common.validation import check_choice, check_number, check_range
from modeseek.meanshift.bandwidth import formulas
from modeseek.meanshift.bandwidth.nu import LogLog, Nu, NuSpec, Power, get_nu
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
class _RangePolicy:
    """Fields shared by the policies on [h_min, h_max]."""

    h_min: float
    h_max: float
    h_inf: float | None = None
    nu: Nu = field(default_factory=LogLog)

    def __post_init__(self) -> None:
        check_range(self.h_min, self.h_max, self.h_inf)

    @property
    def h_0(self) -> float:
        """The initial bandwidth: h_inf if given, else the geometric mean of h_min and h_max."""
        return float(np.sqrt(self.h_min * self.h_max)) if self.h_inf is None else self.h_inf

    def _nu(self, k: int, m: int) -> Array:
        return self.nu(np.arange(k + 1, k + m + 1, dtype=np.float64))  # nu starts at k = 1


class Absorption(NamedTuple):
    """The end of a walk.

    Attributes
    ----------
    to_min, to_max : float or None
        Probabilities that h converges to h_min and to h_max; None if it may converge to another bandwidth.
    message : str
        The same as a sentence.
    """

    to_min: float | None
    to_max: float | None
    message: str


@storable()
@dataclass(frozen=True)
class Walk(_RangePolicy):
    """Algorithm 1b of the paper: h_{k+1} = h_k / sqrt(alpha) with alpha ~ U(1 - delta, 1 + delta).

    delta = min{nu_k, (h_k/h_min)^2 - 1, 1 - (h_k/h_max)^2}, but at least 0. So 1/h^2 is a bounded martingale. With a
    slowly decreasing nu it is soon absorbed at an end of the range: see `absorption`.
    """

    def _max_delta(self, h: float) -> float:
        return formulas.walk_max_delta(h, self.h_min, self.h_max)

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return the next steps of the walk."""
        bandwidths = np.empty(len(uniforms))
        for j, (u, nu) in enumerate(zip(uniforms.tolist(), self._nu(k, len(uniforms)).tolist(), strict=True)):
            max_delta = self._max_delta(h)
            if max_delta == 0.0:  # absorbed
                bandwidths[j:] = h
                break
            h = formulas.walk(u, nu, max_delta, h, self.h_min, self.h_max)
            bandwidths[j] = h
        return bandwidths

    def upper(self, h: float, k: int) -> float:
        """Return h if the walk is absorbed at h, else h_max."""
        return h if self._max_delta(h) == 0.0 else self.h_max

    def absorption(self, h: float | None = None) -> Absorption:
        """Return the probabilities that a walk from h (default: h_0) is absorbed at each end of its range.

        By optional stopping, P(h -> h_min) = (h^-2 - h_max^-2) / (h_min^-2 - h_max^-2) if the sum of nu_k^2 diverges.
        If the sum converges, the walk may stop inside its range, and there are no such probabilities.

        Examples
        --------
        >>> Walk(0.2, 1.6, 0.6).absorption().message
        'h ends at h_min = 0.2 with probability 9.70 % and at h_max = 1.6 with probability 90.30 %'
        >>> Walk(0.2, 1.6, 0.6, nu=get_nu("1/k")).absorption().to_min is None
        True
        """
        if self.nu.squares_diverge is None:
            message = "unknown: give CustomNu(..., squares_diverge=), which tells whether the sum of nu^2 diverges"
            return Absorption(None, None, message)
        if not self.nu.squares_diverge:
            return Absorption(None, None, "none: the sum of nu^2 converges, so the walk may stop inside its range")
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


@storable()
@dataclass(frozen=True)
class Shrinking(_RangePolicy):
    """h_{k+1} ~ U[h_inf - nu_k (h_inf - h_min), h_inf + nu_k (h_max - h_inf)]: a range that shrinks to h_inf.

    This is our reading of the paper's experiments, whose table of settings has an h_inf that Algorithm 1b never uses.
    """

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return independent draws from the shrinking range."""
        return formulas.shrinking(uniforms, self._nu(k, len(uniforms)), self.h_min, self.h_0, self.h_max)

    def upper(self, h: float, k: int) -> float:
        """Return the upper end of the current range."""
        return formulas.shrinking_upper(self.nu.sup(k + 1), self.h_0, self.h_max)


@storable()
@dataclass(frozen=True)
class Uniform(_RangePolicy):
    """h_{k+1} ~ U[h_min, h_max], independent and identically distributed."""

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return independent draws from the whole range."""
        return formulas.uniform(uniforms, self.h_min, self.h_max)

    def upper(self, h: float, k: int) -> float:
        """Return h_max."""
        return self.h_max


@storable()
@dataclass(frozen=True)
class Anchored(_RangePolicy):
    """h_{k+1} = h_inf / sqrt(alpha) with alpha ~ U(1 - delta, 1 + delta): one step of `Walk`, always from h_inf.

    delta = min{nu_k, (h_inf/h_min)^2 - 1, 1 - (h_inf/h_max)^2}.
    """

    def _max_delta(self) -> float:
        return formulas.anchored_max_delta(self.h_min, self.h_0, self.h_max)

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return independent draws around h_inf."""
        nu = self._nu(k, len(uniforms))
        return formulas.anchored(uniforms, nu, self._max_delta(), self.h_min, self.h_0, self.h_max)

    def upper(self, h: float, k: int) -> float:
        """Return h_inf / sqrt(1 - delta), at most h_max."""
        return formulas.anchored_upper(self.nu.sup(k + 1), self._max_delta(), self.h_0, self.h_max)


POLICIES: dict[str, type[_RangePolicy]] = {
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
    ranged = POLICIES.get(policy, _RangePolicy)(*check_range(h_min, h_max, h_inf), get_nu(nu))
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
    assert isinstance(policy, _RangePolicy)
    if type(policy.nu) not in (LogLog, Power):
        return None
    a = float(policy.nu.a) if isinstance(policy.nu, Power) else 0.0
    return PolicyCode(number, policy.h_min, policy.h_0, policy.h_max, int(isinstance(policy.nu, Power)), a)
