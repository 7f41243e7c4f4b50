import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from inputs import selection_data_of
from modeseek import ModeSeek
from modeseek._common.neighbors import nearest_neighbors
from modeseek.selection.approximate import approximate_neighbors
from modeseek.selection.config import DEFAULT, ApproximateConfig, FeaturesConfig
from modeseek.selection.features.graph import graph_features, graph_sample
from modeseek.selection.features.partitions import Partitions

K = 20


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(2000, 16))


def found(points, n_jobs=1, **config):
    return approximate_neighbors(points, K, ApproximateConfig(leaf_size=64, **config), n_jobs=n_jobs)


def recall(indices, exact):
    return np.mean([len(np.intersect1d(a, b)) / K for a, b in zip(indices, exact, strict=True)])


def test_most_neighbours_are_found_and_rounds_find_more(points):
    exact = nearest_neighbors(points, K).indices
    by_rounds = [recall(found(points, n_rounds=count).indices, exact) for count in (0, 1, 2)]
    assert by_rounds[0] < by_rounds[1] < by_rounds[2]
    assert by_rounds[2] > 0.98


def test_lists_are_sorted_with_exact_distances_and_without_the_point_itself(points):
    indices, distances = found(points, n_rounds=0)
    assert_allclose(distances, np.linalg.norm(points[:, None] - points[indices], axis=2))
    assert (np.diff(distances, axis=1) >= 0).all()
    assert all(len(np.unique(row)) == K and i not in row for i, row in enumerate(indices.tolist()))


def test_a_point_is_in_the_list_of_a_neighbour_unless_all_entries_are_nearer(points):
    # the edges of the proposer "spanning_tree" rely on it
    indices, distances = found(points, n_rounds=0)
    rows = np.repeat(np.arange(len(points)), K)
    near = distances.ravel() < distances[indices.ravel(), -1] * (1 - 1e-5)
    back = (indices[indices.ravel()] == rows[:, None]).any(axis=1)
    assert near.any()
    assert back[near].all()


def test_threads_change_nothing(points):
    for one, three in zip(found(points), found(points, n_jobs=3, task_rows=300), strict=True):
        assert_array_equal(one, three)


def test_the_engine_is_named_and_clear_clusters_are_found():
    X, y = make_blobs(600, 12, centers=4, random_state=0)
    exact, approximate = (ModeSeek(engine=engine, random_state=0).fit(X) for engine in ("exact", "approximate"))
    assert "approximate" not in exact.message_
    assert "nearest neighbours are approximate" in approximate.message_
    assert adjusted_rand_score(y, approximate.labels_) > 0.99
    with pytest.raises(ValueError, match="engine must be one of 'auto', 'exact', 'approximate'"):
        ModeSeek(engine="tree").fit(X)


def test_features_of_every_second_point_are_close_to_those_of_all():
    X, y = make_blobs(3000, 2, centers=4, random_state=1)
    data = selection_data_of(X)
    partitions = Partitions.of([y[np.lexsort(X.T[::-1])]])
    samples = (
        graph_sample(data, np.random.default_rng(0), FeaturesConfig(edge_points=size))
        for size in (DEFAULT.features.edge_points, 1500)
    )
    all_points, half = (graph_features(each, partitions, partitions.weights(data.weights)) for each in samples)
    assert all_points["inside15"] == half["inside15"]
    assert all_points["dip8_mean"] != half["dip8_mean"]
    assert_allclose(half["mid24_mean"], all_points["mid24_mean"], atol=0.3)
    assert_allclose(half["cut_mean"], all_points["cut_mean"], atol=0.02)
