"""Clusters of Arrow record batches, for engines that map functions over batches: Spark, Ray Data, Snowflake.

`sketch` makes a sketch of each batch, `merge` joins two of them, `fit` clusters the result, and `label` adds the
cluster of each row. Sketches are record batches with one row, so that engines can move them.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from modeseek._common.sphere import place_on_sphere
from modeseek._common.storable import STORABLE
from modeseek._common.types import Array
from modeseek.estimators.base import BaseClusterer
from modeseek.estimators.state import resume_stream
from modeseek.sketches import Sample, Sketch

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
        Metric of the estimator.
    size : int, default=200_000
        Largest number of rows in the sample. It is the same for all batches.

    Returns
    -------
    sketch : pyarrow.RecordBatch
        One row with one binary column, "sketch".

    Examples
    --------
    >>> import pyarrow as pa
    >>> one, two = (pa.record_batch({"x": values}) for values in ([0.0, 1.0], [9.0, 8.0, 1.0]))
    >>> sketch(one).num_rows, sketch(one).schema.names
    (1, ['sketch'])
    >>> merge(sketch(one), sketch(two)).equals(merge(sketch(two), sketch(one)))
    True
    """
    rows = _rows(batch, columns)
    if metric != "euclidean" and len(rows):
        rows = place_on_sphere(rows, metric)
    sample = Sample.empty(size, rows.shape[1])
    return _batch(sample.add(rows) if len(rows) else sample)


def merge(a: Any, b: Any) -> pyarrow.RecordBatch:
    """Return the sketch of the rows of two sketches. The order of merges has no effect.

    Parameters
    ----------
    a, b : pyarrow.RecordBatch or pyarrow.Table
        Results of `sketch` or `merge`. One that holds several sketches, in several rows, is merged as well.

    Returns
    -------
    sketch : pyarrow.RecordBatch
    """
    first, *others = [_sample(each) for batch in (a, b) for each in batch.column(COLUMN).to_pylist()]
    for other in others:
        first = first.merge(other)
    return _batch(first)


def fit(estimator: BaseClusterer, merged: Any) -> BaseClusterer:
    """Fit an estimator to a sketch, and return it.

    Parameters
    ----------
    estimator : estimator of this package
        With the `metric` of the sketch.
    merged : pyarrow.RecordBatch or pyarrow.Table
        Result of `sketch` or `merge`.
    """
    (stored,) = merged.column(COLUMN).to_pylist()
    resume_stream(estimator, Sketch(None, _sample(stored)))
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
        Names of the features, as for `sketch`.
    name : str, default="cluster"
        Name of the new column.

    Returns
    -------
    batch : pyarrow.RecordBatch or pyarrow.Table
        Of the type of `batch`.
    """
    import pyarrow

    rows = _rows(batch, columns)
    labels = model.predict(rows) if len(rows) else np.empty(0, dtype=np.int64)
    names, values = [*batch.schema.names, name], [*batch.columns, pyarrow.array(labels, pyarrow.int64())]
    return type(batch).from_arrays(values, names=names)


def _rows(batch: Any, columns: Sequence[str] | None) -> Array:
    names = batch.schema.names if columns is None else list(columns)
    missing = [name for name in names if name not in batch.schema.names]
    if missing:
        raise ValueError(f"the batch has no column {missing[0]!r}; it has {', '.join(batch.schema.names)}.")
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


def _batch(sample: Sample) -> pyarrow.RecordBatch:
    import pyarrow

    file = io.BytesIO()
    np.savez(
        file,
        size=sample.size,
        keys=sample.keys,
        rows=sample.rows,
        counts=sample.counts,
        weight=sample.weight,
    )
    return pyarrow.record_batch({COLUMN: pyarrow.array([file.getvalue()], pyarrow.binary())})


def _sample(stored: bytes) -> Sample:
    with np.load(io.BytesIO(stored)) as parts:
        sample = Sample(int(parts["size"]), parts["keys"], parts["rows"], parts["counts"], float(parts["weight"]))
    check = STORABLE["Sample"].check
    assert check is not None
    check(sample)
    return sample
