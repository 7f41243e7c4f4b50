"""What a policy guarantees about its draws (`Law`), and the policies for which the theorems hold: walks in 1/h^2."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, NamedTuple

import numpy as np

from modeseek._common.storable import storable
from modeseek._common.types import Array
from modeseek._common.validation import check_choice, check_range
from modeseek.meanshift.bandwidth import formulas
from modeseek.meanshift.bandwidth.nu import LogLog, Nu
from modeseek.meanshift.types import BandwidthPolicy


class Law(Enum):
    """What a policy guarantees about alpha = (h_k / h_{k+1})^2; the theorems depend on it.

    Examples
    --------
    >>> law_of(Walk(0.2, 1.6)) is Law.MARTINGALE
    True
    """

    CONSTANT = "h never changes"
    MARTINGALE = "E[alpha | past] = 1: 1/h^2 is a martingale, as in Algorithm 1b"
    REMARK_1 = "E[alpha | past] <= 1: the wider family of Remark 1"
    OTHER = "nothing is known about E[alpha | past]"


def law_of(policy: BandwidthPolicy) -> Law:
    """Return the law that the class of a policy declares in its attribute `law`.

    A subclass may override the draws, so it has to declare its law itself.

    Examples
    --------
    >>> class Biased(Walk):
    ...     pass
    >>> law_of(Walk(0.2, 1.6)).name, law_of(Biased(0.2, 1.6)).name
    ('MARTINGALE', 'OTHER')
    """
    return vars(type(policy)).get("law", Law.OTHER)


@dataclass(frozen=True)
class RangePolicy:
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

    def nu_after(self, k: int, m: int) -> Array:
        """Return nu_{k+1}, ..., nu_{k+m}."""
        return self.nu(np.arange(k + 1, k + m + 1, dtype=np.float64))  # nu starts at k = 1


class Absorption(NamedTuple):
    """Where a walk ends.

    Attributes
    ----------
    to_min, to_max : float or None
        Probabilities that h converges to h_min and to h_max; None if it may converge to another bandwidth.
    message : str
        These probabilities as a sentence, or why there are none.

    Examples
    --------
    >>> walk = Walk(0.2, 1.6, 0.6)
    >>> end = walk.absorption()
    >>> round(end.to_min + end.to_max, 6)
    1.0
    """

    to_min: float | None
    to_max: float | None
    message: str


@dataclass(frozen=True)
class _Walk(RangePolicy):
    """A walk h_{k+1} = h_k / sqrt(alpha) with alpha = 1 - delta + 2 delta u, until h is at an end of the range."""

    def _max_delta(self, h: float) -> float:
        return formulas.walk_max_delta((h / self.h_min) ** 2, (h / self.h_max) ** 2)

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return the next bandwidths of the walk."""
        bandwidths = np.empty(len(uniforms))
        for j, (u, nu) in enumerate(zip(uniforms.tolist(), self.nu_after(k, len(uniforms)).tolist(), strict=True)):
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


@storable()
@dataclass(frozen=True)
class Walk(_Walk):
    """Algorithm 1b of the paper: h_{k+1} = h_k / sqrt(alpha) with alpha ~ U(1 - delta, 1 + delta).

    delta = min{nu_k, (h_k/h_min)^2 - 1, 1 - (h_k/h_max)^2}, but at least 0. So 1/h^2 is a bounded martingale. With a
    slowly decreasing nu, h soon reaches an end of the range and stays there: see `absorption`.
    """

    law: ClassVar[Law] = Law.MARTINGALE

    def absorption(self, h: float | None = None) -> Absorption:
        """Return the probabilities that a walk from h (default: h_0) is absorbed at each end of its range.

        By optional stopping, P(h -> h_min) = (h^-2 - h_max^-2) / (h_min^-2 - h_max^-2) if the sum of nu_k^2 diverges.
        If the sum converges, the walk may stop inside its range, and there are no such probabilities.

        Examples
        --------
        >>> Walk(0.2, 1.6, 0.6).absorption().message
        'h ends at h_min = 0.2 with probability 9.70 % and at h_max = 1.6 with probability 90.30 %'
        >>> from modeseek.meanshift.bandwidth import Power
        >>> Walk(0.2, 1.6, 0.6, nu=Power(1.0)).absorption().to_min is None
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


# the functions g of `GeneralWalk`, by name
STEPS: dict[str, Callable[[Array], Array]] = {
    "two-point": lambda u: np.where(u < 0.5, -1.0, 1.0),
    "upward": lambda u: -u,
}


@storable()
@dataclass(frozen=True)
class GeneralWalk(_Walk):
    """A walk of Remark 1's wider family: h_{k+1} = h_k / sqrt(alpha) with alpha = 1 + delta g(u) and E[g(u)] <= 0.

    delta is that of `Walk`, for which g(u) = 2 u - 1. Here g is -1 or 1 with probability 1/2 each ("two-point"), or -u
    ("upward"), with which h never decreases.

    Examples
    --------
    >>> GeneralWalk(0.2, 1.6, 0.6, step="upward").draw(np.array([0.1, 0.5, 0.1]), 0.6, 0).round(2)
    array([0.63, 0.83, 0.86])
    """

    law: ClassVar[Law] = Law.REMARK_1

    step: str = "two-point"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("step", self.step, STEPS)

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return the next bandwidths of the walk."""
        return super().draw((1.0 + STEPS[self.step](uniforms)) / 2.0, h, k)
