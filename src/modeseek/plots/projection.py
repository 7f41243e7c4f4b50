"""Projection of points with d features to the one or two dimensions of a plot."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.utils.extmath import randomized_svd

from modeseek._common.sphere import map_axes
from modeseek._common.types import Array

# with more features, a randomized SVD replaces the eigenvectors of the covariance matrix
MAX_EXACT_FEATURES = 1000


class Projection(NamedTuple):
    """A projection to the axes of a plot.

    Attributes
    ----------
    mean : (d,) array
    vectors : (d, c) array
        Directions of the axes. The entry of largest absolute value of a principal component is positive.
    axes : tuple of str
        Labels of the axes.
    shares : (c,) array
        Share of the total variance along each principal component; empty for other axes.
    """

    mean: Array
    vectors: Array
    axes: tuple[str, ...]
    shares: Array

    def apply(self, X: Array) -> Array:
        """Return V^T (x - mean) for each row x."""
        return (X - self.mean) @ self.vectors


def principal_components(X: Array, count: int) -> Projection:
    """Return the `count` leading principal components of the rows, or all of them if there are fewer features.

    Examples
    --------
    >>> principal_components(np.diag([3.0, 2.0, 0.0]), 2).shares.round(2)
    array([0.8, 0.2])
    """
    n_features = X.shape[1]
    count = min(count, n_features)
    mean = X.mean(axis=0)
    centered = X - mean
    if n_features <= MAX_EXACT_FEATURES:
        variances, vectors = np.linalg.eigh(centered.T @ centered)
        variances, vectors = variances[: -count - 1 : -1], vectors[:, : -count - 1 : -1]
    else:
        _, singular, rows = randomized_svd(centered, count, random_state=0)
        variances, vectors = np.zeros(count), np.zeros((n_features, count))
        variances[: len(singular)], vectors[:, : len(singular)] = singular**2, rows.T
    # a fixed sign of each vector makes plots reproducible
    vectors = vectors * np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)] < 0, -1.0, 1.0)
    total = float((centered**2).sum())
    shares = np.maximum(variances, 0) / total if total > 0 else np.zeros(count)
    axes = tuple(f"principal component {j + 1} ({share:.0%} of variance)" for j, share in enumerate(shares))
    return Projection(mean, vectors, axes, shares)


def robust_limits(points: Array) -> tuple[Array, Array]:
    """Return the lower and upper limits of plot axes that leave out outliers.

    A value is an outlier if its distance to the central 99% of the values is larger than the range of these 99%. Fewer
    than 20 points have no outliers.

    Examples
    --------
    >>> low, high = robust_limits(np.append(np.arange(200.0), 5000.0)[:, None])
    >>> low.tolist(), high.tolist()
    ([0.0], [199.0])
    """
    n = len(points)
    cut = int(np.ceil(0.005 * n))
    low, high = points.min(axis=0), points.max(axis=0)
    if n >= 20:
        ordered = np.sort(points, axis=0)
        inner, outer = ordered[cut], ordered[n - 1 - cut]
        span = outer - inner
        inside = ((points >= inner - span) & (points <= outer + span)) | (span == 0)
        low = np.where(inside, points, np.inf).min(axis=0)
        high = np.where(inside, points, -np.inf).max(axis=0)
    return low, high


def project(X: Array, feature_names: Sequence[str] | None) -> Projection:
    """Return the projection of points to a plot: up to two features unchanged, more by two principal components of X.

    If two features are named latitude and longitude, the longitude is the horizontal axis.

    Parameters
    ----------
    X : (n, d) array
        The points.
    feature_names : sequence of str or None
        Names of the features.

    Examples
    --------
    >>> project(np.diag([3.0, 2.0, 0.0]), None).axes
    ('principal component 1 (80% of variance)', 'principal component 2 (20% of variance)')
    >>> project(np.zeros((1, 2)), ["lat", "lon"]).apply(np.array([[52.5, 13.4]]))
    array([[13.4, 52.5]])
    """
    n_features = X.shape[1]
    if feature_names is not None and len(feature_names) != n_features:
        raise ValueError(f"feature_names must name the {n_features} features of X; got {len(feature_names)}.")
    if n_features > 2:
        return principal_components(X, 2)
    names = feature_names or [f"feature {j}" for j in range(n_features)]
    order = list(map_axes(names) or range(n_features))
    labels = tuple(str(names[j]) for j in order)
    return Projection(np.zeros(n_features), np.eye(n_features)[:, order], labels, np.empty(0))
