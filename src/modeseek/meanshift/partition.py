"""Clusters of a state: labels, centres, sizes, and whether later updates can change them.

A state is the array of the current positions of the points of a chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from modeseek._common.storable import is_within, require, storable
from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.certificate import certifies, meets_theorem2, rounding_of
from modeseek.meanshift.components import components, diameter_of, gap_of

# number of columns that are summed at a time, which saves memory
COLUMN_BLOCK = 16
# centres shorter than this are not normalised under cosine
SHORTEST_CENTER = 1e-12


def _check_partition(part: Partition) -> None:
    m = len(part.sizes)
    require(len(part.centers) == m and part.centers.ndim == 2 and is_within(part.labels, 0, m), "the partition")


@storable(_check_partition)
@dataclass(frozen=True)
class Partition:
    """Clusters of a state.

    Attributes
    ----------
    labels : (n,) integer array
        Cluster of each point; 0 is the heaviest.
    centers : (m, d) array
        Weighted mean of the points of each cluster, normalised under cosine.
    sizes : (m,) array
        Total weight of each cluster.
    diameter : float
        Largest distance between two points of the same cluster.
    gap : float
        Smallest distance between points of different clusters; inf if there is one cluster.
    certified : bool
        Whether no later update can change the partition.
    theorem2 : bool
        Whether the conditions of Theorem 2 hold at this state: diameter < tau < h_min / 2 and gap > h_min - tau.

    Examples
    --------
    >>> from modeseek.meanshift.chains import Stopping, make_problem, partition, run, stochastic
    >>> chain = stochastic(make_problem([[0.0], [0.1], [5.0]]), 1.0, seed=0)
    >>> result = run(chain, Stopping(tau=0.05))
    >>> part = partition(chain, result, tau=0.05)
    >>> part.labels, part.certified
    (array([0, 0, 1]), True)
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
        """Number of clusters, including those of one point."""
        return len(self.sizes)


def read_off(
    points: Array, weights: Array, tau: float, *, h_min: float, h_upper: float, geometry: Geometry | None = None
) -> Partition:
    """Return the clusters of a state: the connected components of the graph that joins points closer than tau.

    Parameters
    ----------
    points : (n, d) array
    weights : (n,) array
    tau : float
        Points closer than this share a cluster.
    h_min, h_upper : float
        Lower and upper bound of all later bandwidths, local scales included; `h_upper` is inf if unknown. A partition
        is certified only if tau is below h_min / 2.
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
        certified=certifies(
            diameter, gap, tau, h_min=h_min, h_upper=h_upper, geometry=geometry, rounding=rounding_of(points)
        ),
        theorem2=meets_theorem2(diameter, gap, tau, h_min),
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
    """Return the partition with given labels, renumbered from the heaviest cluster to the lightest."""
    labels, sizes, first = rank_by_weight(labels, weights)
    # the mean of differences to one member of the cluster is accurate also far from the origin
    anchors = points[first].astype(np.float64)
    sums = np.empty_like(anchors)
    for start in range(0, points.shape[1], COLUMN_BLOCK):
        columns = slice(start, start + COLUMN_BLOCK)
        differences = (points[:, columns] - anchors[labels, columns]) * weights[:, None]
        for a, column in enumerate(differences.T, start):
            sums[:, a] = np.bincount(labels, weights=column)
    centers = anchors + sums / sizes[:, None]
    if geometry.spherical:
        centers = centers / np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), SHORTEST_CENTER)
    diameter = diameter_of(points, labels) if diameter is None else diameter
    gap = gap_of(points, labels) if gap is None else gap
    return Partition(labels, centers.astype(points.dtype), sizes, diameter, gap, certified, theorem2)


class Ranked(NamedTuple):
    """Clusters ordered by weight.

    Attributes
    ----------
    labels : (n,) integer array
        Cluster of each point; 0 is the heaviest.
    sizes : (m,) array
        Total weight of each cluster.
    first : (m,) integer array
        Index of the first point of each cluster.
    """

    labels: IntArray
    sizes: Array
    first: IntArray


def rank_by_weight(labels: IntArray, weights: Array) -> Ranked:
    """Renumber clusters from the heaviest to the lightest; ties are ordered by the first point.

    Examples
    --------
    >>> rank_by_weight(np.array([3, 7, 7]), np.ones(3)).labels
    array([1, 0, 0])
    """
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    sizes = np.bincount(labels, weights=weights)
    order = np.lexsort((first, -sizes))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Ranked(rank[labels], sizes[order], first[order])


def merge_modes(positions: Array, heights: Array, radius: float) -> tuple[IntArray, IntArray]:
    """Merge each mode, from the highest to the lowest, with all lower modes within a radius, as scikit-learn does.

    Parameters
    ----------
    positions : (m, d) array
        Final positions of the queries.
    heights : (m,) array
        Density at each position; ties go to the lexicographically larger position.
    radius : float

    Returns
    -------
    labels : (m,) integer array
        Mode that each position belongs to, as an index into `kept`.
    kept : (c,) integer array
        Indices of these modes in `positions`, highest mode first.
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
