"""Trial runs on a sample: partitions of blurring mean shift at several scales.

Blurring mean shift needs few sweeps, each of which is two matrix products, and no random numbers. At the same bandwidth
its clusters are close to those of the stochastic algorithms.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from modeseek._common.types import Array, IntArray
from modeseek.selection.bandwidths.config import RangeConfig

__all__ = ["TrialSample", "trial_partition", "trial_scales"]


class TrialSample:
    """A sample of points on which trial runs are made.

    Parameters
    ----------
    points : (m, d) array
    weights : (m,) array
    share : float
        The sample as a share of all points. In the mean around a point, the point itself counts by this factor: for all
        points, its neighbours would be 1 / share times as many.
    """

    def __init__(self, points: Array, weights: Array, share: float):
        self.points, self.weights, self.share = _reduced(points), weights.astype(np.float64), share


def trial_scales(points: Array, config: RangeConfig) -> Array:
    """Return increasing scales: median distances to neighbours, with scales inserted into large gaps.

    Distances are not computed by matrix products, whose rounding depends on the library.
    """
    counts = np.unique(np.round(np.geomspace(1, len(points) - 1, config.n_counts)).astype(int))
    distances = np.sort(cdist(points, points), axis=1)[:, counts]
    scales: list[float] = []
    for h in np.median(distances, axis=0):
        if not scales:
            if h > 0:
                scales.append(float(h))
        elif h > config.min_ratio * scales[-1]:
            # a small margin, so that rounding does not change the number of steps
            steps = int(np.ceil(np.log(h / scales[-1]) / np.log(config.max_ratio) - 1e-6))
            scales += np.geomspace(scales[-1], h, steps + 1)[1:].tolist()
    return np.array(scales)


def trial_partition(sample: TrialSample, h: float, config: RangeConfig) -> IntArray:
    """Return the clusters of blurring mean shift with bandwidth h."""
    x, weights = sample.points, sample.weights
    own = np.arange(len(x))
    for _ in range(config.max_sweeps):
        kernel = np.maximum(1.0 - _squares(x) / h**2, 0.0) * weights
        kernel[own, own] = sample.share * weights
        moved = kernel @ x / kernel.sum(axis=1)[:, None]
        largest = np.abs(moved - x).max()
        x = moved
        if largest < config.tol * h:
            break
    return connected_components(_squares(x) < (config.radius * h) ** 2, directed=False)[1].astype(np.int32)


def _squares(x: Array) -> Array:
    """Return the squared distances between all points."""
    squares = np.square(x).sum(axis=1)
    return np.maximum(squares[:, None] + squares - 2.0 * (x @ x.T), 0.0)


def _reduced(points: Array) -> Array:
    """Return centred points; those of more features than points in as many coordinates, at the same distances."""
    x = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
    if x.shape[1] <= len(x):
        return x
    values, vectors = np.linalg.eigh(x @ x.T)
    return vectors * np.sqrt(np.maximum(values, 0.0))
