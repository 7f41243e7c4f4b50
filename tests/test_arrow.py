"""Sketches of Arrow batches, in the call shapes of Spark's `mapInArrow` and Ray Data's `map_batches`."""

from functools import reduce

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from modeseek import MeanShift, ModeSeek, arrow

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
    model = arrow.fit(MeanShift(3.0), arrow.merge(sketches.slice(0, 1), sketches.slice(1)))
    labelled = pa.concat_tables([arrow.label(each, model, FEATURES, name="group") for each in tables])
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
    assert_array_equal(model.predict(ROWS), np.asarray(dask.predict(ROWS)))


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
