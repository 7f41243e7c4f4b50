from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from inputs import DEGENERATE, raw_rows
from modeseek import (
    BlurringMeanShift,
    DoublyStochasticMeanShift,
    MeanShift,
    StochasticMeanShift,
)
from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import LocalFactor
from modeseek.meanshift.chains import Outcome

ALL = [MeanShift, BlurringMeanShift, StochasticMeanShift, DoublyStochasticMeanShift]
RANDOM = [StochasticMeanShift, DoublyStochasticMeanShift]


def make(cls, **options):
    if cls in RANDOM:
        options.setdefault("random_state", 0)
    return cls(**options)


@parametrize_with_checks([DoublyStochasticMeanShift()])
def test_sklearn_conventions(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([MeanShift(), BlurringMeanShift(), StochasticMeanShift()])
def test_sklearn_conventions_of_the_other_mean_shifts(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    "engine",
    ["reference", "brute", *(pytest.param(e, marks=pytest.mark.slow) for e in ("moment_tree", "neighbor_lists"))],
)
def test_the_automatic_bandwidth_of_two_rows_joins_them(cls, engine):
    """It equals their distance, where a flat kernel jumps, so that rounding could decide the number of clusters."""
    for X in np.random.default_rng(0).normal(size=(4, 2, 2)):
        assert make(cls, profile="flat", engine=engine).fit(X).n_clusters_ == 1


@pytest.mark.parametrize("cls", ALL)
def test_three_clear_blobs(cls, blobs):
    X, y = blobs
    h = {"h_min": 1.0, "h_inf": 2.0, "h_max": 4.0} if cls is DoublyStochasticMeanShift else {"bandwidth": 4.0}
    model = make(cls, **h).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.outcome_.converged
    assert model.n_clusters_ == len(model.cluster_centers_) == model.labels_.max() + 1
    assert model.points_.shape == X.shape
    assert model.n_updates_ > 0
    assert model.engine_ == "brute"


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("kind", DEGENERATE)
@given(seed=st.integers(0, 10**6), d=st.sampled_from([1, 2, 13]))
@settings(max_examples=5)
def test_degenerate_data(cls, kind, seed, d):
    X = raw_rows(kind, np.random.default_rng(seed), 25, d)
    model = make(cls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    assert_array_equal(model.predict(X), model.labels_)
    assert set(model.labels_) == set(range(model.n_clusters_))
    _, inverse = np.unique(X, axis=0, return_inverse=True)
    for row in range(len(X)):
        assert len(set(model.labels_[inverse.reshape(-1) == inverse.reshape(-1)[row]])) == 1
    assert np.isfinite(model.cluster_centers_).all()


@pytest.mark.parametrize("cls", ALL)
def test_order_of_rows_changes_nothing(cls, rng):
    X = paper_mixture(30, random_state=1)[0]
    order = rng.permutation(len(X))
    assert_array_equal(make(cls).fit(X).labels_[order], make(cls).fit(X[order]).labels_)


@pytest.mark.parametrize("cls", ALL)
def test_a_huge_offset_changes_nothing(cls):
    X = np.round(paper_mixture(30, random_state=1)[0] * 1024) / 1024  # so that X + 2^30 is exact
    plain, far = make(cls).fit(X), make(cls).fit(X + 2.0**30)
    assert_array_equal(plain.labels_, far.labels_)
    assert_allclose(plain.cluster_centers_ + 2.0**30, far.cluster_centers_, rtol=0, atol=1e-6)


@pytest.mark.parametrize("cls", ALL)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10)
def test_weights_equal_repetition(cls, seed):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(25, 2)), rng.integers(0, 4, 25)
    w[0] = 3
    weighted = make(cls).fit(X, sample_weight=w)
    copied = make(cls).fit(np.repeat(X, w, axis=0))
    assert_array_equal(np.repeat(weighted.labels_, w), copied.labels_)
    assert_array_equal(weighted.cluster_centers_, copied.cluster_centers_)
    assert weighted.n_updates_ == copied.n_updates_


@pytest.mark.parametrize("cls", RANDOM)
def test_copies_of_a_row_move_together(cls):
    X = paper_mixture(10, random_state=2)[0]
    w = np.ones(len(X))
    w[4] = 3
    triple = make(cls).fit(np.concatenate([X, X[[4, 4]]]))
    single = make(cls).fit(X, sample_weight=w)
    assert_array_equal(triple.points_[[4, -2, -1]], np.repeat(single.points_[[4]], 3, axis=0))
    assert_array_equal(triple.points_[: len(X)], single.points_)


@pytest.mark.parametrize("cls", ALL)
def test_rows_of_weight_zero_have_no_influence(cls):
    X = paper_mixture(20, random_state=0)[0]
    far = np.concatenate([X, [[50.0, 50.0]]])
    w = np.append(np.ones(len(X)), 0.0)
    with_far, without = make(cls).fit(far, sample_weight=w), make(cls).fit(X)
    assert_array_equal(with_far.labels_[:-1], without.labels_)
    assert with_far.labels_[-1] == without.predict([[50.0, 50.0]])[0]


@pytest.mark.parametrize("cls", ALL)
def test_cosine_ignores_lengths(cls, rng):
    centres = np.eye(3)
    X = np.repeat(centres, 20, axis=0) + 0.05 * rng.normal(size=(60, 3))
    lengths = rng.uniform(0.1, 10, (60, 1))
    h = {"h_min": 0.2, "h_inf": 0.3, "h_max": 0.8} if cls is DoublyStochasticMeanShift else {"bandwidth": 0.8}
    model = make(cls, metric="cosine", **h).fit(X * lengths)
    assert_array_equal(model.labels_, make(cls, metric="cosine", **h).fit(X).labels_)  # lengths have no influence
    assert adjusted_rand_score(np.repeat([0, 1, 2], 20), model.labels_) == 1.0
    assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1.0)
    assert_allclose(np.linalg.norm(model.points_, axis=1), 1.0)
    assert_array_equal(model.predict(X * lengths), model.labels_)


@pytest.mark.parametrize("cls", ALL)
def test_float32_stays_float32(cls):
    X = paper_mixture(30, random_state=1)[0].astype(np.float32)
    model = make(cls).fit(X)
    assert model.cluster_centers_.dtype == model.points_.dtype == np.float32
    double = make(cls).fit(X.astype(np.float64))
    assert adjusted_rand_score(model.labels_, double.labels_) == 1.0


@pytest.mark.parametrize("cls", ALL)
def test_data_frames(cls):
    X = paper_mixture(20, random_state=1)[0]
    expected = make(cls).fit(X).labels_
    for frame in (pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X, schema=["a", "b"])):
        model = make(cls).fit(frame)
        assert_array_equal(model.labels_, expected)
        assert list(model.feature_names_in_) == ["a", "b"]
        assert_array_equal(model.predict(frame), expected)


@pytest.mark.parametrize("cls", ALL)
def test_pickle_clone_pipeline(cls):
    X = paper_mixture(20, random_state=1)[0]
    model = make(cls).fit(X)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), model.labels_)
    assert again.outcome_ is model.outcome_
    assert_array_equal(clone(model).fit(X).labels_, model.labels_)
    piped = make_pipeline(StandardScaler(), make(cls)).fit_predict(X)
    assert_array_equal(piped, make(cls).fit(StandardScaler().fit_transform(X)).labels_)


def test_grid_search():
    X, y = paper_mixture(20, random_state=1)
    search = GridSearchCV(
        StochasticMeanShift(random_state=0),
        {"bandwidth": [0.3, 1.2]},
        scoring=lambda model, X, y: adjusted_rand_score(y, model.predict(X)),
        cv=2,
    ).fit(X, y)
    assert search.best_params_["bandwidth"] == 1.2


@pytest.mark.parametrize("cls", ALL)
def test_min_cluster_size(cls):
    X = np.concatenate([paper_mixture(20, random_state=1)[0], [[30.0, 30.0]], [[-30.0, 30.0]]])
    plain, sized = make(cls).fit(X), make(cls, min_cluster_size=2).fit(X)
    sizes = np.bincount(plain.labels_)
    assert_array_equal(sized.labels_ == -1, sizes[plain.labels_] < 2)
    assert sized.n_clusters_ == (sizes >= 2).sum() == len(sized.cluster_centers_)
    assert_array_equal(sized.predict(X), sized.labels_)
    assert make(cls, min_cluster_size=10**6).fit(X).n_clusters_ == 0


@pytest.mark.parametrize("cls", ALL)
def test_any_number_of_jobs_gives_the_same(cls):
    X = paper_mixture(60, random_state=1)[0]
    one, two = make(cls, n_jobs=1).fit(X), make(cls, n_jobs=2).fit(X)
    assert_array_equal(one.points_, two.points_)


@pytest.mark.parametrize("cls", ALL)
def test_engines_give_the_same_labels(cls):
    X = paper_mixture(15, random_state=1)[0]
    models = [make(cls, engine=engine).fit(X) for engine in ("reference", "brute")]
    assert [model.engine_ for model in models] == ["reference", "brute"]
    assert_array_equal(models[0].labels_, models[1].labels_)


@pytest.mark.parametrize("cls", RANDOM)
def test_random_state(cls):
    X = paper_mixture(30, random_state=1)[0]

    def ends(state):
        return cls(random_state=state).fit(X).points_

    assert_array_equal(ends(3), ends(3))
    assert (ends(3) != ends(4)).any()
    assert_array_equal(ends(np.random.RandomState(3)), ends(np.random.RandomState(3)))
    assert_array_equal(ends(np.random.default_rng(3)), ends(np.random.default_rng(3)))
    assert (ends(None) != ends(None)).any()


@pytest.mark.parametrize("policy", ["shrinking", "walk", "uniform", "anchored", "constant"])
def test_policies_by_name(policy):
    X = paper_mixture(20, random_state=1)[0]
    model = DoublyStochasticMeanShift(0.2, 1.6, 0.6, policy=policy, random_state=0).fit(X)
    assert model.outcome_ is Outcome.CERTIFIED
    assert (model.h_min_, model.h_inf_, model.h_max_) == (0.2, 0.6, 1.6)


@pytest.mark.parametrize("engine", ["reference", "brute"])
def test_a_policy_in_plain_python_works_on_every_engine(engine):
    class CoinToss:
        h_min, h_max, h_0 = 0.4, 1.2, 0.4

        def draw(self, uniforms, h, k):
            return [0.4 if u < 0.5 else 1.2 for u in uniforms]

        def upper(self, h, k):
            return 1.2

    X = paper_mixture(20, random_state=1)[0]
    model = DoublyStochasticMeanShift(policy=CoinToss(), engine=engine, random_state=0).fit(X)
    assert model.outcome_ is Outcome.CERTIFIED
    assert (model.h_min_, model.h_inf_, model.h_max_) == (0.4, 0.4, 1.2)
    assert set(model.trace_.h.values) == {0.4, 1.2}


@pytest.mark.parametrize("cls", RANDOM)
def test_order_batches_and_local_scale(cls):
    X = paper_mixture(20, random_state=1)[0]
    for options in ({"order": "reshuffled"}, {"batch_size": 8}, {"batch_size": 10**6}, {"local_scale": True}):
        model = make(cls, **options).fit(X)
        assert model.outcome_.converged, options


@pytest.mark.parametrize("cls", RANDOM)
def test_local_factors_see_points_in_the_units_of_the_data(cls):
    X, seen = paper_mixture(5, random_state=1)[0] + [100.0, -30.0], []

    def left_points_reach_further(point, density):
        seen.append(point)
        return 1.5 if point[0] < 100.0 else 1.0

    plain = make(cls).fit(X)
    model = make(cls, local_factor=LocalFactor(left_points_reach_further, 1.0, 1.5)).fit(X)
    assert model.outcome_ is Outcome.CERTIFIED
    assert np.abs(model.points_ - plain.points_).max() > 1e-3
    assert (np.abs(seen - X.mean(axis=0)) <= np.abs(X - X.mean(axis=0)).max(axis=0) + 1e-9).all()
    with pytest.raises(TypeError, match="local_factor must be None or a LocalFactor"):
        make(cls, local_factor=left_points_reach_further).fit(X)


@pytest.mark.parametrize("cls", RANDOM)
def test_a_run_that_did_not_converge_warns(cls):
    X = paper_mixture(30, random_state=1)[0]
    with pytest.warns(ConvergenceWarning, match="limit on updates.*max_updates"):
        model = make(cls, max_updates=1).fit(X)
    assert model.outcome_ is Outcome.UPDATE_LIMIT
    with pytest.warns(ConvergenceWarning, match="limit on time"):
        make(cls, max_time=1e-9).fit(X)


def test_partial_ranges_are_completed():
    X = paper_mixture(30, random_state=0)[0]
    whole = DoublyStochasticMeanShift(random_state=0).fit(X)
    assert 0 < whole.h_min_ <= whole.h_inf_ <= whole.h_max_
    for given_ in ({"h_min": 3.0}, {"h_max": 0.1}, {"h_inf": 5.0}, {"h_min": 0.1, "h_max": 0.2}):
        model = DoublyStochasticMeanShift(**given_, random_state=0).fit(X)
        assert model.h_min_ <= model.h_inf_ <= model.h_max_
        for name, value in given_.items():
            assert getattr(model, f"{name}_") == value


@pytest.mark.parametrize("cls", ALL)
def test_the_automatic_bandwidth_scales_with_the_data(cls):
    X = paper_mixture(30, random_state=0)[0]
    name = "h_max_" if cls is DoublyStochasticMeanShift else "bandwidth_"
    small, large = make(cls).fit(X), make(cls).fit(1024 * X)
    assert_allclose(getattr(large, name), 1024 * getattr(small, name))
    assert_array_equal(small.labels_, large.labels_)


@pytest.mark.parametrize("n_per_cluster", [10, 50, pytest.param(200, marks=pytest.mark.slow)])
def test_the_papers_mixture(n_per_cluster):
    """Std 0.65, h = 0.6 against [0.2, 1.6]: DSMS finds 3 to 6 clusters on average, SMS and BMS more than 10."""
    counts = {"dsms": [], "sms": [], "bms": []}
    for seed in range(20):
        X = paper_mixture(n_per_cluster, random_state=seed)[0]
        counts["dsms"].append(DoublyStochasticMeanShift(0.2, 1.6, 0.6, random_state=seed).fit(X).n_clusters_)
        counts["sms"].append(StochasticMeanShift(0.6, random_state=seed).fit(X).n_clusters_)
        counts["bms"].append(BlurringMeanShift(0.6).fit(X).n_clusters_)
    assert 3 <= np.mean(counts["dsms"]) <= 6
    assert np.mean(counts["sms"]) > 10
    assert np.mean(counts["bms"]) > 10
