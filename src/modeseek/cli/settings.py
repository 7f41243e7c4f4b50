"""What the command was asked to do, and the estimator that does it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modeseek._common.validation import check_choice

__all__ = ["ALGORITHMS", "DEFAULT", "Problem", "Settings", "build_estimator"]

# what runs where nobody names another
DEFAULT = "modeseek"
ALGORITHMS = {
    DEFAULT: "ModeSeek",
    "dsms": "DoublyStochasticMeanShift",
    "sms": "StochasticMeanShift",
    "bms": "BlurringMeanShift",
    "ms": "MeanShift",
}
SCALES = ("standard", "none")
RANGE = ("h_min", "h_max", "h_inf")
METHOD = [
    "metric",
    "profile",
    "policy",
    "nu",
    "h_min",
    "h_max",
    "h_inf",
    "bandwidth",
    "order",
    "chains",
    "tol",
    "tau",
    "max_updates",
    "max_time",
    "n_clusters",
    "min_clusters",
    "max_clusters",
    "min_cluster_size",
    "sketch",
    "resolution",
    "engine",
    "jobs",
    "checkpoint",
    "checkpoint_every",
]
# options of the command that estimators know by another name
OTHER_NAMES = {"chains": "n_chains", "jobs": "n_jobs", "seed": "random_state"}


class Problem(Exception):
    """Something the user can put right; the command prints it and ends with status 2."""


@dataclass(frozen=True)
class Settings:
    """The options of `modeseek cluster`, one field each; None is an option that was not given."""

    files: list[str]
    header: bool | None
    columns: list[str] | None
    ignore: list[str] | None
    scale: str | None
    algorithm: str | None
    metric: str
    profile: str | None
    policy: str | None
    nu: str | None
    h_min: float | None
    h_max: float | None
    h_inf: float | None
    bandwidth: float | None
    order: str | None
    chains: int | None
    tol: float | None
    tau: float | None
    max_updates: int | None
    max_time: float | None
    n_clusters: int | None
    min_clusters: int | None
    max_clusters: int | None
    min_cluster_size: int | None
    sketch: str | None
    resolution: float | None
    engine: str | None
    jobs: int | None
    checkpoint: str | None
    checkpoint_every: float | None
    seed: int
    output: str | None
    name: str
    plot: str | None
    report: str | None
    save: str | None
    json: str | None
    quiet: bool
    out_of_core: bool | None
    restart: bool
    scheduler: str | None
    guard_formulas: bool = False

    @property
    def file(self) -> str:
        """The file that is read; of several, the first."""
        return self.files[0]

    @property
    def title(self) -> str:
        """What is read, in a word or two."""
        name = "standard input" if self.file == "-" else Path(self.file).name
        return name if len(self.files) == 1 else f"{len(self.files):,} files"

    @property
    def method_name(self) -> str:
        """The algorithm that runs, in the command's words."""
        return DEFAULT if self.algorithm is None else self.algorithm

    @property
    def standardise(self) -> bool:
        """Whether features are brought to mean 0 and standard deviation 1."""
        # under cosine only directions count, and taking off the mean would change them all
        return self.scale == "standard" if self.scale is not None else self.metric != "cosine"

    def method(self) -> dict[str, Any]:
        """Return the options that are an estimator's own, as given."""
        given = {name: getattr(self, name) for name in METHOD if getattr(self, name) is not None}
        if "nu" in given:
            given["nu"] = _number_or_word(given["nu"])
        if given.get("sketch") == "none":
            given["sketch"] = None
        return given


def build_estimator(settings: Settings) -> Any:
    """Return the estimator that the settings ask for.

    Raises
    ------
    Problem
        If a word is unknown or an option does not belong to the algorithm.
    """
    from modeseek import estimators

    try:
        check_choice("--algorithm", settings.method_name, ALGORITHMS)
        if settings.scale is not None:
            check_choice("--scale", settings.scale, SCALES)
        if settings.jobs == 0:
            raise ValueError("--jobs must not be 0: give a number of cores, or -1 for all.")
    except ValueError as error:
        raise Problem(str(error)) from None
    accepted = {word: inspect.signature(getattr(estimators, name)).parameters for word, name in ALGORITHMS.items()}
    own = accepted[settings.method_name]
    options: dict[str, Any] = {}
    for option, value in settings.method().items():
        name = OTHER_NAMES.get(option, option)
        if name not in own:
            owners = [word for word in ALGORITHMS if name in accepted[word]]
            raise Problem(_misplaced(option, settings.algorithm, owners))
        options[name] = value
    # the seed has a value in any case, and an algorithm without chance has no use for it
    if "random_state" in own:
        options["random_state"] = settings.seed
    options["verbose"] = int(not settings.quiet)
    return getattr(estimators, ALGORITHMS[settings.method_name])(**options)


def _misplaced(option: str, algorithm: str | None, owners: list[str]) -> str:
    flag = f"--{option.replace('_', '-')}"
    which = owners[0] if len(owners) == 1 else f"{', '.join(owners[:-1])} or {owners[-1]}"
    if algorithm is None:
        return f"{flag} needs an algorithm that has it: add --algorithm {which}."
    if algorithm == DEFAULT:
        remedy = f"it has nothing of the kind to set; leave it out, or use --algorithm {which}."
    elif option in RANGE:
        remedy = f"{algorithm} has one bandwidth; use --bandwidth."
    elif option == "bandwidth":
        remedy = f"{algorithm} has a range of bandwidths; use --h-min, --h-max and --h-inf."
    else:
        remedy = f"leave it out, or use --algorithm {which}."
    return f"{flag} does not belong to --algorithm {algorithm}: {remedy}"


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
