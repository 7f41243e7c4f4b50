"""Bandwidths from the data alone: the range whose clusters are most reproducible on random halves of the data.

h(m) is the median distance of a point to its m-th nearest other point, where equal points count once. A neighbour count
u gives the range h_min = h(u / 4), h_inf = h(u / 2), h_max = h(u). For each u of a grid, chains of doubly stochastic
mean shift run on random halves of the data. The range is selected whose clusters of one half best predict those of the
other half. Algorithms with a single bandwidth use sqrt(h_inf * h_max).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.distances import kth_distances
from modeseek._common.neighbors import nearest
from modeseek._common.types import Array, Geometry, IntArray, Stage, Watcher
from modeseek.meanshift.bandwidth import Shrinking, uniforms
from modeseek.meanshift.chains import Outcome, Problem, Record, Stopping, doubly_stochastic, run
from modeseek.meanshift.components import components
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.metrics import rand_agreement
from modeseek.selection.bandwidths.config import RangeConfig
from modeseek.selection.bandwidths.ranges import Range

__all__ = ["RangeScore", "automatic_range", "score_ranges"]

DEFAULT = RangeConfig()


class RangeScore(NamedTuple):
    """A range and its scores on random halves of the data.

    Attributes
    ----------
    n_neighbors : int
        The neighbour count u of the range.
    range : Range
        The range for all the data.
    agreement : float
        Mean adjusted Rand index between the clusters of one half and those predicted from the other half: each point is
        assigned to the cluster of its nearest point there.
    separation : float
        Probability that two points of a half lie in different clusters, both of them of at least five points.
    fragments : float
        Share of the points in clusters of fewer than five points.
    """

    n_neighbors: int
    range: Range
    agreement: float
    separation: float
    fragments: float

    @property
    def score(self) -> float:
        """Agreement * separation, which is largest for the best range."""
        return self.agreement * self.separation


def automatic_range(
    points: Array,
    weights: Array | None = None,
    *,
    geometry: Geometry | None = None,
    watch: Watcher | None = None,
    config: RangeConfig = DEFAULT,
) -> Range:
    """Return the range with the best score in `score_ranges`.

    If the agreement of the best range is not above (1 - 5 / sqrt(m)) / sqrt(d), for a sample of m points in d
    dimensions, the data probably have no clusters. The result is then the widest range, which gives one cluster. Fewer
    than twenty points are not split; their range has u = 2 sqrt(n). The result depends on no random seed.

    Parameters
    ----------
    points : (n, d) array
        Distinct points. The range of a single point is 1.
    weights : (n,) array, optional
    geometry : Geometry, optional
        Default: Euclidean space.
    watch : callable, optional
        Called with a `Stage` after each range of the grid.
    config : RangeConfig

    Examples
    --------
    >>> automatic_range(np.concatenate([np.arange(20.0), np.arange(50.0, 70.0)])[:, None])
    Range(h_min=3.0, h_inf=7.5, h_max=43.5)
    """
    n = len(points)
    if n == 1:
        return Range(1.0, 1.0, 1.0)
    if n < config.min_points:
        return _ranges(points, [min(round(2 * np.sqrt(n)), n - 1)], config)[0]
    best = widest = None
    stage = Stage("choosing the range", 0, len(_neighbor_counts(n, config)), "ranges", at_most=True)
    watch = watch or _ignore
    watch(stage)
    for done, scored in enumerate(score_ranges(points, weights, geometry=geometry, config=config), 1):
        watch(stage._replace(done=done))
        widest = widest or scored
        if best is None or scored.score > best.score:
            best = scored
        if (1 - scored.fragments) ** 2 < best.score:  # narrower ranges have more fragments and cannot score higher
            break
    assert best is not None
    assert widest is not None
    return best.range if best.score > 0 and best.agreement > _noise_agreement(points, config) else widest.range


def _ignore(stage: Stage) -> None:
    """Report nothing."""


def score_ranges(
    points: Array, weights: Array | None = None, *, geometry: Geometry | None = None, config: RangeConfig = DEFAULT
) -> Iterator[RangeScore]:
    """Yield the ranges of the grid with their scores, from the widest to the narrowest.

    At most 1000 points are used, fewer above 50 dimensions. They are split into random halves, four to sixteen times,
    and a chain of at most 15 sweeps runs on each half for each range. If a range gives one cluster on the first half,
    it gets no further chains.

    Parameters
    ----------
    points, weights, geometry, config
        As in `automatic_range`; at least twenty points.

    Examples
    --------
    >>> from itertools import islice
    >>> from modeseek.datasets import paper_mixture
    >>> for scored in islice(score_ranges(paper_mixture(50, random_state=0)[0]), 2, 6):
    ...     print(scored.n_neighbors, round(scored.range.h_max, 2), round(scored.score, 2))
    91 2.28 0.02
    64 1.71 0.27
    45 1.29 0.36
    32 1.02 0.31
    """
    n = len(points)
    geometry = Geometry() if geometry is None else geometry
    counts = _neighbor_counts(n, config)
    # sorted by distance from the mean, so that the sample depends neither on the order of rows nor on a rotation
    exact = points.astype(np.float64)  # squares of single precision may overflow
    order = np.argsort(np.linalg.norm(exact - exact.mean(axis=0), axis=1), kind="stable")
    points, weights = points[order], np.ones(n) if weights is None else weights[order]
    halves = list(_halves(points, weights, config))
    # ranges are those of all points: a half has fewer points within the bandwidth, not a wider bandwidth
    for count, h in zip(counts, _ranges(points, counts, config), strict=True):
        labels = [halves[0].cluster(h, geometry, 0, config.max_sweeps)]
        if labels[0].max() == 0:
            yield RangeScore(count, h, 1.0, 0.0, 0.0)
            continue
        others = enumerate(halves[1:], 1)
        labels += [half.cluster(h, geometry, number, config.max_sweeps) for number, half in others]
        yield RangeScore(count, h, *_scores(halves, labels, config.small_cluster))


class _Half(NamedTuple):
    """Half of the sample, with the nearest point of the other half for each of its points."""

    points: Array
    weights: Array
    nearest_other: IntArray

    def cluster(self, h: Range, geometry: Geometry, number: int, max_sweeps: int) -> IntArray:
        """Run a chain until its clusters have formed, and return them."""
        engine = choose("auto", BIWEIGHT, self.points, h.h_max)
        problem = Problem(self.points, self.weights, BIWEIGHT, geometry, engine)
        chain = doubly_stochastic(problem, Shrinking(h.h_min, h.h_max, h.h_inf), seed=0, chain=number)
        tau = h.h_min / 4
        stopping = Stopping(tau, threshold=tau / 100, rule="shifts", max_sweeps=max_sweeps)
        result = run(chain, stopping, record=Record.nothing())
        if result.outcome is Outcome.INTERRUPTED:
            raise KeyboardInterrupt
        return components(result.state.points, tau)


def _halves(points: Array, weights: Array, config: RangeConfig) -> Iterator[_Half]:
    """Split a random sample into halves several times; halves 2 i and 2 i + 1 belong together."""
    size = _sample_size(points, config)
    sample = np.argsort(uniforms(1, 0, 1, len(points), width=1)[:, 0], kind="stable")[:size]
    n_splits = int(np.clip(config.total_points // size, config.min_splits, config.max_splits))
    for number in range(1, n_splits + 1):
        drawn = np.argsort(uniforms(1, number, 1, size, width=1)[:, 0], kind="stable")
        one, other = (sample[np.sort(half)] for half in np.array_split(drawn, 2))
        yield _Half(points[one], weights[one], nearest(points[other], points[one]))
        yield _Half(points[other], weights[other], nearest(points[one], points[other]))


def _sample_size(points: Array, config: RangeConfig) -> int:
    n, d = points.shape
    return min(n, config.max_points, max(config.min_points, int(np.sqrt(config.max_work / d))))


def _noise_agreement(points: Array, config: RangeConfig) -> float:
    """Return the agreement of halves that unclustered data may reach at their best range: a fit to simulations."""
    return (1.0 - 5.0 / np.sqrt(_sample_size(points, config))) / np.sqrt(points.shape[1])


def _neighbor_counts(n: int, config: RangeConfig) -> list[int]:
    """Return the neighbour counts of the grid, from n - 1 down to 4."""
    steps = int(np.log(max(n - 1, 4) / 4) / np.log(config.step) - 1e-9)
    return [n - 1, *(round(4 * config.step**step) for step in range(steps, -1, -1))]


def _ranges(points: Array, counts: Sequence[int], config: RangeConfig) -> list[Range]:
    n = len(points)
    queries = points[np.linspace(0, n - 1, min(n, config.n_queries)).astype(np.intp)]
    ks = [max(1, round(count / part)) for count in counts for part in (4, 2, 1)]
    # + 1: a point is its own first neighbour
    h = np.median(kth_distances(points, [k + 1 for k in ks], queries), axis=0).reshape(-1, 3)
    return [Range(*row) for row in h.tolist()]


def _scores(halves: Sequence[_Half], labels: Sequence[IntArray], small_cluster: int) -> tuple[float, float, float]:
    """Return agreement, separation and fragments."""
    agreements, separations, fragments = [], [], []
    for number, (half, own) in enumerate(zip(halves, labels, strict=True)):
        agreements.append(rand_agreement(own, labels[number ^ 1][half.nearest_other]))
        sizes = np.bincount(own)
        large = sizes[sizes >= small_cluster] / len(own)
        separations.append(large.sum() ** 2 - np.square(large).sum())
        fragments.append(1 - large.sum())
    return float(np.mean(agreements)), float(np.mean(separations)), float(np.mean(fragments))
