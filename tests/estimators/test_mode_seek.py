"""ModeSeek: scikit-learn's conventions, results and fitted attributes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from inputs import DEGENERATE, raw_rows
from modeseek import ModeSeek
from modeseek.metrics import rand_agreement

BLOBS = [
    make_blobs(300, n_features=2, centers=5, cluster_std=0.6, random_state=4),
    make_blobs(200, n_features=10, centers=4, random_state=1),
    make_blobs(150, n_features=60, centers=3, random_state=2),
]


@parametrize_with_checks([ModeSeek()])
def test_sklearn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("X", "y"), BLOBS)
def test_well_separated_clusters(X, y):
    model = ModeSeek(random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    # a single thinning that joins or cuts a blob takes one vote of the few that a row has
    assert model.confidence_.min() > 0.8
    assert model.confidence_.mean() > 0.97
    assert model.stability_ > 0.95


@pytest.mark.parametrize("d", [2, 10])
@pytest.mark.parametrize("draw", ["normal", "random"])
def test_no_structure_is_one_cluster(d, draw):
    for seed in range(4):
        X = getattr(np.random.default_rng(seed), draw)(size=(300, d))
        model = ModeSeek(random_state=seed).fit(X)
        assert model.n_clusters_ == 1
        assert "one cluster" in model.message_


def test_directions_under_cosine(rng):
    centres = np.eye(40)[:6]
    y = np.repeat(np.arange(6), 40)
    X = (centres[y] + 0.08 * rng.normal(size=(240, 40))) * rng.uniform(0.1, 10, (240, 1))
    model = ModeSeek(metric="cosine", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1.0)


def test_memberships_add_up_and_agree_with_the_labels():
    X, _ = make_blobs(300, centers=[(-2.0, 0.0), (2.0, 0.0)], random_state=7)
    model = ModeSeek(min_clusters=2, random_state=0).fit(X)
    assert model.memberships_.shape == (300, model.n_clusters_)
    assert_allclose(model.memberships_.sum(axis=1), 1.0)
    assert_array_equal(model.memberships_.argmax(axis=1), model.labels_)
    assert_array_equal(model.confidence_, model.memberships_.max(axis=1))
    assert model.confidence_.min() < 1.0


def test_confidence_is_lower_at_the_border():
    X, _ = make_blobs(400, centers=[(-2.0, 0.0), (2.0, 0.0)], cluster_std=0.9, random_state=0)
    model = ModeSeek(min_clusters=2, max_clusters=2, random_state=0).fit(X)
    border = np.abs(X[:, 0]) < 0.7
    assert model.confidence_[border].mean() < model.confidence_[~border].mean()


def test_bounds_on_the_number_of_clusters():
    X, _ = BLOBS[0]
    for count in (2, 5):
        assert ModeSeek(n_clusters=count, random_state=0).fit(X).n_clusters_ == count
    two = ModeSeek(n_clusters=2, random_state=0).fit(X)
    assert_allclose(two.memberships_.sum(axis=1), 1.0)
    assert ModeSeek(max_clusters=3, random_state=0).fit(X).n_clusters_ <= 3
    assert ModeSeek(min_clusters=200, random_state=0).fit(X).n_clusters_ == 200
    assert ModeSeek(min_clusters=6, random_state=0).fit(X).n_clusters_ >= 6
    with pytest.raises(ValueError, match="n_clusters must be a whole number >= 1"):
        ModeSeek(n_clusters=0).fit(X)
    with pytest.raises(ValueError, match="min_clusters=4 is larger than max_clusters=2"):
        ModeSeek(min_clusters=4, max_clusters=2).fit(X)


@pytest.mark.parametrize("n", [2, 3, 5, 40])
def test_any_number_of_clusters_up_to_the_number_of_distinct_rows(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    for count in {2, n // 2 + 1, n}:
        model = ModeSeek(n_clusters=count).fit(X)
        assert model.n_clusters_ == count
        assert_allclose(model.memberships_.sum(axis=1), 1.0)


def test_alternatives_differ_and_fall():
    X, _ = make_blobs(300, centers=4, cluster_std=1.4, random_state=7)
    found = ModeSeek(random_state=0).fit(X).alternatives_
    assert len({each.n_clusters for each in found}) == len(found) > 1
    for i, each in enumerate(found):
        assert 0 <= each.expected_agreement <= 1
        assert all(rand_agreement(each.labels, other.labels) < 0.9 for other in found[:i])


def test_seed_order_of_rows_and_predict():
    X, _ = make_blobs(200, centers=4, cluster_std=1.3, random_state=7)
    model = ModeSeek(min_clusters=2, random_state=3).fit(X)
    assert_array_equal(ModeSeek(min_clusters=2, random_state=3).fit(X).labels_, model.labels_)
    order = np.random.default_rng(0).permutation(len(X))
    assert (
        adjusted_rand_score(ModeSeek(min_clusters=2, random_state=3).fit(X[order]).labels_, model.labels_[order]) == 1.0
    )
    assert_array_equal(model.predict(X), model.labels_)


def test_weights_equal_repetition():
    X, _ = make_blobs(80, centers=3, cluster_std=0.7, random_state=1)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = ModeSeek(random_state=0).fit(X, sample_weight=weights)
    repeated = ModeSeek(random_state=0).fit(np.repeat(X, weights, axis=0))
    assert_array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)


def test_redundant_columns_change_nothing():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 2))
    X[100:, 0] += 3.2
    plain = ModeSeek(random_state=0).fit(X)
    constant = ModeSeek(random_state=0).fit(np.column_stack([X, np.full(200, 7.0)]))
    assert plain.n_clusters_ == 2
    assert constant.n_clusters_ == 2
    assert_array_equal(constant.labels_, plain.labels_)
    turned = ModeSeek(random_state=0).fit(X @ np.array([[1.0, 2.0, 2.0], [2.0, 1.0, -2.0]]) / 3.0)
    assert_array_equal(turned.labels_, plain.labels_)


def test_float32_gives_the_same_labels():
    X = make_blobs(60, centers=[(0.0, 0.0), (3.2, 0.0)], random_state=1)[0].astype(np.float32)
    one, other = ModeSeek(random_state=0).fit(X), ModeSeek(random_state=0).fit(X.astype(np.float64))
    assert_array_equal(one.labels_, other.labels_)


def test_a_ring_is_not_cut():
    cut = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        angle = rng.random(200) * 2 * np.pi
        ring = np.column_stack([np.cos(angle), np.sin(angle)]) * (1.0 + 0.15 * rng.normal(size=(200, 1)))
        cut += ModeSeek(random_state=0).fit(ring).n_clusters_ > 1
    assert cut <= 1


def test_small_clusters_become_noise():
    X, _ = make_blobs([100, 100, 30], centers=[(0, 0), (9, 0), (0, 9)], cluster_std=0.5, random_state=0)
    assert ModeSeek(random_state=0).fit(X).n_clusters_ == 3
    model = ModeSeek(min_cluster_size=40, random_state=0).fit(X)
    assert model.n_clusters_ == 2
    assert (model.labels_ == -1).sum() == 30
    assert_array_equal(model.confidence_[model.labels_ == -1], 0.0)


@given(st.sampled_from(DEGENERATE), st.integers(0, 1000), st.integers(1, 60), st.sampled_from([1, 2, 40]))
@settings(max_examples=40)
def test_degenerate_data(kind, seed, n, d):
    rows = raw_rows(kind, np.random.default_rng(seed), n, d)
    model = ModeSeek(random_state=0).fit(rows)
    assert len(model.labels_) == len(rows)
    assert np.isfinite(model.memberships_).all()


def test_a_number_of_clusters_that_is_not_proposed():
    X, _ = BLOBS[0]
    model = ModeSeek(n_clusters=41, random_state=0).fit(X)
    assert model.n_clusters_ == 41
    assert "as requested" in model.message_
    assert 0.0 < model.stability_ < 1.0
    assert_allclose(model.memberships_.sum(axis=1), 1.0)
