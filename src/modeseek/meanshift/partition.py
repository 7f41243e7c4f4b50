"""Reading off: from a state to clusters, their diameter and gap, and whether they can still change.

The certificate. Points never leave the hull of their group while no other group is within reach, and hulls of
diameter D whose points are a gap apart are at least gap - 2D apart. So groups with D < tau and gap > h_upper + 2D,
h_upper the largest bandwidth still to come, can never change again. Under cosine the same holds with angles in place
of chords, as long as groups stay well below a right angle: a cap of that size is convex too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import DisjointSet
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from modeseek._common.distances import kth_distance, pairs_within
from modeseek._common.types import Array, Geometry, IntArray
from modeseek._common.unique_rows import sorted_unique_rows

__all__ = [
    "Partition",
    "by_weight",
    "certifies",
    "components",
    "diameter_of",
    "gap_of",
    "is_certified",
    "merge_modes",
    "partition_of",
    "read_off",
]

# largest angle between two points of a group under cosine
WIDEST_ANGLE = np.pi / 4
# points that are asked before a certificate is worked out
WITNESSES = 16
# ... and a sample of the others first
STRIDE = 64
# ... so many distances at a time
DISTANCES = 100_000
# up to so many points all distances are the quickest
FEW = 128
# above this a grid has so many cells at every corner that clumps fall to pieces
GRID_DIMENSIONS = 4
# balls tried before the points that are left become cells of their own: more than clusters, mostly
BALLS = 256
# more close pairs than this are not written down
CLOSE_PAIRS = 1 << 20


@dataclass(frozen=True)
class Partition:
    """Clusters of a state.

    Attributes
    ----------
    labels : (n,) integer array
        Cluster of each point, 0 being the heaviest.
    centers : (m, d) array
        Weighted mean of each cluster's points, on the unit sphere under cosine.
    sizes : (m,) array
        Total weight of each cluster.
    diameter : float
        Largest distance between two points of one cluster.
    gap : float
        Smallest distance between points of different clusters; inf if there is one cluster.
    certified : bool
        Whether no later update can change the partition.
    theorem2 : bool
        Whether the two conditions of Theorem 2 hold: diameter < tau and gap > h_min - tau.
    """

    labels: IntArray
    centers: Array
    sizes: Array
    diameter: float
    gap: float
    certified: bool = False
    theorem2: bool = False

    @property
    def n_clusters(self) -> int:
        """Number of clusters, singletons included."""
        return len(self.sizes)


def read_off(
    points: Array, weights: Array, tau: float, *, h_min: float, h_upper: float, geometry: Geometry | None = None
) -> Partition:
    """Return the connected components of "closer than tau" with all that is known about them.

    Parameters
    ----------
    points : (n, d) array
    weights : (n,) array
    tau : float
        Points closer than this share a cluster.
    h_min : float
        Smallest bandwidth, for Theorem 2.
    h_upper : float
        Largest bandwidth that can still come, per-point scale included; inf if nobody knows.
    geometry : Geometry, optional
        Default: Euclidean.

    Examples
    --------
    >>> state = np.array([[0.0], [0.01], [5.0]])
    >>> read_off(state, np.ones(3), 0.1, h_min=0.5, h_upper=1.0).certified
    True
    """
    geometry = geometry or Geometry()
    labels = components(points, tau)
    diameter, gap = diameter_of(points, labels), gap_of(points, labels)
    return partition_of(
        points,
        weights,
        labels,
        geometry,
        diameter=diameter,
        gap=gap,
        certified=certifies(diameter, gap, tau, h_upper, geometry, rounding_of(points)),
        theorem2=diameter < tau and gap > h_min - tau,
    )


def partition_of(
    points: Array,
    weights: Array,
    labels: IntArray,
    geometry: Geometry,
    *,
    diameter: float | None = None,
    gap: float | None = None,
    certified: bool = False,
    theorem2: bool = False,
) -> Partition:
    """Return the partition of given labels, renumbered from the heaviest cluster to the lightest."""
    labels, sizes, first = by_weight(labels, weights)
    # means of differences to a member: nothing is lost far from the origin
    anchors = points[first].astype(np.float64)
    differences = (points - anchors[labels]) * weights[:, None]
    sums = np.column_stack([np.bincount(labels, weights=column) for column in differences.T])
    centers = anchors + sums / sizes[:, None]
    if geometry.spherical:
        centers = centers / np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), 1e-12)
    diameter = diameter_of(points, labels) if diameter is None else diameter
    gap = gap_of(points, labels) if gap is None else gap
    return Partition(labels, centers.astype(points.dtype), sizes, diameter, gap, certified, theorem2)


class Ranked(NamedTuple):
    """Labels from the heaviest cluster to the lightest, each cluster's weight and its first point."""

    labels: IntArray
    sizes: Array
    first: IntArray


def by_weight(labels: IntArray, weights: Array) -> Ranked:
    """Renumber clusters from the heaviest to the lightest; of equals, the one with the first point comes first.

    Examples
    --------
    >>> by_weight(np.array([3, 7, 7]), np.ones(3)).labels
    array([1, 0, 0])
    """
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    sizes = np.bincount(labels, weights=weights)
    order = np.lexsort((first, -sizes))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Ranked(rank[labels], sizes[order], first[order])


def certifies(
    diameter: float, gap: float, tau: float, h_upper: float, geometry: Geometry, rounding: float = 0.0
) -> bool:
    """Return whether D < tau and gap > h_upper + 2D, in angles under cosine.

    Examples
    --------
    >>> certifies(0.4, 1.001, 0.45, 1.0, Geometry())  # gap > h_upper alone is not enough
    False
    """
    if not diameter < tau:
        return False
    if np.isinf(gap):
        return not geometry.spherical or float(geometry.arc(diameter)) < WIDEST_ANGLE
    if np.isinf(h_upper):
        return False
    width = float(geometry.arc(diameter)) + rounding
    if geometry.spherical and width >= WIDEST_ANGLE:
        return False
    return float(geometry.arc(gap)) > float(geometry.arc(h_upper)) + 2 * width


def is_certified(points: Array, tau: float, h_upper: float, geometry: Geometry) -> bool:
    """Return whether the partition at tau is certified; quick to say no while points still move.

    In a certified state nobody is between tau and h_upper away from anybody, so a few points are asked first.
    """
    x = points.astype(np.float64)
    witnesses = x[np.linspace(0, len(x) - 1, WITNESSES).astype(np.intp)]
    for some in (x[::STRIDE], x):
        # all at once where that is little memory, so that small data do not wait for Python
        at_once = max(1, DISTANCES // len(some))
        for start in range(0, len(witnesses), at_once):
            distances = cdist(witnesses[start : start + at_once], some)
            if ((distances >= tau) & (distances <= h_upper)).any():
                return False
    labels = components(points, tau)
    diameter, gap = diameter_of(points, labels), gap_of(points, labels)
    return certifies(diameter, gap, tau, h_upper, geometry, rounding_of(points))


def rounding_of(points: Array) -> float:
    """Return how far storing a point may put it outside its hull: a few units of the last place."""
    return 16 * float(np.finfo(points.dtype).eps) * float(np.abs(points).max())


def components(points: Array, tau: float) -> IntArray:
    """Return labels of the connected components of "closer than tau"; a chain of close points is one component.

    Clumps of any size cost little: points in one cell of diameter tau / 2 are joined unseen.

    Examples
    --------
    >>> components(np.array([[0.0], [0.9], [1.8], [5.0]]), 1.0)
    array([0, 0, 0, 1])
    """
    x = points.astype(np.float64)
    if len(x) <= FEW:
        return _of_few(x, tau)
    if x.shape[1] > GRID_DIMENSIONS and _crowded(x, tau):
        return _grown(x, tau)
    first, cell = _cells(x, tau)
    # cells whose first points are 2 tau apart cannot hold points closer than tau
    pairs, distances = pairs_within(x[first], 2 * tau)
    sure = distances < tau
    n_cells = len(first)
    links = coo_array((np.ones(sure.sum()), tuple(pairs[sure].T)), shape=(n_cells, n_cells))
    _, group = connected_components(links, directed=False)
    crowded = np.bincount(cell) > 1
    doubtful = pairs[~sure & (crowded[pairs] if len(pairs) else pairs).any(axis=1)]
    doubtful = doubtful[group[doubtful[:, 0]] != group[doubtful[:, 1]]]
    if len(doubtful):
        group = _joined(x, cell, group, doubtful, tau)
    return group[cell].astype(np.intp)


def _of_few(x: Array, tau: float) -> IntArray:
    """Return the components, numbered by their first points, with all distances written down."""
    near = cdist(x, x) < tau
    first = near.argmax(axis=1)  # for clumps that have come together, the first of each
    while True:
        other = np.where(near, first, len(x)).min(axis=1)
        other = other[other]
        if (other == first).all():
            break
        first = other
    return np.unique(first, return_inverse=True)[1]


def _crowded(x: Array, tau: float) -> bool:
    """Return whether there are too many close pairs to write them down, from a sample."""
    some = x[np.linspace(0, len(x) - 1, min(len(x), WITNESSES)).astype(np.intp)]
    return float(np.mean(cdist(some, x) < 2 * tau)) * len(x) ** 2 > CLOSE_PAIRS


def _grown(x: Array, tau: float) -> IntArray:
    """Return the components, each grown from its first point: quick where they are few and apart, in little memory."""
    labels, left, number = np.empty(len(x), dtype=np.intp), np.arange(len(x)), 0
    while len(left):
        away = cdist(x[left[:1]], x[left])[0]
        joins = away < tau
        while joins.any():
            edge, reach = x[left[joins]], float(away[joins].max())
            labels[left[joins]] = number
            left, away = left[~joins], away[~joins]
            # only those may be closer than tau to the edge that are not much farther from the first point
            joins, maybe = np.zeros(len(left), dtype=bool), np.flatnonzero(away < tau + reach)
            for start in range(0, len(edge), STRIDE):
                near = (cdist(x[left[maybe]], edge[start : start + STRIDE]) < tau).any(axis=1)
                joins[maybe[near]] = True
                maybe = maybe[~near]
        number += 1
    return labels


def _cells(x: Array, tau: float) -> tuple[IntArray, IntArray]:
    """Return cells of diameter tau / 2 at most: the first point of each, and the cell of each point.

    A grid while it cuts clumps into few pieces; in higher dimension balls around points, one after the other.
    """
    n, d = x.shape
    if d <= GRID_DIMENSIONS:
        return sorted_unique_rows(np.floor((x - x.min(axis=0)) / (tau / (2 * np.sqrt(d)))))
    first: list[int] = []
    cell, left = np.empty(n, dtype=np.intp), np.arange(n)
    for _ in range(BALLS):
        if not len(left):
            break
        away = x[left] - x[left[0]]
        near = np.einsum("ij,ij->i", away, away) <= (tau / 4) ** 2
        cell[left[near]] = len(first)
        first.append(left[0])
        left = left[~near]
    cell[left] = len(first) + np.arange(len(left))
    return np.concatenate([np.array(first, dtype=np.intp), left]), cell


def _joined(x: Array, cell: IntArray, group: IntArray, doubtful: IntArray, tau: float) -> IntArray:
    """Join groups of cells that hold two points closer than tau although their first points are not."""
    members = _members(cell)
    groups = DisjointSet(range(int(group.max()) + 1))
    for a, b in doubtful:
        if not groups.connected(group[a], group[b]) and _closest(x[members[a]], x[members[b]]) < tau:
            groups.merge(group[a], group[b])
    root = np.array([groups[g] for g in range(int(group.max()) + 1)])
    return np.unique(root[group], return_inverse=True)[1]


def diameter_of(points: Array, labels: IntArray) -> float:
    """Return the largest distance between two points of one cluster."""
    x = points.astype(np.float64)
    members = _members(labels)
    _, radii = _balls(x, members)
    diameter = 0.0
    for cluster in np.argsort(-radii):
        if 2 * radii[cluster] <= diameter:
            break
        diameter = max(diameter, _farthest(x[members[cluster]]))
    return diameter


def gap_of(points: Array, labels: IntArray) -> float:
    """Return the smallest distance between points of different clusters; inf if there is one cluster."""
    x = points.astype(np.float64)
    members = _members(labels)
    if len(members) == 1:
        return np.inf
    centers, radii = _balls(x, members)
    # any pair bounds the gap from above; then only pairs whose balls come closer than that matter
    above = float(kth_distance(centers, 2).min()) + 2 * radii.max()
    pairs, distances = pairs_within(centers, (above + 2 * radii.max()) * (1 + 1e-9))
    bounds = distances - radii[pairs].sum(axis=1)
    gap = np.inf
    for pair in np.argsort(bounds):
        if bounds[pair] >= gap:
            break
        a, b = pairs[pair]
        gap = min(gap, _closest(x[members[a]], x[members[b]]))
    return gap


def merge_modes(positions: Array, heights: Array, radius: float) -> tuple[IntArray, IntArray]:
    """Let each mode swallow the lower ones within a radius, from the highest down, as scikit-learn's MeanShift does.

    Parameters
    ----------
    positions : (m, d) array
        Where climbers ended.
    heights : (m,) array
        Density there; ties go to the lexicographically larger position.
    radius : float

    Returns
    -------
    labels : (m,) integer array
        Which of the kept modes took each position.
    kept : (c,) integer array
        Positions of the kept modes, highest first.
    """
    x = positions.astype(np.float64)
    tree = cKDTree(x)
    labels = np.full(len(x), -1, dtype=np.intp)
    kept: list[int] = []
    for i in np.lexsort((*x.T[::-1], heights))[::-1]:
        if labels[i] < 0:
            near = np.asarray(tree.query_ball_point(x[i], radius))
            labels[near[labels[near] < 0]] = len(kept)
            labels[i] = len(kept)
            kept.append(int(i))
    return labels, np.array(kept, dtype=np.intp)


def _members(labels: IntArray) -> list[IntArray]:
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


def _balls(x: Array, members: list[IntArray]) -> tuple[Array, Array]:
    """Return a centre of each cluster and the largest distance of a member from it."""
    sizes = np.array([len(rows) for rows in members])
    starts = np.cumsum(sizes) - sizes
    ordered = x[np.concatenate(members)]
    centers = np.add.reduceat(ordered, starts) / sizes[:, None]
    distances = np.linalg.norm(ordered - np.repeat(centers, sizes, axis=0), axis=1)
    return centers, np.maximum.reduceat(distances, starts)


def _closest(a: Array, b: Array) -> float:
    """Return the smallest distance between two sets of points."""
    if len(a) * len(b) <= 1 << 20:
        return float(cdist(a, b).min())
    return float(cKDTree(a).query(b)[0].min())


def _farthest(x: Array) -> float:
    """Return the largest distance within a set of points, looking at the outer ones only."""
    x = x[sorted_unique_rows(x)[0]]
    if len(x) == 1:
        return 0.0
    radii = np.linalg.norm(x - x.mean(axis=0), axis=1)
    outermost = int(np.argmax(radii))
    best = float(np.linalg.norm(x - x[outermost], axis=1).max())
    # a farther pair has r_i + r_j > best, so both ends lie beyond best - r_max
    outer = x[radii > best - radii[outermost] - 1e-12 * best]
    step = max(1, (1 << 22) // len(outer))
    return max(best, *(float(cdist(outer[a : a + step], outer).max()) for a in range(0, len(outer), step)))
