"""Labels given by hand or by an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

__all__ = ["Found", "Labelled", "found_by"]

Labelled: TypeAlias = ArrayLike | BaseEstimator


class Found(NamedTuple):
    """What a fitted estimator says of its data; None where it says nothing."""

    labels: ArrayLike
    centers: ArrayLike | None = None
    confidence: ArrayLike | None = None
    feature_names: Sequence[str] | None = None


def found_by(labels: Labelled) -> Found:
    """Return what a fitted estimator found, or labels as they are.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> found_by(KMeans(1, n_init=1).fit([[0.0, 0.0], [2.0, 4.0]])).centers
    array([[1., 2.]])
    """
    if not isinstance(labels, BaseEstimator):
        return Found(labels)
    check_is_fitted(labels)
    if not hasattr(labels, "labels_"):
        raise TypeError(f"{type(labels).__name__} has no labels_: give labels, such as those of its predict(X).")
    names = getattr(labels, "feature_names_in_", None)
    return Found(
        labels.labels_,
        getattr(labels, "cluster_centers_", None),
        getattr(labels, "confidence_", None),
        None if names is None else list(names),
    )
