"""The result of a fit: one frozen type for all estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from modeseek._common.neighbors import Neighbors, nearest_row
from modeseek._common.points import Points
from modeseek._common.resources import check_memory
from modeseek._common.rounding import rounding_note
from modeseek._common.sphere import chord_to_meters, place_on_sphere
from modeseek._common.storable import is_real, is_within, require, storable
from modeseek._common.types import Array, IntArray, Watcher
from modeseek.estimators.streaming import Stream
from modeseek.meanshift.basins import Basins, find_points
from modeseek.meanshift.chains import Outcome, Trace
from modeseek.meanshift.partition import Partition
from modeseek.meanshift.types import BandwidthPolicy
from modeseek.selection.modes import MergeTree
from modeseek.selection.select import Candidate
from modeseek.sketches import SketchPoints, is_dask

# fields and properties of `FitResult` that estimators have as attributes, with a trailing underscore
ATTRIBUTES = (
    "labels",
    "n_clusters",
    "outcome",
    "confidence",
    "cluster_stability",
    "stability",
    "trace",
    "partition",
    "n_updates",
    "n_iter",
    "points",
    "chain_labels",
    "sketch",
)
ATTRIBUTES_OF_SELECTION = ("tree", "alternatives", "message", "interrupted")


@storable()
@dataclass(frozen=True, eq=False)
class FitSettings:
    """Values in force during a fit, after automatic choices.

    Attributes
    ----------
    bandwidth : float or None
        Bandwidth of the mean shifts that have a single bandwidth.
    h_min, h_inf, h_max : float or None
        Bandwidth range of doubly stochastic mean shift.
    policy : BandwidthPolicy or None
        Distribution of the bandwidth, for algorithms in which the data move.
    tau : float or None
        Points closer than `tau` at the end share a cluster.
    engine : str or None
        Name of the engine.
    single_updates : bool
        Whether each draw moves one point at exactly the bandwidth that the policy returned.
    in_meters : bool
        Whether the bandwidths are chords of the unit sphere that are shown to users in metres.
    rounded : tuple of int
        The visibly rounded columns. Automatic choices treat their values as intervals of one rounding step.

    Examples
    --------
    >>> from modeseek import DoublyStochasticMeanShift
    >>> model = DoublyStochasticMeanShift(0.5, 2.0, 1.0, random_state=0).fit([[0.0], [0.1], [5.0]])
    >>> settings = model.result_.settings
    >>> settings.h_min, settings.h_inf, settings.h_max
    (0.5, 1.0, 2.0)
    """

    bandwidth: float | None = None
    h_min: float | None = None
    h_inf: float | None = None
    h_max: float | None = None
    policy: BandwidthPolicy | None = None
    tau: float | None = None
    engine: str | None = None
    single_updates: bool = False
    in_meters: bool = False
    rounded: tuple[int, ...] = ()

    @property
    def bandwidths(self) -> dict[str, float]:
        """The bandwidths that are not None, by parameter name, in the units of the parameters."""
        return {name: chord_to_meters(h) if self.in_meters else h for name, h in self._given.items()}

    @property
    def _given(self) -> dict[str, float]:
        found = {"h_min": self.h_min, "h_inf": self.h_inf, "h_max": self.h_max, "bandwidth": self.bandwidth}
        return {name: h for name, h in found.items() if h is not None}

    @property
    def smallest_bandwidth(self) -> float:
        """`h_min`, or the single bandwidth, in the units of the points."""
        return min(self._given.values())

    @property
    def largest_bandwidth(self) -> float:
        """`h_max`, or the single bandwidth, in the units of the points."""
        return max(self._given.values())


@dataclass(frozen=True, eq=False)
class FitData:
    """Input of an estimator's `_solve`.

    Attributes
    ----------
    points : Points
        Distinct points in canonical order; `points.inverse` maps rows to points.
    settings : FitSettings
        Bandwidths, chosen before the fit.
    sketch : SketchPoints or None
        Weighted points that stand for the rows, if the fit runs on a sketch.
    sketch_points : integer array or None
        Index in `points` of each point of `sketch`.
    distributed : bool
        Whether the rows are a Dask collection, so that chains may run on its workers.
    neighbors : Neighbors or None
        Nearest neighbours of each point, if distances are given instead of coordinates.
    constraints : object
        Constraints on rows, as the user passed them to `ModeSeek.fit`.
    weightless : tuple of arrays, or None
        Indices and canonical coordinates of the rows of weight 0; None if all rows have a positive weight.
    """

    points: Points
    settings: FitSettings
    sketch: SketchPoints | None = None
    sketch_points: IntArray | None = None
    distributed: bool = False
    neighbors: Neighbors | None = None
    constraints: Any = None
    weightless: tuple[IntArray, Array] | None = None


def _check_index(index: PointIndex) -> None:
    n, d = index.points.values.shape
    require(index.labels.shape == (n,) and is_within(index.points.inverse, 0, n), "the labels of points")
    require((index.sketch is None) == (index.sketch_points is None), "the sketch of a fit")
    if index.sketch is not None and index.sketch_points is not None:
        require(index.sketch.points.shape == (len(index.sketch_points), d), "the points of a sketch")
        require(is_within(index.sketch_points, 0, n), "the points of a sketch")
    if index.neighbors is not None:
        indices, distances = index.neighbors
        require(indices.shape == distances.shape and len(indices) == n, "the neighbours of points")
        require(is_within(indices, 0, n) and is_real(distances, 2), "the neighbours of points")
    if index.basins is not None:
        require(index.basins.modes.shape == (n,) and index.basins.ends.shape[1] == d, "the modes of points")
    require((index.neighbors is None) == (index.points.geometry.metric != "precomputed"), "the neighbours of points")


@storable(_check_index)
@dataclass(frozen=True, eq=False)
class PointIndex:
    """The distinct points of a fit and their labels: what `predict` needs.

    Attributes
    ----------
    points : Points
        Distinct points in canonical order; `points.inverse` maps the rows of the fit to points.
    labels : integer array of shape (n_points,)
        Label of each point; -1 for noise.
    sketch, sketch_points, neighbors
        As in `FitData`.
    basins : Basins or None
        The modes of `MeanShift`, to which new rows climb; None if new rows get the label of the nearest point.
    """

    points: Points
    labels: IntArray
    sketch: SketchPoints | None = None
    sketch_points: IntArray | None = None
    neighbors: Neighbors | None = None
    basins: Basins | None = None

    def find(self, rows: Array, n_jobs: int | None = None, watch: Watcher | None = None) -> IntArray:
        """Return the index of the point whose label each row gets: of its sketch cell, of its mode, or the nearest one.

        Under `metric="precomputed"`, rows are distances to the rows of the fit.
        """
        if self.neighbors is not None:
            return self.points.inverse[nearest_row(rows)]
        if self.sketch is None or self.sketch_points is None:
            canonical = self.points.to_canonical(rows)
            return find_points(self.points, canonical, self.basins, n_jobs=n_jobs, watch=watch)
        return self.sketch_points[self.find_in_sketch(rows, n_jobs)]

    def find_in_sketch(self, rows: Array, n_jobs: int | None = None) -> IntArray:
        """Return for each row the index of the point of the sketch that stands for it."""
        assert self.sketch is not None
        geometry = self.points.geometry
        return self.sketch.find(place_on_sphere(rows, geometry.metric) if geometry.spherical else rows, n_jobs)

    def labeler(self, values: Array) -> Callable[[Array], Array]:
        """Return a function that assigns a point to each row, and returns its entry in `values`.

        It has no data but those that are needed, because Dask sends it to its workers.
        """
        points = self.points._replace(inverse=self.points.inverse[:0])
        if self.sketch is None or self.sketch_points is None:
            points = points if self.basins else points._replace(weights=points.weights[:0])
            return partial(_entries, values, PointIndex(points, self.labels[:0], basins=self.basins).find)
        points = points._replace(values=points.values[:0], weights=points.weights[:0])
        index = PointIndex(points, self.labels[:0], self.sketch.without_weights())
        return partial(_entries, values[self.sketch_points], index.find_in_sketch)


def _entries(values: Array, find: Callable[[Array], IntArray], rows: Array) -> Array:
    return values[find(rows)]


def _check_result(result: FitResult) -> None:
    points, k, rows = result.index.points, result.n_clusters, (len(result.index.points.inverse),)
    n, d = len(points.values), points.to_data(points.values[:1]).shape[1]
    require(is_real(result.centers, 2) and result.centers.shape == (k, d), "the centres of clusters")
    require(result.labels.shape == rows and is_within(result.labels, -1, k), "the labels of rows")
    require(is_within(result.index.labels, -1, k) and result.sizes.shape == (k,), "the labels of points")
    for values in (result.weights, result.cluster_stability):
        require(values is None or values.shape == (k,), "a value for each cluster")
    require((result.memberships is None) == (result.confidence is None), "memberships and confidence")
    require(result.memberships is None or result.memberships.shape == (n, k), "the memberships of points")
    require(result.confidence is None or result.confidence.shape == rows, "the confidence of rows")
    require(result.partition is None or result.partition.labels.shape == rows, "the partition of rows")
    require(result.chain_labels is None or result.chain_labels.shape[1:] == rows, "the labels by chains")
    # the tree has more than n points if rounded values were spread
    require(result.tree is None or len(result.tree.weights) >= n, "the tree of points")
    for each in result.alternatives:
        require(each.labels.shape == (n,) and is_within(each.labels, 0, n), "the alternatives")


@storable(_check_result)
@dataclass(frozen=True, eq=False)
class FitResult:
    """Result of a fit, the same type for every estimator; a fitted estimator keeps it as `result_`.

    Fields that an algorithm does not compute are None.

    Attributes
    ----------
    algorithm : str
        Class name of the estimator.
    labels : integer array of shape (n_rows,)
        Cluster of each row; -1 for noise. A Dask array after a fit of a Dask collection.
    centers : array of shape (n_clusters, n_features)
        Cluster centres, in the units of X.
    sizes : integer array of shape (n_clusters,)
        Number of rows in each cluster. After a fit of a Dask collection, estimated from the sketch.
    n_noise : int
        Number of rows with label -1.
    n_rows : int
        Number of rows.
    outcome : Outcome
        How the fit ended; `outcome.value` is a sentence, `outcome.converged` a bool.
    message : str
        A sentence that describes the result.
    index : PointIndex
        The distinct points and their labels; used by `predict`.
    settings : FitSettings
        Bandwidths, policy, engine and tolerance in force.
    weights : array of shape (n_clusters,) or None
        Total sample weight of each cluster; None if every row has weight 1.
    memberships : sparse array of shape (n_points, n_clusters) or None
        Membership of each distinct point in each cluster. Use `row_memberships` for rows.
    confidence : array of shape (n_rows,) or None
        Membership of each row in its cluster. A Dask array after a fit of a Dask collection.
    cluster_stability : array of shape (n_clusters,) or None
        Stability of each cluster.
    stability : float or None
        Stability of the partition.
    alternatives : tuple of Candidate
        Different partitions that were considered, the chosen one included, best first. Their labels have one entry for
        each distinct point.
    tree : MergeTree or None
        Merge tree of the modes of the density.
    trace : Trace or None
        Quantities that were recorded during the run.
    partition : Partition or None
        The partition before small clusters became noise, with its diameter, gap and certificate.
    n_updates : int or None
        Number of single-point updates, summed over chains.
    n_iter : int or None
        Number of sweeps of `MeanShift`.
    points : array or None
        Final position of each row, or of each seed if `MeanShift` has seeds.
    chain_labels : integer array of shape (n_chains, n_rows) or None
        Labels of the rows in each chain, if several chains ran.

    Examples
    --------
    >>> from modeseek import MeanShift
    >>> result = MeanShift(1.0).fit([[0.0], [0.1], [5.0]]).result_
    >>> result.n_clusters, result.sizes, result.outcome.converged
    (2, array([2, 1]), True)
    >>> result.settings.bandwidth
    1.0
    """

    algorithm: str
    labels: IntArray
    centers: Array
    sizes: IntArray
    n_noise: int
    n_rows: int
    outcome: Outcome
    message: str
    index: PointIndex
    settings: FitSettings
    weights: Array | None = None
    memberships: csr_array | None = None
    confidence: Array | None = None
    cluster_stability: Array | None = None
    stability: float | None = None
    alternatives: tuple[Candidate, ...] = ()
    tree: MergeTree | None = None
    trace: Trace | None = None
    partition: Partition | None = None
    n_updates: int | None = None
    n_iter: int | None = None
    points: Array | None = None
    chain_labels: IntArray | None = None

    @property
    def n_clusters(self) -> int:
        """Number of clusters, not counting noise."""
        return len(self.centers)

    @property
    def interrupted(self) -> bool:
        """Whether the fit was interrupted by Ctrl-C and this is the best result so far."""
        return self.outcome is Outcome.INTERRUPTED

    @property
    def sketch(self) -> SketchPoints | None:
        """Weighted points that stand for the rows, if the fit ran on a sketch."""
        return self.index.sketch

    @property
    def n_chains(self) -> int:
        """Number of chains from which the labels were computed; 1 for algorithms without chains."""
        return 1 if self.chain_labels is None else len(self.chain_labels)

    def row_memberships(self, rows: IntArray | None = None) -> Array:
        """Return the memberships of some rows of the fit, or of all, as a dense array."""
        if self.memberships is None:
            raise AttributeError(f"{self.algorithm} has no memberships: SMS and DSMS compute them with n_chains > 1.")
        inverse = self.index.points.inverse if rows is None else self.index.points.inverse[rows]
        n, k = len(inverse), self.memberships.shape[1]
        check_memory(
            8.0 * k * n,
            f"memberships_ of {n:,} rows in {k:,} clusters",
            "confidence_ has the largest of each row.",
        )
        return self.memberships[inverse].toarray()

    def relabelled(self, rows: Array, n_jobs: int | None = None) -> FitResult:
        """Return the result for other rows: they get labels and confidence from the points of the sketch."""
        number = self.index.find_in_sketch(rows, n_jobs)
        points = self.index.points
        return replace(
            self,
            **row_fields(self.labels[number], self.n_clusters),
            confidence=None if self.confidence is None else self.confidence[number],
            index=replace(self.index, points=points._replace(inverse=points.inverse[number])),
        )

    def in_memory(self) -> FitResult:
        """Return the result without Dask arrays: labels and confidence are those of the rows that were clustered.

        After a fit on a sketch, the points of the sketch take the place of these rows.
        """
        if not is_dask(self.labels):
            return self
        index, confidence = self.index, None
        if self.memberships is not None:
            confidence = largest_membership(self.memberships)[index.points.inverse]
        return replace(self, labels=index.labels[index.points.inverse], confidence=confidence)

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of an estimator by name; attributes that would be None are left out."""
        found = {name: getattr(self, name) for name in ATTRIBUTES}
        found |= {"cluster_centers": self.centers, "engine": self.settings.engine, **self.settings.bandwidths}
        if self.index.neighbors is not None:  # there are no coordinates
            del found["cluster_centers"]
        if self.tree is not None:
            found |= {name: getattr(self, name) for name in ATTRIBUTES_OF_SELECTION}
        return {f"{name}_": value for name, value in found.items() if value is not None}


class FittedMixin:
    """Base class with the fitted state: the result of the last fit, and the rows passed to `partial_fit`."""

    # annotated here, because annotations of the dataclass `BaseClusterer` would be parameters
    result_: FitResult
    n_jobs: int | None
    _stream: Stream | None = None

    def _result_for(self, name: str) -> FitResult:
        """Return the result of the fit, for an attribute that is computed on access."""
        if "result_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} has no {name}: it is not fitted.")
        return self.result_


def make_result(
    algorithm: str, data: FitData, labels: IntArray, centers: Array, basins: Basins | None = None, **fields: Any
) -> FitResult:
    """Return the result for given labels of the distinct points, and cluster centres in the coordinates of the points.

    `fields` are the other fields of `FitResult`; the default of `settings` is `data.settings`. If there are rounded
    columns, a remark on them is added to the message.
    """
    points, k = data.points, len(centers)
    of_rows = row_fields(labels[points.inverse], k)
    weights = np.bincount(np.where(labels < 0, k, labels), weights=points.weights, minlength=k + 1)
    unweighted = (weights == [*of_rows["sizes"], of_rows["n_noise"]]).all()
    fields.setdefault("settings", data.settings)
    rounding = rounding_note(fields["settings"].rounded, points.n_features)
    fields["message"] = "; ".join(filter(None, (fields["message"], rounding)))
    return FitResult(
        algorithm=algorithm,
        centers=points.to_data(centers),
        index=PointIndex(points, labels, data.sketch, data.sketch_points, data.neighbors, basins),
        weights=None if unweighted else weights[:k],
        **of_rows,
        **fields,
    )


def row_fields(labels: IntArray, n_clusters: int) -> dict[str, Any]:
    """Return the fields of `FitResult` that follow from the labels of the rows."""
    clustered = labels[labels >= 0]
    return {
        "labels": labels,
        "sizes": np.bincount(clustered, minlength=n_clusters),
        "n_noise": len(labels) - len(clustered),
        "n_rows": len(labels),
    }


def drop_small(part: Partition, min_size: float) -> tuple[IntArray, Array]:
    """Return the labels and the centres of a partition after clusters with a weight below `min_size` become noise.

    A `min_size` of 1 keeps all clusters, even if the rows have weights below 1 and a cluster weighs less than 1.
    """
    keep = (part.sizes >= min_size) | (min_size <= 1)
    return np.where(keep, np.cumsum(keep) - 1, -1)[part.labels], part.centers[keep]


def membership_fields(
    data: FitData | PointIndex, labels: IntArray, numbers: IntArray, memberships: Array | csr_array, stability: Array
) -> dict[str, Any]:
    """Return the fields of `FitResult` about memberships, with columns in the order of the clusters.

    Parameters
    ----------
    data : FitData or PointIndex
    labels : integer array of shape (n_points,)
        Final label of each point. Points with label -1 get memberships of 0.
    numbers : integer array of shape (n_points,)
        Cluster of each point, as an index of the columns of `memberships` and of the entries of `stability`.
    memberships : array or sparse array of shape (n_points, m)
    stability : array of shape (m,)
    """
    columns = np.empty(labels.max(initial=-1) + 1, dtype=np.intp)
    columns[labels[labels >= 0]] = numbers[labels >= 0]
    shares = csr_array(memberships)[:, columns]
    total = np.where(labels >= 0, shares.sum(axis=1), 0.0)
    shares = diags_array(np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)) @ shares
    return {
        "memberships": shares,
        "confidence": largest_membership(shares)[data.points.inverse],
        "cluster_stability": stability[columns],
    }


def largest_membership(memberships: csr_array) -> Array:
    """Return the largest membership of each point, which is the membership in its cluster; 0 without clusters."""
    n, k = memberships.shape
    return np.ravel(memberships.max(axis=1).toarray()) if k else np.zeros(n)


def _restore_sparse(data: Array, indices: IntArray, indptr: IntArray, shape: tuple[int, int]) -> csr_array:
    # checked here, because SciPy converts integers to 32 bits without a check of their range
    n, k = shape
    require(data.ndim == indices.ndim == indptr.ndim == 1 and len(indptr) == n + 1, "a sparse array")
    require(is_real(data, 1) and is_within(indices, 0, k) and len(indices) == len(data), "a sparse array")
    require(indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all(), "the rows of a sparse array")
    return csr_array((data, indices, indptr), shape=shape)


SPARSE_PARTS = {"data": Array, "indices": IntArray, "indptr": IntArray, "shape": tuple[int, int]}
storable(parts=SPARSE_PARTS, make=_restore_sparse)(csr_array)
