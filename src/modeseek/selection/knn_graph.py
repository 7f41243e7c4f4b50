"""The nearest-neighbour graph that all proposers work on, and random subsamples of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import PCA

from modeseek._common.neighbors import Neighbors, intrinsic_dimension, nearest_neighbors
from modeseek._common.points import Points
from modeseek._common.types import Array, IntArray, Watcher
from modeseek.selection.rules_config import DEFAULT, SelectionConfig

__all__ = ["KnnGraph", "build_knn_graph", "density_neighbor_counts", "subsample"]

# neighbours that are searched for each one that is used, so that enough of them are left in a subsample
SEARCH_FACTOR = 2.5


@dataclass(frozen=True, eq=False)
class KnnGraph:
    """Distinct points with their nearest neighbours.

    Attributes
    ----------
    neighbors : Neighbors
        Indices of the nearest other points of each point, and their distances.
    weights : (n,) array
        Number of rows that each point stands for.
    dimension : float
        Intrinsic dimension.
    counts : tuple of int
        Numbers of neighbours from which densities are estimated.
    coordinates : (n, d) array
        The first principal components of the points, for proposers that need more than neighbours.
    rows : (n,) integer array
        Index of each point in the full graph, of which this graph may be a subsample.
    share : float
        Share of the points of the full graph; 1 for the full graph.
    """

    neighbors: Neighbors
    weights: Array
    dimension: float
    counts: tuple[int, ...]
    coordinates: Array
    rows: IntArray
    share: float = 1.0

    def __len__(self) -> int:
        return len(self.weights)


def build_knn_graph(
    points: Points,
    *,
    config: SelectionConfig = DEFAULT,
    n_jobs: int | None = None,
    watch: Watcher | None = None,
) -> KnnGraph:
    """Return the nearest-neighbour graph of at least three distinct points.

    Parameters
    ----------
    points : Points
    config : SelectionConfig
    n_jobs : int, optional
        Threads for the search.
    watch : callable, optional
        Called with a `Stage` as the search proceeds.
    """
    x = points.values.astype(np.float64)
    pca = PCA(min(config.max_dimensions, *x.shape), svd_solver="full")
    coordinates = pca.fit_transform(x)
    # directions that only rounding fills (features that depend on others) would count as extremely dense
    spread = pca.singular_values_
    filled = max(1, int((spread > _rounding(points, spread[0])).sum()))
    if x.shape[1] > config.max_dimensions and len(x) > config.max_dimensions:
        x = coordinates
    counts = density_neighbor_counts(len(x), config)
    k = min(len(x) - 1, SEARCH_FACTOR * _longest_list(counts, config))
    indices, distances = nearest_neighbors(x, int(k), n_jobs=n_jobs, watch=watch)
    # distinct rows may have distance 0 by rounding
    positive = distances[distances > 0]
    neighbors = Neighbors(indices, np.maximum(distances, positive.min() if len(positive) else 1.0))
    return KnnGraph(
        neighbors,
        points.weights,
        min(intrinsic_dimension(neighbors), filled),
        counts,
        coordinates[:, : min(filled, config.max_coordinates)],
        np.arange(len(x)),
    )


def density_neighbor_counts(n: int, config: SelectionConfig = DEFAULT) -> tuple[int, ...]:
    """Return the numbers of neighbours from which densities of n points are estimated.

    Examples
    --------
    >>> density_neighbor_counts(30), density_neighbor_counts(5)
    ((3, 4, 6, 8), (1,))
    """
    modes = config.modes
    small = [count for count in modes.neighbor_counts if SEARCH_FACTOR * count < n - 1] or [1]
    large = [count for count in modes.large_neighbor_counts if modes.points_per_large_neighbor * count <= n]
    return (*small, *large)


def subsample(graph: KnnGraph, rng: np.random.Generator, config: SelectionConfig = DEFAULT) -> KnnGraph:
    """Return the graph of a random share of the points.

    Neighbours are not searched again: each point keeps those of its neighbours that are in the subsample.
    """
    from modeseek.selection.knn_graph_kernels import keep_neighbors

    n, share = len(graph), config.subsample_share
    rows = np.sort(rng.permutation(n)[: max(2, round(share * n))])
    place = np.full(n, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    indices, distances = graph.neighbors
    length = min(_longest_list(graph.counts, config), indices.shape[1])
    neighbors = Neighbors(*keep_neighbors(indices, distances, rows, place, length))
    return KnnGraph(
        neighbors, graph.weights[rows], graph.dimension, graph.counts, graph.coordinates[rows], graph.rows[rows], share
    )


def _longest_list(counts: tuple[int, ...], config: SelectionConfig) -> int:
    """Return the largest number of neighbours that any proposer uses."""
    return max(*counts, config.modes.n_edges, *config.communities.neighbor_counts)


def _rounding(points: Points, largest_singular_value: float) -> float:
    """Return an upper bound on singular values that are due to rounding, in the decomposition or in the data."""
    largest = float(np.abs(points.values).max()) + float(np.abs(points.offset).max())
    n, eps = max(points.values.shape), np.finfo(points.values.dtype).eps
    return float(max(n * np.finfo(np.float64).eps * largest_singular_value, 4 * np.sqrt(n) * eps * largest))
