"""Bandwidths from the data alone: the range whose clusters come back when points are left out.

h(m) is the median distance of a point to its m-th nearest other point, points counted once however often they occur. A
scale is a count u, and its range is h_min = h(u / 4), h_inf = h(u / 2), h_max = h(u). For each scale of a grid, chains
of doubly stochastic mean shift run on thinned data, and the scale whose partitions agree best is taken. Algorithms with
one bandwidth take sqrt(h_inf h_max).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from modeseek.bandwidth import Shrinking, uniforms
from modeseek.chain import Setting, doubly_stochastic
from modeseek.engines import choose
from modeseek.metrics import rand_agreement
from modeseek.neighbours import kth_distances
from modeseek.partition import components
from modeseek.profiles import BIWEIGHT
from modeseek.types import Array, Geometry, IntArray

__all__ = ["Range", "Scale", "automatic_range", "judge_scales"]

# medians over this many points are as good as over all
QUERIES = 200
# counts of neighbours go up by this factor from one scale to the next
STEP = 2**0.5
# thinned data are drawn from so many points: a second or two at most in the plane
SAMPLE = 1000
# ... and from fewer in high dimension, where sample^2 * d stays below this
WORK = 5e7
# how many thinned copies, how much of the sample each keeps, and how long its chain runs
COPIES, KEPT, SWEEPS = 8, 0.7, 15
# with fewer points than this, thinned data are too few to agree or not
FEWEST = 10
# a cluster of fewer points is a crumb
CRUMB = 5
# one cluster with more than this share of the points is no partition
WHOLE = 0.95
# copies that agree less than this have nothing in common that is worth a scale
LEAST = 0.6


class Range(NamedTuple):
    """A range of bandwidths with the value it closes on."""

    h_min: float
    h_inf: float
    h_max: float

    @property
    def single(self) -> float:
        """What algorithms with one bandwidth take: halfway, in ratios, from h_inf to h_max."""
        return float(np.sqrt(self.h_inf) * np.sqrt(self.h_max))


class Scale(NamedTuple):
    """A scale of the grid and what thinned data say of it.

    Attributes
    ----------
    neighbours : int
        The count u behind h_max.
    range : Range
        What a chain on all the data would be given.
    agreement : float
        Mean adjusted Rand index of the partitions of any two thinned copies, over the points that they share.
    evenness : float
        Chance that two points of a copy lie in different clusters.
    crumbs : float
        Share of points in clusters of fewer than five.
    score : float
        agreement * sqrt(evenness) * (1 - crumbs), and 0 where copies agree less than 0.6 or hold
        less than two real clusters.
    """

    neighbours: int
    range: Range
    agreement: float
    evenness: float
    crumbs: float
    score: float


def automatic_range(points: Array, weights: Array | None = None, *, geometry: Geometry | None = None) -> Range:
    """Return the range of the scale with the best score in `judge_scales`.

    Where no scale shows two clusters that come back, it is the largest one, at which all is one cluster. Fewer than ten
    points cannot be thinned: their scale is u = 2 sqrt(n). The choice knows no seed: the same data, the same range.

    Parameters
    ----------
    points : (n, d) array
        Distinct points. A single one has no scale: its range is 1.
    weights : (n,) array, optional
    geometry : Geometry, optional
        Default: Euclidean space.

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
    for scale in judge_scales(points, weights, geometry=geometry):
        coarsest = coarsest or scale
        if best is None or scale.score > best.score:  # of equals, the coarser
            best = scale
        if 1 - scale.crumbs < best.score:  # finer scales have more crumbs, so none can win
            break
    assert best is not None
    assert coarsest is not None
    return best.range if best.score > 0 else coarsest.range


def judge_scales(points: Array, weights: Array | None = None, *, geometry: Geometry | None = None) -> Iterator[Scale]:
    """Yield the scales of the grid with what thinned data say of them, from the coarsest on.

    At most 1000 points are looked at, fewer above 50 dimensions. Each of eight copies keeps 70 % of them, and a chain
    of at most 15 sweeps runs on each copy at each scale. Ranges are those of all the points: a copy has fewer points in
    reach, not a wider reach. A scale at which the first copy is one cluster gets no further chains.

    Parameters
    ----------
    points, weights, geometry
        As in `automatic_range`; at least ten points.

    Examples
    --------
    >>> from itertools import islice
    >>> from modeseek.datasets import paper_mixture
    >>> for scale in islice(judge_scales(paper_mixture(50, random_state=0)[0]), 2, 6):
    ...     print(scale.neighbours, round(scale.range.h_max, 2), round(scale.score, 2))
    91 2.28 0.0
    64 1.71 0.62
    45 1.29 0.65
    32 1.02 0.57
    """
    n = len(points)
    geometry = Geometry() if geometry is None else geometry
    counts = _counts(n)
    # by distance from the mean, so that neither the order of rows nor a rotation changes who is looked at
    order = np.argsort(np.linalg.norm(points - points.mean(axis=0), axis=1), kind="stable")
    points, weights = points[order], np.ones(n) if weights is None else weights[order]
    copies = list(_copies(points, weights))
    for count, h in zip(counts, _ranges(points, counts), strict=True):
        labels = [copies[0].labels(h, geometry, 0)]
        if _largest(labels[0]) > WHOLE:
            yield Scale(count, h, 1.0, 0.0, 0.0, 0.0)
            continue
        labels += [copy.labels(h, geometry, number) for number, copy in enumerate(copies[1:], 1)]
        yield Scale(count, h, *_judge(copies, labels))


class _Copy(NamedTuple):
    """Thinned data: which points of the sample it keeps, and those points."""

    members: IntArray
    points: Array
    weights: Array

    def labels(self, h: Range, geometry: Geometry, number: int) -> IntArray:
        """Run a chain, no longer than its clusters take to show, and read them off."""
        engine = choose("auto", BIWEIGHT, self.points, h.h_max)
        setting = Setting(self.points, self.weights, BIWEIGHT, geometry, engine)
        chain = doubly_stochastic(setting, Shrinking(h.h_min, h.h_max, h.h_inf), seed=0, chain=number)
        tau = h.h_min / 4
        state = chain.init()
        # not `run`: a trace and a certificate, which nobody looks at, cost as much as the sweeps of a few points
        for _ in range(SWEEPS):
            state, _ = chain.sweep(state)
            if state.last_shift.max() < tau / 100:
                break
        return components(state.points, tau)


def _copies(points: Array, weights: Array) -> Iterator[_Copy]:
    sample = np.argsort(uniforms(1, 0, 1, len(points), width=1)[:, 0], kind="stable")
    sample = sample[: min(SAMPLE, int(np.sqrt(WORK / points.shape[1])))]
    for number in range(1, COPIES + 1):
        drawn = np.argsort(uniforms(1, number, 1, len(sample), width=1)[:, 0], kind="stable")
        members = np.sort(drawn[: int(np.ceil(KEPT * len(sample)))])
        yield _Copy(members, np.ascontiguousarray(points[sample[members]]), weights[sample[members]])


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


def _judge(copies: Sequence[_Copy], labels: Sequence[IntArray]) -> tuple[float, float, float, float]:
    """Return agreement, evenness, crumbs and the score."""
    sizes = [np.bincount(found) for found in labels]
    crumbs = float(np.mean([size[size < CRUMB].sum() / size.sum() for size in sizes]))
    evenness = float(np.mean([1 - np.square(size / size.sum()).sum() for size in sizes]))
    agreement = float(np.mean([_agreement(*pair) for pair in combinations(zip(copies, labels, strict=True), 2)]))
    several = np.mean([np.count_nonzero(size >= CRUMB) for size in sizes]) >= 1.5
    found = several and np.mean([_largest(found) for found in labels]) <= WHOLE and agreement >= LEAST
    return agreement, evenness, crumbs, float(agreement * np.sqrt(evenness) * (1 - crumbs)) if found else 0.0


def _largest(labels: IntArray) -> float:
    return float(np.bincount(labels).max()) / len(labels)


def _agreement(one: tuple[_Copy, IntArray], other: tuple[_Copy, IntArray]) -> float:
    """Return the adjusted Rand index over the points that both copies hold."""
    (a, a_labels), (b, b_labels) = one, other
    _, in_a, in_b = np.intersect1d(a.members, b.members, assume_unique=True, return_indices=True)
    return rand_agreement(a_labels[in_a], b_labels[in_b])
