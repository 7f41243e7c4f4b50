"""Random samples that proposers cluster, and the assignment of all points to the clusters of a sample."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array, IntArray

# number of products computed at a time: few enough to stay in the cache, and for BLAS to use a single thread
BLOCK_SIZE = 1 << 14
# up to this number of dimensions, a k-d tree is faster than products of all pairs
TREE_DIMENSIONS = 10


def draw(n: int, size: int, rng: np.random.Generator) -> IntArray:
    """Return the sorted indices of a random sample of at most `size` points."""
    return np.sort(rng.permutation(n)[:size])


def nearest_center(x: Array, centers: Array) -> IntArray:
    """Return the nearest center of each point."""
    half = np.square(centers).sum(axis=1) / 2
    labels = np.empty(len(x), dtype=np.int32)
    step = max(1, BLOCK_SIZE // len(centers))
    for i in range(0, len(x), step):
        products = x[i : i + step] @ centers.T
        products -= half
        labels[i : i + step] = products.argmax(axis=1)
    return labels


def nearest_point(queries: Array, x: Array) -> IntArray:
    """Return the index of the nearest point of x for each query."""
    if x.shape[1] > TREE_DIMENSIONS:
        return nearest_center(queries, x)
    from scipy.spatial import cKDTree

    return cKDTree(x).query(queries)[1]


def ward_tree(x: Array) -> Array:
    """Return Ward's tree as a linkage matrix of SciPy."""
    from scipy.cluster.hierarchy import linkage

    return linkage(x, "ward")


def ward_clusters(tree: Array, k: int) -> IntArray:
    """Return k clusters of Ward's tree, numbered by first appearance; SciPy's `fcluster` takes a hundred times as long.

    Examples
    --------
    >>> ward_clusters(ward_tree(np.array([[0.0], [5.0], [1.0], [6.0]])), 2)
    array([0, 1, 0, 1], dtype=int32)
    """
    from modeseek.selection.modes.point_tree import follow
    from modeseek.selection.partition_loops import compact

    # the clusters are the k subtrees that remain without the last k - 1 merges
    n, target = len(tree) + 1, np.arange(2 * len(tree) + 1, dtype=np.int32)
    kept = tree[: n - k, :2].astype(np.intp)
    target[kept] = np.arange(n, 2 * n - k)[:, None]
    return compact(follow(target)[:n], len(target))[0]
