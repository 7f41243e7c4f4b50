"""Nearest neighbours, exact and in bounded memory, and the intrinsic dimension that their distances imply."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from modeseek._common.distances import BLOCK, TREE_DIMENSIONS, central_point, distance_blocks, untrusted_below
from modeseek._common.storable import storable
from modeseek._common.threads import run_each
from modeseek._common.types import Array, IntArray, Stage, Watcher

# with at most this many points, computing all distances is faster than any tree
FEW_POINTS = 24
# number of distances in a block that stays in the processor's cache
CACHED_BLOCK = 1 << 18
# sums of squares of larger numbers may overflow
MAX_COORDINATE = 1e150
# number of queries between two progress reports; Ctrl-C takes effect only there
REPORTED_ROWS = 1 << 14
# number of rows whose distances one task computes
TASK_ROWS = 1 << 12
# number of neighbours that give the dimension; the first few alone would be sensitive to rounding
DIMENSION_NEIGHBORS = 20


def nearest(
    points: Array,
    queries: Array,
    *,
    n_jobs: int | None = None,
    watch: Watcher | None = None,
    report_rows: int = REPORTED_ROWS,
) -> IntArray:
    """Return the index of the point nearest to each query; of equally near points, the first.

    Parameters
    ----------
    points : (n, d) array
    queries : (m, d) array
        Any finite numbers. Queries with coordinates above 1e150 are scaled down, keeping their direction.
    n_jobs : int, optional
        Number of threads for the tree search.
    watch : callable, optional
        Receives the number of finished rows, as a `Stage`.
    report_rows : int
        Number of rows between two reports.

    Examples
    --------
    >>> nearest(np.array([[0.0], [1.0]]), np.array([[0.2], [0.9]]))
    array([0, 1])
    """
    points, queries = _without_overflow(points.astype(np.float64), queries.astype(np.float64))
    index = np.empty(len(queries), dtype=np.intp)
    if len(points) <= FEW_POINTS:
        step = CACHED_BLOCK // len(points)
        for start in range(0, len(queries), step):
            cdist(queries[start : start + step], points, "sqeuclidean").argmin(axis=1, out=index[start : start + step])
        return index
    if points.shape[1] <= TREE_DIMENSIONS:
        tree = cKDTree(points)
        for part in _parts(len(queries), watch, report_rows):
            index[part] = tree.query(queries[part], workers=effective_n_jobs(n_jobs))[1]
        return index
    # distances from products have a rounding error of about d eps (|x| + |y|)^2; points within it are compared exactly
    center = central_point(points)
    centered, sought = points - center, queries - center
    d, eps = points.shape[1], np.finfo(np.float64).eps
    longest = np.sqrt(np.einsum("ij,ij->i", centered, centered).max())
    for start, squares in distance_blocks(centered, sought):
        block = queries[start : start + len(squares)]
        error = 4 * (d + 4) * eps * (np.linalg.norm(sought[start : start + len(squares)], axis=1) + longest) ** 2
        found = squares.argmin(axis=1)
        least = squares[np.arange(len(squares)), found]
        squares[np.arange(len(squares)), found] = np.inf
        for row in np.flatnonzero(squares.min(axis=1) <= least + error):
            columns = np.append(found[row], np.flatnonzero(squares[row] <= least[row] + error[row]))
            exact = np.square(block[row] - points[columns]).sum(axis=1)
            found[row] = columns[exact == exact.min()].min()
        index[start : start + len(squares)] = found
        _report(watch, start + len(squares), len(queries))
    return index


def nearest_of(points: Array, queries: Array, k: int, *, n_jobs: int | None = None) -> IntArray:
    """Return the k points nearest to each query, an (m, k) array.

    Parameters
    ----------
    points : (n, d) array
    queries : (m, d) array
    k : int
        At most n.
    n_jobs : int, optional
        Number of threads.

    Examples
    --------
    >>> nearest_of(np.array([[0.0], [1.0], [3.0]]), np.array([[2.9]]), 2)
    array([[2, 1]])
    """
    points, queries = _without_overflow(points.astype(np.float64), queries.astype(np.float64))
    if points.shape[1] <= TREE_DIMENSIONS:
        found = cKDTree(points).query(queries, k=k, workers=effective_n_jobs(n_jobs))[1]
        return np.asarray(found, dtype=np.intp).reshape(len(queries), k)
    center = central_point(points)
    parts = _parts(len(queries), None, REPORTED_ROWS)
    return _from_products(points - center, queries - center, k, n_jobs, parts)


def nearest_row(X: Any) -> IntArray:
    """Return the column of the smallest distance in each row; among equal distances, the first.

    Parameters
    ----------
    X : (m, n) array or sparse array in CSR format
        Distances. Entries that a sparse array does not store are unknown.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> nearest_row(csr_array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]]))
    array([2, 0])
    """
    if not issparse(X):
        return X.argmin(axis=1)
    counts = np.diff(X.indptr)
    if not counts.all():
        raise ValueError(f"row {int(counts.argmin())} of X has no distance to a training row.")
    entries = X.tocoo()
    order = np.lexsort((entries.col, entries.data, entries.row))
    return entries.col[order[X.indptr[:-1]]].astype(np.intp)


def _without_overflow(points: Array, queries: Array) -> tuple[Array, Array]:
    """Scale down coordinates that are so large that squared distances overflow."""
    top = max(float(points.max(initial=0.0)), -float(points.min(initial=0.0)))
    if top > MAX_COORDINATE:
        scale = 2.0 ** -np.ceil(np.log2(top / MAX_COORDINATE))
        points, queries = points * scale, queries * scale
    tops = np.maximum(queries.max(axis=1, initial=0.0), -queries.min(axis=1, initial=0.0))
    if tops.max(initial=0.0) > MAX_COORDINATE:
        queries = queries / np.maximum(tops / MAX_COORDINATE, 1.0)[:, None]
    return points, queries


def _parts(n: int, watch: Watcher | None, report_rows: int) -> Iterator[slice]:
    for start in range(0, n, report_rows):
        yield slice(start, start + report_rows)
        _report(watch, min(start + report_rows, n), n)


def _report(watch: Watcher | None, done: int, n: int) -> None:
    if watch is not None:
        watch(Stage("nearest neighbours", done, n, "rows"))


@storable()
class Neighbors(NamedTuple):
    """The nearest other points of each point, in order of distance.

    Attributes
    ----------
    indices : (n, k) integer array
    distances : (n, k) array
    """

    indices: IntArray
    distances: Array


def nearest_neighbors(
    points: Array,
    k: int,
    *,
    n_jobs: int | None = None,
    watch: Watcher | None = None,
    report_rows: int = REPORTED_ROWS,
) -> Neighbors:
    """Return the k nearest other points of each point; equally distant points are in the order of their indices.

    Parameters
    ----------
    points : (n, d) array
        Distinct points.
    k : int
        At most n - 1.
    n_jobs : int, optional
        Number of threads.
    watch : callable, optional
        Receives the number of finished rows, as a `Stage`.
    report_rows : int
        Number of rows between two reports.

    Examples
    --------
    >>> nearest_neighbors(np.array([[0.0], [1.0], [3.0]]), 1)
    Neighbors(indices=array([[1], [0], [1]]), distances=array([[1.],
           [1.],
           [2.]]))
    """
    points = points.astype(np.float64)
    n = len(points)
    if points.shape[1] <= TREE_DIMENSIONS:
        tree, most = cKDTree(points), min(k + 1, n)
        distances, indices = np.empty((n, most)), np.empty((n, most), dtype=np.intp)
        for part in _parts(n, watch, report_rows):
            found = tree.query(points[part], k=most, workers=effective_n_jobs(n_jobs))
            distances[part], indices[part] = (each.reshape(-1, most) for each in found)
    else:
        centered = points - central_point(points)
        indices = _from_products(centered, centered, k + 1, n_jobs, _parts(n, watch, report_rows))
        # rounding may have pushed a point out of its own list
        lost = ~(indices == np.arange(n)[:, None]).any(axis=1)
        indices[lost, -1] = np.flatnonzero(lost)
        distances = _distances_to(points, indices, n_jobs)
        _correct(points, untrusted_below(centered), indices, distances)
    _sort_ties(indices, distances, n_jobs)
    return Neighbors(indices[:, 1 : k + 1], distances[:, 1 : k + 1])


def sorted_lists(points: Array, indices: IntArray, *, n_jobs: int | None = None) -> Neighbors:
    """Compute the distances from each point to given neighbours, and sort the neighbours by distance.

    The lists in `indices` do not contain the point itself.
    """
    own = np.arange(len(points), dtype=indices.dtype)
    indices = np.column_stack([own, indices])
    distances = _distances_to(points.astype(np.float64), indices, n_jobs)
    _sort_ties(indices, distances, n_jobs)
    return Neighbors(indices[:, 1:], distances[:, 1:])


def _sort_ties(indices: IntArray, distances: Array, n_jobs: int | None) -> None:
    """Sort lists by distance and index, in place, with each point first in its own list.

    Most lists are in this order already.
    """

    def sort(start: int) -> None:
        near, length = indices[start : start + TASK_ROWS], distances[start : start + TASK_ROWS]
        own = np.arange(start, start + len(near))
        rows = np.flatnonzero((near[:, 0] != own) | (length[:, 1:] <= length[:, :-1]).any(axis=1))
        order = np.lexsort((near[rows], np.where(near[rows] == own[rows, None], -1.0, length[rows])), axis=1)
        near[rows], length[rows] = (np.take_along_axis(each[rows], order, axis=1) for each in (near, length))

    for _ in run_each(sort, range(0, len(indices), TASK_ROWS), n_jobs):
        pass


def _from_products(points: Array, queries: Array, k: int, n_jobs: int | None, parts: Iterator[slice]) -> IntArray:
    """Return the k nearest points of each query, up to the rounding of products."""
    from modeseek._common.product_neighbors import nearest_by_products

    found = np.empty((len(queries), k), dtype=np.intp)
    for part in parts:
        found[part] = nearest_by_products(points, queries[part], k, n_jobs)
    return found


def _distances_to(points: Array, indices: IntArray, n_jobs: int | None) -> Array:
    """Return the distances from each point to its listed neighbours, from differences, in blocks that fit the cache."""
    distances = np.empty(indices.shape)
    step = max(1, CACHED_BLOCK // (indices.shape[1] * points.shape[1]))

    def measure(first: int) -> None:
        for start in range(first, min(first + TASK_ROWS, len(indices)), step):
            part = slice(start, min(start + step, first + TASK_ROWS))
            away = points.take(indices[part], axis=0)
            away -= points[part, None]
            np.add.reduce(np.square(away, out=away), axis=2, out=distances[part])
            np.sqrt(distances[part], out=distances[part])

    for _ in run_each(measure, range(0, len(indices), TASK_ROWS), n_jobs):
        pass
    return distances


def _correct(points: Array, untrusted: Array, indices: IntArray, distances: Array) -> None:
    """Compute again, in place, the lists whose farthest neighbour has a squared distance below `untrusted`.

    Below it, distances from inner products are too inaccurate to tell which points are nearest. Other lists are
    complete: points at such distances are much nearer than the farthest one listed.
    """
    doubtful = np.flatnonzero(np.square(distances.max(axis=1)) < untrusted)
    step = max(1, BLOCK // len(points))
    for start in range(0, len(doubtful), step):
        rows = doubtful[start : start + step]
        exact = cdist(points[rows], points)
        indices[rows] = np.argpartition(exact, indices.shape[1] - 1, axis=1)[:, : indices.shape[1]]
        distances[rows] = np.take_along_axis(exact, indices[rows], axis=1)


def intrinsic_dimension(neighbors: Neighbors) -> float:
    """Estimate the intrinsic dimension of points by maximum likelihood from their neighbour distances.

    Let r_j be the distance of a point to its j-th neighbour. If the density is locally constant in delta dimensions,
    the mean of ln(r_k / r_j) over j < k is 1 / delta. The mean is taken over all points before it is inverted.

    Parameters
    ----------
    neighbors : Neighbors
        At least two for each point.

    References
    ----------
    E. Levina, P. Bickel, "Maximum likelihood estimation of intrinsic dimension", NeurIPS 17, 2004; D. MacKay,
    Z. Ghahramani, "Comments" on it, 2005.

    Examples
    --------
    >>> points = np.random.default_rng(0).random((2000, 2))
    >>> round(intrinsic_dimension(nearest_neighbors(points, 20)))
    2
    """
    distances = neighbors.distances[:, :DIMENSION_NEIGHBORS]
    positive = distances[:, 0] > 0
    if not positive.any():
        return 1.0
    logs = np.log(distances[positive])
    inverse = float((logs[:, -1:] - logs[:, :-1]).mean())
    return 1.0 / inverse if inverse > 0 else 1.0
