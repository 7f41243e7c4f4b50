"""Warnings about fits that are valid, but probably not what the user intended."""

import inspect
import warnings

import numpy as np

from modeseek._common.distances import kth_distance
from modeseek._common.hints import AdviceWarning, ScaleWarning
from modeseek._common.scaling import dominant
from modeseek._common.sphere import chord_to_meters
from modeseek._common.types import Array
from modeseek.estimators.result import FitResult

# with fewer points, one cluster for each point is plausible
MIN_POINTS = 10
# the median over this many points is accurate enough
MEDIAN_POINTS = 200
# products of coordinates in a sweep over all pairs of points: about ten minutes on one core
MAX_PRODUCTS = 5e11
# `ModeSeek` takes more than a minute for more points
MAX_ROWS_OF_SELECTION = 1_000_000


def warn(message: str, category: type[Warning] = AdviceWarning) -> None:
    """Issue a warning that points to the code that called the estimator."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("modeseek.estimators."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def advise_on_scale(estimator: str, rows: Array, names: Array | None) -> None:
    """Warn if one column varies so much more than the others that it alone determines the clusters."""
    found = dominant(rows)
    if found is None:
        return
    column, ratio = found
    which = f"column {column}" if names is None else f"column '{names[column]}'"
    warn(
        f"{which} of X varies {ratio:,.0f} times as much as the others, so it alone determines the clusters. "
        "If the columns have different units, standardize them first: "
        f"make_pipeline(StandardScaler(), {estimator}()).",
        ScaleWarning,
    )


def advise_on_engine(estimator: str, engine: str, n: int, d: int) -> None:
    """Warn about a fit that will take very long, because every sweep compares all pairs of points."""
    products = float(n) * n * d
    if engine == "reference" and products > MAX_PRODUCTS / 100:
        warn(
            f'{estimator}: engine="reference" is written for readability and compares all pairs of {n:,} points in '
            'every sweep. engine="auto" gives the same labels much faster.'
        )
    elif engine == "brute" and products > MAX_PRODUCTS:
        warn(f"{estimator}: every sweep compares all pairs of {n:,} points, which may take hours. {_use_sample(n)}")


def advise_on_size(estimator: str, n: int) -> None:
    """Warn about a fit of `ModeSeek` with very many points."""
    if n > MAX_ROWS_OF_SELECTION:
        warn(f"{estimator}: {n:,} points take many minutes and several gigabytes. {_use_sample(n)}")


def _use_sample(n: int) -> str:
    return f"Fit a sample, such as X[::{max(2, n // 50_000)}], and label the other rows with predict."


def advise_on_bandwidth(result: FitResult, parameter: str) -> None:
    """Warn if every row is a cluster, or all rows are one, because of the bandwidth that the user set.

    Parameters
    ----------
    result : FitResult
    parameter : str
        Name of the parameter that sets the largest bandwidth.
    """
    values, h = result.index.points.values, result.settings.bandwidths[parameter]
    in_units = chord_to_meters if result.settings.in_meters else float
    n = len(values)
    if n < MIN_POINTS:
        return
    automatic = "or omit the bandwidths, and they are chosen from the data."
    if result.n_clusters == n:
        queries = values[np.linspace(0, n - 1, min(n, MEDIAN_POINTS)).astype(np.intp)]
        distance = in_units(np.median(kth_distance(values, 2, queries)))
        if h < distance:
            warn(
                f"{result.algorithm}: every row is a separate cluster: {parameter}={h:.3g} is less than the median "
                f"distance to the nearest neighbour, {distance:.3g}. Increase it, {automatic}"
            )
    spread = in_units(np.sqrt(values.astype(np.float64).var(axis=0).sum()))
    if result.n_clusters == 1 and h > spread:
        warn(
            f"{result.algorithm}: all rows are one cluster: {parameter}={h:.3g} is larger than the spread of the "
            f"data, {spread:.3g}. Decrease it, {automatic}"
        )
