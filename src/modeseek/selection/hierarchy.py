"""Nested partitions: clusters merge by average linkage on the neighbour graph.

The similarity of two clusters is the weight of the edges between them, divided by the product of their weights. This is
the linkage of Bonald, Charpentier, Galland and Hollocou, "Hierarchical graph clustering using node pair sampling",
2018; it is not in SciPy or scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from modeseek._common.neighbors import Neighbors
from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray


@dataclass(frozen=True)
class HierarchyConfig:
    """Settings of nested partitions.

    Attributes
    ----------
    n_neighbors : int
        Number of neighbours of each point that become edges of the graph.
    least_weight : float
        Smallest weight of a part of a cluster.
    max_parts : int
        Upper bound on the number of parts.
    min_points : int
        With fewer points, clusters are neither merged nor divided.
    """

    n_neighbors: int = 15
    least_weight: float = 5.0
    max_parts: int = 200
    min_points: int = 10


DEFAULT = HierarchyConfig()


class MergeGraph(NamedTuple):
    """Edges and coordinates from which the similarity of parts is computed.

    Attributes
    ----------
    left, right : (m,) integer arrays
        Points at the ends of each edge.
    weights : (n,) array
        Weights of the points; the weight of an edge is the weight of its left end.
    points : (n, d) array or None
        Coordinates, by which parts without edges between them are merged.
    """

    left: IntArray
    right: IntArray
    weights: Array
    points: Array | None = None

    @classmethod
    def of(
        cls,
        neighbors: Neighbors,
        weights: Array,
        points: Array | None = None,
        config: HierarchyConfig = DEFAULT,
    ) -> MergeGraph:
        """Return the edges from each point to its nearest neighbours."""
        near = neighbors.indices[:, : config.n_neighbors]
        return cls(np.repeat(np.arange(len(near)), near.shape[1]), near.ravel().astype(np.intp), weights, points)

    def within(self, rows: IntArray) -> MergeGraph:
        """Return the graph of some of the points, with the edges between them."""
        place = np.full(len(self.weights), -1)
        place[rows] = np.arange(len(rows))
        left, right = place[self.left], place[self.right]
        kept = (left >= 0) & (right >= 0)
        return MergeGraph(
            left[kept], right[kept], self.weights[rows], None if self.points is None else self.points[rows]
        )

    def between(self, labels: IntArray, k: int) -> Array:
        """Return the weight of the edges between each pair of k clusters, in both directions; 0 on the diagonal."""
        check_memory(32.0 * k * k, f"links between {k:,} clusters", "Use fewer clusters.")
        cell = labels[self.left] * k + labels[self.right]
        links = np.bincount(cell, weights=self.weights[self.left], minlength=k * k).reshape(k, k)
        links = links + links.T
        np.fill_diagonal(links, 0.0)
        return links


class Merge(NamedTuple):
    """One merge of two parts: `gone` joins `into`. The height increases with the distance between them."""

    into: int
    gone: int
    height: float


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A partition whose clusters consist of parts, and merges: first of parts into the clusters, then of clusters.

    Attributes
    ----------
    parts : (n,) integer array
        Part of each point, numbered from 0.
    merges : tuple of Merge
        First the merges of parts of the same cluster, then the merges of clusters. Without coordinates, clusters
        without an edge between them never merge.
    n_clusters : int
        Number of clusters of the partition.
    """

    parts: IntArray
    merges: tuple[Merge, ...]
    n_clusters: int

    @property
    def counts(self) -> range:
        """The numbers of clusters that `cut` accepts."""
        n_parts = int(self.parts.max()) + 1
        return range(n_parts - len(self.merges), n_parts + 1)

    def cut(self, n_clusters: int) -> IntArray:
        """Return the cluster of each point, for a number of clusters in `counts`."""
        return _joined(self.counts[-1], self.merges[: self.counts[-1] - n_clusters])[self.parts]

    def persistence(self, n_clusters: int) -> float:
        """Return 1 - a / b, from 0 to 1, for the heights of the merge to `n_clusters` clusters (a) and the next (b)."""
        last = self.counts[-1] - n_clusters
        if last in (0, len(self.merges)):
            return 0.0
        before, after = self.merges[last - 1].height, self.merges[last].height
        return 0.0 if before == np.inf else max(0.0, 1.0 - before / after)


def build_hierarchy(
    labels: IntArray, edges: MergeGraph, finer: Iterable[IntArray] = (), config: HierarchyConfig = DEFAULT
) -> Hierarchy:
    """Return the hierarchy of a partition.

    Parameters
    ----------
    labels : (n,) integer array
        The partition.
    edges : MergeGraph
    finer : iterable of (n,) integer arrays
        Other partitions. Parts are the intersections of the clusters of `labels` with the clusters of these partitions.
    config : HierarchyConfig

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [5.0], [6.0], [20.0], [21.0]])
    >>> edges = MergeGraph(np.array([1, 3]), np.array([2, 1]), np.ones(6), points)
    >>> found = build_hierarchy(np.array([0, 0, 1, 1, 2, 2]), edges)
    >>> found.counts, found.cut(2)
    (range(1, 4), array([0, 0, 0, 0, 1, 1]))
    """
    _, owner, parts = np.unique(labels, return_index=True, return_inverse=True)
    n_clusters = len(owner)
    for other in finer:
        split = _split(parts, other, labels, edges, config)
        if split.max() < max(config.max_parts, n_clusters):
            parts = split
    return Hierarchy(parts, merge_parts(parts, labels, edges), n_clusters)


def split_large(hierarchy: Hierarchy, edges: MergeGraph, largest: float) -> IntArray:
    """Return the clusters of the partition after clusters with a weight above `largest` are split.

    Merges to a weight above `largest` are undone. Parts that are too large even then are halved along their longest
    axis. Without coordinates, they are halved by the distance in the graph from a point at one end.

    Examples
    --------
    >>> points = np.arange(6.0)[:, None]
    >>> edges = MergeGraph(np.arange(5), np.arange(1, 6), np.ones(6), points)
    >>> split_large(build_hierarchy(np.zeros(6, dtype=int), edges), edges, 3)
    array([0, 0, 0, 1, 1, 1])
    """
    parts, k = hierarchy.parts, hierarchy.counts[-1]
    mass = np.bincount(parts, weights=edges.weights)
    kept = []
    for merge in hierarchy.merges[: k - hierarchy.n_clusters]:
        mass[merge.into] += mass[merge.gone]
        if mass[merge.into] <= largest:
            kept.append(merge)
    labels = _joined(k, kept)[parts]
    waiting = list(np.flatnonzero((np.bincount(labels, weights=edges.weights) > largest) & (np.bincount(labels) > 1)))
    while waiting:
        rows = np.flatnonzero(labels == waiting.pop())
        order = np.argsort(_along(edges.within(rows)), kind="stable")
        total = np.cumsum(edges.weights[rows][order])
        half = int(np.clip(np.searchsorted(total, total[-1] / 2) + 1, 1, len(rows) - 1))
        new = labels.max() + 1
        labels[rows[order[half:]]] = new
        for label in (labels[rows[order[0]]], new):
            members = labels == label
            if members.sum() > 1 and edges.weights[members].sum() > largest:
                waiting.append(label)
    return labels


def _along(edges: MergeGraph) -> Array:
    """Return positions along the longest axis of the points; without coordinates, graph distances from one end."""
    n = len(edges.weights)
    if edges.points is not None:
        centered = edges.points - edges.points.mean(axis=0)
        return np.asarray(centered @ np.linalg.eigh(centered.T @ centered)[1][:, -1])
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    graph = csr_array((np.ones(len(edges.left)), (edges.left, edges.right)), shape=(n, n))
    distances = shortest_path(graph, directed=False, unweighted=True, indices=0)
    end = int(np.where(np.isfinite(distances), distances, -1.0).argmax())
    return np.asarray(shortest_path(graph, directed=False, unweighted=True, indices=end))


def merge_parts(parts: IntArray, labels: IntArray, edges: MergeGraph) -> tuple[Merge, ...]:
    """Return the merges of parts within the clusters of `labels`, and then the merges of these clusters."""
    k = int(parts.max()) + 1
    owner = labels[np.unique(parts, return_index=True)[1]]
    mass = np.maximum(np.bincount(parts, weights=edges.weights, minlength=k), 1e-300)
    links = edges.between(parts, k)
    centers = None
    if edges.points is not None:
        centers = np.zeros((k, edges.points.shape[1]))
        np.add.at(centers, parts, edges.points * edges.weights[:, None])
        centers /= mass[:, None]
    found: list[Merge] = []
    for within in (True, False):
        allowed = owner[:, None] == owner if within else np.ones((k, k), dtype=bool)
        left = np.ones(k, dtype=bool)
        left[[merge.gone for merge in found]] = False
        _merge(links, mass, centers, allowed, left, found, to_the_end=within)
    return tuple(found)


def _merge(
    links: Array,
    mass: Array,
    centers: Array | None,
    allowed: Array,
    left: Array,
    found: list[Merge],
    *,
    to_the_end: bool,
) -> None:
    """Append merges between allowed pairs to `found`; `links`, `mass`, `centers` and `left` are updated in place.

    With `to_the_end`, pairs without an edge between them merge too, even without coordinates.
    """
    k = len(mass)
    allowed = allowed & left & left[:, None] & ~np.eye(k, dtype=bool)
    similarity = np.where(allowed, links / mass / mass[:, None], 0.0)
    while allowed.any():
        i, j = divmod(int(similarity.argmax()), k)
        if similarity[i, j] > 0:
            height = 1.0 / similarity[i, j]
        elif centers is not None:
            distances = np.where(allowed, cdist(centers, centers), np.inf)
            i, j = divmod(int(distances.argmin()), k)
            height = 1e100 * distances[i, j]  # larger than the heights of all merges along edges
        elif to_the_end:
            (i, j), height = divmod(int(allowed.argmax()), k), np.inf
        else:
            return
        i, j = sorted((i, j))
        found.append(Merge(i, j, float(height)))
        if centers is not None:
            centers[i] = (mass[i] * centers[i] + mass[j] * centers[j]) / (mass[i] + mass[j])
        links[i] += links[j]
        links[:, i] = links[i]
        links[i, i], mass[i], left[j] = 0.0, mass[i] + mass[j], False
        allowed[j] = allowed[:, j] = False
        similarity[j] = similarity[:, j] = 0.0
        similarity[i] = similarity[:, i] = np.where(allowed[i], links[i] / mass / mass[i], 0.0)


def _split(parts: IntArray, other: IntArray, labels: IntArray, edges: MergeGraph, config: HierarchyConfig) -> IntArray:
    """Return the intersections of two partitions; small ones join the part of their cluster that most edges lead to."""
    pairs = parts * (int(other.max()) + 1) + other
    parts = np.unique(pairs, return_inverse=True)[1]
    k = int(parts.max()) + 1
    owner = labels[np.unique(parts, return_index=True)[1]]
    mass = np.bincount(parts, weights=edges.weights)
    links = np.where(owner[:, None] == owner, edges.between(parts, k), 0.0)
    into = np.arange(k)
    for i in np.argsort(mass, kind="stable"):
        if mass[i] >= config.least_weight:
            break
        same = np.flatnonzero((owner == owner[i]) & (np.arange(k) != i) & (into == np.arange(k)))
        if len(same):
            j = same[np.lexsort((-mass[same], -links[i, same]))[0]]
            into[into == i] = j
            mass[j] += mass[i]
            links[j] += links[i]
            links[:, j] += links[:, i]
    return np.unique(into[parts], return_inverse=True)[1]


def _joined(k: int, merges: Iterable[Merge]) -> IntArray:
    """Return the cluster, numbered from 0, to which each of k parts belongs after the merges."""
    into = np.arange(k)
    for merge in merges:
        into[into == merge.gone] = merge.into
    return np.unique(into, return_inverse=True)[1]
