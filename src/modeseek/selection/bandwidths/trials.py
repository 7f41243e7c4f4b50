"""Trial runs on a sample: partitions of mean shift or of blurring mean shift at several bandwidths.

A sweep of all points is two matrix products and needs no random numbers. At the same bandwidth, the clusters of
blurring mean shift are close to those of the stochastic algorithms. The clusters of mean shift are often finer, above
all in many dimensions, because its data do not move and thus do not contract.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist

from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.bandwidth import Constant, Shrinking
from modeseek.meanshift.chains import Outcome, Problem, Stopping, doubly_stochastic, partition, run
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.selection.bandwidths.blurring import BlurringPoints, MatrixPoints, SortedPoints, closeness, labels_of
from modeseek.selection.bandwidths.config import RangeConfig
from modeseek.selection.bandwidths.ranges import Range

__all__ = ["TrialSample", "chain_partition", "trial_bandwidths", "trial_partitions"]


class TrialSample:
    """A sample of points on which trial runs are made.

    Parameters
    ----------
    points : (m, d) array
    weights : (m,) array
    share : float
        Size of the sample relative to all points. In the mean around a point, the weight of the point itself is
        multiplied by `share`, because among all points it has 1 / share times as many neighbours.
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


def trial_partitions(
    sample: TrialSample, bandwidths: Array, config: RangeConfig, *, climbing: bool = False
) -> Iterator[IntArray]:
    """Yield the clusters of mean shift (`climbing`) or blurring mean shift for increasing bandwidths.

    After the first single cluster, all others are single clusters.
    """
    labels = np.arange(len(sample.points), dtype=np.int32)
    for h in bandwidths:
        if labels.any():
            labels = (climbing_partition if climbing else blurring_partition)(sample, float(h), config)
        yield labels


def climbing_partition(sample: TrialSample, h: float, config: RangeConfig) -> IntArray:
    """Return the clusters of mean shift with bandwidth h: each point climbs, and the density does not change."""
    points = sample.points / h
    ends, climbing, buffer = points.copy(), np.arange(len(points)), np.empty(len(points) ** 2)
    weighted = np.column_stack([points, np.ones(len(points))]) * sample.weights[:, None]
    for sweep in range(config.max_sweeps):
        kernel = closeness(ends[climbing], points, buffer)
        np.maximum(kernel, 0.0, out=kernel)
        if sweep == 0:
            np.fill_diagonal(kernel, sample.share)
        sums = kernel @ weighted
        # in many dimensions, the mean of several points may be farther than the bandwidth from all points
        found = np.flatnonzero(sums[:, -1] > 0.0)
        climbing, moved = climbing[found], sums[found, :-1] / sums[found, -1:]
        far = np.abs(moved - ends[climbing]).max(axis=1, initial=0.0) >= config.tol
        ends[climbing] = moved
        climbing = climbing[far]
        if not len(climbing):
            break
    return labels_of(ends, config.radius, buffer)


def blurring_partition(sample: TrialSample, h: float, config: RangeConfig) -> IntArray:
    """Return the clusters of blurring mean shift with bandwidth h.

    Points that coincide are merged.
    """
    # coordinates in units of the bandwidth
    x = sample.points / h
    moving: BlurringPoints = SortedPoints(x) if x.shape[1] <= config.few_features else MatrixPoints(x)
    weights, counts, member = sample.weights, np.ones(len(x)), np.arange(len(x))
    for sweep in range(config.max_sweeps):
        if sweep % config.merge_every == config.merge_every - 1:
            kept, group = np.unique(moving.coincident(config.merge_radius), return_inverse=True)
            if len(kept) < len(group):
                moving.keep(kept)
                member = group[member]
                weights, counts = (np.bincount(group, each).astype(np.float64) for each in (weights, counts))
        if moving.sweep(weights, 1.0 - (1.0 - sample.share) / counts) < config.tol:
            break
    return moving.components(config.radius)[member]


def chain_partition(
    points: Array, weights: Array, geometry: Geometry, h: Range | float, config: RangeConfig
) -> IntArray:
    """Return the clusters of a short chain: DSMS with a shrinking range, or SMS with a single bandwidth."""
    policy, tau = (Shrinking(h.h_min, h.h_max, h.h_inf), h.h_min / 4) if isinstance(h, Range) else (Constant(h), h / 4)
    problem = Problem(points, weights, choose("brute", BIWEIGHT, points), BIWEIGHT, geometry)
    chain = doubly_stochastic(problem, policy, seed=config.seed)
    found = run(chain, Stopping(tau, max_sweeps=config.max_sweeps))
    if found.outcome is Outcome.INTERRUPTED:
        raise KeyboardInterrupt("interrupted while bandwidths were chosen")
    return partition(chain, found, tau).labels.astype(np.int32)


def _reduced(points: Array) -> Array:
    """Return centred points, with at most as many coordinates as points and unchanged distances."""
    x = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
    if x.shape[1] <= len(x):
        return x
    values, vectors = np.linalg.eigh(x @ x.T)
    return vectors * np.sqrt(np.maximum(values, 0.0))
