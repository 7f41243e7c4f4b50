"""The clusterers that a figure compares, each at one bandwidth."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from modeseek._common.hints import AdviceWarning
from modeseek._common.types import Array, IntArray
from modeseek.estimators import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, StochasticMeanShift
from modeseek.meanshift.types import BandwidthPolicy
from modeseek.paper.hyperparameters import Hyperparameters
from modeseek.paper.rows import Row
from modeseek.paper.scores import MEASURES, mode_offset, score

FIXED = ("MS", "BMS", "SMS")
# the two interpretations of the paper's random bandwidth
POLICIES = ("shrinking", "walk")
RESULT_COLUMNS = ("line", "h", *MEASURES, "offset", "sweeps", "outcome")
# the same number of bandwidths for SMS and of ranges (h_min, h_max, h_inf) for DSMS; the paper's come first
SEARCHED_H = (0.6, 0.9, 1.2, 1.6)
SEARCHED_RANGES = ((0.2, 1.6, 0.6), (0.2, 2.0, 0.6), (0.6, 1.6, 1.1), (0.8, 1.4, 1.1))


@dataclass(frozen=True)
class Contender:
    """A clusterer in a figure.

    Attributes
    ----------
    name : str
        Value of the column "line" of its rows.
    h : float or None
        Its bandwidth, or the parameter that varies in the figure; None if it has none.
    model : scikit-learn clusterer
        Template: each run fits a clone, and sets its `random_state` if it has one.
    """

    name: str
    h: float | None
    model: Any


def fixed_contenders(
    settings: Hyperparameters, bandwidths: Iterable[float], names: Iterable[str] = FIXED
) -> list[Contender]:
    """Return MS, BMS and SMS, or the given subset, at each bandwidth."""
    contenders = []
    for h in bandwidths:
        tol, profile, limit = settings.threshold / h, settings.profile, settings.max_updates
        models = {
            "MS": MeanShift(h, max_iter=limit, tol=tol, profile=profile),
            "BMS": BlurringMeanShift(h, max_updates=limit, tol=tol, profile=profile),
            "SMS": StochasticMeanShift(h, max_updates=limit, tol=tol, profile=profile, engine=settings.engine),
        }
        contenders += [Contender(name, h, models[name]) for name in names]
    return contenders


def dsms_contender(settings: Hyperparameters, policy: str, *, name: str = "", h: float | None = None) -> Contender:
    """Return DSMS under a policy; by default it is named "DSMS {policy}" and its `h` is h_inf."""
    model = DoublyStochasticMeanShift(
        settings.h_min,
        settings.h_max,
        settings.h_inf,
        policy=policy,
        nu=settings.nu,
        profile=settings.profile,
        tol=settings.threshold / settings.h_min,
        max_updates=settings.max_updates,
        engine=settings.engine,
    )
    return Contender(name or f"DSMS {policy}", settings.h_inf if h is None else h, model)


def paper_contenders(
    settings: Hyperparameters, sweep: Iterable[float], names: Iterable[str] = FIXED
) -> list[Contender]:
    """Return MS, BMS and SMS, or a subset, at the paper's h and those of `sweep`, and DSMS on `SEARCHED_RANGES`."""
    found = fixed_contenders(settings, sorted({settings.h, *sweep}), names)
    for policy in POLICIES:
        for number, (h_min, h_max, h_inf) in enumerate(SEARCHED_RANGES):
            name = f"DSMS {policy} [{h_min:g}, {h_max:g}]" if number else ""
            given = replace(settings, h_min=h_min, h_max=h_max, h_inf=h_inf)
            found.append(dsms_contender(given if number else settings, policy, name=name))
    return found


def user_contenders(models: Mapping[str, Any]) -> tuple[Contender, ...]:
    """Return a user's clusterers as contenders; a bandwidth policy becomes DSMS with that policy."""
    if not models:
        raise ValueError("lines is empty: give a mapping of names to clusterers or bandwidth policies.")
    contenders = []
    for name, model in models.items():
        if isinstance(model, type):
            raise TypeError(f"line {name!r} is the class {model.__name__}: give an instance, {model.__name__}(...).")
        # clusterers of other libraries are recognised by their methods
        is_clusterer = hasattr(model, "fit_predict") and hasattr(model, "get_params")
        if not is_clusterer and not isinstance(model, BandwidthPolicy):
            raise TypeError(
                f"line {name!r} must be a scikit-learn clusterer (with fit_predict and get_params) or a bandwidth "
                f"policy (with h_0, h_min, draw and upper); got {model!r}."
            )
        contenders.append(
            Contender(str(name), None, model if is_clusterer else DoublyStochasticMeanShift(policy=model))
        )
    return tuple(contenders)


def ignore_advice() -> None:
    """Silence the warnings about iteration limits and unsuitable bandwidths: the rows report both."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", AdviceWarning)


def measure(contender: Contender, X: Array, truth: IntArray, seed: int) -> Row:
    """Cluster X with a clone of the contender's model; return its scores, number of sweeps and outcome.

    Points of class -1 are outliers: they are clustered, but only the others are scored.
    """
    model = clone(contender.model)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=seed)
    with warnings.catch_warnings():
        ignore_advice()
        labels = np.asarray(model.fit_predict(X))
    # clusterers of other libraries do not have all of these attributes
    updates, outcome, centers = (getattr(model, name, None) for name in ("n_updates_", "outcome_", "cluster_centers_"))
    known = truth >= 0
    return {
        "line": contender.name,
        "h": contender.h,
        **score(truth[known], labels[known]),
        "offset": None if centers is None else mode_offset(X[known], truth[known], labels[known], np.asarray(centers)),
        "sweeps": None if updates is None else updates / len(X),
        "outcome": None if outcome is None else outcome.name.lower(),
    }
