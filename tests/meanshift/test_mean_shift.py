"""MeanShift compared with scikit-learn's: the same centres, and a result for every bandwidth."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.cluster
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from modeseek import MeanShift, estimate_bandwidth

DATA = {
    "iris": load_iris().data,
    "blobs": make_blobs(300, centers=6, cluster_std=1.2, random_state=0)[0],
    "integers": np.random.default_rng(0).integers(0, 12, (300, 2)).astype(float),
    "uniform": np.random.default_rng(0).uniform(size=(200, 3)),
}


# three and more dimensions have kernels of their own, which take seconds to compile
@pytest.mark.parametrize("options", [{}, {"bin_seeding": True}, {"cluster_all": False}, {"min_bin_freq": 3}])
@pytest.mark.parametrize("share", [0.4, pytest.param(1.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if X.shape[1] == 2 else pytest.mark.slow) for name, X in DATA.items()]
)
def test_flat_gives_the_centres_of_sklearn(name, share, options):
    X = DATA[name]
    if "min_bin_freq" in options:
        options = {**options, "bin_seeding": True}
    h = share * sklearn.cluster.estimate_bandwidth(X)
    theirs = sklearn.cluster.MeanShift(bandwidth=h, **options).fit(X)
    ours = MeanShift(bandwidth=h, profile="flat", assign_labels="nearest", **options).fit(X)
    assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-3 * h)
    assert_array_equal(ours.labels_, theirs.labels_)


def test_given_seeds():
    X = DATA["blobs"]
    seeds = X[::10]
    theirs = sklearn.cluster.MeanShift(bandwidth=2.0, seeds=seeds).fit(X)
    ours = MeanShift(bandwidth=2.0, profile="flat", seeds=seeds, assign_labels="nearest").fit(X)
    assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=2e-3)
    assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.points_.shape == seeds.shape


def test_as_many_seeds_as_points():
    X = DATA["blobs"]
    model = MeanShift(bandwidth=2.0, seeds=X[::-1]).fit(X)
    assert_array_equal(model.points_[::-1], MeanShift(bandwidth=2.0).fit(X).points_)


def test_labels_are_basins_by_default():
    X = DATA["blobs"]
    model = MeanShift(bandwidth=2.0).fit(X)
    distances = np.linalg.norm(model.points_[:, None] - model.cluster_centers_[None], axis=2)
    assert_array_equal(model.labels_, distances.argmin(axis=1))
    assert (model.labels_ != MeanShift(bandwidth=2.0, assign_labels="nearest").fit(X).labels_).any()


def test_takes_all_parameters_of_sklearn():
    theirs = sklearn.cluster.MeanShift().get_params()
    assert set(theirs) <= set(MeanShift().get_params())
    assert {k: v for k, v in MeanShift().get_params().items() if k in theirs} == theirs


@pytest.mark.parametrize("profile", ["flat", "biweight"])
@pytest.mark.parametrize("bandwidth", [0, 1e-300, 1e-9, 1.0, 1e9, 1e300])
def test_every_bandwidth_gives_a_result(bandwidth, profile):
    X = np.concatenate([DATA["iris"], DATA["iris"][:20]])
    for seeding in (False, True):
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            model = MeanShift(bandwidth=bandwidth, profile=profile, bin_seeding=seeding).fit(X)
        if bandwidth >= 1e9:
            assert model.n_clusters_ == 1
        if bandwidth < 1e-8:
            assert model.n_clusters_ == len(np.unique(X, axis=0))


def test_two_hundred_dimensions_with_bins(rng):
    assert MeanShift(bandwidth=1.0, bin_seeding=True).fit(rng.normal(size=(30, 200))).n_clusters_ == 30


def test_seeds_far_from_all_data_start_at_the_nearest_point():
    X = DATA["blobs"]
    model = MeanShift(bandwidth=2.0, seeds=[[1e6, 1e6], [-1e6, 0.0]]).fit(X)
    assert model.n_clusters_ >= 1
    assert np.abs(model.cluster_centers_).max() <= np.abs(X).max()


def test_estimated_bandwidth_of_zero_does_not_crash():
    X = np.repeat([[0.0, 1.0], [5.0, 5.0]], 50, axis=0)
    assert estimate_bandwidth(X) == 0.0
    model = MeanShift(bandwidth=estimate_bandwidth(X)).fit(X)
    assert (model.n_clusters_, model.bandwidth_) == (2, 0.0)


@pytest.mark.parametrize("quantile", [0.0, 0.1, 0.3, 1.0])
def test_estimate_bandwidth_is_that_of_sklearn(quantile):
    for X in DATA.values():
        expected = sklearn.cluster.estimate_bandwidth(X, quantile=quantile)
        assert_allclose(estimate_bandwidth(X, quantile=quantile), expected, atol=1e-12)
    expected = sklearn.cluster.estimate_bandwidth(DATA["iris"], n_samples=50, random_state=3)
    assert_allclose(estimate_bandwidth(DATA["iris"], n_samples=50, random_state=3), expected)


def test_max_iter_warns():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = MeanShift(bandwidth=2.0, max_iter=1).fit(DATA["blobs"])
    assert model.n_iter_ == 1
