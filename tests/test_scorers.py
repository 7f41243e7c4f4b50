from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from modeseek import DoublyStochasticMeanShift, MeanShift, ModeSeek
from modeseek.metrics import k_score
from modeseek.scorers import ari_scorer, k_scorer, stability_scorer

X, y = make_blobs(120, centers=[[-1, -1], [1, -1], [1, 1]], cluster_std=0.3, random_state=0)
FOLDS = KFold(2, shuffle=True, random_state=0)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("scorer", [k_scorer, ari_scorer, stability_scorer])
def test_a_grid_over_a_pipeline(scorer, n_jobs):
    """A bandwidth of 0.3 splits the clusters, and 20 merges them."""
    model = make_pipeline(StandardScaler(), DoublyStochasticMeanShift(0.1, h_inf=0.2, random_state=0))
    grid = {"doublystochasticmeanshift__h_max": [0.3, 1.0, 20.0]}
    search = GridSearchCV(model, grid, scoring=scorer, cv=FOLDS, n_jobs=n_jobs, error_score="raise").fit(X, y)
    assert search.best_params_ == {"doublystochasticmeanshift__h_max": 1.0}
    assert search.best_score_ > 0.8
    assert adjusted_rand_score(y, search.predict(X)) > 0.9


def test_scores_are_those_of_the_metrics_on_held_out_rows():
    model = MeanShift(1.0).fit(X[::2])
    found = model.predict(X[1::2])
    assert k_scorer(model, X[1::2], y[1::2]) == k_score(y[1::2], found)
    assert ari_scorer(model, X[1::2], y[1::2]) == adjusted_rand_score(y[1::2], found)


def test_several_scorers_at_once():
    scoring = {"k": k_scorer, "ari": ari_scorer, "stability": stability_scorer}
    search = GridSearchCV(MeanShift(), {"bandwidth": [0.2, 1.0]}, scoring=scoring, refit="ari", cv=FOLDS).fit(X, y)
    assert search.best_params_ == {"bandwidth": 1.0}
    assert {"mean_test_k", "mean_test_ari", "mean_test_stability"} <= set(search.cv_results_)


def test_stability_is_that_of_the_estimator_if_it_has_one():
    for model in (ModeSeek(random_state=0), DoublyStochasticMeanShift(n_chains=4, random_state=0)):
        model.fit(X[::2])
        assert model.n_clusters_ > 1
        assert stability_scorer(model, X[1::2]) == model.stability_
        assert stability_scorer(make_pipeline(StandardScaler(), model).fit(X[::2]), X[1::2]) == model.stability_


def test_stability_by_a_fit_to_the_held_out_rows():
    scores = [cross_val_score(MeanShift(h), X, scoring=stability_scorer, cv=FOLDS).mean() for h in (0.2, 1.0)]
    assert scores[0] < scores[1] - 0.1
    model = MeanShift(1.0).fit(X[::2])
    expected = adjusted_rand_score(MeanShift(1.0).fit_predict(X[1::2]), model.predict(X[1::2]))
    assert stability_scorer(model, X[1::2]) == expected


def test_one_cluster_scores_zero():
    noise = np.random.default_rng(0).normal(size=(200, 2))
    for model in (MeanShift(50.0), ModeSeek(random_state=0)):
        assert model.fit(noise).n_clusters_ == 1
        assert stability_scorer(model, noise) == 0.0


@pytest.mark.parametrize("scorer", [k_scorer, ari_scorer])
def test_missing_labels_give_an_error(scorer):
    with pytest.raises(ValueError, match=rf"{scorer.__name__} needs true labels: .* stability_scorer"):
        scorer(MeanShift(1.0).fit(X), X)
