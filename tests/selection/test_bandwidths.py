from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.stats import special_ortho_group
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, StochasticMeanShift
from modeseek._common.distances import kth_distance, kth_distances
from modeseek.datasets import paper_mixture
from modeseek.meanshift.components import components
from modeseek.selection.bandwidths import BandwidthScore, Range, automatic, automatic_range, score_bandwidths, trials
from modeseek.selection.bandwidths.config import DEFAULT
from modeseek.selection.bandwidths.trials import (
    TrialSample,
    blurring_partition,
    climbing_partition,
    trial_bandwidths,
)


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


def test_the_range_does_not_depend_on_order_and_seeds():
    X = paper_mixture(30, random_state=2)[0]
    first, second = (DoublyStochasticMeanShift(random_state=seed).fit(X[::step]) for seed, step in ((0, 1), (1, -1)))
    assert (first.h_min_, first.h_inf_, first.h_max_) == (second.h_min_, second.h_inf_, second.h_max_)


def test_copies_are_weights():
    X = paper_mixture(30, random_state=2)[0]
    copies = MeanShift().fit(np.concatenate([X, X[:5]]))
    weighted = MeanShift().fit(X, sample_weight=1.0 + (np.arange(len(X)) < 5))
    assert copies.bandwidth_ == weighted.bandwidth_


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


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_the_mixture_of_the_paper_is_found(seed):
    X, y = paper_mixture(200, random_state=seed)
    model = DoublyStochasticMeanShift(random_state=seed).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.6


@pytest.mark.parametrize("cls", [BlurringMeanShift, StochasticMeanShift])
def test_a_single_bandwidth_is_h_inf(cls):
    X, y = blobs(d=4)
    whole = DoublyStochasticMeanShift(random_state=0).fit(X)
    model = cls(**({"random_state": 0} if cls is StochasticMeanShift else {})).fit(X)
    assert model.bandwidth_ == whole.h_inf_
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_separate_clusters_of_many_points_are_not_merged():
    # the distance to a neighbour beyond the cluster of a point says nothing about the scale of clusters
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2)) + np.repeat([[0, 0], [9, 0], [0, 9], [9, 9]], 500, axis=0)
    h = automatic_range(X)
    assert h.h_min > 1.0
    assert h.h_max < 9.0


def test_many_clusters_in_noise_are_not_merged():
    """Judged on 500 points alone, these 36 clusters looked like one."""
    rng = np.random.default_rng(0)
    centers = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    noise = rng.uniform(-1.0, 6.0, size=(1080, 2))
    X = np.concatenate([np.repeat(centers, 90, axis=0) + 0.2 * rng.normal(size=(3240, 2)), noise])
    h = automatic_range(X)
    assert 0.2 < h.h_inf < 1.0


def test_a_small_sample_is_judged():
    X, _ = blobs(n=300)
    found = []
    for max_points in (60, 500):
        scored = score_bandwidths(X, config=replace(DEFAULT, max_points=max_points))
        found.append(max(scored, key=lambda each: each.score))
    assert found[0].n_clusters == found[1].n_clusters == 4
    assert_allclose(found[0].h, found[1].h, rtol=0.8)


def test_scales_increase_by_bounded_ratios():
    X = np.concatenate([np.zeros((10, 1)) + np.arange(10)[:, None], 1e3 + np.arange(10)[:, None]])
    bandwidths = trial_bandwidths(X, DEFAULT)
    ratios = bandwidths[1:] / bandwidths[:-1]
    assert (ratios <= DEFAULT.max_ratio + 1e-9).all()
    assert bandwidths[0] == 1.0
    assert_allclose(bandwidths[-1], np.median(cdist(X, X).max(axis=1)), rtol=DEFAULT.min_ratio - 1)


def trial_mean(point, points, own, own_mass, weights, h):
    mass = weights * np.maximum(1 - np.square(points - point).sum(axis=1) / h**2, 0)
    if own_mass is not None:
        mass[own] = own_mass
    return mass @ points / mass.sum()


@pytest.mark.parametrize("few_features", [0, 8])
def test_blurring_trial_runs_by_their_definition(few_features):
    rng, config = np.random.default_rng(0), replace(DEFAULT, few_features=few_features)
    X, weights, h = rng.normal(size=(40, 3)), rng.integers(1, 4, 40), 1.6
    x = X.copy()
    for _ in range(DEFAULT.max_sweeps):
        means = np.array([trial_mean(point, x, i, 0.5 * weights[i], weights, h) for i, point in enumerate(x)])
        moved, x = np.abs(means - x).max(), means
        if moved < DEFAULT.tol * h:
            break
    found = blurring_partition(TrialSample(X, weights, 0.5), h, config)
    assert_array_equal(found, components(x, h / 4))


@pytest.mark.parametrize("d", [1, 2, 8])
def test_compiled_trial_runs_equal_those_by_matrix_products(d):
    X = blobs(d=d)[0]
    X[1] = X[0] + 1e-5  # is merged with the first point
    sample = TrialSample(X, np.random.default_rng(0).integers(1, 4, len(X)), 0.1)
    for h in trial_bandwidths(X, DEFAULT):
        by_loops, by_products = (blurring_partition(sample, h, replace(DEFAULT, few_features=few)) for few in (8, 0))
        assert_array_equal(by_loops, by_products)


def test_climbing_trial_runs_by_their_definition():
    rng = np.random.default_rng(0)
    X, weights, h = rng.normal(size=(40, 3)), rng.integers(1, 4, 40), 1.6
    ends = X.copy()
    for i, point in enumerate(X):
        for step in range(DEFAULT.max_sweeps):
            own = (
                0.5 * weights[i] if step == 0 else None
            )  # a point counts less than its neighbours, of which it has more
            moved, point = point, trial_mean(point, X, i, own, weights, h)
            if np.abs(point - moved).max() < DEFAULT.tol * h:
                break
        ends[i] = point
    found = climbing_partition(TrialSample(X, weights, 0.5), h, DEFAULT)
    assert_array_equal(found, components(ends, h / 4))
    assert 1 < found.max() + 1 < len(X)


def test_mean_shift_chooses_by_trial_runs_of_mean_shift():
    # in many dimensions, climbers need a larger bandwidth than points that contract
    X, y = blobs(n=300, d=60)
    model = MeanShift().fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.bandwidth_ > BlurringMeanShift().fit(X).bandwidth_


@pytest.mark.parametrize("cls", [DoublyStochasticMeanShift, StochasticMeanShift])
def test_bandwidths_in_many_features_come_from_runs_of_the_algorithm(cls):
    # at the bandwidths that suit blurring mean shift, all points merge (adjusted Rand index 0)
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 9)
    X = rng.normal(size=(8, 128))[y] + 1.3 * rng.normal(size=(72, 128))
    model = cls(metric="cosine", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_an_interrupted_trial_run_ends_the_choice(monkeypatch):
    """`run` returns after Ctrl-C, so that the choice of bandwidths went on."""

    def interrupted(state, info):
        raise KeyboardInterrupt

    monkeypatch.setattr(trials, "run", partial(trials.run, callbacks=[interrupted]))
    with pytest.raises(KeyboardInterrupt, match="while bandwidths were chosen"):
        DoublyStochasticMeanShift().fit(blobs(d=40)[0])


def test_the_best_factor_of_the_range_is_taken():
    X = blobs(d=40)[0]
    runs, start = automatic.TrialRuns(X, None, None, None, DEFAULT), Range(30.0, 40.0, 48.0)
    found = runs.adjusted(start, "SMS")
    factor = found.h_inf / start.h_inf
    assert_allclose(found, factor * np.array(start))
    first = [1 / 1.44, 1 / 1.2, 1.0, 1.2]
    assert min(abs(factor - each * fine) for each in first for fine in (1.0, 1.095, 1 / 1.095)) < 1e-12


def test_more_features_than_points_keep_their_distances():
    X = np.random.default_rng(0).normal(size=(20, 300))
    reduced = TrialSample(X, np.ones(20), 1.0).points
    assert reduced.shape == (20, 20)
    assert_allclose(cdist(reduced, reduced), cdist(X, X), atol=1e-9)


def test_the_mean_of_a_plateau_of_scores_is_chosen():
    scored = [
        BandwidthScore(h, 3, score) for h, score in ((1.0, 0.2), (2.0, 0.9), (8.0, 0.895), (16.0, 0.3), (32.0, 0.9))
    ]
    assert_allclose(automatic._range_of(scored, replace(DEFAULT, smoothing=0.0)), (4.0 / 1.4, 4.0, 4.8))


def test_a_single_cluster_has_the_largest_scale():
    scored = [BandwidthScore(1.0, 9, 0.1), BandwidthScore(2.0, 1, 0.7), BandwidthScore(3.0, 1, 0.7)]
    assert_allclose(automatic._range_of(scored, DEFAULT).h_inf, 3.0)


def test_the_range_ends_before_bandwidths_with_much_lower_scores():
    # as in many dimensions, where all clusters merge within a few percent of the bandwidth
    scored = [BandwidthScore(*each) for each in ((10.0, 3, 0.9), (10.2, 3, 0.9), (10.6, 1, 0.0), (11.0, 1, 0.0))]
    h_min, h_inf, h_max = automatic._range_of(scored, replace(DEFAULT, smoothing=0.0))
    assert_allclose([h_min, h_inf], [h_inf / 1.4, np.sqrt(102.0)])
    assert_allclose(h_max, np.sqrt(h_inf * 10.6))


@pytest.mark.parametrize("d", [2, 30])
def test_distances_to_several_neighbours_at_once(d):
    X = np.random.default_rng(0).normal(size=(50, d))
    found = kth_distances(X, [50, 1, 7, 7], X[:9])
    for column, k in zip(found.T, [50, 1, 7, 7], strict=True):
        assert_allclose(column, kth_distance(X, k, X[:9]), atol=1e-12)
