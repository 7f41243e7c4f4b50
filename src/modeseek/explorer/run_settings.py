"""Settings of a run: an algorithm and parameters of its estimator, read from the texts of a form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from modeseek import estimators
from modeseek._common.validation import check_choice, check_number, check_range
from modeseek.estimators.chain_clusterer import ChainClusterer
from modeseek.meanshift.bandwidth import POLICIES, get_nu
from modeseek.meanshift.kernels.profiles import get_profile
from modeseek.selection.bandwidths import Range, complete_range

ALGORITHMS = {
    "ModeSeek (no bandwidth)": estimators.ModeSeek,
    "doubly stochastic mean shift": estimators.DoublyStochasticMeanShift,
    "stochastic mean shift": estimators.StochasticMeanShift,
    "blurring mean shift": estimators.BlurringMeanShift,
    "mean shift": estimators.MeanShift,
}


class Field(NamedTuple):
    """A form field for one parameter of the estimators.

    Attributes
    ----------
    label : str
    default : str
        Initial text.
    read : callable
        Function (label, text) -> value. It raises ValueError if the text is not valid.
    choices : tuple of str
        Texts to choose from; empty for free text.
    help : str
        What the parameter does, in one or two sentences.
    """

    label: str
    default: str
    read: Callable[[str, str], Any]
    choices: tuple[str, ...] = ()
    help: str = ""


def _read_bandwidth(label: str, text: str) -> float | None:
    if not text:
        return None
    try:
        return check_number(label, float(text))
    except ValueError:
        raise ValueError(f"{label} must be a number > 0, or empty for an automatic value; got {text!r}.") from None


def _read_integer(low: int, high: int) -> Callable[[str, str], int]:
    def read(label: str, text: str) -> int:
        number = int(text) if text.removeprefix("-").isdecimal() else low - 1
        if not low <= number <= high:
            raise ValueError(f"{label} must be an integer from {low} to {high}; got {text!r}.")
        return number

    return read


def _read_nu(label: str, text: str) -> str | float:
    try:
        value: str | float = float(text)
    except ValueError:
        value = text
    get_nu(value)  # raises ValueError for an unknown name
    return value


def _read_count(label: str, text: str) -> int | None:
    return _read_integer(1, 10**6)(label, text) if text else None


def _choice(label: str, default: str, choices: tuple[str, ...], help: str) -> Field:
    return Field(label, default, lambda name, text: check_choice(name, text, choices), choices, help)


BANDWIDTHS = ("h_min", "h_inf", "h_max", "bandwidth")
HELP_BANDWIDTHS = {
    "h_min": "Smallest bandwidth that is drawn. Empty: from the data.",
    "h_inf": "Bandwidth that the range shrinks to. Larger values merge more clusters. Empty: from the data.",
    "h_max": "Largest bandwidth that is drawn. Empty: from the data.",
    "bandwidth": "Radius of the window. Larger values give fewer clusters. Empty: from the data.",
}
# fields by parameter name; an algorithm has the fields of the parameters of its estimator
FIELDS = {
    "n_clusters": Field("n_clusters", "", _read_count, help="Number of clusters. Empty: ModeSeek chooses it."),
    **{name: Field(name, "", _read_bandwidth, help=text) for name, text in HELP_BANDWIDTHS.items()},
    "policy": _choice("policy", "shrinking", (*POLICIES, "constant"), "How the range of bandwidths changes over time."),
    "nu": Field(
        "nu",
        "log-log",
        _read_nu,
        ("log-log", "1/k", "0.6", "0.8"),
        "How fast the range of bandwidths shrinks to h_inf.",
    ),
    "profile": Field(
        "profile",
        "biweight",
        lambda label, text: get_profile(text).name,
        ("biweight", "triweight", "quadweight", "flat", "gaussian"),
        "How the weight of a point decreases with its distance.",
    ),
    "metric": _choice(
        "metric", "euclidean", ("euclidean", "cosine"), "Distance between rows; cosine compares directions only."
    ),
    "random_state": Field("seed", "0", _read_integer(0, 2**64 - 1), help="Seed of the random numbers."),
    "n_chains": Field(
        "chains", "1", _read_integer(1, 1000), help="Number of runs that vote on the clusters and their confidence."
    ),
}


@dataclass(frozen=True)
class RunSettings:
    """An algorithm and the parameters of its estimator.

    Attributes
    ----------
    algorithm : str
        A key of `ALGORITHMS`.
    parameters : mapping
        Constructor arguments of the estimator.

    Examples
    --------
    >>> RunSettings("stochastic mean shift", {"bandwidth": 0.6}).make_estimator()
    StochasticMeanShift(bandwidth=0.6, random_state=0)
    """

    algorithm: str = "doubly stochastic mean shift"
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the form fields of the algorithm."""
        known = ALGORITHMS[self.algorithm]().get_params()
        return tuple(name for name in FIELDS if name in known)

    @property
    def moves(self) -> bool:
        """Whether the algorithm moves points."""
        return issubclass(ALGORITHMS[self.algorithm], ChainClusterer)

    @property
    def random(self) -> bool:
        """Whether the algorithm updates one point at a time, drawn at random."""
        return "n_chains" in self.fields

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return int(self.parameters.get("n_chains", 1))

    @property
    def metric(self) -> str:
        """The metric."""
        return str(self.parameters.get("metric", "euclidean"))

    def make_estimator(self) -> Any:
        """Return the estimator with these parameters; without a seed, the seed is 0."""
        seed = {"random_state": 0} if "random_state" in self.fields else {}
        return ALGORITHMS[self.algorithm](**{**seed, **self.parameters})

    def with_parameters(self, **parameters: Any) -> RunSettings:
        """Return the settings with other values for some parameters."""
        return replace(self, parameters={**self.parameters, **parameters})

    def with_range(self, automatic: Callable[[], Range]) -> RunSettings:
        """Return the settings with values for all bandwidths; `automatic` is called if one is missing."""
        names = [name for name in BANDWIDTHS if name in self.fields]
        given = {name: self.parameters.get(name) for name in names}
        if None not in given.values():
            return self
        if "bandwidth" in given:
            return self.with_parameters(bandwidth=automatic().h_inf)
        return self.with_parameters(**complete_range(**given, automatic=automatic())._asdict())

    def with_bandwidth(self, h: float, base: Range) -> RunSettings:
        """Return the settings with the bandwidth h; a range is scaled in proportion to `base`, so that h_max = h.

        Examples
        --------
        >>> RunSettings().with_bandwidth(2.0, Range(0.5, 0.75, 1.0)).parameters
        {'h_min': 1.0, 'h_inf': 1.5, 'h_max': 2.0}
        """
        if "bandwidth" in self.fields:
            return self.with_parameters(bandwidth=h)
        scaled = (float(f"{each * h / base.h_max:.3g}") for each in (base.h_min, base.h_inf))
        return self.with_parameters(**dict(zip(("h_min", "h_inf"), scaled, strict=True)), h_max=h)


def read_settings(algorithm: str, texts: Mapping[str, str]) -> RunSettings:
    """Read settings from the texts of a form, by parameter name; an error names the field.

    Examples
    --------
    >>> read_settings("blurring mean shift", {"bandwidth": " 0.6 "}).parameters
    {'bandwidth': 0.6}
    >>> read_settings("doubly stochastic mean shift", {"h_max": "wide"})
    Traceback (most recent call last):
    ValueError: h_max must be a number > 0, or empty for an automatic value; got 'wide'.
    """
    settings = RunSettings(check_choice("algorithm", algorithm, ALGORITHMS))
    values = {
        name: FIELDS[name].read(FIELDS[name].label, texts[name].strip()) for name in settings.fields if name in texts
    }
    if values.get("h_min") is not None and values.get("h_max") is not None:
        check_range(values["h_min"], values["h_max"], values.get("h_inf"))
    defaults = settings.make_estimator().get_params()
    return settings.with_parameters(**{name: value for name, value in values.items() if value != defaults[name]})
