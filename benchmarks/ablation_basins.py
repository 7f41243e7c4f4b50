"""Proposers whose merge tree joins basins of random chains at a small bandwidth instead of single points."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

import numpy as np

from labelled import Task
from modeseek._common.neighbors import nearest_neighbors
from modeseek._common.points import Points, canonical_points
from modeseek._common.types import Geometry
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import Problem, doubly_stochastic, stochastic
from modeseek.meanshift.components import components
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.selection import Candidate, KnnGraph, SelectionConfig
from modeseek.selection.grid_proposers import PROPOSERS, MixtureProposer, Modes
from modeseek.selection.modes import PointTree, point_tree
from modeseek.selection.progress import SelectionProgress

# neighbours that set the bandwidths, length of the chains, and distance of points in one basin over h_min
N_NEIGHBORS = 2
SWEEPS = 30
CLOSE = 0.3


def basin_proposers(task: Task, kind: str) -> tuple[str, str]:
    """Register proposers for the basins of a data set, and return their names."""
    geometry = Geometry("cosine" if task.cosine else "euclidean")
    points = canonical_points(task.X, np.ones(len(task.X)), geometry)
    labels = basins(points, kind, task.seed)
    modes = type("BasinModes", (BasinModes,), {"basins": labels})
    mixture = type("BasinMixture", (BasinMixture,), {"modes": modes})
    PROPOSERS["basin modes"], PROPOSERS["basin mixture"] = modes, mixture
    return "basin modes", "basin mixture"


def basin_note(config: SelectionConfig) -> str:
    """Return the number of basins, if the last fit used them."""
    modes = PROPOSERS.get("basin modes")
    return f"; {modes.basins.max() + 1} basins" if "basin modes" in config.proposers and modes.used else ""


def basins(points: Points, kind: str, seed: int) -> np.ndarray:
    """Return the basin of each point in a chain.

    h(k) is the median distance to the k-th other point, and K is `N_NEIGHBORS`. SMS moves points at h(K), DSMS at
    bandwidths that shrink within [h(K / 2), h(2 K)] towards h(K). Points that end closer than 0.3 of the smallest
    bandwidth, or are joined by such points, are one basin.
    """
    x, n = points.values, len(points.values)
    away = nearest_neighbors(x, min(2 * N_NEIGHBORS, n - 1)).distances
    ks = (N_NEIGHBORS // 2, N_NEIGHBORS, 2 * N_NEIGHBORS)
    low, middle, high = (float(np.median(away[:, min(k, n - 1) - 1])) for k in ks)
    widest = middle if kind == "SMS" else high
    problem = Problem(x, points.weights, BIWEIGHT, points.geometry, choose("auto", BIWEIGHT, x, widest))
    if kind == "SMS":
        chain = stochastic(problem, middle, seed=seed)
    else:
        chain = doubly_stochastic(problem, Shrinking(low, high, middle), seed=seed)
    state, tau = chain.init(), CLOSE * chain.h_min
    for _ in range(SWEEPS):
        state, _ = chain.sweep(state)
        if state.last_shift.max() < tau / 100:
            break
    return components(state.points, tau)


class BasinModes(Modes):
    """Modes whose merge trees join basins; `basins` has the basin of each point of the full graph."""

    basins: ClassVar[np.ndarray]
    used: ClassVar[bool] = False

    def propose(self, graph: KnnGraph, seed: int, progress: SelectionProgress) -> list[Candidate]:
        type(self).used = True
        return super().propose(graph, seed, progress)

    def trees(self, graph: KnnGraph, counts: Collection[float] | None = None) -> dict[int, PointTree]:
        labels = self.basins[graph.rows]
        return {count: tree_of_basins(labels, *each) for count, each in self.densities(graph, counts).items()}


class BasinMixture(MixtureProposer):
    """The mixture proposer, with clear modes judged on the trees of basins."""

    modes: ClassVar[type[BasinModes]]

    def has_clear_modes(self, graph: KnnGraph) -> bool:
        return self.modes(self.config).excess_prominence(graph) >= self.config.clear_excess_prominence


def tree_of_basins(labels: np.ndarray, heights: np.ndarray, edges: np.ndarray, saddles: np.ndarray) -> PointTree:
    """Return the merge tree of basins, each as high as its highest point, over the edges between their points.

    Points of a basin merge into its highest point, without a saddle.
    """
    n = len(heights)
    order = np.lexsort((np.arange(n), -heights, labels))
    _, first, basin = np.unique(labels[order], return_index=True, return_inverse=True)
    top = order[first]
    of_point = np.empty(n, dtype=np.intp)
    of_point[order] = basin
    between = of_point[edges[:, 0]] != of_point[edges[:, 1]]
    # saddles are limited by the heights of points, not of basins
    low = np.minimum(saddles, heights[edges].min(axis=1))[between]
    tree = point_tree(heights[top], of_point[edges[between]], low)
    prominence, saddle, target = np.zeros(n), heights.copy(), top[of_point]
    prominence[top], saddle[top], target[top] = tree.prominence, tree.saddle, top[tree.target]
    return PointTree(heights, prominence, target, saddle)
