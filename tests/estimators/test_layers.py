"""Nested partitions: `layers_` and `cut`."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from modeseek import MeanShift, ModeSeek
from modeseek.io import load, save

# nine clusters in three groups
CENTERS = (np.array([[0, 0], [60, 0], [0, 60]])[:, None] + np.array([[0, 0], [9, 0], [0, 9]])).reshape(-1, 2)
ROWS = (CENTERS[:, None] + np.random.default_rng(0).normal(size=(9, 30, 2))).reshape(-1, 2)
TRUTH = np.repeat(np.arange(9), 30)


@pytest.fixture(scope="module")
def model():
    return ModeSeek(random_state=0).fit(ROWS)


def is_nested(coarse, fine):
    return all(len(np.unique(coarse[fine == label])) == 1 for label in np.unique(fine))


def test_layers_are_nested_and_one_of_them_is_the_partition(model):
    layers = model.layers_
    counts = [each.n_clusters for each in layers]
    assert counts == sorted(counts)
    assert len(counts) > 1
    assert all(is_nested(coarse.labels, fine.labels) for coarse, fine in pairwise(layers))
    chosen = layers[counts.index(model.n_clusters_)]
    assert_array_equal(chosen.labels, model.labels_)
    assert chosen.stability == model.stability_
    assert all(each.n_clusters == each.labels.max() + 1 and each.stability <= 1 for each in layers)


def test_cuts_find_both_levels(model):
    assert adjusted_rand_score(TRUTH // 3, model.cut(3)) == 1
    assert adjusted_rand_score(TRUTH, model.cut(9)) > 0.95
    assert_array_equal(model.cut(model.n_clusters_), model.labels_)
    assert_array_equal(model.cut(1), 0)
    cuts = [model.cut(count) for count in range(1, 12)]
    assert [each.max() + 1 for each in cuts] == list(range(1, 12))
    assert all(is_nested(*pair) for pair in pairwise(cuts))


def test_the_error_names_the_numbers_that_exist(model):
    with pytest.raises(ValueError, match=r"no nested partition of 900 clusters: n_clusters must be from 1 to \d+"):
        model.cut(900)
    with pytest.raises(ValueError, match="n_clusters"):
        model.cut(0)


def test_a_fine_layer_of_unclustered_data_is_less_stable():
    layers = ModeSeek(random_state=0).fit(np.random.default_rng(3).normal(size=(200, 2))).layers_
    assert layers[0].n_clusters == 1
    assert layers[-1].stability < 0.9


def test_mean_shifts_merge_their_clusters():
    model = MeanShift(4.0, min_cluster_size=5).fit(np.vstack([ROWS, [[200.0, 200.0]]]))
    assert model.labels_[-1] == -1
    labels = model.cut(3)
    assert labels[-1] == -1
    assert adjusted_rand_score(TRUTH // 3, labels[:-1]) == 1
    assert max(each.n_clusters for each in model.layers_) == model.n_clusters_ == 9


def test_few_rows_and_no_fit():
    layers = ModeSeek().fit([[0.0], [1.0]]).layers_
    assert repr(layers) == "[Layer(1 cluster, stability 1.00)]"
    with pytest.raises(AttributeError, match="not fitted"):
        ModeSeek().cut(2)


def test_copies_of_a_model_have_the_same_layers(model, tmp_path):
    wanted = model.cut(5)
    save(model, tmp_path / "blobs.modeseek")
    for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "blobs.modeseek")):
        assert_array_equal(copy.cut(5), wanted)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_large_clusters_are_split(model, metric):
    X = ROWS if metric == "euclidean" else pairwise_distances(ROWS)
    limited = ModeSeek(metric=metric, max_cluster_size=12, random_state=0).fit(X)
    assert limited.result_.sizes.max() <= 12
    assert is_nested(model.labels_, limited.labels_)
    assert "above max_cluster_size=12" in limited.message_
    assert_array_equal(limited.predict(X), limited.labels_)
    assert_array_equal(limited.memberships_.argmax(axis=1), limited.labels_)
    assert limited.cluster_stability_.max() <= 0.5 > limited.stability_
    assert_array_equal(ModeSeek(max_cluster_size=30, random_state=0).fit(ROWS).labels_, model.labels_)


def test_the_limit_is_a_weight():
    weights = np.full(len(ROWS), 2.0)
    limited = ModeSeek(max_cluster_size=40, random_state=0).fit(ROWS, sample_weight=weights)
    assert np.bincount(limited.labels_).max() <= 20
    with pytest.raises(ValueError, match="max_cluster_size must be a whole number >= 5"):
        ModeSeek(max_cluster_size=4, min_cluster_size=5).fit(ROWS)
