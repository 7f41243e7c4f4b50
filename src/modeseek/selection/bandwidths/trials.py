"""Trial runs on a sample: partitions of blurring mean shift at several bandwidths.

Blurring mean shift needs few sweeps, each of which is two matrix products, and no random numbers. At the same bandwidth
its clusters are close to those of the stochastic algorithms.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from modeseek._common.types import Array, IntArray
from modeseek.selection.bandwidths.config import RangeConfig

__all__ = ["TrialSample", "trial_bandwidths", "trial_partitions"]


class TrialSample:
    """A sample of points on which trial runs are made.

    Parameters
    ----------
    points : (m, d) array
    weights : (m,) array
    share : float
        Size of the sample relative to all points. In the mean around a point, the point itself has this factor as a
        weight, because among all points it has 1 / share times as many neighbours.
    """

    def __init__(self, points: Array, weights: Array, share: float):
        self.points, self.weights, self.share = _reduced(points), weights.astype(np.float64), share


def trial_bandwidths(points: Array, config: RangeConfig) -> Array:
    """Return increasing bandwidths: median distances to neighbours, with more of them inserted into large gaps.

    Distances are not computed by matrix products, whose rounding depends on the library.
    """
    counts = np.unique(np.round(np.geomspace(1, len(points) - 1, config.n_counts)).astype(int))
    distances = np.sort(cdist(points, points), axis=1)[:, counts]
    bandwidths: list[float] = []
    for h in np.median(distances, axis=0):
        if not bandwidths:
            if h > 0:
                bandwidths.append(float(h))
        elif h > config.min_ratio * bandwidths[-1]:
            # a small margin, so that rounding does not change the number of steps
            steps = int(np.ceil(np.log(h / bandwidths[-1]) / np.log(config.max_ratio) - 1e-6))
            bandwidths += np.geomspace(bandwidths[-1], h, steps + 1)[1:].tolist()
    return np.array(bandwidths)


def trial_partitions(sample: TrialSample, bandwidths: Array, config: RangeConfig) -> Iterator[IntArray]:
    """Yield the clusters for increasing bandwidths; after the first single cluster, all others are single clusters."""
    labels = np.arange(len(sample.points), dtype=np.int32)
    for h in bandwidths:
        if labels.any():
            labels = trial_partition(sample, float(h), config)
        yield labels


def trial_partition(sample: TrialSample, h: float, config: RangeConfig) -> IntArray:
    """Return the clusters of blurring mean shift with bandwidth h.

    Points that coincide are merged.
    """
    # in units of the bandwidth, so that the kernel is one matrix product and a maximum
    x, weights = sample.points / h, sample.weights
    counts, member, buffer = np.ones(len(x)), np.arange(len(x)), np.empty(len(x) ** 2)
    for sweep in range(config.max_sweeps):
        kernel = _closeness(x, buffer)
        if sweep % config.merge_every == config.merge_every - 1:
            kept, group = _met(kernel, config.merge_radius)
            if len(kept) < len(x):
                x, kernel, member = x[kept], kernel[np.ix_(kept, kept)], group[member]
                weights, counts = (np.bincount(group, each).astype(np.float64) for each in (weights, counts))
        np.maximum(kernel, 0.0, out=kernel)
        np.fill_diagonal(kernel, 1.0 - (1.0 - sample.share) / counts)
        sums = kernel @ (np.column_stack([x, np.ones(len(x))]) * weights[:, None])
        moved = sums[:, :-1] / sums[:, -1:]
        largest = np.abs(moved - x).max()
        x = moved
        if largest < config.tol:
            break
    found = connected_components(_closeness(x, buffer) > 1.0 - config.radius**2, directed=False)[1]
    return found[member].astype(np.int32)


def _closeness(x: Array, buffer: Array) -> Array:
    """Return 1 - |x_i - x_j|^2 for all pairs, as one matrix product, in the memory of `buffer`."""
    squares, ones, m = np.square(x).sum(axis=1), np.ones(len(x)), len(x)
    left, right = np.column_stack([2.0 * x, 1.0 - squares, ones]), np.column_stack([x, ones, -squares])
    return np.matmul(left, right.T, out=buffer[: m * m].reshape(m, m))


def _met(closeness: Array, radius: float) -> tuple[IntArray, IntArray]:
    """Return one point of each group of points closer than `radius`, and the group of each point."""
    first = (closeness >= 1.0 - radius**2).argmax(axis=1)
    first = first[first]  # the first point of a group may itself be close to an earlier one
    return np.unique(first, return_inverse=True)


def _reduced(points: Array) -> Array:
    """Return centred points, with at most as many coordinates as points and unchanged distances."""
    x = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
    if x.shape[1] <= len(x):
        return x
    values, vectors = np.linalg.eigh(x @ x.T)
    return vectors * np.sqrt(np.maximum(values, 0.0))
