"""Distances between points in bounded memory: blocks, k-th nearest distances, and pairs within a radius.

A k-d tree is used in low dimension. In high dimension squared distances come from matrix products,
|x|^2 + |y|^2 - 2 x.y, which lose digits. Distances that could be affected are computed again from differences.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from joblib import effective_n_jobs
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray

# in more dimensions a k-d tree visits most of the points anyway
TREE_DIMENSIONS = 12
# number of distances, or other numbers, that are computed at a time (32 MB)
BLOCK = 1 << 22
# with more points than this, the number of pairs is counted before the pairs are stored
COUNT_PAIRS_FROM = 5000
# squared distances from products are trusted above this multiple of their rounding error
TRUSTED_ROUNDINGS = 10_000
# number of rows from which the central point is computed
CENTER_ROWS = 1000
# a k-d tree is used for the k-th neighbour up to k = MIN_TREE_NEIGHBORS + n / POINTS_PER_NEIGHBOR
MIN_TREE_NEIGHBORS = 64
POINTS_PER_NEIGHBOR = 50


def distance_blocks(points: Array, queries: Array) -> Iterator[tuple[int, Array]]:
    """Yield (start, squared distances from queries[start:...] to all points) for blocks of bounded size.

    Distances are computed from products. Their rounding error is proportional to the squared lengths of the rows.
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


def central_point(points: Array) -> Array:
    """Return a point to subtract from all rows before products are formed, which reduces their rounding error.

    The median is used because a single distant point does not move it.
    """
    return np.median(points[:: max(1, len(points) // CENTER_ROWS)], axis=0)


def untrusted_below(centered: Array) -> Array:
    """Return for each row the squared distance below which results from products are not accurate enough."""
    squares = np.einsum("ij,ij->i", centered, centered)
    return TRUSTED_ROUNDINGS * 16 * (centered.shape[1] + 4) * np.finfo(np.float64).eps * squares


def kth_distance(points: Array, k: int, queries: Array | None = None, *, n_jobs: int | None = None) -> Array:
    """Return the distance from each query to its k-th nearest point, k = 1, 2, ...

    Parameters
    ----------
    points : (n, d) array
    k : int
        At most n. If the queries are the points, the first neighbour of a point is the point itself.
    queries : (m, d) array, optional
        Default: the points.
    n_jobs : int, optional
        Number of threads for the tree search.

    Examples
    --------
    >>> kth_distance(np.array([[0.0], [1.0], [3.0]]), 2)
    array([1., 1., 2.])
    """
    points = points.astype(np.float64)
    queries = points if queries is None else queries.astype(np.float64)
    if points.shape[1] <= TREE_DIMENSIONS and k <= MIN_TREE_NEIGHBORS + len(points) // POINTS_PER_NEIGHBOR:
        distance, _ = cKDTree(points).query(queries, k=[k], workers=effective_n_jobs(n_jobs))
        return distance[:, 0]
    return kth_distances(points, [k], queries)[:, 0]


def kth_distances(points: Array, ks: Sequence[int], queries: Array) -> Array:
    """Return the distances from each query to its k-th nearest points, for several k: shape (m, len(ks)).

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
        result[block] = np.linalg.norm(queries[block, None] - points[columns], axis=2)
    # rounding may have exchanged two neighbours, but distances must not decrease with k
    rank = np.argsort(np.argsort(order, kind="stable"), kind="stable")
    return np.sort(result, axis=1)[:, rank]


def _ranked(points: Array, queries: Array, order: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Yield (start, columns) for blocks of queries.

    `columns` has the indices of the points at the ranks `order` by distance; rank 0 is the nearest point.
    """
    ranks = np.unique(order)
    if points.shape[1] <= TREE_DIMENSIONS:
        step = max(1, BLOCK // max(1, len(points)))
        for start in range(0, len(queries), step):
            squares = cdist(queries[start : start + step], points, "sqeuclidean")
            yield start, np.argpartition(squares, ranks, axis=1)[:, order]
        return
    center = central_point(points)
    centered, sought = points - center, queries - center
    for start, squares in distance_blocks(centered, sought):
        columns = np.argpartition(squares, ranks, axis=1)
        block = slice(start, start + len(squares))
        first = squares[np.arange(len(squares)), columns[:, ranks[0]]]
        doubtful = np.flatnonzero(first < untrusted_below(sought[block]))
        if len(doubtful):
            exact = cdist(queries[block][doubtful], points, "sqeuclidean")
            columns[doubtful] = np.argpartition(exact, ranks, axis=1)
        yield start, columns[:, order]


def pairs_within(points: Array, radius: float) -> tuple[IntArray, Array]:
    """Return all pairs i < j of points with a distance of at most `radius`, shape (m, 2), and these distances.

    Raises `NotEnoughMemory` if there are too many pairs.

    Examples
    --------
    >>> pairs_within(np.array([[0.0], [1.0], [3.0]]), 1.5)
    (array([[0, 1]]), array([1.]))
    """
    points = points.astype(np.float64)
    if points.shape[1] <= TREE_DIMENSIONS:
        # the tree compares squares, which are rounded differently: it searches a little farther, and the distances
        # computed below decide
        tree, reach = cKDTree(points), radius * (1 + 1e-12)
        if len(points) > COUNT_PAIRS_FROM:
            _check_pairs((int(tree.count_neighbors(tree, reach)) - len(points)) / 2, len(points), radius)
        pairs = tree.query_pairs(reach, output_type="ndarray")
    else:
        # squares from products are compared with a margin for their rounding; the distances computed below decide
        centered = points - central_point(points)
        longest = float(np.einsum("ij,ij->i", centered, centered).max())
        most = radius**2 + 16 * (points.shape[1] + 4) * np.finfo(np.float64).eps * longest
        found, count = [], 0
        for start, squares in distance_blocks(centered, centered):
            rows, columns = np.nonzero(squares <= most)
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
    # 48 bytes for each pair: two indices, a second copy of them while blocks are joined, and distances
    what = f"{count:,.0f} pairs of {n:,} points within {radius:.3g}"
    check_memory(48.0 * count, what, "Use a smaller radius, or fewer points.")
