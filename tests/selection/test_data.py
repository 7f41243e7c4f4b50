"""The data that proposers see: principal components, neighbours, subsamples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA

from inputs import selection_data_of
from modeseek._common.neighbors import nearest_neighbors
from modeseek.selection.config import DataConfig, SelectionConfig, SubsamplesConfig
from modeseek.selection.data import base_sample, leading_components, subsample


@pytest.mark.parametrize("block_rows", [7, 1 << 15])
@pytest.mark.parametrize(("n", "d"), [(50, 3), (80, 40), (30, 90), (20, 20)])
def test_components_are_those_of_scikit_learn(n, d, block_rows):
    X = np.random.default_rng(0).normal(size=(n, d)) * np.geomspace(1.0, 0.1, d)
    found = leading_components(X, 0.0, DataConfig(block_rows=block_rows))
    expected = PCA(min(32, n - 1, d)).fit_transform(X)
    assert_allclose(np.abs(found), np.abs(expected), atol=1e-7)


def test_components_by_random_projection():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 50))
    found = leading_components(X, 0.0, DataConfig(max_exact=10))
    assert found.shape == (60, 4)
    assert_allclose(np.abs(found), np.abs(PCA(4).fit_transform(X)), atol=1e-7)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_dependent_columns_add_no_component(offset):
    X = np.random.default_rng(1).normal(size=(100, 2))
    wide = np.column_stack([X, X.sum(axis=1), np.full(100, 3.0)]) + offset
    assert selection_data_of(wide).components.shape == (100, 2)


def test_a_subsample_has_the_neighbours_that_a_new_search_finds():
    data = selection_data_of(np.random.default_rng(0).normal(size=(300, 2)))
    config = SubsamplesConfig(share=0.8, n_neighbors=10)
    some, rows = subsample(data, np.random.default_rng(3), config)
    assert len(rows) == len(some) == 240
    indices, distances = nearest_neighbors(some.points, 10)
    assert_array_equal(some.indices, indices)
    assert_allclose(some.distances, distances)
    assert_array_equal(some.points, data.points[rows])


def test_the_base_sample_has_neighbours_of_its_own():
    data = selection_data_of(np.random.default_rng(0).normal(size=(300, 2)))
    some, rows = base_sample(data, SelectionConfig(base_points=100))
    assert len(rows) == len(some) == 100
    assert_array_equal(some.indices, nearest_neighbors(data.components[rows], 60).indices)
    whole, rows = base_sample(data)
    assert whole is data
    assert_array_equal(rows, np.arange(300))


def test_a_point_without_neighbours_in_the_subsample_is_its_own():
    X = np.concatenate([np.zeros((1, 1)), np.arange(100.0, 104.0)[:, None]])
    data = selection_data_of(X)
    for seed in range(20):
        some, _ = subsample(data, np.random.default_rng(seed), SubsamplesConfig(share=0.6))
        assert (some.indices >= 0).all()
        assert (some.indices < len(some)).all()
        assert (some.distances > 0).all()
