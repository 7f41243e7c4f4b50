"""The fitted state of an estimator, as model files store it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from modeseek._common.storable import is_real, require, storable
from modeseek._common.types import Array
from modeseek.estimators.base import STREAM, BaseClusterer
from modeseek.estimators.data import Columns
from modeseek.estimators.result import FitResult
from modeseek.sketches import Sketch

__all__ = ["FittedState", "fitted_state", "restore_state"]


def _check_state(state: FittedState) -> None:
    d, stream = state.n_features, [rows for rows, _ in state.pending or ()]
    if state.result is not None:
        require(state.result.index.points.values.shape[1] == d, "the number of features")
    # rows wait in `pending` until there are enough for the layout of a sketch
    require(not (state.sketch is not None and state.pending is not None), "batches that wait beside a sketch")
    if state.sketch is not None:
        stream.append(state.sketch.sample.rows)
    require(all(is_real(rows, 2) and rows.shape[1] == d for rows in stream), "the features of batches")
    weights = [(rows, each) for rows, each in state.pending or ()]
    require(all(is_real(each, 1) and len(rows) == len(each) for rows, each in weights), "the weights of batches")
    require(state.feature_names is None or len(state.feature_names) == d, "the names of features")


@storable(_check_state)
class FittedState(NamedTuple):
    """All that a fit, or batches of `partial_fit`, have left in an estimator.

    Attributes
    ----------
    n_features : int or None
        Number of features; None if the estimator has seen no data.
    feature_names : tuple of str or None
    result : FitResult or None
    pending : tuple of (rows, weights) or None
        Batches of `partial_fit` that wait for more rows.
    sketch : Sketch or None
        Sketch of all batches of `partial_fit`.
    """

    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None
    result: FitResult | None = None
    pending: tuple[tuple[Array, Array], ...] | None = None
    sketch: Sketch | None = None


def fitted_state(estimator: BaseClusterer) -> FittedState:
    """Return the state of an estimator.

    Raises
    ------
    TypeError
        If the estimator has an attribute that no fit sets.
    """
    attributes = {key: value for key, value in vars(estimator).items() if key not in estimator.get_params(deep=False)}
    result, names = attributes.pop("result_", None), attributes.pop("feature_names_in_", None)
    d, stream = attributes.pop("n_features_in_", None), [attributes.pop(name, None) for name in STREAM]
    unknown = attributes.keys() - ({} if result is None else result.attributes()).keys()
    if unknown:
        raise TypeError(f"{min(unknown)} is not an attribute that a fit sets: delete it first.")
    pending = None if stream[0] is None else tuple(stream[0])
    names = None if names is None else tuple(str(name) for name in names)
    return FittedState(d, names, None if result is None else result.in_memory(), pending, stream[1])


def restore_state(estimator: BaseClusterer, state: FittedState) -> None:
    """Give an estimator the state that `fitted_state` returned."""
    attributes: dict[str, Any] = {}
    if state.n_features is not None:
        names = None if state.feature_names is None else np.array(state.feature_names, dtype=object)
        attributes |= Columns(state.n_features, names).attributes()
    if state.pending is not None or state.sketch is not None:
        attributes |= zip(STREAM, (None if state.pending is None else list(state.pending), state.sketch), strict=True)
    if state.result is not None:
        attributes |= {"result_": state.result, **state.result.attributes()}
    for name, value in attributes.items():
        setattr(estimator, name, value)
