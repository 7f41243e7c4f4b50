"""What a fitted estimator is made of, and what must hold between its parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from modeseek.estimators import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek.estimators.result import FitResult
from modeseek.io.kinds import Kind, check_kind, expect, maybe, of, reals, whole
from modeseek.sketches import Sketch

__all__ = ["ESTIMATORS", "check_fitted"]

ESTIMATORS: dict[str, Any] = {
    each.__name__: each
    for each in (ModeSeek, DoublyStochasticMeanShift, StochasticMeanShift, BlurringMeanShift, MeanShift)
}
# threads are made as many as asked for
MOST_JOBS = 1024


def _batches(value: Any) -> bool:
    pair = (reals(2), reals(1))
    return value is None or (
        isinstance(value, list)
        and all(isinstance(each, tuple) and len(each) == 2 and pair[0](each[0]) and pair[1](each[1]) for each in value)
    )


def _names(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1


ATTRIBUTES: dict[str, Kind] = {
    "n_features_in_": whole,
    "feature_names_in_": _names,
    "result_": of(FitResult),
    "_pending": _batches,
    "_survey": maybe(of(Sketch)),
}


def check_fitted(params: dict[str, Any], fitted: dict[str, Any]) -> None:
    """Check the parts of an estimator against each other.

    Raises
    ------
    ValueError
        With what is wrong.
    """
    jobs = params.get("n_jobs")
    expect(jobs is None or (whole(jobs) and abs(jobs) <= MOST_JOBS), f"n_jobs up to {MOST_JOBS}")
    check_kind(fitted, {name: ATTRIBUTES.get(name, _unknown) for name in fitted}, "the model")
    if "result_" in fitted:
        expect("n_features_in_" in fitted, "the number of features")
        _check_clusters(fitted["result_"], fitted["n_features_in_"])
    if "_pending" in fitted or "_survey" in fitted:
        # rows wait until there are enough for a survey
        both = "_pending" in fitted and "_survey" in fitted
        expect(both and (fitted["_pending"] is None) != (fitted["_survey"] is None), "batches that wait, or a survey")
    d = fitted.get("n_features_in_")
    stream = [rows for rows, _ in fitted.get("_pending") or ()]
    if fitted.get("_survey") is not None:
        stream.append(fitted["_survey"].sample.rows)
    expect(all(rows.shape[1] == d for rows in stream), "batches with the model's features")
    expect(all(len(rows) == len(weights) for rows, weights in fitted.get("_pending") or ()), "weights of batches")
    names = fitted.get("feature_names_in_")
    expect(names is None or len(names) == d, "names of features")


def _check_clusters(result: FitResult, d: int) -> None:
    index, points, k = result.index, result.index.points, result.n_clusters
    n, rows = len(points.values), len(points.inverse)
    expect(points.values.shape[1] == d and result.centers.shape == (k, d), "features of points and centres")
    expect(points.inverse.min(initial=0) >= 0, "points of all rows")
    expect(index.labels.shape == (n,) and result.labels.shape == (rows,), "labels for all rows")
    for labels in (index.labels, result.labels):
        expect(labels.min(initial=0) >= -1 and labels.max(initial=-1) < k, "labels of clusters that are there")
    expect(result.sizes.shape == (k,), "sizes of all clusters")
    for values in (result.weights, result.cluster_stability):
        expect(values is None or values.shape == (k,), "a value for each cluster")
    expect((result.memberships is None) == (result.confidence is None), "memberships with confidence")
    if result.memberships is not None and result.confidence is not None:
        expect(result.memberships.shape == (n, k), "shares of all points")
        expect(result.confidence.shape == (rows,), "confidence of all rows")
    expect(result.partition is None or result.partition.labels.shape == (rows,), "a partition of all rows")
    expect(result.chain_labels is None or result.chain_labels.shape[1] == rows, "chains over all rows")
    expect(result.tree is None or len(result.tree.weights) == n, "a tree of all points")
    for each in result.alternatives:
        expect(each.labels.shape == (n,) and _range(each.labels, 0, n), "alternatives for all points")
    if index.sketch is not None or index.sketch_points is not None:
        expect(index.sketch is not None and index.sketch_points is not None, "a sketch with its points")
        assert index.sketch is not None
        assert index.sketch_points is not None
        expect(index.sketch.points.shape == (len(index.sketch_points), d), "points of the summary")
        expect(_range(index.sketch_points, 0, n), "points of the summary")


def _range(array: Any, low: int, high: int) -> bool:
    return not array.size or bool(array.min() >= low and array.max() < high)


def _unknown(value: Any) -> bool:
    return False
