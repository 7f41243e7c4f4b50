"""Approximate nearest neighbours in many dimensions: trees of random projections, then neighbours of neighbours.

The result does not depend on the number of threads. pynndescent is not used, because its result depends on that number.
"""

from __future__ import annotations

import numpy as np

from modeseek._common.distances import central_point
from modeseek._common.neighbors import Neighbors, sorted_lists
from modeseek._common.threads import run_each
from modeseek._common.types import Array, IntArray, Stage, Watcher
from modeseek.selection.config import ApproximateConfig
from modeseek.selection.sorting import ascending_integers


def approximate_neighbors(
    points: Array, k: int, config: ApproximateConfig, *, n_jobs: int | None = None, watch: Watcher | None = None
) -> Neighbors:
    """Return most of the k nearest other points of each point; their distances are exact.

    The points of a leaf of a random tree are the first candidates. In each round after that, the candidates are the
    neighbours of neighbours, in both directions.

    Parameters
    ----------
    points : (n, d) array
        Distinct points, more than `config.leaf_size`.
    k : int
        Less than `config.leaf_size`.
    config : ApproximateConfig
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    watch : callable, optional
        Receives the number of finished rows of all rounds, as a `Stage`.
    """
    from modeseek.selection.approximate_loops import both_ways, closest_members, make_symmetric

    n = len(points)
    x = _scaled(points)
    done, total = 0, n * (config.n_rounds + 1)

    def search(groups: IntArray, members: IntArray, known: IntArray) -> tuple[IntArray, Array]:
        nonlocal done
        near, squares = np.empty((n, k), dtype=np.int32), np.empty((n, k), dtype=np.float32)

        def task(first: int) -> int:
            last = min(first + config.task_rows, n)
            closest_members(x, groups, members, known, near, squares, first, last)
            return last - first

        for count in run_each(task, range(0, n, config.task_rows), n_jobs):
            done += count
            if watch is not None:
                watch(Stage("nearest neighbours", done, total, "rows"))
        return near, squares

    rng = np.random.default_rng(config.seed)
    groups, members = _leaves(x, rng, config, n_jobs)
    near, squares = search(groups, members, np.empty((n, 0), dtype=np.int32))
    for _ in range(config.n_rounds):
        linked = both_ways(near, min(config.n_expanded, k))
        near, squares = search(linked, linked, near)
    make_symmetric(near, squares)
    return sorted_lists(points, near, n_jobs=n_jobs)


def _scaled(points: Array) -> Array:
    """Return the points in single precision, centered and scaled so that squares neither overflow nor vanish."""
    x = points - central_point(points)
    return np.ascontiguousarray(x / max(float(np.abs(x).max()), 1e-300), dtype=np.float32)


def _leaves(
    x: Array, rng: np.random.Generator, config: ApproximateConfig, n_jobs: int | None
) -> tuple[IntArray, IntArray]:
    """Return the leaf of each point in each tree, and the points of each leaf; short lists of points end in -1.

    On each level of a tree, all nodes are cut at their medians along one random direction.
    """
    n, d = x.shape
    n_levels = int(np.ceil(np.log2(n / config.leaf_size)))
    directions = rng.standard_normal((config.n_trees, n_levels, d)).astype(np.float32)
    size = -(-n // (1 << n_levels))

    def leaf_of(tree: int) -> tuple[IntArray, IntArray]:
        node = np.zeros(n, dtype=np.int32)
        for level in range(n_levels):
            order = _by_node(node, x @ directions[tree, level], level)
            start = np.searchsorted(node[order], np.arange((1 << level) + 1))
            half = (start[:-1] + start[1:] + 1) // 2
            sorted_node = node[order]
            node[order] = 2 * sorted_node + (np.arange(n) >= half[sorted_node])
        order = ascending_integers(node, 1 << n_levels)
        start = np.searchsorted(node[order], np.arange(1 << n_levels))
        members = np.full((1 << n_levels, size), -1, dtype=np.int32)
        members[node[order], np.arange(n) - start[node[order]]] = order
        return node, members

    trees = list(run_each(leaf_of, range(config.n_trees), n_jobs))
    groups = np.column_stack([node + number * (1 << n_levels) for number, (node, _) in enumerate(trees)])
    return np.ascontiguousarray(groups, dtype=np.int32), np.concatenate([members for _, members in trees])


def _by_node(node: IntArray, values: Array, bits: int) -> IntArray:
    """Return the indices that sort points by node, and points of the same node by value; the sort is stable.

    Node numbers have at most `bits` bits. NumPy's `lexsort` takes several times as long.
    """
    from modeseek.selection.sorting_loops import radix_order

    # + 0.0 makes 0.0 of -0.0; the bits of negative numbers are in the opposite order
    each = (values + np.float32(0.0)).view(np.int32)
    keys = np.where(each < 0, ~each, each | np.int32(-(1 << 31))).view(np.uint32).astype(np.uint64)
    return radix_order(keys | node.astype(np.uint64) << np.uint64(32), 32 + bits)
