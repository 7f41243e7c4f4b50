"""The tree of modes of a graph, for users to look at."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.modes import MergeTree, merge_tree, point_tree
from modeseek.selection.proposers.proposals import KnnGraph, trees

__all__ = ["single_mode_tree", "tree_of"]


def tree_of(graph: KnnGraph, inverse: IntArray, setting: tuple[float, float] | None = None) -> MergeTree:
    """Return how the modes of a graph merge.

    Parameters
    ----------
    graph : KnnGraph
    inverse : (n_rows,) integer array
        Point of each row.
    setting : tuple, optional
        Of `by_modes`: the count of neighbours, and the standard errors that a mode must rise. None: the middle count,
        and no level.
    """
    count = graph.counts[len(graph.counts) // 2] if setting is None else int(setting[0])
    level = None if setting is None else float(2.0 * setting[1] / np.sqrt(count))
    tree = trees(graph._replace(counts=(count,)))[count]
    return merge_tree(tree, weights=graph.weights, inverse=inverse, level=level, count=count)


def single_mode_tree(inverse: IntArray, weights: Array) -> MergeTree:
    """Return the tree of too few points for a density: one mode.

    Examples
    --------
    >>> single_mode_tree(np.array([0, 1, 0]), np.array([2.0, 1.0]))
    MergeTree(1 mode in 3 rows, prominence inf)
    """
    n = len(weights)
    others = np.column_stack([np.zeros(n - 1, dtype=np.intp), np.arange(1, n)])
    tree = point_tree(np.zeros(n), others, np.zeros(n - 1))
    return merge_tree(tree, weights=weights, inverse=inverse)
