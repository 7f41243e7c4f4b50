"""The data that proposers and features receive: distinct points, principal components and nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from modeseek._common.neighbors import Neighbors, intrinsic_dimension, nearest_neighbors
from modeseek._common.points import Points
from modeseek._common.threads import Later, run_each
from modeseek._common.types import Array, IntArray, Watcher
from modeseek.selection.config import DEFAULT, ApproximateConfig, DataConfig, SelectionConfig, SubsamplesConfig

if TYPE_CHECKING:
    from modeseek.selection.modes import PointTree

# number of rows that one task copies
COPIED_ROWS = 1 << 13


@dataclass(frozen=True, eq=False)
class SelectionData:
    """Distinct points, and the arrays that are computed from them once.

    Attributes
    ----------
    points : (n, d) array
        Distinct points in canonical order; unit vectors under the cosine metric.
    components : (n, c) array
        First principal components of the points, in which distances are computed if there are many features.
    coordinates : (n, g) array
        The first few of the principal components, in which Gaussians are fitted.
    indices : (n, k) array of int32
        Nearest other points of each point, sorted by distance.
    distances : (n, k) array
        Distances to these neighbours, all positive.
    weights : (n,) array
        Weight of each point: the number of rows that it stands for.
    dimension : float
        Intrinsic dimension.
    spherical : bool
        Whether points are directions, so that clusters may be refined by spherical k-means.
    approximate : bool
        Whether neighbours were found approximately.
    edges : dict
        Cache of the edges of modes, by number of edges of each point.
    trees : dict
        Cache of the merge trees of modes, by (number of edges of each point, number of neighbours of the density).
    """

    points: Array
    components: Array
    coordinates: Array
    indices: IntArray
    distances: Array
    weights: Array
    dimension: float
    spherical: bool
    approximate: bool = False
    edges: dict[int, Later[tuple[IntArray, IntArray, Array]]] = field(default_factory=dict, init=False)
    trees: dict[tuple[int, int], PointTree] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def has_coordinates(self) -> bool:
        """Whether coordinates are known, and not only neighbours; see `graph_data`."""
        return self.points.shape[1] > 0

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours of each point."""
        return self.indices.shape[1]

    @cached_property
    def _all_weigh_one(self) -> bool:
        return bool((self.weights == 1).all())

    def weight_of_each(self, labels: IntArray) -> Array:
        """Return the weight of each cluster of a partition; if all weights are 1, by counting, which is faster."""
        return np.bincount(labels).astype(np.float64) if self._all_weigh_one else np.bincount(labels, self.weights)

    @property
    def total_weight(self) -> float:
        """Weight of all points."""
        return float(self.weights.sum())


def prepare_data(
    points: Points,
    *,
    engine: str = "auto",
    config: SelectionConfig = DEFAULT,
    n_jobs: int | None = None,
    watch: Watcher | None = None,
) -> SelectionData:
    """Return distinct points with their principal components and nearest neighbours.

    Parameters
    ----------
    points : Points
        At least three distinct points.
    engine : {"auto", "exact", "approximate", "cuda"}
        How neighbours are searched. "auto" is approximate if both the number of points and the number of dimensions are
        above the limits in `config.approximate`, and exact otherwise. "cuda" is exact and uses a GPU, except in few
        dimensions, where a k-d tree on the CPU is used.
    config : SelectionConfig
    n_jobs : int, optional
        Threads for the search of neighbours.
    watch : callable, optional
        Called with a `Stage` as the search proceeds.
    """
    values = points.values
    n, d = values.shape
    components = leading_components(values, _rounding(points), config.data)
    reduced = d > config.data.max_components and n > config.data.max_components
    searched = components if reduced else values
    k = min(n - 1, config.data.n_neighbors if n < config.data.many_points else config.data.n_neighbors_many)
    approximate = _is_approximate(searched, engine, config.approximate)
    if engine == "cuda" and searched.shape[1] > config.approximate.max_tree_dimensions:
        from modeseek.selection.cuda_neighbors import cuda_neighbors

        found = cuda_neighbors(searched, k, watch=watch)
    elif approximate:
        from modeseek.selection.approximate import approximate_neighbors

        found = approximate_neighbors(searched, k, config.approximate, n_jobs=n_jobs, watch=watch)
    else:
        found = nearest_neighbors(searched, k, n_jobs=n_jobs, watch=watch)
    indices, distances = _positive(found, n_jobs)
    dimension = min(intrinsic_dimension(Neighbors(indices, distances)), components.shape[1])
    return SelectionData(
        values,
        components,
        np.ascontiguousarray(components[:, : config.data.max_coordinates]),
        indices,
        distances,
        points.weights.astype(np.float64),
        float(dimension),
        points.geometry.metric == "cosine",
        approximate,
    )


def _is_approximate(values: Array, engine: str, config: ApproximateConfig) -> bool:
    n, d = values.shape
    if n <= config.leaf_size or engine in ("exact", "cuda"):  # one leaf would hold all points
        return False
    return engine == "approximate" or (n >= config.min_points and d > config.max_tree_dimensions)


class Subset(NamedTuple):
    """Some points of a data set: `rows` are their indices, and `data` their data, with neighbours among them only."""

    data: SelectionData
    rows: IntArray


def base_sample(data: SelectionData, config: SelectionConfig = DEFAULT, *, n_jobs: int | None = None) -> Subset:
    """Return the points from which all subsamples are drawn: a random sample if there are many points.

    Neighbours within the sample are searched once. Without coordinates they cannot be searched, and all points are
    returned.
    """
    n = len(data)
    if n <= config.base_points or not data.has_coordinates:
        return Subset(data, np.arange(n))
    rows = np.sort(np.random.default_rng((config.seed, 3000)).permutation(n)[: config.base_points])
    found = nearest_neighbors(data.components[rows], min(config.data.n_neighbors, len(rows) - 1), n_jobs=n_jobs)
    return Subset(_some_points(data, rows, _positive(found, n_jobs)), rows)


def subsample(data: SelectionData, rng: np.random.Generator, config: SubsamplesConfig) -> Subset:
    """Return a random subsample of the points; each keeps those neighbours that are in the subsample."""
    rows = np.sort(rng.permutation(len(data))[: max(4, round(config.share * len(data)))])
    width = min(len(rows) - 1, data.n_neighbors, config.n_neighbors)
    return Subset(_some_points(data, rows, _kept_neighbors(data, rows, width)), rows)


def _some_points(data: SelectionData, rows: IntArray, neighbors: Neighbors) -> SelectionData:
    return replace(
        data,
        points=data.points[rows],
        components=np.ascontiguousarray(data.components[rows]),
        coordinates=np.ascontiguousarray(data.coordinates[rows]),
        indices=neighbors.indices,
        distances=neighbors.distances,
        weights=data.weights[rows],
    )


def _kept_neighbors(data: SelectionData, rows: IntArray, width: int) -> Neighbors:
    """Return the first `width` neighbours of `rows` that are in the subsample `rows`.

    If a point has fewer such neighbours, the last one is repeated. A point without such a neighbour becomes its own
    neighbour, at the distance of its last neighbour in all the data.
    """
    from modeseek.selection.data_loops import keep_loop

    place = np.full(len(data), -1, dtype=np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    indices, distances = np.empty((len(rows), width), dtype=np.int32), np.empty((len(rows), width))
    keep_loop(data.indices, data.distances, rows, place, indices, distances)
    return Neighbors(indices, distances)


def leading_components(values: Array, rounding: float, config: DataConfig) -> Array:
    """Return the first principal components, without those whose singular value is at most `rounding`.

    scikit-learn's PCA computes the same, but for small data the import of PCA alone takes longer than this function.
    """
    mean = values.mean(axis=0, dtype=np.float64)
    n, d = values.shape
    # small data are one block; for larger data, blocks save memory
    blocks = [slice(start, start + config.block_rows) for start in range(0, n, config.block_rows)]
    most = min(config.max_components, n, d)
    if d <= config.max_components:
        _, spread, directions = np.linalg.svd(values - mean, full_matrices=False)
        least = config.least_spread * spread[0]
    elif min(n, d) > config.max_exact:
        from sklearn.utils.extmath import randomized_svd

        _, spread, directions = randomized_svd(values - mean, most, random_state=0)
        least = config.least_spread * spread[0]
    else:
        # eigenvectors of the smaller of the two product matrices; its eigenvalues are squares of the singular values,
        # so half of the digits are lost
        parts = (values[each] - mean for each in (blocks if d <= n else [slice(n)]))
        squares, vectors = np.linalg.eigh(sum(part.T @ part if d <= n else part @ part.T for part in parts))
        spread = np.sqrt(np.maximum(squares[::-1][:most], 0.0))
        directions = vectors[:, ::-1][:, :most].T
        if d > n:
            directions = (directions @ (values - mean)) / np.maximum(spread, 1e-300)[:, None]
        least = np.sqrt(config.least_spread) * spread[0]
    filled = max(1, int((spread[:most] > max(least, rounding)).sum()))
    directions = directions[:filled]
    # signs are arbitrary: the largest entry of each direction is made positive
    signs = np.sign(directions[np.arange(filled), np.abs(directions).argmax(axis=1)])
    components = np.empty((n, filled))
    for each in blocks:
        components[each] = (values[each] - mean) @ (directions * signs[:, None]).T
    return components


def _rounding(points: Points) -> float:
    """Return an upper bound on singular values that are due to the rounding of coordinates."""
    largest = max(float(points.values.max()), -float(points.values.min())) + float(np.abs(points.offset).max())
    return float(4 * np.sqrt(len(points.values)) * np.finfo(points.values.dtype).eps * largest)


def _positive(found: Neighbors, n_jobs: int | None) -> Neighbors:
    """Replace distances of 0, which rounding causes between distinct points, by the smallest positive distance."""
    shape = found.indices.shape
    indices, distances = np.empty(shape, dtype=np.int32), np.empty(shape)

    def copy(start: int) -> None:
        part = slice(start, start + COPIED_ROWS)
        indices[part], distances[part] = found.indices[part], found.distances[part]

    for _ in run_each(copy, range(0, len(indices), COPIED_ROWS), n_jobs):
        pass
    if (distances[:, 0] > 0).all():  # the smallest of each row
        return Neighbors(indices, distances)
    positive = distances[distances > 0]
    return Neighbors(indices, np.maximum(distances, positive.min() if len(positive) else 1.0))
