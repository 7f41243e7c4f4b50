"""The fitted state of an estimator, as model files store it."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np

from modeseek._common.storable import require, storable
from modeseek._common.types import Array
from modeseek.estimators.base import BaseClusterer
from modeseek.estimators.input_checks import seen_columns
from modeseek.estimators.result import FitResult
from modeseek.estimators.streaming import Stream
from modeseek.sketches import Sketch


def _check_state(state: FittedState) -> None:
    d = state.n_features
    if state.result is not None:
        require(state.result.index.points.n_features == d, "the number of features")
    if state.stream is not None:
        widths = (d, 3) if d == 2 else (d,)  # streams hold latitude and longitude as vectors of length 3
        require(all(rows.shape[1] in widths for rows in state.stream.arrays()), "the features of batches")
    require(state.feature_names is None or len(state.feature_names) == d, "the names of features")


@storable(_check_state)
class FittedState(NamedTuple):
    """All attributes that a fit, or batches of `partial_fit`, have set in an estimator.

    Attributes
    ----------
    n_features : int or None
        Number of features; None if the estimator has seen no data.
    feature_names : tuple of str or None
    result : FitResult or None
    stream : Stream or None
        Rows passed to `partial_fit`.
    """

    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None
    result: FitResult | None = None
    stream: Stream | None = None


def fitted_state(estimator: BaseClusterer) -> FittedState:
    """Return the state of an estimator.

    Raises
    ------
    TypeError
        If the estimator has an attribute that no fit sets.
    """
    found = {key: value for key, value in vars(estimator).items() if key not in estimator.get_params(deep=False)}
    result, names = found.pop("result_", None), found.pop("feature_names_in_", None)
    d, stream = found.pop("n_features_in_", None), found.pop("_stream", None)
    # settings of scikit-learn (`set_output`, metadata routing) are not part of a model file
    found = {key: value for key, value in found.items() if key not in ("_sklearn_output_config", "_metadata_request")}
    unknown = found.keys() - ({} if result is None else result.attributes()).keys()
    if unknown:
        raise TypeError(f"The attribute {min(unknown)} was not set by fit: delete it before you save the estimator.")
    names = None if names is None else tuple(str(name) for name in names)
    return FittedState(d, names, None if result is None else result.in_memory(), stream)


def restore_state(estimator: BaseClusterer, state: FittedState) -> None:
    """Give an estimator the state that `fitted_state` returned."""
    names = None if state.feature_names is None else np.array(state.feature_names, dtype=object)
    attributes = {
        "n_features_in_": state.n_features,
        "feature_names_in_": names,
        "_stream": state.stream,
        "result_": state.result,
        **({} if state.result is None else state.result.attributes()),
    }
    estimator.__dict__.update({name: value for name, value in attributes.items() if value is not None})


def stream_sketch(estimator: BaseClusterer) -> Sketch | None:
    """Return the sketch of the rows passed to `partial_fit`; None while there are too few rows to make one."""
    return None if estimator._stream is None else estimator._stream.sketch


def resume_stream(estimator: BaseClusterer, sketch: Sketch, names: tuple[str, ...] | None = None) -> None:
    """Give an estimator the sketch of earlier rows, so that `partial_fit` adds rows to it."""
    n_features = 2 if estimator.metric == "haversine" else sketch.sample.rows.shape[1]
    restore_state(estimator, FittedState(n_features, names, stream=Stream(sketch=sketch)))


def labelled_copy(estimator: BaseClusterer, rows: Array) -> BaseClusterer:
    """Return a copy of an estimator that was fitted on a sketch, with the labels and confidence of the given rows."""
    other = copy.copy(estimator)
    other._store(seen_columns(estimator), estimator.result_.relabelled(rows, estimator.n_jobs), keep_stream=True)
    return other
