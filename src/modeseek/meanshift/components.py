"""Connected components of the points closer than tau, their diameter and the gap between them.

General graph libraries need the list of all close pairs. Its length is quadratic once the points of a cluster have
moved together. Here, points in one grid cell are joined without computing their distances.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import DisjointSet
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from modeseek._common.distances import BLOCK, kth_distance, pairs_within
from modeseek._common.resources import NotEnoughMemory
from modeseek._common.types import Array, IntArray
from modeseek._common.unique_rows import sorted_unique_rows

# for two sets of points with more pairs than this, the smallest distance is found with a tree
TREE_PAIRS = 1 << 20
# rounding error of the projection of a point on a line, as a multiple of the dimension times the largest coordinate
PROJECTION_ERROR = 1e-14


@dataclass(frozen=True)
class ComponentConfig:
    """How `components` searches; the result is the same for all values.

    Attributes
    ----------
    few : int
        With at most this many points, all distances are computed.
    grid_dimensions : int
        A grid is used in at most this many dimensions. In more dimensions, a cluster covers too many cells.
    close_pairs : int
        Without a grid, pairs of close points are stored if a sample predicts at most this many of them.
    sample : int
        Size of that sample.
    edge : int
        If neither a grid nor pairs are used, number of points whose neighbours are searched at a time.
    """

    few: int = 128
    grid_dimensions: int = 4
    close_pairs: int = 1 << 20
    sample: int = 16
    edge: int = 64


def components(points: Array, tau: float, config: ComponentConfig | None = None) -> IntArray:
    """Return the labels of the connected components of the graph that joins points closer than tau.

    Examples
    --------
    >>> components(np.array([[0.0], [0.9], [1.8], [5.0]]), 1.0)
    array([0, 0, 0, 1])
    """
    config = ComponentConfig() if config is None else config
    x = points.astype(np.float64)
    if len(x) <= config.few:
        return _from_all_distances(x, tau)
    if x.shape[1] <= config.grid_dimensions:
        return _from_grid(x, tau)
    sample = x[np.linspace(0, len(x) - 1, min(len(x), config.sample)).astype(np.intp)]
    if float(np.mean(cdist(sample, x) < tau)) * len(x) ** 2 <= config.close_pairs:
        with suppress(NotEnoughMemory):  # the estimate is too low if the sample misses a cluster
            pairs, distances = pairs_within(x, tau)
            return _joined(pairs[distances < tau], len(x))
    return _grown(x, tau, config.edge)


def _joined(pairs: IntArray, n: int) -> IntArray:
    links = coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n))
    return connected_components(links, directed=False)[1].astype(np.intp)


def _from_all_distances(x: Array, tau: float) -> IntArray:
    near = cdist(x, x) < tau
    first = near.argmax(axis=1)  # index of the first close point, lowered until it is equal within each component
    while True:
        other = np.where(near, first, len(x)).min(axis=1)
        other = other[other]
        if (other == first).all():
            break
        first = other
    return np.unique(first, return_inverse=True)[1]


def _grown(x: Array, tau: float, edge_size: int) -> IntArray:
    """Grow each component from its first point, in little memory; fast if components are few and compact."""
    labels, left, number = np.empty(len(x), dtype=np.intp), np.arange(len(x)), 0
    while len(left):
        distance = cdist(x[left[:1]], x[left])[0]
        joins = distance < tau
        while joins.any():
            edge, reach = x[left[joins]], float(distance[joins].max())
            labels[left[joins]] = number
            left, distance = left[~joins], distance[~joins]
            # by the triangle inequality, only the points `maybe` can be closer than tau to the edge
            joins, maybe = np.zeros(len(left), dtype=bool), np.flatnonzero(distance < tau + reach)
            for start in range(0, len(edge), edge_size):
                near = (cdist(x[left[maybe]], edge[start : start + edge_size]) < tau).any(axis=1)
                joins[maybe[near]] = True
                maybe = maybe[~near]
        number += 1
    return labels


def _from_grid(x: Array, tau: float) -> IntArray:
    """Join the points of each cell of diameter tau / 2, and then cells that have points closer than tau."""
    first, cell = sorted_unique_rows(np.floor((x - x.min(axis=0)) / (tau / (2 * np.sqrt(x.shape[1])))))
    # points closer than tau are in cells whose first points are closer than 2 tau
    pairs, distances = pairs_within(x[first], 2 * tau)
    sure = distances < tau
    group = _joined(pairs[sure], len(first))
    crowded = np.bincount(cell) > 1
    doubtful = pairs[~sure & (crowded[pairs] if len(pairs) else pairs).any(axis=1)]
    doubtful = doubtful[group[doubtful[:, 0]] != group[doubtful[:, 1]]]
    if len(doubtful):
        members = _members(cell)
        groups = DisjointSet(range(int(group.max()) + 1))
        for a, b in doubtful:
            if not groups.connected(group[a], group[b]) and _smallest_distance(x[members[a]], x[members[b]]) < tau:
                groups.merge(group[a], group[b])
        root = np.array([groups[g] for g in range(int(group.max()) + 1)])
        group = np.unique(root[group], return_inverse=True)[1]
    return group[cell].astype(np.intp)


def diameter_of(points: Array, labels: IntArray) -> float:
    """Return the largest distance between two points of the same cluster."""
    x = points.astype(np.float64)
    members = _members(labels)
    _, radii = _bounding_balls(x, members)
    diameter = 0.0
    for cluster in np.argsort(-radii):
        if 2 * radii[cluster] <= diameter:
            break
        diameter = max(diameter, _largest_distance(x[members[cluster]]))
    return diameter


def gap_of(points: Array, labels: IntArray) -> float:
    """Return the smallest distance between points of different clusters; inf if there is one cluster."""
    x = points.astype(np.float64)
    members = _members(labels)
    if len(members) == 1:
        return np.inf
    centers, radii = _bounding_balls(x, members)
    # any two clusters give an upper bound of the gap; pairs of clusters with balls farther apart cannot matter
    above = float(kth_distance(centers, 2).min()) + 2 * radii.max()
    pairs, distances = pairs_within(centers, (above + 2 * radii.max()) * (1 + 1e-9))
    bounds = distances - radii[pairs].sum(axis=1)
    gap = np.inf
    for pair in np.argsort(bounds):
        if bounds[pair] >= gap:
            break
        a, b = pairs[pair]
        gap = min(gap, _smallest_distance(x[members[a]], x[members[b]]))
    return gap


def _members(labels: IntArray) -> list[IntArray]:
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


def _bounding_balls(x: Array, members: list[IntArray]) -> tuple[Array, Array]:
    """Return the mean of each cluster, and the largest distance of a member from it."""
    sizes = np.array([len(rows) for rows in members])
    starts = np.cumsum(sizes) - sizes
    ordered = x[np.concatenate(members)]
    centers = np.add.reduceat(ordered, starts) / sizes[:, None]
    distances = np.linalg.norm(ordered - np.repeat(centers, sizes, axis=0), axis=1)
    return centers, np.maximum.reduceat(distances, starts)


def _smallest_distance(a: Array, b: Array) -> float:
    if len(a) * len(b) > TREE_PAIRS:
        a, b = _facing(a, b)
    if len(a) * len(b) <= TREE_PAIRS:
        return float(cdist(a, b).min())
    return float(cKDTree(a).query(b)[0].min())


def _facing(a: Array, b: Array) -> tuple[Array, Array]:
    """Return from each of two sets the points that may be closest to the other set; few if the sets are far apart.

    Two points are at least as far apart as their projections on the line through the means.
    """
    center = a.mean(axis=0)
    toward = b.mean(axis=0) - center
    length = float(np.linalg.norm(toward))
    if length == 0.0:
        return a, b
    along_a, along_b = ((x - center) @ (toward / length) for x in (a, b))
    last, first = int(along_a.argmax()), int(along_b.argmin())
    # the distance of any two points is an upper bound; the margin allows for the rounding of projections
    largest = max(float(np.abs(x - center).max()) for x in (a, b))
    reach = float(np.linalg.norm(a[last] - b[first])) + PROJECTION_ERROR * len(center) * largest
    return a[along_a >= along_b[first] - reach], b[along_b <= along_a[last] + reach]


def _largest_distance(x: Array) -> float:
    x = x[sorted_unique_rows(x)[0]]
    if len(x) == 1:
        return 0.0
    radii = np.linalg.norm(x - x.mean(axis=0), axis=1)
    outermost = int(np.argmax(radii))
    best = float(np.linalg.norm(x - x[outermost], axis=1).max())
    # if two points are farther apart than `best`, their radii add up to more than `best`, so both are outer points
    outer = x[radii > best - radii[outermost] - 1e-12 * best]
    step = max(1, BLOCK // len(outer))
    return max(best, *(float(cdist(outer[a : a + step], outer).max()) for a in range(0, len(outer), step)))
