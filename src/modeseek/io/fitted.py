"""What a fitted estimator is made of, and what must hold between its parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from modeseek._common.validation import Points
from modeseek.estimators import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek.io.kinds import Kind, check_kind, expect, flag, maybe, number, of, reals, text, whole, wholes
from modeseek.meanshift.chains import Outcome, Trace
from modeseek.meanshift.partition import Partition
from modeseek.selection.bandwidths import Range
from modeseek.selection.candidates import Candidate
from modeseek.selection.modes import MergeTree
from modeseek.sketches import Sketch, SketchPoints

__all__ = ["ESTIMATORS", "check_fitted"]

ESTIMATORS: dict[str, Any] = {
    each.__name__: each
    for each in (ModeSeek, DoublyStochasticMeanShift, StochasticMeanShift, BlurringMeanShift, MeanShift)
}
# threads are made as many as asked for
MOST_JOBS = 1024


def _candidates(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, Candidate) for each in value)


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
    "labels_": wholes(1),
    "cluster_centers_": reals(2),
    "n_clusters_": whole,
    "points_": reals(2),
    "partition_": of(Partition),
    "outcome_": of(Outcome),
    "n_updates_": whole,
    "n_iter_": whole,
    "engine_": text,
    "trace_": of(Trace),
    "bandwidth_": number,
    "h_min_": number,
    "h_inf_": number,
    "h_max_": number,
    "confidence_": reals(1),
    "cluster_stability_": reals(1),
    "stability_": number,
    "chain_labels_": wholes(2),
    "summary_": of(SketchPoints),
    "alternatives_": _candidates,
    "message_": text,
    "interrupted_": flag,
    "tree_": of(MergeTree),
    "_points": of(Points),
    "_labels": wholes(1),
    "_sample": of(Points),
    "_shares": of(csr_array),
    "_stands_for": wholes(1),
    "_range": of(Range),
    "_pending": _batches,
    "_survey": maybe(of(Sketch)),
}
# without these nothing can be predicted
CORE = ("n_features_in_", "labels_", "cluster_centers_", "n_clusters_", "_points", "_labels")


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
    if "labels_" in fitted:
        expect(all(name in fitted for name in CORE), "all that predict needs")
        _check_clusters(fitted)
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


def _check_clusters(fitted: dict[str, Any]) -> None:
    points, d, k = fitted["_points"], fitted["n_features_in_"], fitted["n_clusters_"]
    n, rows = len(points.values), len(points.inverse)
    expect(points.values.shape[1] == d and fitted["cluster_centers_"].shape == (k, d), "features of points and centres")
    expect(points.inverse.min(initial=0) >= 0, "points of all rows")
    expect(fitted["_labels"].shape == (n,) and fitted["labels_"].shape == (rows,), "labels for all rows")
    for labels in (fitted["_labels"], fitted["labels_"]):
        expect(labels.min(initial=0) >= -1 and labels.max(initial=-1) < k, "labels of clusters that are there")
    if "_shares" in fitted:
        expect(fitted["_shares"].shape == (n, k), "shares of all points")
        expect(fitted["confidence_"].shape == (rows,), "confidence of all rows")
    if "partition_" in fitted:
        expect(fitted["partition_"].labels.shape == (rows,), "a partition of all rows")
    if "chain_labels_" in fitted:
        expect(fitted["chain_labels_"].shape[1] == rows, "chains over all rows")
    if "tree_" in fitted:
        expect(len(fitted["tree_"].weights) == n, "a tree of all points")
    for each in fitted.get("alternatives_", ()):
        expect(each.labels.shape == (n,) and _range(each.labels, 0, n), "alternatives for all points")
    if "summary_" in fitted or "_stands_for" in fitted:
        summary, stands_for = fitted["summary_"], fitted["_stands_for"]
        expect(summary.points.shape == (len(stands_for), d) and _range(stands_for, 0, n), "points of the summary")


def _range(array: Any, low: int, high: int) -> bool:
    return not array.size or bool(array.min() >= low and array.max() < high)


def _unknown(value: Any) -> bool:
    return False
