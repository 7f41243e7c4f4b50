from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import special_ortho_group
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.neighbours import kth_distance, kth_distances
from modeseek.ranges import automatic_range, choice, judge_scales
from modeseek.types import Geometry


def blobs(n=200, d=2, k=4, seed=0):
    return make_blobs(n, d, centers=10 * np.eye(k, max(d, k))[:, :d] if d >= k else k, random_state=seed)


@pytest.mark.parametrize("d", [4, 40])
def test_blobs_far_apart_are_found(d):
    X, y = blobs(d=d)
    model = DoublyStochasticMeanShift(random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_blobs_on_the_sphere_are_found():
    X, y = blobs(d=20)
    X = X * np.random.default_rng(0).uniform(0.1, 9.0, len(X))[:, None]  # lengths mean nothing
    model = DoublyStochasticMeanShift(metric="cosine", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_neither_scale_nor_rotation_nor_place_matters():
    X = paper_mixture(100, random_state=1)[0]
    turn = special_ortho_group.rvs(2, random_state=0)
    h = automatic_range(X)
    assert_allclose(automatic_range(3.7 * X), 3.7 * np.array(h))
    assert_allclose(automatic_range(X @ turn + [5.0, -2.0]), h)


def test_order_copies_and_seeds_do_not_matter():
    X = paper_mixture(30, random_state=2)[0]
    ranges = set()
    for seed, rows in enumerate((X, X[::-1], np.concatenate([X, X[:5]]))):
        model = DoublyStochasticMeanShift(random_state=seed).fit(rows)
        ranges.add((model.h_min_, model.h_inf_, model.h_max_))
    assert len(ranges) <= 2  # the copies weigh more in the chains that judge
    assert len({h[2] for h in ranges}) == 1


def test_a_few_far_points_do_not_matter():
    X, y = blobs(d=4)
    X[:3] *= 1e6
    model = DoublyStochasticMeanShift(random_state=0).fit(X)
    assert adjusted_rand_score(y[3:], model.labels_[3:]) > 0.99


@pytest.mark.parametrize("n", range(1, 15))
@pytest.mark.parametrize("d", [1, 3])
def test_few_points_have_a_range(n, d):
    h_min, h_inf, h_max = automatic_range(np.random.default_rng(n).normal(size=(n, d)))
    assert 0 < h_min <= h_inf <= h_max < np.inf


def test_noise_in_high_dimension_is_one_cluster():
    X = np.random.default_rng(0).normal(size=(200, 100))
    assert DoublyStochasticMeanShift(random_state=0).fit(X).n_clusters_ == 1


@pytest.mark.parametrize("cls", [MeanShift, BlurringMeanShift, StochasticMeanShift])
def test_one_bandwidth_lies_in_the_upper_part_of_the_range(cls):
    X, y = blobs(d=4)
    whole = DoublyStochasticMeanShift(random_state=0).fit(X)
    model = cls(**({"random_state": 0} if cls is StochasticMeanShift else {})).fit(X)
    assert_allclose(model.bandwidth_**2, whole.h_inf_ * whole.h_max_)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_at_most_a_sample_is_judged():
    X = np.random.default_rng(0).normal(size=(3000, 200))
    sizes = [len(copy.points) for copy in choice._copies(X, np.ones(3000))]
    assert sizes == [350] * choice.COPIES  # 70 % of sqrt(5e7 / 200) = 500
    assert max(len(copy.points) for copy in choice._copies(X[:, :2], np.ones(3000))) == 700


def test_scales_go_from_coarse_to_fine():
    X = paper_mixture(30, random_state=0)[0]
    scales = list(judge_scales(X, geometry=Geometry()))
    assert_array_equal([s.neighbours for s in scales], [89, 64, 45, 32, 23, 16, 11, 8, 6, 4])
    assert scales[0].score == 0.0
    assert all(np.diff([s.range.h_max for s in scales]) < 0)
    assert scales[-1].crumbs > 0.3


def test_agreement_is_the_adjusted_rand_index():
    rng = np.random.default_rng(0)
    copies = list(islice(choice._copies(rng.normal(size=(60, 2)), np.ones(60)), 2))
    labels = [rng.integers(0, 4, len(copy.points)) for copy in copies]
    whole = np.full((2, 60), -1)
    for row, copy, found in zip(whole, copies, labels, strict=True):
        row[copy.members] = found
    both = (whole >= 0).all(axis=0)
    expected = adjusted_rand_score(whole[0, both], whole[1, both])
    assert_allclose(choice._agreement(*zip(copies, labels, strict=True)), expected)


@pytest.mark.parametrize("d", [2, 30])
def test_many_neighbours_at_once(d):
    X = np.random.default_rng(0).normal(size=(50, d))
    found = kth_distances(X, [50, 1, 7, 7], X[:9])
    for column, k in zip(found.T, [50, 1, 7, 7], strict=True):
        assert_allclose(column, kth_distance(X, k, X[:9]), atol=1e-12)
