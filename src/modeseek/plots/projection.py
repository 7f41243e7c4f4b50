"""From d features to the one or two of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.utils.extmath import randomized_svd

from modeseek._common.types import Array

__all__ = ["Components", "View", "components", "project"]

# beyond this the covariance matrix costs more than the two components are worth
EXACT_PCA_FEATURES = 1000


class View(NamedTuple):
    """Points as drawn, and what the axes say.

    Attributes
    ----------
    points : (n, 1) or (n, 2) array
        Where to draw.
    centres : (m, 1) or (m, 2) array
        Where to draw the centres.
    axes : tuple of str
        Labels of the axes.
    """

    points: Array
    centres: Array
    axes: tuple[str, ...]


class Components(NamedTuple):
    """The leading principal components of some points.

    Attributes
    ----------
    mean : (d,) array
    vectors : (d, c) array
        Directions of unit length, the largest entry of each positive.
    shares : (c,) array
        Share of the variance that each holds.
    """

    mean: Array
    vectors: Array
    shares: Array

    def apply(self, X: Array) -> Array:
        """Return x -> V^T (x - mean) for each row."""
        return (X - self.mean) @ self.vectors


def components(X: Array, count: int) -> Components:
    """Find the leading principal components of the rows; never more than there are features.

    Examples
    --------
    >>> components(np.diag([3.0, 2.0, 0.0]), 2).shares.round(2)
    array([0.8, 0.2])
    """
    n_features = X.shape[1]
    count = min(count, n_features)
    mean = X.mean(axis=0)
    centred = X - mean
    if n_features <= EXACT_PCA_FEATURES:
        variances, vectors = np.linalg.eigh(centred.T @ centred)
        variances, vectors = variances[: -count - 1 : -1], vectors[:, : -count - 1 : -1]
    else:
        _, singular, rows = randomized_svd(centred, count, random_state=0)
        variances, vectors = np.zeros(count), np.zeros((n_features, count))
        variances[: len(singular)], vectors[:, : len(singular)] = singular**2, rows.T
    # an eigenvector's sign is free: the largest entry is taken positive, so that a picture repeats
    vectors = vectors * np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)] < 0, -1.0, 1.0)
    total = float((centred**2).sum())
    shares = np.maximum(variances, 0) / total if total > 0 else np.zeros(count)
    return Components(mean, vectors, shares)


def project(X: Array, centres: Array, feature_names: Sequence[str] | None) -> View:
    """Choose where to draw points: as they are up to two features, else by principal components.

    Parameters
    ----------
    X : (n, d) array
        The points.
    centres : (m, d) array
        The centres.
    feature_names : sequence of str or None
        Names of the features.

    Returns
    -------
    View
        Places and labels of the axes.

    Examples
    --------
    >>> project(np.diag([3.0, 2.0, 0.0]), np.zeros((1, 3)), None).axes
    ('principal component 1 (80% of variance)', 'principal component 2 (20% of variance)')
    """
    n_features = X.shape[1]
    if feature_names is not None and len(feature_names) != n_features:
        raise ValueError(f"feature_names must name the {n_features} features of X; got {len(feature_names)}.")
    if n_features <= 2:
        names = feature_names or [f"feature {j}" for j in range(n_features)]
        return View(X, centres, tuple(str(name) for name in names))
    found = components(X, 2)
    axes = tuple(f"principal component {j + 1} ({share:.0%} of variance)" for j, share in enumerate(found.shares))
    return View(found.apply(X), found.apply(centres), axes)
