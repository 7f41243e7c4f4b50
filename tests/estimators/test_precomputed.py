"""`ModeSeek(metric="precomputed")`: distances or a sparse graph of neighbours instead of coordinates."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import block_diag, csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import KNeighborsTransformer

from modeseek import MeanShift, ModeSeek
from modeseek.estimators.precomputed import data_from_distances
from modeseek.io import load, save

ROWS, TRUTH = make_blobs(200, centers=4, cluster_std=0.6, random_state=4)
DISTANCES = pairwise_distances(ROWS)
TRANSFORMER = KNeighborsTransformer(mode="distance", n_neighbors=15).fit(ROWS)
GRAPH = csr_array(TRANSFORMER.transform(ROWS))


def precomputed(**parameters):
    return ModeSeek(metric="precomputed", random_state=0, **parameters)


def without_loops(graph):
    entries = graph.tocoo()
    kept = entries.row != entries.col
    return csr_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=graph.shape)


@pytest.fixture(scope="module")
def fitted():
    return precomputed().fit(GRAPH)


@pytest.mark.parametrize("X", [DISTANCES, without_loops(GRAPH), GRAPH.maximum(GRAPH.T)], ids=["dense", "loops", "symm"])
def test_distances_and_graphs_give_the_clusters_of_the_rows(X, fitted):
    model = precomputed().fit(X)
    assert adjusted_rand_score(TRUTH, model.labels_) > 0.98
    assert "without centers, mixture, mean shift" in model.message_
    assert not hasattr(model, "cluster_centers_")
    assert adjusted_rand_score(model.labels_, fitted.labels_) > 0.98


def test_order_of_rows_has_no_effect():
    order = np.random.default_rng(0).permutation(len(ROWS))
    assert_array_equal(
        precomputed().fit(DISTANCES[np.ix_(order, order)]).labels_, precomputed().fit(DISTANCES).labels_[order]
    )


def test_equal_rows_are_one_point_and_weights_count_rows():
    doubled = np.vstack([ROWS, ROWS[:30]])
    weights = np.ones(len(ROWS))
    weights[:30] = 2
    twice, once = precomputed().fit(pairwise_distances(doubled)), precomputed().fit(DISTANCES, sample_weight=weights)
    assert_array_equal(twice.labels_[: len(ROWS)], once.labels_)
    assert_array_equal(twice.labels_[len(ROWS) :], once.labels_[:30])


def test_neighbour_lists_are_the_nearest_rows():
    data = data_from_distances(DISTANCES, np.ones(len(ROWS)), ModeSeek(metric="precomputed")._check_parameters(), 7)
    row_of = np.argsort(data.points.inverse)
    expected = np.sort(DISTANCES, axis=1)[:, 1:8]
    np.testing.assert_allclose(data.neighbors.distances, expected[row_of])
    np.testing.assert_allclose(DISTANCES[row_of[:, None], row_of[data.neighbors.indices]], expected[row_of])


def test_new_rows_are_labelled_by_their_nearest_training_row(fitted):
    assert_array_equal(fitted.predict(GRAPH), fitted.labels_)
    near = TRANSFORMER.transform(ROWS[:5] + 1e-6)
    assert_array_equal(fitted.predict(near), fitted.labels_[:5])
    assert_array_equal(fitted.predict_proba(near).argmax(axis=1), fitted.labels_[:5])
    assert_array_equal(precomputed().fit(DISTANCES).predict(DISTANCES[:5]), fitted.labels_[:5])
    with pytest.raises(ValueError, match="row 1 of X has no distance"):
        fitted.predict(csr_array(([1.0], ([0], [3])), shape=(2, len(ROWS))))


def test_outlier_scores_are_those_of_the_rows():
    rows = np.vstack([ROWS, [[60.0, 60.0]]])
    dense = precomputed().fit(pairwise_distances(rows))
    assert dense.outlier_scores_.argmax() == len(ROWS)
    distance = np.sort(pairwise_distances(rows), axis=1)[:, 10]
    own = dense.labels_ == dense.labels_[0]
    expected = np.clip(1 - np.median(distance[own]) / distance[own], 0, 1)
    np.testing.assert_allclose(dense.outlier_scores_[own], expected, atol=0.02)
    assert precomputed(outlier_fraction=0.01).fit(pairwise_distances(rows)).labels_[-1] == -1


def test_parts_without_edges_between_them_are_separate():
    rng = np.random.default_rng(1)
    parts = [pairwise_distances(rng.normal(size=(60, 2))) for _ in range(2)]
    model = precomputed().fit(csr_array(block_diag(parts)))
    assert_array_equal(model.labels_, np.repeat(model.labels_[[0, 60]], 60))
    assert model.labels_[0] != model.labels_[60]
    single = precomputed(n_clusters=1).fit(csr_array(block_diag(parts)))
    assert single.n_clusters_ == 1
    unknown = np.full((120, 120), np.inf)
    unknown[:60, :60], unknown[60:, 60:] = parts
    assert_array_equal(precomputed().fit(unknown).labels_, model.labels_)


def test_models_are_pickled_and_saved(fitted, tmp_path):
    save(fitted, tmp_path / "graph.modeseek")
    for model in (pickle.loads(pickle.dumps(fitted)), load(tmp_path / "graph.modeseek")):
        assert_array_equal(model.predict(GRAPH), fitted.labels_)
        assert_array_equal(model.outlier_scores_, fitted.outlier_scores_)
    assert fitted.n_features_in_ == len(ROWS)
    assert "cluster" in fitted.summary().index.name


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (DISTANCES[:5], "square matrix"),
        (-DISTANCES, "negative distance in row 0, column 1"),
        (np.where(DISTANCES > 10, np.nan, DISTANCES), "got NaN in row"),
        (KNeighborsTransformer(mode="distance", n_neighbors=3).fit_transform(ROWS), "row 0 has 3, and ModeSeek needs"),
        (csr_array(([-1.0], ([1], [2])), shape=(3, 3)), "negative distance in row 1, column 2"),
    ],
    ids=["square", "negative", "nan", "few", "sparse"],
)
def test_what_is_wrong_is_said(X, message):
    with pytest.raises(ValueError, match=message):
        precomputed().fit(X)


def test_what_needs_coordinates_is_refused(fitted):
    with pytest.raises(ValueError, match="all rows at once"):
        precomputed().partial_fit(DISTANCES)
    with pytest.raises(ValueError, match="sketch"):
        precomputed(sketch="sample").fit(DISTANCES)
    with pytest.raises(ValueError, match="positive weights"):
        precomputed().fit(DISTANCES, sample_weight=np.arange(len(ROWS)))
    with pytest.raises(ValueError, match="match_labels needs coordinates"):
        fitted.match_labels(fitted)
    with pytest.raises(ValueError, match="metric must be one of"):
        MeanShift(metric="precomputed").fit(DISTANCES)


@pytest.mark.parametrize(
    "X",
    [np.exp(-DISTANCES), 1 + np.corrcoef(ROWS), KNeighborsTransformer(mode="connectivity").fit_transform(ROWS)],
    ids=["kernel", "correlation", "connectivity"],
)
def test_similarities_are_refused(X):
    """Similarities were clustered as distances, without a message."""
    with pytest.raises(ValueError, match="X seems to hold similarities"):
        precomputed().fit(X)


def test_unknown_distances_of_rows_to_themselves():
    X = DISTANCES.copy()
    np.fill_diagonal(X, np.inf)
    assert_array_equal(precomputed().fit(X).labels_, precomputed().fit(DISTANCES).labels_)
