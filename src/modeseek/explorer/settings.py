"""What a run is asked to do, read from the words of a form, and the estimator that does the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modeseek import estimators
from modeseek._common.validation import METRICS, check_choice, check_number, check_range
from modeseek.meanshift.bandwidth import POLICIES, get_nu
from modeseek.meanshift.kernels.profiles import get_profile

__all__ = ["ALGORITHMS", "POLICY_NAMES", "PROFILE_NAMES", "Settings", "estimator_of", "read_settings"]

ALGORITHMS = {
    "dsms": "doubly stochastic mean shift",
    "sms": "stochastic mean shift",
    "bms": "blurring mean shift",
    "ms": "mean shift",
    "modeseek": "ModeSeek (nothing to set)",
}
POLICY_NAMES = [*POLICIES, "constant"]
PROFILE_NAMES = ["biweight", "triweight", "quadweight", "flat", "gaussian"]
RANGE = ("h_min", "h_inf", "h_max")


@dataclass(frozen=True)
class Settings:
    """The settings of a run; None is what the data shall decide."""

    algorithm: str = "dsms"
    h_min: float | None = None
    h_inf: float | None = None
    h_max: float | None = None
    bandwidth: float | None = None
    policy: str = "shrinking"
    nu: str | float = "log-log"
    profile: str = "biweight"
    metric: str = "euclidean"
    seed: int = 0
    chains: int = 1

    @property
    def moves(self) -> bool:
        """Whether points can be seen moving."""
        return self.algorithm != "modeseek"

    @property
    def random(self) -> bool:
        """Whether single points move at random, so that several chains differ."""
        return self.algorithm in ("dsms", "sms")


def read_settings(words: Mapping[str, Any]) -> Settings:
    """Read settings from the texts of a form; an error names the field.

    Examples
    --------
    >>> read_settings({"algorithm": "sms", "bandwidth": " 0.6 "}).bandwidth
    0.6
    >>> read_settings({"h_max": "wide"})
    Traceback (most recent call last):
    ValueError: h_max must be a number > 0, or empty to take it from the data; got 'wide'.
    """
    given = {name: str(value).strip() for name, value in words.items()}
    algorithm = check_choice("algorithm", given.get("algorithm", "dsms"), ALGORITHMS)
    used = {"dsms": RANGE, "modeseek": ()}.get(algorithm, ("bandwidth",))
    lengths = {name: _length(name, given.get(name, "")) for name in used}
    if all(lengths.get(name) is not None for name in ("h_min", "h_max")):
        check_range(lengths["h_min"], lengths["h_max"], lengths["h_inf"])  # type: ignore[arg-type]
    return Settings(
        algorithm,
        **lengths,
        policy=check_choice("policy", given.get("policy", "shrinking"), POLICY_NAMES),
        nu=_nu(given.get("nu", "log-log")),
        profile=get_profile(given.get("profile", "biweight")).name,
        metric=check_choice("metric", given.get("metric", "euclidean"), METRICS),
        seed=_whole("seed", given.get("seed", "0"), 0, 2**64 - 1),
        chains=_whole("chains", given.get("chains", "1"), 1, 1000),
    )


def estimator_of(settings: Settings) -> Any:
    """Return the estimator that does what a run with these settings does.

    Examples
    --------
    >>> estimator_of(Settings("sms", bandwidth=0.6))
    StochasticMeanShift(bandwidth=0.6, random_state=0)
    """
    if settings.algorithm == "modeseek":
        return estimators.ModeSeek(metric=settings.metric, random_state=settings.seed)
    shared: dict[str, Any] = {"profile": settings.profile, "metric": settings.metric}
    if settings.algorithm == "ms":
        return estimators.MeanShift(settings.bandwidth, **shared)
    if settings.algorithm == "bms":
        return estimators.BlurringMeanShift(settings.bandwidth, **shared)
    shared |= {"random_state": settings.seed}
    if settings.chains > 1:
        shared["n_chains"] = settings.chains
    if settings.algorithm == "sms":
        return estimators.StochasticMeanShift(settings.bandwidth, **shared)
    return estimators.DoublyStochasticMeanShift(
        settings.h_min, settings.h_max, settings.h_inf, policy=settings.policy, nu=settings.nu, **shared
    )


def _length(name: str, text: str) -> float | None:
    if not text:
        return None
    try:
        return check_number(name, float(text))
    except ValueError:
        raise ValueError(f"{name} must be a number > 0, or empty to take it from the data; got {text!r}.") from None


def _whole(name: str, text: str, low: int, high: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}; got {text!r}.")
    return number


def _nu(text: str) -> str | float:
    try:
        value: str | float = float(text)
    except ValueError:
        value = text
    get_nu(value)  # which refuses what it does not know, by name
    return value
