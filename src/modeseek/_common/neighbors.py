"""Nearest neighbours, exactly and in bounded memory: trees in low dimension, blocks of products in high."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray, Stage, Watcher

__all__ = [
    "Neighbors",
    "distance_blocks",
    "intrinsic_dimension",
    "kth_distance",
    "kth_distances",
    "nearest",
    "nearest_neighbors",
    "pairs_within",
]

# the process that imported this; in one that was forked from it, `os.getpid` is another
HOME = os.getpid()
# above this a k-d tree looks at most of the points anyway
TREE_DIMENSIONS = 12
# numbers in one block of distances: 32 MB
BLOCK = 1 << 22
# up to so many points, looking at all of them is quicker than any tree
FEW = 24
# up to so many points all pairs fit into memory
MANY = 5000
# squares of larger numbers may overflow, once a few are summed
FAR = 1e150
# squares of distances by products are trusted from so many times their rounding on
TRUSTED = 10_000
# rows that are looked at for a middle
SOME = 1000
# rows that are searched for at a time: in between, Ctrl-C is heard and watchers are told
ROWS = 1 << 14


def nearest(points: Array, queries: Array, *, n_jobs: int | None = None, watch: Watcher | None = None) -> IntArray:
    """Return the index of the point nearest to each query; the first one where points coincide in distance.

    Parameters
    ----------
    points : (n, d) array
    queries : (m, d) array
        However far: of those beyond 10^150 the direction counts.
    n_jobs : int, optional
        Threads for the tree search.
    watch : callable, optional
        Told how many rows are done, as a `Stage`.

    Examples
    --------
    >>> nearest(np.array([[0.0], [1.0]]), np.array([[0.2], [0.9]]))
    array([0, 1])
    """
    points, queries = _bounded(points.astype(np.float64), queries.astype(np.float64))
    if len(points) <= FEW:
        return _nearest_of_few(points, queries)
    index = np.empty(len(queries), dtype=np.intp)
    if points.shape[1] <= TREE_DIMENSIONS:
        tree = cKDTree(points)
        for part in _parts(len(queries), watch):
            index[part] = tree.query(queries[part], workers=effective_n_jobs(n_jobs))[1]
        return index
    # distances from products carry rounding of about d eps (|x| + |y|)^2: whatever comes that close is looked at again
    middle = _middle(points)
    centred, sought = points - middle, queries - middle
    d, eps = points.shape[1], np.finfo(np.float64).eps
    longest = np.sqrt(np.einsum("ij,ij->i", centred, centred).max())
    for start, squares in distance_blocks(centred, sought):
        block = queries[start : start + len(squares)]
        slack = 4 * (d + 4) * eps * (np.linalg.norm(sought[start : start + len(squares)], axis=1) + longest) ** 2
        found = squares.argmin(axis=1)
        least = squares[np.arange(len(squares)), found]
        squares[np.arange(len(squares)), found] = np.inf
        doubtful = np.flatnonzero(squares.min(axis=1) <= least + slack)
        for row in doubtful:
            columns = np.append(found[row], np.flatnonzero(squares[row] <= least[row] + slack[row]))
            exact = np.square(block[row] - points[columns]).sum(axis=1)
            found[row] = columns[exact == exact.min()].min()
        index[start : start + len(squares)] = found
        _tell(watch, start + len(squares), len(queries))
    return index


def _bounded(points: Array, queries: Array) -> tuple[Array, Array]:
    """Scale down what is so large that squares of distances overflow."""
    top = max(float(points.max(initial=0.0)), -float(points.min(initial=0.0)))
    if top > FAR:
        scale = 2.0 ** -np.ceil(np.log2(top / FAR))
        points, queries = points * scale, queries * scale
    tops = np.maximum(queries.max(axis=1, initial=0.0), -queries.min(axis=1, initial=0.0))
    if tops.max(initial=0.0) > FAR:
        queries = queries / np.maximum(tops / FAR, 1.0)[:, None]
    return points, queries


def _middle(points: Array) -> Array:
    """Return what to take off rows before they are multiplied, for products round by squares of lengths.

    By medians, as one point far away shall not take the middle with it.
    """
    return np.median(points[:: max(1, len(points) // SOME)], axis=0)


def _parts(n: int, watch: Watcher | None) -> Iterator[slice]:
    """Yield the rows to search for, some at a time, and tell when they are done."""
    for start in range(0, n, ROWS):
        yield slice(start, start + ROWS)
        _tell(watch, min(start + ROWS, n), n)


def _tell(watch: Watcher | None, done: int, n: int) -> None:
    if watch is not None:
        watch(Stage("nearest neighbours", done, n, "rows"))


def _nearest_of_few(points: Array, queries: Array) -> IntArray:
    index = np.empty(len(queries), dtype=np.intp)
    step = (1 << 18) // len(points)  # a block of distances stays in the cache
    for start in range(0, len(queries), step):
        cdist(queries[start : start + step], points, "sqeuclidean").argmin(axis=1, out=index[start : start + step])
    return index


def kth_distance(points: Array, k: int, queries: Array | None = None, *, n_jobs: int | None = None) -> Array:
    """Return the distance from each query to its k-th nearest point, k = 1, 2, ...

    Parameters
    ----------
    points : (n, d) array
    k : int
        At most n. Where the queries are the points themselves, a point is its own first neighbour.
    queries : (m, d) array, optional
        Default: the points.
    n_jobs : int, optional
        Threads for the tree search.

    Examples
    --------
    >>> kth_distance(np.array([[0.0], [1.0], [3.0]]), 2)
    array([1., 1., 2.])
    """
    points = points.astype(np.float64)
    queries = points if queries is None else queries.astype(np.float64)
    # a tree pays while it looks at few points
    if points.shape[1] <= TREE_DIMENSIONS and k <= 64 + len(points) // 50:
        distance, _ = cKDTree(points).query(queries, k=[k], workers=effective_n_jobs(n_jobs))
        return distance[:, 0]
    return kth_distances(points, [k], queries)[:, 0]


def kth_distances(points: Array, ks: Sequence[int], queries: Array) -> Array:
    """Return the distances from each query to its k-th nearest points, for several k at once: shape (m, len(ks)).

    Parameters
    ----------
    points : (n, d) array
    ks : sequence of int
        Each from 1 to n, in any order.
    queries : (m, d) array

    Examples
    --------
    >>> kth_distances(np.array([[0.0], [1.0], [3.0]]), [2, 3], np.array([[0.0], [1.0]]))
    array([[1., 3.],
           [1., 2.]])
    """
    points, queries = points.astype(np.float64), queries.astype(np.float64)
    order = np.asarray(ks, dtype=np.intp) - 1
    result = np.empty((len(queries), len(order)))
    for start, columns in _ranked(points, queries, order):
        block = slice(start, start + len(columns))
        result[block] = np.linalg.norm(queries[block, None] - points[columns], axis=2)  # again, without cancellation
    # rounding may have exchanged two: whoever comes later in order is as far at least
    rank = np.argsort(np.argsort(order, kind="stable"), kind="stable")
    return np.sort(result, axis=1)[:, rank]


def _ranked(points: Array, queries: Array, order: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Yield (start, columns), block by block of queries: the points that come at these ranks, 0 for the nearest."""
    ranks = np.unique(order)
    if points.shape[1] <= TREE_DIMENSIONS:
        step = max(1, BLOCK // max(1, len(points)))
        for start in range(0, len(queries), step):
            squares = cdist(queries[start : start + step], points, "sqeuclidean")
            yield start, np.argpartition(squares, ranks, axis=1)[:, order]
        return
    middle = _middle(points)
    centred, sought = points - middle, queries - middle
    for start, squares in distance_blocks(centred, sought):
        columns = np.argpartition(squares, ranks, axis=1)
        block = slice(start, start + len(squares))
        first = squares[np.arange(len(squares)), columns[:, ranks[0]]]
        doubtful = np.flatnonzero(first < _rounding(sought[block]))
        if len(doubtful):
            exact = cdist(queries[block][doubtful], points, "sqeuclidean")
            columns[doubtful] = np.argpartition(exact, ranks, axis=1)
        yield start, columns[:, order]


def _rounding(centred: Array) -> Array:
    """Return up to which square the distance of each row to others, by products, is not to be trusted."""
    squares = np.einsum("ij,ij->i", centred, centred)
    return TRUSTED * 16 * (centred.shape[1] + 4) * np.finfo(np.float64).eps * squares


def distance_blocks(points: Array, queries: Array) -> Iterator[tuple[int, Array]]:
    """Yield (start, squared distances of queries[start:...] to all points), a bounded block at a time.

    By |x|^2 + |y|^2 - 2 x.y, so to rounding of the squared lengths only.
    """
    squares = np.einsum("ij,ij->i", points, points)
    step = max(1, BLOCK // max(1, len(points)))
    for start in range(0, len(queries), step):
        block = queries[start : start + step]
        product = block @ points.T
        product *= -2.0
        product += squares
        product += np.einsum("ij,ij->i", block, block)[:, None]
        yield start, np.maximum(product, 0.0, out=product)


def pairs_within(points: Array, radius: float) -> tuple[IntArray, Array]:
    """Return all pairs i < j of points at most `radius` apart, shape (m, 2), and their distances.

    Examples
    --------
    >>> pairs_within(np.array([[0.0], [1.0], [3.0]]), 1.5)
    (array([[0, 1]]), array([1.]))
    """
    points = points.astype(np.float64)
    if points.shape[1] <= TREE_DIMENSIONS:
        # the tree compares squares, which may round the other way: a little more, and the distances below decide
        tree, reach = cKDTree(points), radius * (1 + 1e-12)
        if len(points) > MANY:
            # counted before they are written down
            _check_pairs((int(tree.count_neighbors(tree, reach)) - len(points)) / 2, len(points), radius)
        pairs = tree.query_pairs(reach, output_type="ndarray")
    else:
        # products first, with room for their rounding; the exact distances decide
        centred = points - _middle(points)
        longest = float(np.einsum("ij,ij->i", centred, centred).max())
        roomy = radius**2 + 16 * (points.shape[1] + 4) * np.finfo(np.float64).eps * longest
        found, count = [], 0
        for start, squares in distance_blocks(centred, centred):
            rows, columns = np.nonzero(squares <= roomy)
            rows += start
            found.append(np.column_stack([rows, columns])[rows < columns])
            count += len(found[-1])
            _check_pairs(count, len(points), radius)
        pairs = np.concatenate(found)
    distances = np.empty(len(pairs))
    step = max(1, BLOCK // points.shape[1])
    for start in range(0, len(pairs), step):
        one, two = pairs[start : start + step].T
        distances[start : start + step] = np.linalg.norm(points[one] - points[two], axis=1)
    close = distances <= radius
    return (pairs, distances) if close.all() else (pairs[close], distances[close])


def _check_pairs(count: float, n: int, radius: float) -> None:
    # indices, once more while blocks are joined, and distances
    check_memory(
        48.0 * count,
        f"{count:,.0f} pairs of {n:,} points within {radius:.3g}",
        "Take a smaller radius, or fewer points.",
    )


class Neighbors(NamedTuple):
    """The nearest other points of each point, from the nearest on.

    Attributes
    ----------
    indices : (n, k) integer array
    distances : (n, k) array
    """

    indices: IntArray
    distances: Array


def nearest_neighbors(points: Array, k: int, *, n_jobs: int | None = None, watch: Watcher | None = None) -> Neighbors:
    """Return the k nearest other points of each point; of equally distant ones, the first.

    Parameters
    ----------
    points : (n, d) array
        Distinct ones.
    k : int
        At most n - 1.
    n_jobs : int, optional
        Threads for the tree search.
    watch : callable, optional
        Told how many rows are done, as a `Stage`.

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
        away, near = np.empty((n, most)), np.empty((n, most), dtype=np.intp)
        for part in _parts(n, watch):
            found = tree.query(points[part], k=most, workers=effective_n_jobs(n_jobs))
            away[part], near[part] = (each.reshape(-1, most) for each in found)
    else:
        centred = points - _middle(points)
        near = _by_products(centred, k, watch)
        # by products, rounding may prefer others to the point itself
        lost = ~(near == np.arange(n)[:, None]).any(axis=1)
        near[lost, -1] = np.flatnonzero(lost)
        away = _measured(points, near)
        _mend(points, _rounding(centred), near, away)
    # a point comes first in its own list, and is left out
    away = np.where(near == np.arange(n)[:, None], -1.0, away)
    order = np.lexsort((near, away), axis=1)[:, 1 : k + 1]
    return Neighbors(np.take_along_axis(near, order, axis=1), np.take_along_axis(away, order, axis=1))


def _by_products(points: Array, k: int, watch: Watcher | None) -> IntArray:
    """Return the k + 1 nearest points of each point, by products of rows: in an order that rounding has a say in.

    In a process that was forked, by one thread. Those of OpenMP, which scikit-learn takes, do not come along, and its
    next team would wait for them for ever.
    """
    from sklearn.neighbors import NearestNeighbors  # quicker than what SciPy and NumPy offer, and slow to import

    search = NearestNeighbors(n_neighbors=k + 1, algorithm="brute").fit(points)
    with threadpool_limits(1, user_api="openmp") if os.getpid() != HOME else nullcontext():
        return np.concatenate([search.kneighbors(points[part])[1] for part in _parts(len(points), watch)])


def _measured(points: Array, near: IntArray) -> Array:
    """Measure chosen neighbours anew, without the cancellation of products, in bounded memory."""
    away = np.empty(near.shape)
    step = max(1, BLOCK // (near.shape[1] * points.shape[1]))
    for start in range(0, len(near), step):
        part = slice(start, start + step)
        away[part] = np.linalg.norm(points[part, None] - points[near[part]], axis=2)
    return away


def _mend(points: Array, rounding: Array, near: IntArray, away: Array) -> None:
    """Look for the neighbours of those anew, in place, whose farthest is no farther than the rounding of products.

    Others may have neighbours as close as that, who were found all the same, as nearer than the farthest.
    """
    doubtful = np.flatnonzero(np.square(away.max(axis=1)) < rounding)
    step = max(1, BLOCK // len(points))
    for start in range(0, len(doubtful), step):
        rows = doubtful[start : start + step]
        distances = cdist(points[rows], points)
        near[rows] = np.argpartition(distances, near.shape[1] - 1, axis=1)[:, : near.shape[1]]
        away[rows] = np.take_along_axis(distances, near[rows], axis=1)


def intrinsic_dimension(neighbours: Neighbors, *, most: int = 20) -> float:
    """Estimate how many dimensions the points fill, by maximum likelihood from neighbour distances.

    In delta dimensions, with points spread evenly close by, the mean of ln(r_k / r_j) over j < k is 1 / delta. It is
    averaged over the points before it is inverted.

    Parameters
    ----------
    neighbours : Neighbors
        At least two for each point.
    most : int
        Neighbours to look at. The first few alone would be fooled by what rounding or overlap does to the shortest
        distances.

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
    distances = neighbours.distances[:, :most]
    positive = distances[:, 0] > 0
    if not positive.any():
        return 1.0
    logs = np.log(distances[positive])
    inverse = float((logs[:, -1:] - logs[:, :-1]).mean())
    return 1.0 / inverse if inverse > 0 else 1.0
