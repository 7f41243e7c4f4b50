"""The sequences nu_k, k = 1, 2, ..., that bound how far a bandwidth policy moves at draw k."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np

from modeseek._common.storable import storable
from modeseek._common.types import Array
from modeseek._common.validation import check_number
from modeseek.meanshift.bandwidth import formulas


@runtime_checkable
class Nu(Protocol):
    """A non-negative sequence nu_k that tends to 0.

    Examples
    --------
    >>> isinstance(Power(0.5), Nu), Power(0.5)(np.array([1.0, 4.0])), Power(0.5).sup(4)
    (True, array([1. , 0.5]), 0.5)
    """

    def __call__(self, k: Array) -> Array:
        """Return nu_k for an array of k >= 1."""

    def sup(self, k: int) -> float:
        """Return the largest of nu_k, nu_{k+1}, ..."""

    @property
    def squares_diverge(self) -> bool | None:
        """Whether the sum of nu_k^2 diverges; None if unknown."""


@storable()
@dataclass(frozen=True)
class LogLog:
    """The paper's nu_k = 1 / log10(10 + log10 k): 1.0 at k = 1, still 0.81 at k = 10^7.

    Examples
    --------
    >>> LogLog()(np.array([1.0, 1e7])).round(2)
    array([1.  , 0.81])
    """

    squares_diverge: ClassVar[bool] = True

    def __call__(self, k: Array) -> Array:
        return formulas.log_log(k)

    def sup(self, k: int) -> float:
        """Return the supremum of nu_j for j >= k: it is nu_k, because the sequence decreases."""
        return float(self(np.array(float(k))))


@storable()
@dataclass(frozen=True)
class Power:
    """nu_k = k^-a with a > 0. The sum of its squares diverges if and only if a <= 1/2.

    Examples
    --------
    >>> Power(0.5).squares_diverge, Power(1.0).squares_diverge
    (True, False)
    """

    a: float = 1.0

    def __post_init__(self) -> None:
        check_number("a", self.a)

    @property
    def squares_diverge(self) -> bool:
        """Whether the sum of k^-2a diverges."""
        return self.a <= 0.5

    def __call__(self, k: Array) -> Array:
        return formulas.power(np.asarray(k, dtype=np.float64), self.a)

    def sup(self, k: int) -> float:
        """Return the supremum of nu_j for j >= k: it is nu_k, because the sequence decreases."""
        return formulas.power(float(k), self.a)


@dataclass(frozen=True)
class CustomNu:
    """A user-defined sequence.

    Parameters
    ----------
    function : callable
        Returns nu_k for a number k >= 1.
    falls : bool
        Whether the sequence never increases. Otherwise no upper bound of later nu_k is known, and the certificate
        assumes that later bandwidths reach the upper end of the range.
    squares_diverge : bool, optional
        Whether the sum of nu_k^2 diverges, if known.

    Examples
    --------
    >>> nu = get_nu(lambda k: 1 / k)
    >>> nu(np.array([1.0, 2.0, 4.0]))
    array([1.  , 0.5 , 0.25])
    """

    function: Callable[[float], float]
    falls: bool = False
    squares_diverge: bool | None = None

    def __call__(self, k: Array) -> Array:
        values = np.array([float(self.function(float(j))) for j in np.atleast_1d(k)])
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise ValueError("nu must return finite numbers >= 0 for every k >= 1.")
        return values.reshape(np.shape(k))

    def sup(self, k: int) -> float:
        """Return nu_k if the sequence never increases, else infinity."""
        return float(self(np.array(float(k)))) if self.falls else np.inf


NuSpec: TypeAlias = str | float | Callable[[float], float] | Nu


def get_nu(nu: NuSpec) -> Nu:
    """Return the sequence for a name ("log-log", "1/k", "1/k^0.5"), an exponent a, a function of k, or a `Nu`.

    Examples
    --------
    >>> get_nu("1/k^0.5")
    Power(a=0.5)
    >>> get_nu(2)
    Power(a=2.0)
    """
    if isinstance(nu, Nu):
        return nu
    if isinstance(nu, str):
        if nu == "log-log":
            return LogLog()
        power = re.fullmatch(r"1/k(?:\^(\d*\.?\d+))?", nu.replace(" ", ""))
        if power:
            return Power(float(power[1] or 1.0))
    elif isinstance(nu, Real) and not isinstance(nu, bool):
        return Power(check_number("nu", nu))
    elif callable(nu):
        return CustomNu(nu)
    raise ValueError(
        f"nu must be 'log-log', '1/k', '1/k^a' with a number a, a positive exponent a, or a function of k; got {nu!r}."
    )
