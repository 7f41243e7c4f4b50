"""`FitResult`: one type for all estimators, set as a whole or not at all, and never changed afterwards."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek.estimators.result import FitResult
from modeseek.meanshift.chains import Outcome

BLOBS = make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)[0]
MODELS = {
    "ms": MeanShift(2.0),
    "bms": BlurringMeanShift(2.0),
    "sms": StochasticMeanShift(2.0, random_state=0),
    "dsms": DoublyStochasticMeanShift(1.0, 4.0, 2.0, n_chains=3, random_state=0),
    "modeseek": ModeSeek(random_state=0),
}


def snapshot(model):
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in vars(model).items()}


@pytest.mark.parametrize("name", MODELS)
def test_every_estimator_returns_the_same_type(name):
    model = MODELS[name].fit(BLOBS)
    result = model.result_
    assert type(result) is FitResult
    assert result.algorithm == type(model).__name__
    assert result.n_clusters == len(result.centers) == len(result.sizes) == model.n_clusters_
    assert result.sizes.sum() + result.n_noise == result.n_rows == len(BLOBS)
    assert result.outcome is model.outcome_
    assert result.outcome.converged
    assert result.message
    assert not result.interrupted
    assert result.weights is None
    for attribute, value in result.attributes().items():
        assert getattr(model, attribute) is value or getattr(model, attribute) == value
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.labels = None


def test_outcome_and_message_of_a_selection():
    result = MODELS["modeseek"].fit(BLOBS).result_
    assert result.outcome is Outcome.CHOSEN
    assert result.message.startswith("3 clusters by ")
    assert result.tree is not None


@pytest.mark.parametrize("name", MODELS)
def test_a_refused_refit_leaves_the_earlier_fit_as_it_was(name):
    """n_features_in_ was that of the new data and the centres those of the old."""
    model = MODELS[name].fit(BLOBS)
    before = snapshot(model)
    wide = np.ones((20, 5))
    for X, options in ((np.full((4, 5), np.nan), {}), (wide, {"sample_weight": np.zeros(20)})):
        with pytest.raises(ValueError, match=r"NaN|sample_weight"):
            model.fit(X, **options)
    bad = {"n_clusters": 10**6} if name == "modeseek" else {"tol": -1.0}
    kept = {key: getattr(model, key) for key in bad}
    with pytest.raises(ValueError, match=next(iter(bad))):
        model.set_params(**bad).fit(wide)
    model.set_params(**kept)
    after = vars(model)
    assert after.keys() == before.keys()
    for key, value in before.items():
        np.testing.assert_equal(after[key], value)
    np.testing.assert_array_equal(model.predict(BLOBS), model.labels_)


def test_a_refused_refit_leaves_batches_as_they_were():
    model = StochasticMeanShift(2.0, random_state=0).partial_fit(BLOBS)
    with pytest.raises(ValueError, match="tol"):
        model.set_params(tol=-1.0).fit(np.ones((20, 5)))
    assert model.set_params(tol=1e-6).finalize().n_features_in_ == 2


@pytest.mark.parametrize("name", MODELS)
def test_predict_and_displays_leave_a_fitted_model_unchanged(name):
    model = MODELS[name].fit(BLOBS)
    before = snapshot(model)
    model.predict(BLOBS[:7])
    model.summary()
    model._repr_html_()
    model.__rich__()
    assert vars(model).keys() == before.keys()
    for key, value in before.items():
        np.testing.assert_equal(vars(model)[key], value)


@pytest.mark.parametrize("name", ["dsms", "modeseek"])
def test_one_model_predicts_from_eight_threads(name):
    """The progress line was kept on the model: `AttributeError: _line`."""
    model = MODELS[name].fit(BLOBS).set_params(verbose=1)
    expected = model.predict(BLOBS)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: model.predict(BLOBS), range(64)))
    model.set_params(verbose=0)
    assert all((labels == expected).all() for labels in found)


@pytest.mark.parametrize("name", ["dsms", "modeseek"])
def test_memberships_of_some_rows(name):
    result = MODELS[name].fit(BLOBS).result_
    rows = np.array([3, 140, 7])
    np.testing.assert_array_equal(result.row_memberships(rows), result.row_memberships()[rows])
    np.testing.assert_allclose(result.row_memberships().max(axis=1), result.confidence)
