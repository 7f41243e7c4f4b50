"""Datasets from files, uploads and examples."""

import numpy as np
import pytest

from modeseek._storage.errors import DataError
from modeseek.explorer import EXAMPLES, PreparedData, from_bytes, load_example


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_load(name):
    dataset = load_example(name)
    assert dataset.default_groups == "label"
    assert "label" not in dataset.default_columns


def test_roles_of_columns():
    dataset = from_bytes("C:\\folder\\things.csv", b"name,size,gap,kind\na,1,1,u\nb,2,,v\nc,3,3,u\n")
    assert (dataset.name, dataset.numeric, dataset.default_groups) == ("things.csv", ("size", "gap"), None)
    assert "Missing values in 1 of 3 rows (gap 1)" in " ".join(dataset.notes)
    data = PreparedData.select(dataset, dataset.default_columns, standardize=False)
    assert data.X.tolist() == [[1, 1], [3, 3]]
    assert data.group_labels("kind").tolist() == [0, 0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", b"PK", "'a.xlsx'"),
        ("a.doc", b"PK", "unknown ending '.doc'"),
        ("a.csv", b"", "'a.csv' is empty"),
        ("a.csv", b"x,y\na,b\nc,d\n", "no column is left to cluster"),
        ("a.npy", b"nothing", "'a.npy'"),
    ],
)
def test_invalid_files_are_rejected(name, content, message):
    with pytest.raises(DataError, match=message):
        from_bytes(name, content)


def test_no_column_is_an_error():
    with pytest.raises(DataError, match="select at least one"):
        PreparedData.select(load_example("iris (150, four features)"), [], standardize=False)


def test_the_longitude_is_horizontal():
    """The labels of the axes were exchanged, but the coordinates were not."""
    dataset = from_bytes("p.csv", b"lat,lon\n50,10\n51,13\n")
    data = PreparedData.select(dataset, ["lat", "lon"], standardize=False)
    projector = data.projector(data.canonical("euclidean"))
    assert projector.axes == ("lon", "lat")
    np.testing.assert_allclose(projector.start, [[10, 50], [13, 51]])
