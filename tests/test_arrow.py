"""Sketches of Arrow batches, in the call shapes of Spark's `mapInArrow` and Ray Data's `map_batches`."""

from functools import reduce

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from modeseek import MeanShift, ModeSeek, arrow, io
from modeseek._common.sphere import CoordinateError

ROWS, TRUTH = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
TABLE = pa.table({"id": np.arange(300), "x": ROWS[:, 0], "y": ROWS[:, 1]})
FEATURES = ["x", "y"]


def map_in_arrow(function, batches):
    """Call a function as Spark does: with an iterator of the batches of one partition, for an iterator of batches."""
    schema = None
    for part in np.array_split(np.array(batches, dtype=object), 3):
        for found in function(iter(part.tolist())):
            assert isinstance(found, pa.RecordBatch)
            assert found.schema == (schema or found.schema)  # Spark needs one schema
            schema = found.schema
            yield found


def test_spark():
    batches = TABLE.to_batches(max_chunksize=37)

    def sketches(iterator):
        for batch in iterator:
            yield arrow.sketch(batch, FEATURES)

    model = arrow.fit(ModeSeek(random_state=0), reduce(arrow.merge, map_in_arrow(sketches, batches)))

    def labels(iterator):
        for batch in iterator:
            yield arrow.label(batch, model, FEATURES)

    labelled = pa.Table.from_batches(map_in_arrow(labels, batches))
    assert labelled.column_names == ["id", "x", "y", "cluster"]
    assert_array_equal(labelled["id"], TABLE["id"])
    assert_array_equal(labelled["cluster"], ModeSeek(random_state=0).fit(ROWS).labels_)


def test_ray_data():
    # Ray Data passes tables with batch_format="pyarrow"
    tables = [TABLE.slice(start, 100) for start in (0, 100, 200)]
    sketches = pa.concat_tables([pa.Table.from_batches([arrow.sketch(each, FEATURES)]) for each in tables])
    model = arrow.fit(MeanShift(3.0), sketches)  # several sketches: an earlier version expected one
    labelled = pa.concat_tables([arrow.label(each, model, name="group") for each in tables])
    assert_array_equal(labelled["group"], MeanShift(3.0).fit(ROWS).labels_)


def test_the_order_of_merges_has_no_effect():
    rng = np.random.default_rng(0)
    # every row twice, and a sample that is smaller than the data
    doubled = pa.concat_tables([TABLE, TABLE]).select(FEATURES)
    wanted = arrow.sketch(doubled, size=100)
    for _ in range(3):
        parts = np.array_split(rng.permutation(doubled.num_rows), 7)
        sketches = [arrow.sketch(doubled.take(part), size=100) for part in parts]
        while len(sketches) > 1:
            a, b = (sketches.pop(rng.integers(len(sketches))) for _ in range(2))
            sketches.append(arrow.merge(a, b))
        assert sketches[0].equals(wanted)


def test_labels_are_those_of_dask():
    array = pytest.importorskip("dask.array")
    sample = arrow.sketch(TABLE, FEATURES, metric="cosine", size=20_000)
    model = arrow.fit(MeanShift(0.5, metric="cosine", sketch="sample"), sample)
    dask = MeanShift(0.5, metric="cosine", sketch="sample").fit(array.from_array(ROWS, chunks=(50, 2)))
    assert_array_equal(arrow.label(TABLE, model)["cluster"], np.asarray(dask.predict(ROWS)))


def test_places_on_a_map(tmp_path):
    places = pa.table({"latitude": ROWS[:, 0], "longitude": ROWS[:, 1]})
    empty = arrow.sketch(places.slice(0, 0), metric="haversine")
    estimator = MeanShift(300_000, metric="haversine")
    model = arrow.fit(estimator, arrow.merge(empty, arrow.sketch(places, metric="haversine")))
    labels = MeanShift(300_000, metric="haversine").fit(ROWS).labels_
    assert model.n_features_in_ == 2
    assert_array_equal(arrow.label(places, model)["cluster"], labels)
    # the file could not be read: the sketch has three columns
    io.save(model, tmp_path / "model.npz")
    assert_array_equal(arrow.label(places, io.load(tmp_path / "model.npz"))["cluster"], labels)


def test_labels_keep_the_schema():
    table = TABLE.replace_schema_metadata({"source": "sensor"})
    labelled = arrow.label(table, MeanShift(3.0).fit(ROWS), FEATURES)
    assert labelled.schema.metadata == {b"source": b"sensor"}
    with pytest.raises(ValueError, match="already has a column 'cluster'"):
        arrow.label(labelled, MeanShift(3.0).fit(ROWS), FEATURES)


def test_other_columns_and_metrics_are_refused():
    plain, cosine = (arrow.sketch(TABLE, FEATURES, metric=metric) for metric in ("euclidean", "cosine"))
    with pytest.raises(ValueError, match="metric='euclidean', but the estimator has metric='cosine'"):
        arrow.fit(MeanShift(0.5, metric="cosine"), plain)
    with pytest.raises(ValueError, match="metric='cosine', but the estimator has metric='euclidean'"):
        arrow.fit(MeanShift(0.5), cosine)
    with pytest.raises(ValueError, match="different metrics"):
        arrow.merge(plain, cosine)
    with pytest.raises(ValueError, match="different columns"):
        arrow.merge(plain, arrow.sketch(TABLE, ["y", "x"]))
    model = arrow.fit(MeanShift(3.0), plain)
    with pytest.raises(ValueError, match="fitted to columns x, y; got y, x"):
        arrow.label(TABLE, model, ["y", "x"])
    with pytest.raises(ValueError, match="fitted to 2 columns; got id, x, y"):
        arrow.label(TABLE, MeanShift(3.0).fit(ROWS))
    with pytest.raises(ValueError, match="metric must be one of"):
        arrow.sketch(TABLE, FEATURES, metric="manhattan")
    with pytest.raises(CoordinateError):
        arrow.sketch(TABLE, metric="haversine")


def test_what_is_not_a_sketch_is_refused():
    found = arrow.sketch(TABLE, FEATURES)
    with pytest.raises(ValueError, match="size must be"):
        arrow.sketch(TABLE, FEATURES, size=0)
    with pytest.raises(ValueError, match="no sketch"):
        arrow.merge(found.slice(1), found.slice(1))
    with pytest.raises(ValueError, match="column 'sketch'; this batch has none"):
        arrow.merge(TABLE, TABLE)
    with pytest.raises(ValueError, match="must have the results of"):
        arrow.fit(MeanShift(3.0), pa.table({"sketch": [b"none"]}))
    with pytest.raises(ValueError, match="sketch has no rows"):
        arrow.fit(MeanShift(3.0), arrow.sketch(TABLE.slice(0, 0), FEATURES))
    with pytest.raises(NotFittedError):
        arrow.label(TABLE, MeanShift(3.0))


def test_empty_batches_and_mistakes():
    empty = TABLE.slice(0, 0)
    assert arrow.merge(arrow.sketch(empty, FEATURES), arrow.sketch(TABLE, FEATURES)).equals(
        arrow.sketch(TABLE, FEATURES)
    )
    assert arrow.label(empty, MeanShift(3.0).fit(ROWS), FEATURES).num_rows == 0
    with pytest.raises(ValueError, match="no column 'z'; it has id, x, y"):
        arrow.sketch(TABLE, ["x", "z"])
    with pytest.raises(ValueError, match="'x' has missing or infinite"):
        arrow.sketch(pa.table({"x": [1.0, None]}))
    with pytest.raises(ValueError, match="'x' must hold numbers"):
        arrow.sketch(pa.table({"x": ["a"]}))
