"""Basins of random chains at a small scale, in place of single points, in the tree of modes."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from modeseek._common.neighbors import nearest_neighbors
from modeseek._common.points import Points
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import Problem, doubly_stochastic, stochastic
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.meanshift.partition import components
from modeseek.selection.modes import PointTree, point_tree
from modeseek.selection.proposers import KnnGraph, proposals

# neighbours behind the scale, how long chains run, and how close points of one basin are, in shares of h_min
KAPPA, SWEEPS, CLOSE = 2, 30, 0.3
# the library's own, whatever takes its place later
PLAIN = proposals.trees


def basins(points: Points, kind: str, seed: int) -> np.ndarray:
    """Return basins of a chain, an integer for each point.

    h(k) is the median distance to the k-th other point. SMS moves points at h(kappa), DSMS at bandwidths that shrink
    within [h(kappa / 2), h(2 kappa)] towards h(kappa). Points that end closer than 0.3 of the smallest bandwidth, or
    are joined by such points, are one basin.
    """
    x, n = points.values, len(points.values)
    away = nearest_neighbors(x, min(2 * KAPPA, n - 1)).distances
    low, middle, high = (float(np.median(away[:, min(k, n - 1) - 1])) for k in (KAPPA // 2, KAPPA, 2 * KAPPA))
    widest = middle if kind == "SMS" else high
    setting = Problem(x, points.weights, BIWEIGHT, points.geometry, choose("auto", BIWEIGHT, x, widest))
    if kind == "SMS":
        chain = stochastic(setting, middle, seed=seed)
    else:
        chain = doubly_stochastic(setting, Shrinking(low, high, middle), seed=seed)
    state, tau = chain.init(), CLOSE * chain.h_min
    for _ in range(SWEEPS):
        state, _ = chain.sweep(state)
        if state.last_shift.max() < tau / 100:
            break
    return components(state.points, tau)


class Tied(KnnGraph):
    """A graph whose points belong to basins; thinned and changed ones get theirs anew."""

    basins: np.ndarray | None = None


def tie(graph: KnnGraph, labels: np.ndarray) -> Tied:
    """Return the graph with basins."""
    tied = Tied(*graph)
    tied.basins = labels
    return tied


def tied_trees(graph: KnnGraph, counts: Any = None) -> dict[int, PointTree]:
    """Return how modes merge, as `views.proposals.trees` does, with basins in place of points."""
    labels = getattr(graph, "basins", None)
    if labels is None:
        return PLAIN(graph, counts)
    with patch.object(proposals, "point_tree", partial(tree_of_basins, labels)):
        return PLAIN(graph, counts)


def tree_of_basins(labels: np.ndarray, heights: np.ndarray, edges: np.ndarray, saddles: np.ndarray) -> PointTree:
    """Return the tree of modes of basins, each as high as its highest point, over edges between their points.

    A tie within a basin thus has no dip at all. The tree is one of points again: those of a basin go to its highest.
    """
    n = len(heights)
    order = np.lexsort((np.arange(n), -heights, labels))
    _, first, basin = np.unique(labels[order], return_index=True, return_inverse=True)
    top = order[first]
    of_point = np.empty(n, dtype=np.intp)
    of_point[order] = basin
    between = of_point[edges[:, 0]] != of_point[edges[:, 1]]
    # between points first: the ends that count are theirs, not the basins'
    low = np.minimum(saddles, heights[edges].min(axis=1))[between]
    tree = point_tree(heights[top], of_point[edges[between]], low)
    prominence, saddle, target = np.zeros(n), heights.copy(), top[of_point]
    prominence[top], saddle[top], target[top] = tree.prominence, tree.saddle, top[tree.target]
    return PointTree(heights, prominence, target, saddle)
