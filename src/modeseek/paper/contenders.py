"""The clusterers that a figure compares (contenders), each at one bandwidth, and their scores."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from modeseek._common.hints import AdviceWarning
from modeseek._common.types import Array, IntArray
from modeseek.estimators import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, StochasticMeanShift
from modeseek.meanshift.types import BandwidthPolicy
from modeseek.metrics import acp, alp, k_score
from modeseek.paper.experiment import Hyperparameters
from modeseek.paper.rows import Row

# column -> name in the report
MEASURES = {
    "n_clusters": "clusters",
    "n_singletons": "clusters of one point",
    "acp": "ACP",
    "alp": "ALP",
    "k": "K",
    "k_weighted": "K weighted by size",
    "ari": "ARI",
}
FIXED = ("MS", "BMS", "SMS")
# the two interpretations of the paper's random bandwidth
POLICIES = ("shrinking", "walk")
RESULT_COLUMNS = ("line", "h", *MEASURES, "offset", "sweeps", "outcome")
# candidates in a search: four bandwidths of SMS, and four ranges (h_min, h_max, h_inf) of DSMS; the paper's come first
SEARCHED_H = (0.6, 0.9, 1.2, 1.6)
SEARCHED_RANGES = ((0.2, 1.6, 0.6), (0.2, 2.0, 0.6), (0.6, 1.6, 1.1), (0.8, 1.4, 1.1))


@dataclass(frozen=True)
class Contender:
    """A clusterer in a figure.

    Attributes
    ----------
    name : str
        Name of the contender, in the column "line" of its rows.
    h : float or None
        Bandwidth, or value of the parameter that varies in the figure; None if there is neither.
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
    """Return MS, BMS and SMS (or a subset) at the paper's h and each h in `sweep`, and DSMS on `SEARCHED_RANGES`."""
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


def fit_and_score(contender: Contender, X: Array, truth: IntArray, seed: int) -> Row:
    """Cluster X with a clone of the contender's model; return its scores, number of sweeps and outcome.

    Points of class -1 are outliers: they are clustered, but not scored.
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


def score(truth: IntArray, labels: IntArray) -> Row:
    """Return the scores of labels, given the true labels; each noise point (label -1) counts as a cluster of one point.

    Examples
    --------
    >>> score(np.array([0, 0, 1, 1]), np.array([0, 0, 1, -1]))["n_clusters"]
    3
    """
    noise = labels == -1
    own = np.where(noise, labels.max() + 1 + np.cumsum(noise), labels)
    sizes = np.unique(own, return_counts=True)[1]
    # validation would take longer than the scores of these small sets
    with config_context(assume_finite=True, skip_parameter_validation=True):
        ari = float(adjusted_rand_score(truth, own))
    return {
        "n_clusters": len(sizes),
        "n_singletons": int((sizes == 1).sum()),
        "acp": acp(truth, own),
        "alp": alp(truth, own),
        "k": k_score(truth, own),
        "k_weighted": k_score(truth, own, weighted=True),
        "ari": ari,
    }


def mode_offset(X: Array, truth: IntArray, labels: IntArray, centers: Array) -> float | None:
    """Return the distance between the mean of a class and the centre of its main cluster, averaged over classes.

    The main cluster of a class has more of its points than other clusters. Classes that are mostly noise are left out.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [9.0], [9.0]])
    >>> mode_offset(X, np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), np.array([[9.0], [0.25]]))
    0.125
    """
    offsets = []
    for label in np.unique(truth):
        mine = truth == label
        found, counts = np.unique(labels[mine], return_counts=True)
        main = found[np.argmax(counts)]
        if main >= 0:  # -1 is noise
            offsets.append(np.linalg.norm(centers[main] - X[mine].mean(axis=0)))
    return float(np.mean(offsets)) if offsets else None
