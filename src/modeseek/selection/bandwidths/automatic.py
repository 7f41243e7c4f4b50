"""Bandwidths from the data alone: the range whose clusters come back in other points of the same kind.

h(m) is the median distance of a point to its m-th nearest other point, points counted once however often they occur. A
scale is a count u, and its range is h_min = h(u / 4), h_inf = h(u / 2), h_max = h(u). For each scale of a grid, chains
of doubly stochastic mean shift run on halves of the data, and the scale at which one half best tells the clusters of
the other is taken. Algorithms with one bandwidth take sqrt(h_inf h_max).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.distances import kth_distances
from modeseek._common.neighbors import nearest
from modeseek._common.types import Array, Geometry, IntArray, Stage, Watcher
from modeseek.meanshift.bandwidth import DrawPlan, Shrinking, uniforms
from modeseek.meanshift.chains import Problem
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.meanshift.partition import components
from modeseek.metrics import rand_agreement

__all__ = ["Range", "RangeScore", "automatic_range", "score_ranges"]

# medians over this many points are as good as over all
QUERIES = 200
# counts of neighbours go up by this factor from one scale to the next
STEP = 2**0.5
# halves are drawn from so many points: a second or two at most in the plane
SAMPLE = 1000
# ... and from fewer in high dimension, where sample^2 * d stays below this
WORK = 5e7
# the sample is cut in halves at least and at most so often: more often, the fewer points there are ...
SPLITS = (4, 16)
# ... so that the halves of all cuts together hold about so many points
POINTS = 2400
# how long the chain of a half runs
SWEEPS = 15
# halves of fewer points than this are too small to agree or not
FEWEST = 20
# a cluster of fewer points is a crumb
CRUMB = 5


class Range(NamedTuple):
    """A range of bandwidths with the value it closes on."""

    h_min: float
    h_inf: float
    h_max: float

    @property
    def single(self) -> float:
        """What algorithms with one bandwidth take: halfway, in ratios, from h_inf to h_max."""
        return float(np.sqrt(self.h_inf) * np.sqrt(self.h_max))


class RangeScore(NamedTuple):
    """A scale of the grid and what halves of the data say of it.

    Attributes
    ----------
    neighbours : int
        The count u behind h_max.
    range : Range
        What a chain on all the data would be given.
    agreement : float
        Mean adjusted Rand index of the clusters of one half and those that the nearest points of the other half give
        to it.
    separation : float
        Chance that two points of a half lie in different clusters, neither of them a crumb of fewer than five points.
    crumbs : float
        Share of points in crumbs.
    """

    neighbours: int
    range: Range
    agreement: float
    separation: float
    crumbs: float

    @property
    def score(self) -> float:
        """What the best scale has most of: agreement * separation."""
        return self.agreement * self.separation


def automatic_range(
    points: Array,
    weights: Array | None = None,
    *,
    geometry: Geometry | None = None,
    watch: Watcher | None = None,
) -> Range:
    """Return the range of the scale with the best score in `score_ranges`.

    Where its halves agree no better than those of noise may, (1 - 5 / sqrt(m)) / sqrt(d) if m points in d dimensions
    are looked at, the range is that of the largest scale, at which all is one cluster. Fewer than twenty points cannot
    be halved: their scale is u = 2 sqrt(n). The choice knows no seed: the same data, the same range.

    Parameters
    ----------
    points : (n, d) array
        Distinct points. A single one has no scale: its range is 1.
    weights : (n,) array, optional
    geometry : Geometry, optional
        Default: Euclidean space.
    watch : callable, optional
        Told how many scales of the grid are judged, as a `Stage`.

    Examples
    --------
    >>> automatic_range(np.concatenate([np.arange(20.0), np.arange(50.0, 70.0)])[:, None])
    Range(h_min=3.0, h_inf=7.5, h_max=43.5)
    """
    n = len(points)
    if n == 1:
        return Range(1.0, 1.0, 1.0)
    if n < FEWEST:
        return _ranges(points, [min(round(2 * np.sqrt(n)), n - 1)])[0]
    best = coarsest = None
    told = Stage("choosing the range", 0, len(_counts(n)), "scales", at_most=True)
    watch = watch or _nobody
    watch(told)
    for judged, scale in enumerate(score_ranges(points, weights, geometry=geometry), 1):
        watch(told._replace(done=judged))
        coarsest = coarsest or scale
        if best is None or scale.score > best.score:  # of equals, the coarser
            best = scale
        if (1 - scale.crumbs) ** 2 < best.score:  # finer scales have more crumbs, so none can win
            break
    assert best is not None
    assert coarsest is not None
    return best.range if best.score > 0 and best.agreement > _chance(*points.shape) else coarsest.range


def _nobody(stage: Stage) -> None:
    """Watch nothing."""


def score_ranges(
    points: Array, weights: Array | None = None, *, geometry: Geometry | None = None
) -> Iterator[RangeScore]:
    """Yield the scales of the grid with what halves of the data say of them, from the coarsest on.

    At most 1000 points are looked at, fewer above 50 dimensions. They are cut in halves at random, four to sixteen
    times, and a chain of at most 15 sweeps runs on each half at each scale. Ranges are those of all the points: a half
    has fewer points in reach, not a wider reach. A scale at which the first half is one cluster gets no further chains.

    Parameters
    ----------
    points, weights, geometry
        As in `automatic_range`; at least twenty points.

    Examples
    --------
    >>> from itertools import islice
    >>> from modeseek.datasets import paper_mixture
    >>> for scale in islice(score_ranges(paper_mixture(50, random_state=0)[0]), 2, 6):
    ...     print(scale.neighbours, round(scale.range.h_max, 2), round(scale.score, 2))
    91 2.28 0.02
    64 1.71 0.27
    45 1.29 0.36
    32 1.02 0.31
    """
    n = len(points)
    geometry = Geometry() if geometry is None else geometry
    counts = _counts(n)
    # by distance from the mean, so that neither the order of rows nor a rotation changes who is looked at
    exact = points.astype(np.float64)  # squares of single precision may overflow
    order = np.argsort(np.linalg.norm(exact - exact.mean(axis=0), axis=1), kind="stable")
    points, weights = points[order], np.ones(n) if weights is None else weights[order]
    halves = list(_halves(points, weights))
    for count, h in zip(counts, _ranges(points, counts), strict=True):
        labels = [halves[0].labels(h, geometry, 0)]
        if labels[0].max() == 0:
            yield RangeScore(count, h, 1.0, 0.0, 0.0)
            continue
        labels += [half.labels(h, geometry, number) for number, half in enumerate(halves[1:], 1)]
        yield RangeScore(count, h, *_judge(halves, labels))


class _Half(NamedTuple):
    """Half of the sample, and for each of its points the nearest one of the other half."""

    points: Array
    weights: Array
    others: IntArray

    def labels(self, h: Range, geometry: Geometry, number: int) -> IntArray:
        """Run a chain, no longer than its clusters take to show, and read them off."""
        engine = choose("auto", BIWEIGHT, self.points, h.h_max)
        plan = DrawPlan(self.weights, Shrinking(h.h_min, h.h_max, h.h_inf), seed=0, chain=number)
        workspace = Problem(self.points, self.weights, BIWEIGHT, geometry, engine).open()
        tau, last_shift = h.h_min / 4, np.full(len(self.points), np.inf)
        # not `run`: a trace and a certificate, which nobody looks at, cost as much as the sweeps of a few points
        for sweep in range(SWEEPS):
            draws, _ = plan.sweep(sweep, h.h_inf)
            last_shift[draws.indices] = workspace.shift_each(draws)
            if last_shift.max() < tau / 100:
                break
        return components(workspace.points, tau)


def _halves(points: Array, weights: Array) -> Iterator[_Half]:
    """Cut a sample in halves, several times: numbers 2 i and 2 i + 1 belong together."""
    size = _looked_at(*points.shape)
    sample = np.argsort(uniforms(1, 0, 1, len(points), width=1)[:, 0], kind="stable")[:size]
    for number in range(1, int(np.clip(POINTS // size, *SPLITS)) + 1):
        drawn = np.argsort(uniforms(1, number, 1, size, width=1)[:, 0], kind="stable")
        one, other = (sample[np.sort(half)] for half in np.array_split(drawn, 2))
        yield _Half(points[one], weights[one], nearest(points[other], points[one]))
        yield _Half(points[other], weights[other], nearest(points[one], points[other]))


def _looked_at(n: int, d: int) -> int:
    return min(n, SAMPLE, max(FEWEST, int(np.sqrt(WORK / d))))


def _chance(n: int, d: int) -> float:
    """Return how well the halves of noise may agree at its best scale: measured, not derived."""
    return (1.0 - 5.0 / np.sqrt(_looked_at(n, d))) / np.sqrt(d)


def _counts(n: int) -> list[int]:
    """Return the counts behind h_max, from n - 1 down to 4."""
    steps = int(np.log(max(n - 1, 4) / 4) / np.log(STEP) - 1e-9)
    return [n - 1, *(round(4 * STEP**step) for step in range(steps, -1, -1))]


def _ranges(points: Array, counts: Sequence[int]) -> list[Range]:
    n = len(points)
    queries = points[np.linspace(0, n - 1, min(n, QUERIES)).astype(np.intp)]
    ks = [max(1, round(count / part)) for count in counts for part in (4, 2, 1)]
    # + 1: a point is its own first neighbour
    h = np.median(kth_distances(points, [k + 1 for k in ks], queries), axis=0).reshape(-1, 3)
    return [Range(*row) for row in h.tolist()]


def _judge(halves: Sequence[_Half], labels: Sequence[IntArray]) -> tuple[float, float, float]:
    """Return agreement, separation and crumbs."""
    agreements, separations, crumbs = [], [], []
    for number, (half, own) in enumerate(zip(halves, labels, strict=True)):
        agreements.append(rand_agreement(own, labels[number ^ 1][half.others]))
        sizes = np.bincount(own)
        real = sizes[sizes >= CRUMB] / len(own)
        separations.append(real.sum() ** 2 - np.square(real).sum())
        crumbs.append(1 - real.sum())
    return float(np.mean(agreements)), float(np.mean(separations)), float(np.mean(crumbs))
