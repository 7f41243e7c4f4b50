"""Scorers for scikit-learn's model selection: functions (estimator, X, y) -> score, where larger is better.

Pass them to `GridSearchCV(..., scoring=...)` or `cross_val_score`. They call `predict` on held-out rows X, which the
estimator was not fitted on. scikit-learn does not shuffle the rows for clusterers: if rows are sorted by their true
label, pass a splitter that shuffles as `cv`.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import Pipeline

from modeseek.metrics import k_score

__all__ = ["ari_scorer", "k_scorer", "stability_scorer"]


def k_scorer(estimator: Any, X: ArrayLike, y: ArrayLike | None = None) -> float:
    """Return the paper's K of the predicted against the true labels; see `modeseek.metrics.k_score`.

    Parameters
    ----------
    estimator : fitted clusterer with `predict`, or a pipeline that ends in one
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        True labels; rows with label -1 are ignored.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, KFold
    >>> from modeseek import StochasticMeanShift
    >>> from modeseek.datasets import paper_mixture
    >>> X, y = paper_mixture(50, random_state=0)
    >>> folds = KFold(3, shuffle=True, random_state=0)
    >>> search = GridSearchCV(StochasticMeanShift(), {"bandwidth": [0.3, 1.2, 5.0]}, scoring=k_scorer, cv=folds)
    >>> search.fit(X, y).best_params_
    {'bandwidth': 1.2}
    """
    return k_score(_required("k_scorer", y), estimator.predict(X))


def ari_scorer(estimator: Any, X: ArrayLike, y: ArrayLike | None = None) -> float:
    """Return the adjusted Rand index between the predicted and the true labels.

    Parameters
    ----------
    estimator : fitted clusterer with `predict`, or a pipeline that ends in one
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        True labels.

    Examples
    --------
    >>> from modeseek import ModeSeek
    >>> from modeseek.datasets import paper_mixture
    >>> X, y = paper_mixture(100, random_state=0)
    >>> round(ari_scorer(ModeSeek(random_state=0).fit(X[::2]), X[1::2], y[1::2]), 2)
    0.69
    """
    return float(adjusted_rand_score(_required("ari_scorer", y), estimator.predict(X)))


def stability_scorer(estimator: Any, X: ArrayLike, y: ArrayLike | None = None) -> float:
    """Return the stability of the clusters, which needs no true labels.

    If the fitted estimator has `stability_` (`ModeSeek`, or mean shift with several chains), the score is `stability_`.
    Otherwise a clone is fitted on the held-out rows, and the score is the adjusted Rand index between the predictions
    of the clone and of the estimator for these rows. A single cluster is always stable; its score is set to 0.

    The two kinds of score are not comparable: compare only settings that all have `stability_`, or settings without it.
    Use `cv=2`, so that the clone is fitted on as many rows as the estimator.

    Parameters
    ----------
    estimator : fitted clusterer with `predict`, or a pipeline that ends in one
    X : array-like of shape (n_samples, n_features)
    y : ignored

    Examples
    --------
    >>> from modeseek import DoublyStochasticMeanShift
    >>> from modeseek.datasets import paper_mixture
    >>> X, y = paper_mixture(100, random_state=0)
    >>> for h_max in (0.8, 1.6, 6.0):
    ...     model = DoublyStochasticMeanShift(0.2, h_max, 0.6, random_state=3).fit(X[::2])
    ...     print(h_max, round(stability_scorer(model, X[1::2]), 2))
    0.8 0.41
    1.6 0.74
    6.0 0.0
    """
    predicted = np.asarray(estimator.predict(X))
    if len(np.unique(predicted)) < 2:
        return 0.0
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if "stability_" in vars(last):
        return float(last.stability_)
    return float(adjusted_rand_score(clone(estimator).fit(X).predict(X), predicted))


def _required(name: str, y: ArrayLike | None) -> ArrayLike:
    if y is None:
        raise ValueError(
            f"{name} needs true labels: pass y to GridSearchCV.fit or cross_val_score, "
            "or use stability_scorer, which needs none."
        )
    return y
