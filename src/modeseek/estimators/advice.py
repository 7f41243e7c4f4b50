"""What to try where a result is right as asked, but hardly what was wanted."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from modeseek._common.distances import kth_distance
from modeseek._common.hints import AdviceWarning
from modeseek._common.points import Points

if TYPE_CHECKING:
    from modeseek.estimators.result import FitResult

__all__ = ["advice", "advice_on_size", "caller_level", "warn_caller"]

# fewer points than this may well be as many clusters
FEWEST = 10
# medians over this many points are as good as over all
QUERIES = 200
# pairs of coordinates in a sweep of an engine that compares all points: ten minutes or so on a core
MOST_PAIRS = 5e11
# ModeSeek takes about half a minute for 10^5 points of the plane
MOST_ROWS = 300_000


def caller_level() -> int:
    """Return the `stacklevel` for a warning to point to the code that called into this package."""
    level, frame = 1, inspect.currentframe()
    frame = None if frame is None else frame.f_back
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("modeseek.estimators."):
        level, frame = level + 1, frame.f_back
    return level


def warn_caller(estimator: str, text: str | None) -> None:
    """Issue an `AdviceWarning`, unless there is no text."""
    if text is not None:
        warnings.warn(f"{estimator}: {text}", AdviceWarning, stacklevel=caller_level())


def advice(estimator: Any, result: FitResult) -> str | None:
    """Return what to try next after a fit, or None if the result needs no comment."""
    points = result.index.points
    n, found = len(points.values), result.n_clusters
    if found == 0:
        return (
            f"all rows are noise: every cluster is smaller than min_cluster_size={estimator.min_cluster_size}. "
            "Take a smaller one."
        )
    given = _given(estimator, result)
    if given is None or n < FEWEST:
        return None
    name, h = given
    if found == n:
        queries = points.values[np.linspace(0, n - 1, min(n, QUERIES)).astype(np.intp)]
        apart = float(np.median(kth_distance(points.values, 2, queries, n_jobs=estimator.n_jobs)))
        if h < apart:
            return (
                f"every row is a cluster of its own: {name}={h:.3g} reaches no neighbour, the nearest being "
                f"{apart:.3g} away in the median. Raise it, or leave bandwidths out to have them chosen from the data."
            )
    spread = float(np.sqrt(points.values.astype(np.float64).var(axis=0).sum()))
    if found == 1 and h > spread:
        return (
            f"all rows are one cluster: {name}={h:.3g} reaches over all the data, whose spread is {spread:.3g}. "
            "Lower it, or leave bandwidths out to have them chosen from the data."
        )
    return None


def advice_on_size(estimator: Any, points: Points) -> str | None:
    """Return what to try before a fit that will take very long, or None."""
    n, d = points.values.shape
    sample = f"Fit a sample, such as X[::{max(2, n // 50_000)}], and let predict label the rest."
    if getattr(estimator, "engine", None) == "reference" and float(n) * n * d > MOST_PAIRS / 100:
        return (
            f'engine="reference" is there to be read: it compares all {n:,} points with each other for every sweep. '
            'engine="auto" gives the same labels, far sooner.'
        )
    if getattr(estimator, "engine_", None) == "brute" and float(n) * n * d > MOST_PAIRS:
        return f"{n:,} points in {d} dimensions: every sweep compares all pairs of them, for hours perhaps. {sample}"
    if not hasattr(estimator, "engine") and n > MOST_ROWS:
        return f"{n:,} points: this takes many minutes and several gigabytes. {sample}"
    return None


def _given(estimator: Any, result: FitResult) -> tuple[str, float] | None:
    """Return the largest bandwidth that the user set, with the name of its parameter."""
    for name in ("bandwidth", "h_max"):
        if getattr(estimator, name, None) is not None:
            return name, result.settings.bandwidths[name]
    return None
