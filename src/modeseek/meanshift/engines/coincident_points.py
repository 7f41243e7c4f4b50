"""Points that coincide up to rounding, which `brute` and `neighbor_lists` sum as one weighted point.

Clusters contract, and coincident points contribute equal terms to every sum. The tolerance is a few units in the last
place of each point, so a sum over groups of coincident points equals the sum over points up to rounding.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs

from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.engines.workspace import BaseWorkspace, UpdateBlock, contiguous_queries
from modeseek.meanshift.types import Draws


@dataclass(frozen=True)
class MergeConfig:
    """Conditions under which points are merged.

    Attributes
    ----------
    ulps : float
        Coordinates count as equal if they differ by at most this many units in the last place of the largest
        coordinate. The rounding error of a mean can be as large.
    max_share : float
        Points are merged only if the number of groups is at most this share of the number of points.
    min_points : int
        With fewer points, coincident points are not searched.
    min_updates : int
        Coincident points are not searched for a block of updates that is shorter than both this number and a sweep. A
        search in the plane costs about as much as 50 updates.
    look_back : int
        Points are sorted along a line, and each point is compared with this number of preceding groups.
    """

    ulps: float = 4.0
    max_share: float = 0.75
    min_points: int = 32
    min_updates: int = 512
    look_back: int = 4

    def tolerance(self, dtype: np.dtype) -> float:
        """Return the relative tolerance for coordinates of a type."""
        return self.ulps * float(np.finfo(dtype).eps)


DEFAULT_MERGE = MergeConfig()


class Merging(NamedTuple):
    """A `MergeConfig` for compiled code.

    Attributes
    ----------
    direction : (d,) array
        The line along which points are sorted.
    eps : float
        Unit in the last place of 1.
    ulps, max_share, min_points, min_updates, look_back
        As in `MergeConfig`.
    """

    direction: Array
    eps: float
    ulps: float
    max_share: float
    min_points: int
    min_updates: int
    look_back: int

    @classmethod
    def of(cls, config: MergeConfig, d: int, dtype: np.dtype) -> Merging:
        """Return the settings for points with d coordinates of a type."""
        return cls(line_direction(d), float(np.finfo(dtype).eps), *astuple(config))


class Groups(NamedTuple):
    """Groups of points, for compiled code that moves points from one group to another.

    Attributes
    ----------
    weights, counts : (capacity,) arrays
        Weight and number of the points of each group.
    group : (n,) array
        The group of each point.
    point_weights : (n,) array
    equal_weights : bool
        Whether all points have the same weight.
    """

    weights: Array
    counts: IntArray
    group: IntArray
    point_weights: Array
    equal_weights: bool


class PointGroups(NamedTuple):
    """A division of points into groups of coincident points.

    Attributes
    ----------
    leaders : (m,) integer array
        One point of each group, ascending. The other points of the group equal it up to rounding.
    group : (n,) integer array
        The group of each point.
    """

    leaders: IntArray
    group: IntArray

    def sum_weights(self, weights: Array) -> Array:
        """Return the weight of each group."""
        return np.bincount(self.group, weights=weights, minlength=len(self.leaders))


class MergingWorkspace(BaseWorkspace):
    """Base class of workspaces that sum coincident points as one.

    A subclass stores the state in the layout of its choice, as `_state`.

    Attributes
    ----------
    evaluations : int
        Number of distances computed so far.
    """

    def __init__(self, points: Array, weights: Array, geometry: Geometry, n_jobs: int | None, config: MergeConfig):
        self.evaluations = 0
        self._weights, self._equal_weights = weights.astype(np.float64), bool((weights == weights[0]).all())
        self._d, self._spherical, self._requested_jobs = points.shape[1], geometry.spherical, n_jobs
        self._config, self._tolerance = config, config.tolerance(points.dtype)
        self.load(points)

    @property
    def _n_jobs(self) -> int:
        return effective_n_jobs(self._requested_jobs)

    @property
    def points(self) -> Array:
        """A copy of the current state, an (n, d) array."""
        return self._rows[:, : self._d].copy()

    def load(self, points: Array) -> None:
        """Replace the state."""
        self._state = self._arrange(points)
        self._merged: tuple[Array, Array] | None = None

    def take(self, members: IntArray) -> Array:
        """Return the positions of the points with indices `members`."""
        return self._rows[members, : self._d]

    def place(self, members: IntArray, values: Array) -> None:
        """Set the positions of the points with indices `members`."""
        self._rows[members, : self._d] = values
        self._merged = None

    def shift_one_by_one(self, draws: Draws) -> Array:
        """Move one point after the other; return the lengths of the shifts."""
        self._merged = None
        updates = UpdateBlock(*draws, np.empty(len(draws.indices)))
        count, done = len(updates.lengths), 0
        fewest = self._config.min_points
        search = count >= max(fewest, min(len(self._weights), self._config.min_updates))
        while done < count:
            found = find_coincident(self._rows, self._config) if search and count - done >= fewest else None
            done += self._update(updates.part(done), found)
        return updates.lengths

    @property
    @abstractmethod
    def _rows(self) -> Array:
        """A view of the state with one point per row, possibly padded with zeros."""

    @abstractmethod
    def _arrange(self, points: Array) -> Array:
        """Return a copy of points in the layout of the state."""

    @abstractmethod
    def _select(self, members: IntArray) -> Array:
        """Return a copy of the points with indices `members`, in the layout of the state."""

    @abstractmethod
    def _update(self, updates: UpdateBlock, found: PointGroups | None) -> int:
        """Apply updates, to groups of points if any were found; return how many were applied."""

    def _sources(self, n_queries: int) -> tuple[Array, Array]:
        """Return the points to sum over and their weights, with coincident points merged if there are many queries.

        The decision depends on the queries of one call alone, so that a resumed run gives the same result.
        """
        if n_queries < self._config.min_points:
            return self._state, self._weights
        if self._merged is None:
            found = find_coincident(self._rows)
            self._merged = self._state, self._weights
            if found is not None:
                self._merged = self._select(found.leaders), found.sum_weights(self._weights)
        return self._merged

    def _groups(self, found: PointGroups | None) -> Groups:
        """Return one group per point if none were found, else groups with spare capacity for points that leave them."""
        n = len(self._weights)
        if found is None:
            ones = np.ones(n, dtype=np.int64)
            return Groups(self._weights.copy(), ones, np.arange(n), self._weights, self._equal_weights)
        m = len(found.leaders)
        capacity = m + max(self._config.min_points, n // 8)
        weights, counts = np.zeros(capacity), np.zeros(capacity, dtype=np.int64)
        weights[:m], counts[:m] = found.sum_weights(self._weights), np.bincount(found.group, minlength=m)
        return Groups(weights, counts, found.group, self._weights, self._equal_weights)


def shift_distinct(shift: Callable[[Array, Array], Array], queries: Array, h: Array | float) -> Array:
    """Shift queries; coincident queries with one bandwidth are shifted once.

    Parameters
    ----------
    shift : callable
        Maps queries and bandwidths, one for each query, to new positions.
    queries : (m, d) array
    h : float or (m,) array
    """
    if not len(queries):
        return queries.copy()
    queries, bandwidths = contiguous_queries(queries, h)
    found = find_coincident(queries) if np.ptp(bandwidths) == 0 else None
    if found is None:
        return shift(queries, bandwidths)
    return shift(queries[found.leaders], bandwidths[found.leaders])[found.group]


@cache
def line_direction(d: int) -> Array:
    """Return a fixed direction in general position: different points rarely have equal projections on it."""
    return 1.0 + np.modf(np.arange(1, d + 1) * 0.6180339887498949)[0]


def find_coincident(points: Array, config: MergeConfig = DEFAULT_MERGE) -> PointGroups | None:
    """Group the points that coincide up to rounding; return None if too many groups remain.

    Points are sorted along a line and compared with their neighbours there. The cost is about a pass over the points
    and a sort. Some coincident points may be missed, but different points are never merged.

    Examples
    --------
    >>> points = np.repeat(np.random.default_rng(0).normal(size=(3, 5)), 20, axis=0)
    >>> find_coincident(points).leaders
    array([ 0, 20, 40])
    >>> find_coincident(points[::20]) is None
    True
    """
    n, d = points.shape
    if n < config.min_points:
        return None
    line = points @ line_direction(d).astype(points.dtype)
    eps = float(np.finfo(points.dtype).eps)
    largest = max(float(points.max()), -float(points.min()))
    window = 2.0 * d * eps * largest * (config.ulps + d)  # tolerance of the coordinates, and rounding of the products
    if np.count_nonzero(np.diff(np.sort(line)) > window) + 1 > config.max_share * n:
        return None
    from modeseek.meanshift.engines.shared_loops import assign_leaders

    leader = np.empty(n, dtype=np.int64)
    order = np.argsort(line, kind="stable")
    assign_leaders(points, line, order, window, config.tolerance(points.dtype), config.look_back, leader)
    leaders, group = np.unique(leader, return_inverse=True)
    return PointGroups(leaders, group.reshape(-1)) if len(leaders) <= config.max_share * n else None
