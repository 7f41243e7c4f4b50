"""Scorers for scikit-learn's model selection: scorer(estimator, X, y) -> a number, the larger the better.

Hand them to `GridSearchCV(..., scoring=...)`, `cross_val_score` or anything else that takes a scorer. The estimator was
fitted on other rows: X are held out, and `predict` gives them labels. scikit-learn does not shuffle rows for
clusterers: where rows are sorted by their true label, give `cv` a splitter that does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from modeseek._common.types import IntArray
from modeseek.metrics import k_score

__all__ = ["ari_scorer", "k_scorer", "stability_scorer"]


def k_scorer(estimator: Any, X: ArrayLike, y: ArrayLike | None = None) -> float:
    """Return the paper's K of the labels that held-out rows get, against the true ones; see `modeseek.metrics.k_score`.

    Parameters
    ----------
    estimator : fitted clusterer with `predict`, or a pipeline that ends in one
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        True labels; rows with -1 are left out.

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
    return k_score(_known("k_scorer", y), estimator.predict(X))


def ari_scorer(estimator: Any, X: ArrayLike, y: ArrayLike | None = None) -> float:
    """Return the adjusted Rand index of the labels that held-out rows get with the true ones.

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
    0.71
    """
    return float(adjusted_rand_score(_known("ari_scorer", y), estimator.predict(X)))


def stability_scorer(estimator: Any, X: ArrayLike, y: ArrayLike | None = None) -> float:
    """Return how stable the clusters are; no true labels are needed.

    That is `stability_` where the fitted estimator has it: `ModeSeek`, or several chains. Else a clone is fitted on the
    held-out rows, and the score is the adjusted Rand index of its labels with those that `predict` gives them: how well
    the clusters of some rows tell those of others. One cluster is always stable and says nothing, so it scores 0.

    The two ways are not on one scale: compare settings that all have `stability_`, or none. Two folds (`cv=2`) give the
    clone as many rows as the estimator had.

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
    ...     model = DoublyStochasticMeanShift(0.2, h_max, 0.6, random_state=0).fit(X[::2])
    ...     print(h_max, round(stability_scorer(model, X[1::2]), 2))
    0.8 0.41
    1.6 0.67
    6.0 0.0
    """
    found = _labels(estimator, X)
    if len(np.unique(found)) < 2:
        return 0.0
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    if hasattr(last, "stability_"):
        return float(last.stability_)
    return float(adjusted_rand_score(_labels(clone(estimator).fit(X), X), found))


def _labels(estimator: Any, X: ArrayLike) -> IntArray:
    return np.asarray(estimator.predict(X))


def _known(name: str, y: ArrayLike | None) -> ArrayLike:
    if y is None:
        raise ValueError(
            f"{name} needs the true labels: hand y to fit of GridSearchCV or to cross_val_score, "
            "or score without them by stability_scorer."
        )
    return y
