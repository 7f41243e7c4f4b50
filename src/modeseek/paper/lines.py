"""The lines of a figure: a clusterer each, at one bandwidth."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
from modeseek.paper.scores import MEASURES, score

__all__ = [
    "LINE_COLUMNS",
    "POLICIES",
    "Line",
    "doubly_stochastic_line",
    "fixed_lines",
    "ignore_advice",
    "measure",
    "user_lines",
]

FIXED = ("MS", "BMS", "SMS")
# the two readings of the paper's bandwidth
POLICIES = ("shrinking", "walk")
LINE_COLUMNS = ("line", "h", *MEASURES, "sweeps", "outcome")


@dataclass(frozen=True)
class Line:
    """A clusterer in a figure.

    Attributes
    ----------
    name : str
    h : float or None
        Its bandwidth, or whichever number the figure turns; None where it has none.
    model : scikit-learn clusterer
        Never fitted itself: each run fits a clone, with a seed of its own if it takes `random_state`.
    """

    name: str
    h: float | None
    model: Any


def fixed_lines(settings: Hyperparameters, bandwidths: Iterable[float], names: Iterable[str] = FIXED) -> list[Line]:
    """Return MS, BMS and SMS, or those named, at each bandwidth."""
    lines = []
    for h in bandwidths:
        tol, profile, limit = settings.threshold / h, settings.profile, settings.max_updates
        models = {
            "MS": MeanShift(h, max_iter=limit, tol=tol, profile=profile),
            "BMS": BlurringMeanShift(h, max_updates=limit, tol=tol, profile=profile),
            "SMS": StochasticMeanShift(h, max_updates=limit, tol=tol, profile=profile, engine=settings.engine),
        }
        lines += [Line(name, h, models[name]) for name in names]
    return lines


def doubly_stochastic_line(settings: Hyperparameters, policy: str, *, name: str = "", h: float | None = None) -> Line:
    """Return DSMS under a policy, as "DSMS shrinking" at h_inf unless the figure turns something else."""
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
    return Line(name or f"DSMS {policy}", settings.h_inf if h is None else h, model)


def user_lines(models: Mapping[str, Any]) -> tuple[Line, ...]:
    """Return a user's clusterers as lines; a bandwidth policy becomes DSMS under it."""
    if not models:
        raise ValueError("lines is empty: give a mapping of names to clusterers or bandwidth policies.")
    lines = []
    for name, model in models.items():
        if isinstance(model, type):
            raise TypeError(f"line {name!r} is the class {model.__name__}: give an instance, {model.__name__}(...).")
        if not hasattr(model, "fit_predict") and isinstance(model, BandwidthPolicy):
            model = DoublyStochasticMeanShift(policy=model)
        if not hasattr(model, "fit_predict") or not hasattr(model, "get_params"):
            raise TypeError(
                f"line {name!r} must be a scikit-learn clusterer (with fit_predict and get_params) or a bandwidth "
                f"policy (with h_0, h_min, draw and upper); got {model!r}."
            )
        lines.append(Line(str(name), None, model))
    return tuple(lines)


def ignore_advice() -> None:
    """Silence what rows tell: a run that met its limit, by its outcome, and bandwidths that suit no data, by K."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", AdviceWarning)


def measure(line: Line, X: Array, truth: IntArray, seed: int) -> Row:
    """Cluster X with a clone of the line's model; return scores, sweeps done and how it ended."""
    model = clone(line.model)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=seed)
    with warnings.catch_warnings():
        ignore_advice()
        labels = np.asarray(model.fit_predict(X))
    updates, outcome = getattr(model, "n_updates_", None), getattr(model, "outcome_", None)
    return {
        "line": line.name,
        "h": line.h,
        **score(truth, labels),
        "sweeps": None if updates is None else updates / len(X),
        "outcome": None if outcome is None else outcome.name.lower(),
    }
