"""Fit and predict for Dask collections.

Workers make a sketch of the rows, this process clusters the sketch, and workers compute the labels on demand.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from modeseek._common.sphere import check_two_columns
from modeseek._common.types import Array, Geometry, Watcher
from modeseek._common.validation import check_weights
from modeseek.estimators.advice import advise_on_scale, warn
from modeseek.estimators.fit_input import data_from_rows, data_from_sketch
from modeseek.estimators.input_checks import seen_columns
from modeseek.estimators.result import FitData, FitResult
from modeseek.sketches import DaskRows, SketchLayout, dask_errors

if TYPE_CHECKING:
    from modeseek.estimators.base import BaseClusterer

NO_WEIGHT = "sample_weight is zero for every row: give at least one row a positive weight."


def fit_dask(estimator: BaseClusterer, X: Any, sample_weight: Any, geometry: Geometry) -> None:
    """Fit the rows of a Dask collection; `labels_` and `confidence_` are lazy Dask arrays afterwards.

    If there are few enough rows for a fit without a sketch, they are loaded, and the result is the same as that of a
    fit in memory. Otherwise, only a sketch of the rows is sent from the workers to this process.
    """
    seen = copy.copy(estimator)
    data = _open(seen, X, sample_weight, reset=True)
    with dask_errors():
        make_data, some_rows = _data_maker(estimator, data, geometry)
        columns = seen_columns(seen)
        if not geometry.spherical:
            advise_on_scale(type(estimator).__name__, some_rows, columns.get("feature_names_in_"))
        estimator._fit(
            columns,
            lambda watch: replace(make_data(watch), distributed=True),
            lambda result: _with_lazy_rows(result, data),
        )


def predict_dask(estimator: BaseClusterer, X: Any) -> Any:
    """Return the labels of the rows of a Dask collection, as a lazy array with the same chunks."""
    data = _open(estimator, X, None, reset=False)
    index = estimator.result_.index
    return data.label(index.labeler(index.labels), index.labels.dtype)


def _open(estimator: BaseClusterer, X: Any, sample_weight: Any, *, reset: bool) -> DaskRows:
    data = DaskRows.of(X, sample_weight, metric=estimator.metric)
    # scikit-learn checks the names and the number of columns on an empty frame or array
    empty = np.empty((0, data.rows.shape[1])) if data.names is None else X._meta
    validate_data(estimator, empty, skip_check_array=True, reset=reset)
    if estimator.metric == "haversine":
        check_two_columns(data.rows.shape[1])
    return data


def _data_maker(
    estimator: BaseClusterer, data: DaskRows, geometry: Geometry
) -> tuple[Callable[[Watcher | None], FitData], Array]:
    """Return a function that makes the input of the fit, and some of the rows."""
    kind, config = estimator._sketch_kind(), estimator._sketch_config
    first = data.first(config)
    if first.whole:
        if not len(first.rows):
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: X has no rows.")
        weights = check_weights(first.weights, len(first.rows))
        return lambda watch: data_from_rows(estimator, first.rows, weights, geometry, watch), first.rows
    if kind == "auto" and estimator._needs_all_rows:
        raise ValueError(
            "local_scale=True needs the distances between rows, which stay with Dask's workers: "
            'use sketch="sample", or fit X.compute() if it fits in memory.'
        )
    present = first.rows if first.weights is None else first.rows[first.weights > 0]
    if len(first.rows) and not len(present):
        raise ValueError(NO_WEIGHT)
    sketch = data.sketch(SketchLayout.of(estimator._placed(present), config))
    if not sketch.weight:
        raise ValueError(NO_WEIGHT)
    if kind is None:
        warn(
            f"{type(estimator).__name__} clusters a sketch: sketch=None was ignored, because the rows are on Dask's "
            'workers. sketch="auto" silences this warning; fit X.compute() to use every row.'
        )
    return lambda watch: data_from_sketch(estimator, sketch, geometry, kind or "auto", watch), sketch.sample.rows


def _with_lazy_rows(result: FitResult, data: DaskRows) -> FitResult:
    """Return the result with lazy labels and confidence, and cluster sizes estimated from the sketch."""
    index, k, confidence = result.index, result.n_clusters, result.confidence
    if confidence is not None:
        of_points = np.empty(len(index.labels))
        of_points[index.points.inverse] = confidence
        confidence = data.label(index.labeler(of_points), of_points.dtype)
    weights = np.bincount(np.where(index.labels < 0, k, index.labels), index.points.weights, minlength=k + 1)
    if index.sketch is not None:
        weights *= index.sketch.weight / index.points.weights.sum()
    sizes = np.round(weights).astype(np.intp)
    return replace(
        result,
        labels=data.label(index.labeler(index.labels), index.labels.dtype),
        confidence=confidence,
        sizes=sizes[:k],
        n_noise=int(sizes[k]),
        n_rows=int(sizes.sum()) if index.sketch is None else round(index.sketch.weight),
        weights=None,
        points=None,  # as large as the data
    )
