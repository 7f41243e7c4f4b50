"""Neighbours found on a GPU, or on Numba's simulator of one, are those of the exact search."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from inputs import gpu
from modeseek import ModeSeek
from modeseek._common.neighbors import nearest_neighbors
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.selection import prepare_data


def found(points, k, **options):
    from modeseek.selection.cuda_neighbors import cuda_neighbors

    return cuda_neighbors(points, k, **options)


@gpu
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize(("n", "d", "k", "queries"), [(70, 13, 5, 32), (40, 16, 39, 64), (33, 32, 1, 33)])
def test_neighbours_are_the_exact_ones(n, d, k, queries, offset):
    points = np.random.default_rng(n).normal(size=(n, d)) + offset
    done = []
    indices, distances = found(points, k, queries=queries, watch=done.append)
    exact = nearest_neighbors(points, k)
    assert_array_equal(indices, exact.indices)
    assert_array_equal(distances, exact.distances)
    assert done[-1].done == done[-1].total == n


@gpu
def test_of_equally_distant_points_the_first_are_kept():
    points = np.eye(20)
    indices, distances = found(points, 3)
    assert_array_equal(indices[[0, 1, 9]], [[1, 2, 3], [0, 2, 3], [0, 1, 2]])
    assert_array_equal(distances, np.full((20, 3), np.sqrt(2.0)))


@gpu
def test_data_in_many_dimensions_have_the_neighbours_of_the_exact_search():
    X = np.random.default_rng(1).normal(size=(90, 14))
    points = canonical_points(X, np.ones(len(X)), Geometry())
    exact, cuda = (prepare_data(points, engine=engine) for engine in ("exact", "cuda"))
    assert_array_equal(cuda.indices, exact.indices)
    assert_array_equal(cuda.distances, exact.distances)
    assert not cuda.approximate


def test_missing_gpu_is_named(monkeypatch):
    monkeypatch.setattr("modeseek.estimators.mode_seek.why_unavailable", lambda: "no NVIDIA GPU was found")
    with pytest.raises(ValueError, match='engine="cuda" cannot be used here: no NVIDIA GPU was found'):
        ModeSeek(engine="cuda").fit(np.eye(5))
