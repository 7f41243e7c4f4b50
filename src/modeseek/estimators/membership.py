"""Memberships and outlier scores of fitted estimators, from the nearest training points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from modeseek._common.neighbors import nearest, nearest_neighbors, nearest_of
from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek.estimators.input_checks import check_new_rows
from modeseek.estimators.matching import match_to_model
from modeseek.estimators.result import FitResult, FittedMixin, PointIndex, membership_fields, row_fields

# number of nearest rows that memberships and outlier scores are based on
N_NEIGHBORS = 10


class MembershipMixin(FittedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Memberships of rows in clusters, outlier scores, and labels that match an earlier model."""

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the membership of each row in each cluster.

        If the fit computed `memberships_`, a row gets the memberships of the nearest training point. Otherwise, its
        memberships are the shares of the clusters among the ten nearest training rows. The membership in the predicted
        cluster is raised, if necessary, to the largest one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in memory.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
            Rows sum to 1, and the largest entry of a row is in the column of the cluster that `predict` returns. If
            `predict` returns -1, all entries are 0.
        """
        check_is_fitted(self)
        return point_memberships(self.result_, check_new_rows(self, X), self.n_jobs)

    def transform(self, X: ArrayLike) -> Array:
        """Return the memberships of rows, `predict_proba(X)`, as features for a later step of a pipeline.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in memory.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
            A DataFrame after ``set_output(transform="pandas")``.
        """
        return self.predict_proba(X)

    def match_labels(self, previous: MembershipMixin) -> IntArray:
        """Return `labels_` with the cluster numbers of an earlier model of similar data.

        Clusters are matched so that as many rows as possible keep the label that `previous` predicts for them. Clusters
        without a match get new numbers. The model itself does not change.

        Parameters
        ----------
        previous : fitted estimator of this package
            The earlier model, with the same features.

        Returns
        -------
        labels : integer array of shape (n_samples,)
            Cluster of each row; -1 for noise. Numbers of earlier clusters that disappeared are not used.
        """
        check_is_fitted(self)
        check_is_fitted(previous)
        return match_to_model(self, previous)

    @property
    def memberships_(self) -> Array:
        """Membership of each row in each cluster, computed on access because it may be large."""
        return self._result_for("memberships_").row_memberships()

    @property
    def probabilities_(self) -> Array:
        """Membership of each row in its cluster; 0 for noise. It equals `confidence_` if the fit computed that."""
        result = self._result_for("probabilities_")
        if result.confidence is not None:
            return result.confidence
        points = result.index.points
        rows, found = points.to_data(points.values), np.arange(len(points.values))
        return point_memberships(result, rows, self.n_jobs, found).max(axis=1, initial=0.0)[points.inverse]

    @property
    def outlier_scores_(self) -> Array:
        """Outlier score of each row, from 0 to 1: how far the density at the row is below the density of its cluster.

        The score of a row is 1 - m / r, or 0 if that is negative. r is the distance to its tenth nearest row, and m is
        the median of r in its cluster, or in all rows if the cluster has at most ten rows. After a fit on a sketch, a
        row has the score of the point of the sketch that stands for it.
        """
        result = self._result_for("outlier_scores_")
        return point_outlier_scores(result, self.n_jobs)[result.index.points.inverse]

    @property
    def _n_features_out(self) -> int:
        return self.result_.n_clusters


def point_memberships(result: FitResult, rows: Array, n_jobs: int | None, found: IntArray | None = None) -> Array:
    """Return the memberships of rows, given in the units of X; see `MembershipMixin.predict_proba`.

    `found` has the index of the point whose label each row gets, if it is known.
    """
    index, n, k = result.index, rows.shape[0], result.n_clusters
    check_memory(8.0 * k * n, f"memberships of {n:,} rows in {k:,} clusters", "Pass fewer rows at once.")
    found = index.find(rows, n_jobs) if found is None else found
    labels = index.labels[found]
    if result.memberships is not None:
        shares = result.memberships[found].toarray()
    else:
        shares = _neighbor_shares(result, rows, n_jobs)
    clustered = np.flatnonzero(labels >= 0)
    shares[labels < 0] = 0.0
    if len(clustered):
        own, found_shares = labels[clustered], shares[clustered]
        top = found_shares.max(axis=1)
        found_shares[np.arange(len(own)), own] = top
        found_shares /= found_shares.sum(axis=1, keepdims=True)
        # after the division, because rounding could make the two largest entries equal
        lower = np.flatnonzero(found_shares.argmax(axis=1) != own)
        found_shares[lower, own[lower]] = np.nextafter(found_shares[lower].max(axis=1), 2.0)
        shares[clustered] = found_shares
    return shares


def _neighbor_shares(result: FitResult, rows: Array, n_jobs: int | None) -> Array:
    """Return the share of each cluster in the weight of the nearest training points; 0 if all of them are noise."""
    points, labels, k = result.index.points, result.index.labels, result.n_clusters
    n_neighbors = min(N_NEIGHBORS, len(points.values))
    near = nearest_of(points.values, points.to_canonical(rows), n_neighbors, n_jobs=n_jobs)
    weights = np.where(labels[near] >= 0, points.weights[near], 0.0)
    where = np.repeat(np.arange(len(rows)), n_neighbors), np.maximum(labels[near], 0).ravel()
    shares = coo_array((weights.ravel(), where), shape=(len(rows), max(k, 1))).toarray()[:, :k]
    total = shares.sum(axis=1, keepdims=True)
    return np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)


def point_outlier_scores(result: FitResult, n_jobs: int | None) -> Array:
    """Return the outlier score of each distinct point; see `MembershipMixin.outlier_scores_`."""
    points, n = result.index.points, len(result.index.points.values)
    if n < 3:
        return np.zeros(n)
    radius = _distance_to_row(result.index, N_NEIGHBORS, n_jobs)
    labels = _with_noise_assigned(result.index, n_jobs)
    overall = _weighted_median(radius, points.weights)
    reference = np.full(n, overall)
    for label in range(result.n_clusters):
        members = labels == label
        if points.weights[members].sum() > N_NEIGHBORS:
            reference[members] = _weighted_median(radius[members], points.weights[members])
    return np.clip(1.0 - np.divide(reference, radius, out=np.ones(n), where=radius > 0), 0.0, 1.0)


def with_outliers(result: FitResult, fraction: float, n_jobs: int | None) -> FitResult:
    """Return the result after the rows with the highest outlier scores, at most a share `fraction`, become noise."""
    points, old = result.index.points, result.index.labels
    scores = point_outlier_scores(result, n_jobs)
    order = np.argsort(-scores, kind="stable")
    within = np.cumsum(points.weights[order]) <= fraction * points.weights.sum()
    outlying = np.zeros(len(old), dtype=bool)
    outlying[order[within]] = True
    outlying &= scores > 0
    # clusters of which all rows are outliers disappear
    kept = np.unique(old[~outlying & (old >= 0)])
    labels = np.where(outlying | (old < 0), -1, np.searchsorted(kept, old))
    k = len(kept)
    fields = row_fields(labels[points.inverse], k)
    if result.memberships is not None and result.cluster_stability is not None:
        fields |= membership_fields(result.index, labels, old, result.memberships, result.cluster_stability)
    if result.weights is not None:
        fields["weights"] = np.bincount(np.where(labels < 0, k, labels), points.weights, minlength=k + 1)[:k]
    return replace(result, centers=result.centers[kept], index=replace(result.index, labels=labels), **fields)


def _distance_to_row(index: PointIndex, k: int, n_jobs: int | None) -> Array:
    """Return the distance of each point to its k-th nearest other row; a point of weight 3 is three rows."""
    values, weights = index.points.values, index.points.weights
    found = index.neighbors or nearest_neighbors(values, min(k, len(values) - 1), n_jobs=n_jobs)
    rows_within = weights[:, None] - 1.0 + np.cumsum(weights[found.indices], axis=1)
    reached = np.minimum((rows_within < k).sum(axis=1), found.indices.shape[1] - 1)
    return np.where(weights - 1.0 >= k, 0.0, found.distances[np.arange(len(values)), reached])


def _with_noise_assigned(index: PointIndex, n_jobs: int | None) -> IntArray:
    """Return the labels after each -1 is replaced by the label of the nearest point that is not noise."""
    values, labels = index.points.values, index.labels
    noise = labels < 0
    if noise.all() or not noise.any():
        return labels
    if index.neighbors is not None:
        from modeseek.selection.partition_loops import fill

        return fill(labels.astype(np.int32), index.neighbors.indices, index.neighbors.indices.shape[1])
    labels = labels.copy()
    labels[noise] = labels[~noise][nearest(values[~noise], values[noise], n_jobs=n_jobs)]
    return labels


def _weighted_median(values: Array, weights: Array) -> float:
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])
