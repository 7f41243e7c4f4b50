from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.stats import special_ortho_group
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, StochasticMeanShift
from modeseek._common.distances import kth_distance, kth_distances
from modeseek._common.types import Geometry
from modeseek.datasets import paper_mixture
from modeseek.selection.bandwidths import automatic, automatic_range, score_ranges


def blobs(n=200, d=2, k=4, seed=0):
    return make_blobs(n, d, centers=10 * np.eye(k, max(d, k))[:, :d] if d >= k else k, random_state=seed)


@pytest.mark.parametrize("d", [4, 40])
def test_separate_blobs_are_found(d):
    X, y = blobs(d=d)
    model = DoublyStochasticMeanShift(random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_blobs_on_the_sphere_are_found():
    X, y = blobs(d=20)
    X = X * np.random.default_rng(0).uniform(0.1, 9.0, len(X))[:, None]  # lengths do not matter under cosine
    model = DoublyStochasticMeanShift(metric="cosine", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_the_range_follows_scaling_rotation_and_shift():
    X = paper_mixture(100, random_state=1)[0]
    turn = special_ortho_group.rvs(2, random_state=0)
    h = automatic_range(X)
    assert_allclose(automatic_range(3.7 * X), 3.7 * np.array(h))
    assert_allclose(automatic_range(X @ turn + [5.0, -2.0]), h)


def test_the_range_does_not_depend_on_order_copies_and_seeds():
    X = paper_mixture(30, random_state=2)[0]
    ranges = set()
    for seed, rows in enumerate((X, X[::-1], np.concatenate([X, X[:5]]))):
        model = DoublyStochasticMeanShift(random_state=seed).fit(rows)
        ranges.add((model.h_min_, model.h_inf_, model.h_max_))
    assert len(ranges) <= 2  # copies have more weight in the chains
    assert len({h[2] for h in ranges}) == 1


def test_outliers_do_not_change_the_clusters():
    X, y = blobs(d=4)
    X[:3] *= 1e6
    model = DoublyStochasticMeanShift(random_state=0).fit(X)
    assert adjusted_rand_score(y[3:], model.labels_[3:]) > 0.99


@pytest.mark.parametrize("n", range(1, 15))
@pytest.mark.parametrize("d", [1, 3])
def test_few_points_have_a_range(n, d):
    h_min, h_inf, h_max = automatic_range(np.random.default_rng(n).normal(size=(n, d)))
    assert 0 < h_min <= h_inf <= h_max < np.inf


@pytest.mark.parametrize(("n", "d", "kind"), [(500, 2, "normal"), (200, 10, "uniform"), (200, 100, "normal")])
def test_noise_is_one_cluster(n, d, kind):
    X = getattr(np.random.default_rng(0), kind)(size=(n, d))
    assert DoublyStochasticMeanShift(random_state=0).fit(X).n_clusters_ == 1


def test_the_mixture_of_the_paper_is_found():
    for seed in range(3):
        X, y = paper_mixture(200, random_state=seed)
        model = DoublyStochasticMeanShift(random_state=seed).fit(X)
        assert adjusted_rand_score(y, model.labels_) > 0.6


@pytest.mark.parametrize("cls", [MeanShift, BlurringMeanShift, StochasticMeanShift])
def test_the_single_bandwidth_is_the_geometric_mean(cls):
    X, y = blobs(d=4)
    whole = DoublyStochasticMeanShift(random_state=0).fit(X)
    model = cls(**({"random_state": 0} if cls is StochasticMeanShift else {})).fit(X)
    assert_allclose(model.bandwidth_**2, whole.h_inf_ * whole.h_max_)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_halves_are_drawn_from_a_bounded_sample():
    X = np.random.default_rng(0).normal(size=(3000, 200))
    for rows, size, cuts in ((X, 500, 4), (X[:, :2], 1000, 4), (X[:300, :2], 300, 8), (X[:41, :2], 41, 16)):
        halves = list(automatic._halves(rows, np.ones(len(rows)), automatic.DEFAULT))
        assert len(halves) == 2 * cuts
        for one, other in zip(halves[::2], halves[1::2], strict=True):
            assert len(one.points) - len(other.points) == size % 2
            assert len(np.unique(np.concatenate([one.points, other.points]), axis=0)) == size


def test_ranges_go_from_wide_to_narrow():
    X = paper_mixture(30, random_state=0)[0]
    scales = list(score_ranges(X, geometry=Geometry()))
    assert_array_equal([s.n_neighbors for s in scales], [89, 64, 45, 32, 23, 16, 11, 8, 6, 4])
    assert scales[0].score == 0.0
    assert all(np.diff([s.range.h_max for s in scales]) < 0)
    assert scales[-1].fragments > 0.3


def test_scores_by_their_definition():
    rng = np.random.default_rng(0)
    halves = list(automatic._halves(rng.normal(size=(60, 2)), np.ones(60), automatic.DEFAULT))[:2]
    labels = [rng.integers(0, 9, 30) for _ in halves]
    agreement, separation, fragments = automatic._scores(halves, labels, 5)
    agreements, apart, small = [], [], []
    for half, own, other, known in zip(halves, labels, halves[::-1], labels[::-1], strict=True):
        predicted = known[cdist(half.points, other.points).argmin(axis=1)]
        agreements.append(adjusted_rand_score(own, predicted))
        real = (own[:, None] == own).sum(axis=1) >= 5
        apart.append(np.mean((own[:, None] != own) & real & real[:, None]))
        small.append(np.mean(~real))
    assert 0 < fragments < 1
    assert_allclose([agreement, separation, fragments], np.mean([agreements, apart, small], axis=1), atol=1e-12)


@pytest.mark.parametrize("d", [2, 30])
def test_distances_to_several_neighbours_at_once(d):
    X = np.random.default_rng(0).normal(size=(50, d))
    found = kth_distances(X, [50, 1, 7, 7], X[:9])
    for column, k in zip(found.T, [50, 1, 7, 7], strict=True):
        assert_allclose(column, kth_distance(X, k, X[:9]), atol=1e-12)
