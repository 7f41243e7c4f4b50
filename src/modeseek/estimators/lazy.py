"""Fits of data that lie with Dask: surveyed by its workers, clustered here, labelled there when somebody asks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from modeseek._common.hints import AdviceWarning
from modeseek._common.types import Array, Geometry
from modeseek._common.validation import Points, check_weights
from modeseek.estimators.data import advise_on_scale
from modeseek.sketches import DaskRows, Labeler, SketchLayout, dask_errors

if TYPE_CHECKING:
    from modeseek.estimators.base import ShiftClusterer

__all__ = ["fit_lazily", "predict_lazily"]

NO_WEIGHT = "sample_weight is zero for every row: give at least one row a positive weight."


def fit_lazily(estimator: ShiftClusterer, X: Any, sample_weight: Any, geometry: Geometry) -> None:
    """Fit the rows of a Dask collection; `labels_` and `confidence_` are lazy then.

    As many rows as a fit in memory takes one by one are brought here, and the result is that of such a fit. Of more
    rows only their survey is.
    """
    data = _opened(estimator, X, sample_weight, geometry.spherical, reset=True)
    with dask_errors():
        make, some = _points(estimator, data, geometry)
        if not geometry.spherical:
            advise_on_scale(estimator, some)
        estimator._end_batches()
        estimator._away = True
        try:
            estimator._fit_points(make)
        finally:
            del estimator._away
            if "labels_" in vars(estimator):  # Ctrl-C keeps what there is
                _make_lazy(estimator, data)


def predict_lazily(estimator: ShiftClusterer, X: Any) -> Any:
    """Return labels of the rows of a Dask collection, as a lazy array in the same chunks."""
    data = _opened(estimator, X, None, estimator.metric == "cosine", reset=False)
    return data.label(_labeller(estimator, estimator._labels))


def _opened(estimator: ShiftClusterer, X: Any, sample_weight: Any, spherical: bool, *, reset: bool) -> DaskRows:
    data = DaskRows.of(X, sample_weight, spherical=spherical)
    # names and number of columns are scikit-learn's business; the empty frame of a collection has both
    empty = np.empty((0, data.rows.shape[1])) if data.names is None else X._meta
    validate_data(estimator, empty, skip_check_array=True, reset=reset)
    return data


def _points(estimator: ShiftClusterer, data: DaskRows, geometry: Geometry) -> tuple[Callable[[], Points], Array]:
    """Return what makes the points to work on, and some of the rows."""
    kind = estimator._kind()
    first = data.first(estimator._many)
    if first.whole:
        if not len(first.rows):
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: X has no rows.")
        weights = check_weights(first.weights, len(first.rows))
        return lambda: estimator._points_of(first.rows, weights, geometry), first.rows
    if kind == "auto" and getattr(estimator, "local_scale", False):
        raise ValueError(
            "local_scale=True is measured between rows, and these stay with Dask's workers: "
            'take summary="sample", or fit X.compute() if memory has room for it.'
        )
    present = first.rows if first.weights is None else first.rows[first.weights > 0]
    if len(first.rows) and not len(present):
        raise ValueError(NO_WEIGHT)
    survey = data.survey(SketchLayout.of(estimator._placed(present), rows=estimator._sample_rows))
    if not survey.weight:
        raise ValueError(NO_WEIGHT)
    if kind is None:
        warnings.warn(
            f"{type(estimator).__name__} runs on a summary of the rows, which stay with Dask's workers: summary=None, "
            'all rows, is for those in memory. summary="auto" takes one without this line.',
            AdviceWarning,
            stacklevel=4,
        )
    return lambda: estimator._points_for(survey, geometry, kind or "auto"), survey.sample.rows


def _make_lazy(estimator: ShiftClusterer, data: DaskRows) -> None:
    confidence = vars(estimator).get("confidence_")
    if confidence is not None:
        of_points = np.empty(len(estimator._labels))
        of_points[estimator._points.inverse] = confidence
        estimator.confidence_ = data.label(_labeller(estimator, of_points))
    estimator.labels_ = data.label(_labeller(estimator, estimator._labels))
    # as large as the data, and made of the summary's points
    estimator.__dict__.pop("points_", None)


def _labeller(estimator: ShiftClusterer, of_points: Array) -> Labeler:
    """Return what gives rows the entry of the point that they belong to."""
    if hasattr(estimator, "summary_"):
        return Labeler(estimator.summary_, of_points[estimator._stands_for])
    return Labeler(estimator._points, of_points)
