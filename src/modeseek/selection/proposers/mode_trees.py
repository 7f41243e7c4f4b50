"""The tree of modes of a landscape, for users to look at."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.prominence import ScaleTree, mode_tree, scale_tree
from modeseek.selection.proposers.proposals import Landscape, trees

__all__ = ["flat_tree", "tree_of"]


def tree_of(landscape: Landscape, inverse: IntArray, setting: tuple[float, float] | None = None) -> ScaleTree:
    """Return how the modes of a landscape merge.

    Parameters
    ----------
    landscape : Landscape
    inverse : (n_rows,) integer array
        Point of each row.
    setting : tuple, optional
        Of `by_modes`: the count of neighbours, and the standard errors that a mode must rise. None: the middle count,
        and no level.
    """
    count = landscape.counts[len(landscape.counts) // 2] if setting is None else int(setting[0])
    level = None if setting is None else float(2.0 * setting[1] / np.sqrt(count))
    tree = trees(landscape._replace(counts=(count,)))[count]
    return scale_tree(tree, weights=landscape.weights, inverse=inverse, level=level, count=count)


def flat_tree(inverse: IntArray, weights: Array) -> ScaleTree:
    """Return the tree of too few points for a density: one mode.

    Examples
    --------
    >>> flat_tree(np.array([0, 1, 0]), np.array([2.0, 1.0]))
    ScaleTree(1 mode in 3 rows, prominence inf)
    """
    n = len(weights)
    others = np.column_stack([np.zeros(n - 1, dtype=np.intp), np.arange(1, n)])
    tree = mode_tree(np.zeros(n), others, np.zeros(n - 1))
    return scale_tree(tree, weights=weights, inverse=inverse)
