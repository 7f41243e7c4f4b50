"""Clustering of Arrow record batches, for engines that map functions over batches: Spark, Ray Data, Snowflake.

`sketch` makes a sketch of each batch, `merge` joins two sketches, `fit` clusters the result, and `label` adds a column
with the cluster of each row. A sketch is a record batch with one row, so that engines can send it between workers.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from sklearn.utils.validation import check_is_fitted

from modeseek._common.sphere import check_two_columns, place_on_sphere
from modeseek._common.types import Array
from modeseek._common.validation import METRICS, check_choice, check_integer
from modeseek.estimators.base import BaseClusterer
from modeseek.estimators.state import resume_stream
from modeseek.sketches import Sample, Sketch
from modeseek.sketches.sample import check_sample

if TYPE_CHECKING:
    import pyarrow

__all__ = ["fit", "label", "merge", "sketch"]

COLUMN = "sketch"


def sketch(
    batch: Any, columns: Sequence[str] | None = None, *, metric: str = "euclidean", size: int = 200_000
) -> pyarrow.RecordBatch:
    """Return the sketch of a batch of rows: a random sample of its distinct rows with their weights.

    Parameters
    ----------
    batch : pyarrow.RecordBatch or pyarrow.Table
        The rows.
    columns : sequence of str, optional
        Names of the features. All columns by default.
    metric : {"euclidean", "cosine", "haversine"}, default="euclidean"
        Metric of the estimator. Under "haversine", the features are latitude and longitude in degrees.
    size : int, default=200_000
        Largest number of rows in the sample. Pass the same number for all batches.

    Returns
    -------
    sketch : pyarrow.RecordBatch
        One row with one binary column, "sketch". Its value holds the sample, the metric and the names of the features.

    Examples
    --------
    >>> import pyarrow as pa
    >>> one, two = (pa.record_batch({"x": values}) for values in ([0.0, 1.0], [9.0, 8.0, 1.0]))
    >>> sketch(one).num_rows, sketch(one).schema.names
    (1, ['sketch'])
    >>> merge(sketch(one), sketch(two)).equals(merge(sketch(two), sketch(one)))
    True
    """
    check_choice("metric", metric, METRICS)
    check_integer("size", size, low=1)
    names = _names(batch, columns)
    rows = _rows(batch, names)
    if metric == "haversine":
        check_two_columns(len(names))
    if metric != "euclidean":
        rows = place_on_sphere(rows, metric) if len(rows) else np.empty((0, 3 if metric == "haversine" else len(names)))
    sample = Sample.empty(size, rows.shape[1])
    return _batch(_ArrowSketch(sample.add(rows) if len(rows) else sample, metric, names))


def merge(a: Any, b: Any) -> pyarrow.RecordBatch:
    """Merge two sketches into the sketch of all their rows. The order of merges has no effect.

    Parameters
    ----------
    a, b : pyarrow.RecordBatch or pyarrow.Table
        Results of `sketch` or `merge`, with the same columns, `metric` and `size`. A batch may also hold several
        sketches, one in each row; all of them are merged.

    Returns
    -------
    sketch : pyarrow.RecordBatch

    Examples
    --------
    >>> import pyarrow as pa
    >>> one, two = (sketch(pa.record_batch({"x": values})) for values in ([0.0, 1.0], [9.0]))
    >>> merge(one, two).equals(sketch(pa.record_batch({"x": [9.0, 1.0, 0.0]})))
    True
    """
    return _batch(_merged(a, b))


def fit(estimator: BaseClusterer, merged: Any) -> BaseClusterer:
    """Fit an estimator to a sketch, and return it.

    Parameters
    ----------
    estimator : estimator of this package
        Its `metric` must be the metric of the sketch.
    merged : pyarrow.RecordBatch or pyarrow.Table
        Result of `sketch` or `merge`. A batch may also hold several sketches, one in each row; they are merged.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from modeseek import MeanShift
    >>> model = fit(MeanShift(3.0), sketch(pa.record_batch({"x": [0.0, 1.0, 9.0]})))
    >>> model.n_clusters_, model.feature_names_in_
    (2, array(['x'], dtype=object))
    """
    found = _merged(merged)
    if estimator.metric != found.metric:
        raise ValueError(
            f"the sketch was made with metric={found.metric!r}, but the estimator has metric={estimator.metric!r}: "
            "pass the same metric to both."
        )
    if not len(found.sample):
        raise ValueError("the sketch has no rows: all batches were empty.")
    resume_stream(estimator, Sketch(None, found.sample), found.names)
    return estimator.finalize()


def label(
    batch: Any, model: BaseClusterer, columns: Sequence[str] | None = None, *, name: str = "cluster"
) -> pyarrow.Table:
    """Return a batch with one more column: the cluster of each row, -1 for noise.

    Parameters
    ----------
    batch : pyarrow.RecordBatch or pyarrow.Table
        The rows.
    model : fitted estimator of this package
    columns : sequence of str, optional
        Names of the features. By default, the names that the model was fitted with, or all columns if it was fitted
        without names.
    name : str, default="cluster"
        Name of the new column.

    Returns
    -------
    batch : pyarrow.RecordBatch or pyarrow.Table
        Of the type of `batch`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from modeseek import MeanShift
    >>> batch = pa.record_batch({"id": [7, 8, 9], "x": [0.0, 1.0, 9.0]})
    >>> model = fit(MeanShift(3.0), sketch(batch, ["x"]))
    >>> label(batch, model).to_pydict()
    {'id': [7, 8, 9], 'x': [0.0, 1.0, 9.0], 'cluster': [0, 0, 1]}
    """
    import pyarrow

    check_is_fitted(model)
    if name in batch.schema.names:
        raise ValueError(f"the batch already has a column {name!r}: pass another name.")
    fitted = tuple(vars(model).get("feature_names_in_", ()))
    names = _names(batch, fitted or None if columns is None else columns)
    if fitted and names != fitted:
        raise ValueError(f"the model was fitted to columns {', '.join(fitted)}; got {', '.join(names)}.")
    if len(names) != model.n_features_in_:
        expected = f"{model.n_features_in_} columns; got {', '.join(names)}"
        raise ValueError(f"the model was fitted to {expected}: pass columns.")
    rows = _rows(batch, names)
    labels = model._label(rows) if len(rows) else np.empty(0, dtype=np.int64)
    schema = batch.schema.append(pyarrow.field(name, pyarrow.int64()))
    return type(batch).from_arrays([*batch.columns, pyarrow.array(labels, pyarrow.int64())], schema=schema)


class _ArrowSketch(NamedTuple):
    """A sketch, its metric, and the names of the columns that it was made from."""

    sample: Sample
    metric: str
    names: tuple[str, ...]

    def merge(self, other: _ArrowSketch) -> _ArrowSketch:
        for what, one, two in (("columns", self.names, other.names), ("metrics", self.metric, other.metric)):
            if one != two:
                raise ValueError(f"sketches of different {what} cannot be merged: {one} and {two}.")
        return self._replace(sample=self.sample.merge(other.sample))


def _names(batch: Any, columns: Sequence[str] | None) -> tuple[str, ...]:
    names = tuple(batch.schema.names if columns is None else columns)
    missing = [name for name in names if name not in batch.schema.names]
    if missing:
        raise ValueError(f"the batch has no column {missing[0]!r}; it has {', '.join(batch.schema.names)}.")
    return names


def _rows(batch: Any, names: tuple[str, ...]) -> Array:
    values = np.empty((batch.num_rows, len(names)))
    for at, name in enumerate(names):
        try:
            values[:, at] = batch.column(name).to_numpy(zero_copy_only=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"column {name!r} must hold numbers: {error}") from None
    if not np.isfinite(values).all():
        column = int(np.argmax(~np.isfinite(values).all(axis=0)))
        raise ValueError(f"column {names[column]!r} has missing or infinite values: drop these rows or fill them.")
    return values


def _batch(found: _ArrowSketch) -> pyarrow.RecordBatch:
    import pyarrow

    file = io.BytesIO()
    np.savez(file, metric=found.metric, names=np.array(found.names, dtype=str), **dataclasses.asdict(found.sample))
    return pyarrow.record_batch({COLUMN: pyarrow.array([file.getvalue()], pyarrow.binary())})


def _merged(*batches: Any) -> _ArrowSketch:
    if not all(COLUMN in batch.schema.names for batch in batches):
        raise ValueError(f"a result of modeseek.arrow.sketch has a column {COLUMN!r}; this batch has none.")
    stored = [each for batch in batches for each in batch.column(COLUMN).to_pylist()]
    if not stored:
        raise ValueError("there is no sketch: the batches have no rows.")
    return reduce(_ArrowSketch.merge, map(_read, stored))


def _read(stored: Any) -> _ArrowSketch:
    try:
        with np.load(io.BytesIO(stored)) as parts:
            sample = Sample(int(parts["size"]), parts["keys"], parts["rows"], parts["counts"], float(parts["weight"]))
            found = _ArrowSketch(sample, str(parts["metric"]), tuple(parts["names"].tolist()))
    except (TypeError, ValueError, KeyError, EOFError, BadZipFile):
        raise ValueError(f"column {COLUMN!r} must have the results of modeseek.arrow.sketch of this version.") from None
    check_sample(sample)
    return found
