"""Memberships of new rows, outlier scores, and the conventions of scikit-learn's transformers."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift, io

MODELS = [
    MeanShift(3.0),
    BlurringMeanShift(3.0),
    StochasticMeanShift(3.0, random_state=0),
    DoublyStochasticMeanShift(1.0, 4.0, 2.0, random_state=0),
    StochasticMeanShift(3.0, n_chains=3, random_state=0),
    ModeSeek(random_state=0),
]
EACH = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs(160, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    return X[:120], X[120:]


@EACH
def test_memberships_of_new_rows(model, blobs):
    old, new = blobs
    model = clone(model).fit(old)
    for rows in (old, new):
        shares = model.predict_proba(rows)
        assert_allclose(shares.sum(axis=1), 1.0)
        assert_array_equal(shares.argmax(axis=1), model.predict(rows))
        assert_array_equal(model.transform(rows), shares)
    assert_array_equal(model.probabilities_, model.predict_proba(old).max(axis=1))
    assert model.outlier_scores_.shape == model.labels_.shape
    assert 0 <= model.outlier_scores_.min() < model.outlier_scores_.max() <= 1


def test_between_two_clusters_the_membership_is_shared():
    X = np.concatenate([np.linspace(0, 1, 20), np.linspace(1.5, 2.5, 20)])[:, None]
    model = MeanShift(0.9).fit(X)
    assert model.n_clusters_ == 2
    sure, shared = model.predict_proba([[0.0], [1.25]])
    assert sure.max() == 1
    assert 0.5 <= shared.max() < 0.7


def test_noise_has_no_memberships(blobs):
    X = np.vstack([blobs[0], [[40.0, 40.0]]])
    model = MeanShift(3.0, min_cluster_size=3).fit(X)
    assert model.labels_[-1] == -1
    assert_array_equal(model.predict_proba(X[-1:]), np.zeros((1, model.n_clusters_)))
    assert model.probabilities_[-1] == 0
    assert model.outlier_scores_[-1] == model.outlier_scores_.max()


@EACH
def test_planted_outliers_have_the_highest_scores(model, blobs):
    planted = np.array([[20.0, 20.0], [-15.0, 3.0], [9.0, -14.0], [-9.0, -12.0]])
    X = np.vstack([blobs[0], planted])
    scores = clone(model).fit(X).outlier_scores_
    assert roc_auc_score(np.arange(len(X)) >= len(blobs[0]), scores) == 1


def test_a_weight_of_outlier_scores_equals_copies(rng):
    X, weights = rng.normal(size=(40, 2)), rng.integers(1, 4, 40)
    scores = MeanShift(2.0).fit(X, sample_weight=weights).outlier_scores_
    assert_allclose(np.repeat(scores, weights), MeanShift(2.0).fit(np.repeat(X, weights, axis=0)).outlier_scores_)


@pytest.mark.parametrize("name", ["probabilities_", "outlier_scores_"])
def test_unfitted_estimators_lack_the_attributes(name):
    assert not hasattr(ModeSeek(), name)


def test_set_output_and_names(blobs, tmp_path):
    model = MeanShift(3.0).set_output(transform="pandas").fit(blobs[0])
    table = model.transform(blobs[1])
    assert isinstance(table, pd.DataFrame)
    assert list(table) == list(model.get_feature_names_out()) == [f"meanshift{i}" for i in range(model.n_clusters_)]
    io.save(model, tmp_path / "model.modeseek")
    assert_array_equal(io.load(tmp_path / "model.modeseek").transform(blobs[1]), table)


def test_metadata_routing(blobs):
    X, weights = blobs[0], np.arange(1.0, 121.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MeanShift(1.5).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), model)
        pipeline.fit(X, sample_weight=weights)
    scaled = StandardScaler().fit(X, sample_weight=weights).transform(X)
    assert_array_equal(pipeline[-1].labels_, MeanShift(1.5).fit(scaled, sample_weight=weights).labels_)
    assert pipeline[-1].result_.weights.sum() == weights.sum()


@EACH
def test_a_share_of_outliers_becomes_noise(model, blobs):
    planted = np.array([[20.0, 20.0], [-15.0, 3.0], [9.0, -14.0], [-9.0, -12.0]])
    X = np.vstack([blobs[0], planted])
    found = clone(model).set_params(outlier_fraction=4.5 / 124).fit(X)
    assert_array_equal(np.flatnonzero(found.labels_ == -1), np.arange(120, 124))
    assert found.n_clusters_ == len(found.cluster_centers_) == len(np.unique(found.labels_)) - 1
    assert found.result_.sizes.sum() + found.result_.n_noise == 124
    assert_array_equal(found.predict(X), found.labels_)
    assert_array_equal(found.predict_proba(X).sum(axis=1) > 0.5, found.labels_ >= 0)
    assert_array_equal(found.probabilities_ > 0, found.labels_ >= 0)


@pytest.mark.parametrize("fraction", [-0.1, 1.0, np.nan])
def test_wrong_outlier_fractions(fraction):
    with pytest.raises(ValueError, match="outlier_fraction must be"):
        MeanShift(1.0, outlier_fraction=fraction).fit([[0.0], [1.0]])
