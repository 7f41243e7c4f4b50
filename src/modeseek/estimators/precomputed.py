"""Input of `metric="precomputed"`: distances between all rows, or a sparse graph of nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from modeseek._common.neighbors import Neighbors
from modeseek._common.points import Points
from modeseek._common.types import Array, Geometry, IntArray
from modeseek.estimators.result import FitData, FitSettings

# smallest number of neighbours of a row from which a density can be estimated
MIN_NEIGHBORS = 5


def check_distances(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Check distances between rows, and return them as floats, dense or sparse.

    In a dense array, infinity means that the distance is unknown.

    Parameters
    ----------
    estimator : estimator
        If `reset`, its `n_features_in_` is set to the number of columns; otherwise X must have that number of columns.
    X : array-like or sparse array of shape (n_queries, n_samples)
        Must be square if `reset`.
    reset : bool
        True for a fit, False for a prediction.
    """
    X = validate_data(
        estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, reset=reset
    )
    if reset and X.shape[0] != X.shape[1]:
        raise ValueError(
            f'metric="precomputed" needs a square matrix of distances between rows; got shape {X.shape}. '
            'Pass features with metric="euclidean" or "cosine".'
        )
    entries = X.data if issparse(X) else X
    for wrong, what in ((np.isnan(entries), "NaN"), (entries < 0, "a negative distance")):
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            row, column = (X.tocoo().row[at], X.indices[at]) if issparse(X) else divmod(at, X.shape[1])
            raise ValueError(f"X must hold distances of at least 0; got {what} in row {row}, column {column}.")
    if reset and _are_similarities(X):
        raise ValueError(
            "X must hold distances, but each row is farthest from itself, so X seems to hold similarities: convert "
            "them, for example 1 - X if the largest similarity is 1."
        )
    return csr_array(X) if issparse(X) else X


def _are_similarities(X: Any) -> bool:
    """Return whether no other entry of a row is larger than that of the row with itself, which is positive."""
    own = X.diagonal()
    if not ((own > 0) & (own < np.inf)).all():
        return False
    largest = X.max(axis=1).toarray().ravel() if issparse(X) else np.where(np.isfinite(X), X, 0.0).max(axis=1)
    # up to rounding errors
    return bool((own >= (1 - 1e-6) * largest).all())


def data_from_distances(X: Any, weights: Array, geometry: Geometry, n_neighbors: int) -> FitData:
    """Return the input of a fit: rows at distance 0 are one point, and each point has a list of neighbours.

    Parameters
    ----------
    X : array or sparse array of shape (n, n)
        Checked distances. Entry (i, j) is the distance from row i to row j.
    weights : (n,) array
        Weights of the rows.
    geometry : Geometry
    n_neighbors : int
        Upper bound on the length of the lists. If the rows of a sparse X have fewer entries, the length is the median
        number of entries in a row.
    """
    if not weights.all():
        raise ValueError(
            f'metric="precomputed" needs positive weights, but that of row {int(weights.argmin())} is 0: '
            "leave out the row and its column."
        )
    n = X.shape[0]
    equal = X.tocoo() if issparse(X) else coo_array(X == 0)
    same = np.flatnonzero(equal.data == 0) if issparse(X) else slice(None)
    left, right = (each[same] for each in (equal.row, equal.col))
    m, number = connected_components(csr_array((np.ones(len(left)), (left, right)), shape=(n, n)), directed=False)
    left, right, lengths = _entries(X, number, n_neighbors)
    neighbors = _neighbor_lists(m, left, right, lengths, n_neighbors)
    # sort points so that the order of the rows has no effect, except for points with the same distances
    order = np.lexsort(neighbors.distances.T[::-1])
    rank = np.empty(m, dtype=np.intp)
    rank[order] = np.arange(m)
    indices, distances = rank[neighbors.indices[order]], neighbors.distances[order]
    inverse = rank[number]
    points = Points(np.zeros((m, 0)), np.bincount(inverse, weights=weights), inverse, np.zeros(0), geometry)
    return FitData(points, FitSettings(), neighbors=Neighbors(indices.astype(np.int32), distances))


def _entries(X: Any, number: IntArray, n_neighbors: int) -> tuple[IntArray, IntArray, Array]:
    """Return distances between different points as arrays (point, point, distance); `number` has each row's point."""
    if issparse(X):
        entries = X.tocoo()
        rows, columns, lengths = entries.row, entries.col, entries.data
        _check_counts(np.bincount(rows[rows != columns], minlength=len(number)))
    else:
        first = np.unique(number, return_index=True)[1]
        between = X if len(first) == len(X) else X[np.ix_(first, first)]
        k = min(n_neighbors + 1, len(first))
        columns = np.argpartition(between, k - 1, axis=1)[:, :k]
        lengths = np.take_along_axis(between, columns, axis=1).ravel()
        rows, columns, number = np.repeat(np.arange(len(first)), k), columns.ravel(), np.arange(len(first))
    left, right = number[rows], number[columns]
    kept = (left != right) & np.isfinite(lengths)
    return left[kept], right[kept], lengths[kept].astype(np.float64)


def _check_counts(counts: IntArray) -> None:
    least = min(MIN_NEIGHBORS, len(counts) - 1)
    if (counts < least).any():
        row = int(np.argmax(counts < least))
        raise ValueError(
            f"the graph has too few neighbours: row {row} has {counts[row]}, and ModeSeek needs at least {least}. "
            "Build it with more, for example KNeighborsTransformer(n_neighbors=60)."
        )


def _neighbor_lists(m: int, left: IntArray, right: IntArray, lengths: Array, most: int) -> Neighbors:
    """Return lists of neighbours of equal length; if a point has fewer neighbours, the last one is repeated.

    A point without neighbours becomes its own neighbour, at the largest of all distances.
    """
    order = np.lexsort((right, lengths, left))
    left, right, lengths = left[order], right[order], lengths[order]
    # equal rows may give several distances between two points: keep the smallest
    first = np.sort(np.unique(left * m + right, return_index=True)[1])
    left, right, lengths = left[first], right[first], lengths[first]
    counts = np.bincount(left, minlength=m)
    width = min(most, max(1, int(np.median(counts))))
    place = np.arange(len(left)) - (np.cumsum(counts) - counts)[left]
    kept = place < width
    indices = np.tile(np.arange(m)[:, None], width)
    distances = np.full((m, width), lengths.max(initial=1.0))
    indices[left[kept], place[kept]], distances[left[kept], place[kept]] = right[kept], lengths[kept]
    filled = np.minimum(np.arange(width), np.maximum(counts, 1)[:, None] - 1)
    return Neighbors(*(np.take_along_axis(each, filled, axis=1) for each in (indices, distances)))
