"""Mean shift from seeds to clusters: the seeds, and the clusters of the modes that are reached from them.

A climber is a query that starts at a seed and climbs to a mode of the density by mean-shift steps.
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from modeseek._common.distances import BLOCK, kth_distance
from modeseek._common.neighbors import nearest
from modeseek._common.points import Points
from modeseek._common.types import Array, IntArray
from modeseek._common.unique_rows import sorted_unique_rows
from modeseek.meanshift.components import components, diameter_of, gap_of
from modeseek.meanshift.kernels.profiles import FLAT, Profile
from modeseek.meanshift.partition import Partition, merge_modes, partition_of


class Seeds(NamedTuple):
    """Start positions of the climbers, in the centred coordinates of `canonical_points`.

    Attributes
    ----------
    positions : (m, d) array
    nearest : (n,) integer array or None
        Index of the nearest seed of each point, -1 where it is unknown; None if it is unknown for all points.
    """

    positions: Array
    nearest: IntArray | None = None


class ModePartition(NamedTuple):
    """A partition by modes, and the positions that lead to each mode.

    Attributes
    ----------
    partition : Partition
    ends : (m, d) array
        Distinct final positions of climbers; the positions of the modes if each point belongs to the nearest mode.
    end_modes : (m,) integer array
        Mode of each end.
    """

    partition: Partition
    ends: Array
    end_modes: IntArray


def bin_seeds(points: Points, h: float, min_bin_freq: int) -> Seeds:
    """Return scikit-learn's bin seeds: corners of a grid of width h to which at least `min_bin_freq` points round."""
    frame = points.frame
    # the grid is aligned with the data, before centring; its corners are sorted in the frame of the points
    rows = points.values.astype(np.float64) + frame.apply(points.offset[None])
    rounded = np.round(rows / h)
    first, inverse = sorted_unique_rows(rounded)
    frequent = np.bincount(inverse, weights=points.weights) >= min_bin_freq
    corners = frame.undo(rounded[first[frequent]] * h)
    if points.geometry.spherical:
        corners = corners[np.linalg.norm(corners, axis=1) > 0]
    positions = np.ascontiguousarray(points.to_canonical(corners).astype(points.values.dtype))
    # The distance of a point from its corner is at most half a diagonal of the grid, which is below h in up to three
    # dimensions. So its corner is its nearest seed, unless coordinates are too large to represent the corner exactly.
    exact = np.finfo(positions.dtype).eps * np.abs(rows).max() < 1e-3 * h
    known = not points.geometry.spherical and rows.shape[1] <= 3 and exact
    return Seeds(positions, np.where(frequent, np.cumsum(frequent) - 1, -1)[inverse] if known else None)


def moved_to_points(positions: Array, points: Points, h: float, n_jobs: int | None) -> tuple[Array, Array]:
    """Move each position that has no point within h to the nearest point, because a climber there would not move.

    Returns the positions, and a boolean array that marks the positions that were moved.
    """
    isolated = kth_distance(points.values, 1, positions, n_jobs=n_jobs) > h
    moved = positions.copy()
    if isolated.any():
        moved[isolated] = points.values[nearest(points.values, positions[isolated], n_jobs=n_jobs)]
    return moved, isolated


def partition_by_modes(
    points: Points,
    seeds: Seeds | None,
    ends: Array,
    h: float,
    profile: Profile,
    counted: Array,
    *,
    basins: bool,
    n_jobs: int | None,
) -> ModePartition:
    """Return the partition of points by the modes that climbers reached.

    Parameters
    ----------
    points : Points
    seeds : Seeds or None
        Where the climbers started; None if they started at the points.
    ends : (m, d) array
        Where the climbers ended.
    h : float
        The bandwidth.
    profile : Profile
    counted : (m, d) array
        For a flat profile, the height of a climber's mode is the weight of the points within h of this position.
    basins : bool
        Whether a point belongs to the mode to which it, or its nearest seed, climbed, and not to the nearest mode.
    n_jobs : int or None
    """
    first, climbers = sorted_unique_rows(ends)
    distinct = ends[first]
    weights = np.bincount(climbers, weights=None if seeds else points.weights)
    numbers, centers = _modes(points, weights, distinct, h, profile, counted[first])
    if basins:
        labels = numbers[climbers]
        labels = labels if seeds is None else labels[_nearest_seed(points, seeds, n_jobs)]
    else:
        labels = nearest(centers, points.values, n_jobs=n_jobs)
    sizes = np.bincount(labels, weights=points.weights, minlength=len(centers))
    part = Partition(labels, centers, sizes, diameter_of(distinct, numbers), gap_of(distinct, numbers))
    return ModePartition(part, distinct, numbers) if basins else ModePartition(part, centers, np.arange(len(centers)))


def _modes(
    points: Points, weights: Array, ends: Array, h: float, profile: Profile, counted: Array
) -> tuple[IntArray, Array]:
    """Return the mode of each end, and the positions of the modes."""
    if profile is not FLAT:
        part = partition_of(ends, weights, components(ends, h / 4), points.geometry)
        return part.labels, part.centers
    # The density of a flat kernel has plateaus: as in scikit-learn, an end within h of a higher end joins its mode.
    first, inverse = sorted_unique_rows(np.round(ends.astype(np.float64) / (1e-9 * h)))
    heights = weight_within_radius(counted[first], points.values, h, points.weights)
    # with the columns and signs of the data, because the lexicographic order decides between equal heights
    labels, kept = merge_modes(points.frame.undo(ends[first]), heights, h)
    return labels[inverse], ends[first][kept]


def weight_within_radius(queries: Array, points: Array, h: float, weights: Array) -> Array:
    """Return the total weight of the points at distance h or less of each query.

    Examples
    --------
    >>> weight_within_radius(np.array([[0.0]]), np.array([[0.0], [1.0], [2.0]]), 1.0, np.ones(3))
    array([2.])
    """
    step = max(1, BLOCK // len(points))
    blocks = (queries[start : start + step] for start in range(0, len(queries), step))
    return np.concatenate([(cdist(block, points, "sqeuclidean") <= h * h) @ weights for block in blocks])


def _nearest_seed(points: Points, seeds: Seeds, n_jobs: int | None) -> IntArray:
    if seeds.nearest is None:
        return nearest(seeds.positions, points.values, n_jobs=n_jobs)
    found = seeds.nearest.copy()
    unknown = np.flatnonzero(found < 0)
    found[unknown] = nearest(seeds.positions, points.values[unknown], n_jobs=n_jobs)
    return found
