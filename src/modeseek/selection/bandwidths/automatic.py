"""Automatic bandwidths: the bandwidth whose clusters are expected to agree best with the true clusters.

`ModeSeek`'s selection proposes candidate partitions of a sample, and its trained model gives each a probability.
Trial runs of mean shift on a part of the sample give a partition for each bandwidth of a grid. The bandwidth with the
largest expected agreement between its partition and the candidates is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from modeseek._common.blas import one_blas_thread
from modeseek._common.distances import kth_distance
from modeseek._common.points import Points
from modeseek._common.types import Array, Geometry, IntArray, Stage, Watcher
from modeseek.selection.bandwidths.config import DEFAULT, RangeConfig
from modeseek.selection.bandwidths.ranges import Range
from modeseek.selection.bandwidths.trials import TrialSample, chain_partition, trial_bandwidths, trial_partitions
from modeseek.selection.choice import TIE, load_choice, with_single
from modeseek.selection.data import base_sample, prepare_data
from modeseek.selection.features import candidate_features
from modeseek.selection.pool import build_pool, table_of

__all__ = ["Algorithm", "BandwidthScore", "automatic_range", "score_bandwidths"]

# the paper's names of the mean-shift algorithms
Algorithm: TypeAlias = Literal["MS", "BMS", "SMS", "DSMS"]


class BandwidthScore(NamedTuple):
    """A bandwidth and the score of its clusters.

    Attributes
    ----------
    h : float
        The bandwidth.
    n_clusters : int
        Number of clusters of a trial run on a sample.
    score : float
        Mean adjusted Rand index of these clusters with the candidates of `ModeSeek`'s selection, weighted by the
        probabilities that the trained model of the selection gives to the candidates.
    """

    h: float
    n_clusters: int
    score: float


def automatic_range(
    points: Array,
    weights: Array | None = None,
    *,
    geometry: Geometry | None = None,
    algorithm: Algorithm = "BMS",
    watch: Watcher | None = None,
    config: RangeConfig = DEFAULT,
) -> Range:
    """Return a narrow range around the bandwidth with the best score in `score_bandwidths`.

    h_inf is that bandwidth, or the geometric mean of neighbouring bandwidths with nearly the same score. The range
    reaches from h_inf / 1.4 to 1.2 h_inf, or less far if the scores are much lower there. If the best score is that
    of a single cluster, h_inf is the largest bandwidth. For fewer than twenty points, h_inf is the median distance to
    neighbour number sqrt(2 n). The result does not depend on a random seed.

    Parameters
    ----------
    points : (n, d) array
        Distinct points. The range of a single point is 1.
    weights : (n,) array, optional
    geometry : Geometry, optional
        Default: Euclidean space.
    algorithm : {"MS", "BMS", "SMS", "DSMS"}
        The algorithm that the range is for. Trial runs are those of mean shift for "MS", and of blurring mean shift
        otherwise. For "SMS" and "DSMS" in more than 32 features, the range is then adjusted by trial runs of the
        algorithm itself, because the random order of updates matters there.
    watch : callable, optional
        Called with a `Stage` as the choice proceeds.
    config : RangeConfig

    Examples
    --------
    >>> h = automatic_range(np.concatenate([np.arange(20.0), np.arange(50.0, 70.0)])[:, None])
    >>> round(h.h_max / h.h_min, 2)
    1.68
    """
    n = len(points)
    if n == 1:
        return Range(1.0, 1.0, 1.0)
    if n < config.min_points:
        h = float(np.median(kth_distance(points, min(round(np.sqrt(2 * n)), n - 1) + 1)))
        return Range(config.lower * h, h, config.upper * h)
    with one_blas_thread():
        runs = TrialRuns(points, weights, geometry, watch, config)
        found = _range_of(runs.scores(algorithm), config)
        if algorithm in ("SMS", "DSMS") and points.shape[1] > config.many_features:
            found = runs.adjusted(found, algorithm)
    return found


@one_blas_thread()
def score_bandwidths(
    points: Array,
    weights: Array | None = None,
    *,
    geometry: Geometry | None = None,
    algorithm: Algorithm = "BMS",
    watch: Watcher | None = None,
    config: RangeConfig = DEFAULT,
) -> list[BandwidthScore]:
    """Return the bandwidths of the grid, from the smallest to the largest, with their scores.

    Candidates are proposed on a sample of at most 2,000 points. Trial runs use at most 500 of these points, or 300 if
    there are more than 32 features.

    Parameters
    ----------
    points, weights, geometry, algorithm, watch, config
        As in `automatic_range`; at least twenty points.

    Examples
    --------
    >>> points = np.concatenate([np.arange(20.0), np.arange(50.0, 70.0)])[:, None]
    >>> scores = score_bandwidths(points)
    >>> smallest, largest = scores[0], scores[-1]
    >>> smallest.h < largest.h, smallest.n_clusters > largest.n_clusters
    (True, True)
    """
    return TrialRuns(points, weights, geometry, watch, config).scores(algorithm)


class TrialRuns:
    """Candidate partitions of a sample, and trial runs on a part of it that are compared with them.

    Parameters
    ----------
    points, weights, geometry, watch, config
        As in `automatic_range`.
    """

    def __init__(
        self,
        points: Array,
        weights: Array | None,
        geometry: Geometry | None,
        watch: Watcher | None,
        config: RangeConfig,
    ):
        n, d = points.shape
        weights = np.ones(n) if weights is None else weights
        self.config, self.geometry = config, Geometry() if geometry is None else geometry
        most = config.max_points if d <= config.many_features else config.max_points_many_features
        rows, tried = _samples(points, most, config)
        self.points, self.weights, self.share = points[rows[tried]], weights[rows[tried]], len(tried) / n
        self.bandwidths = trial_bandwidths(self.points, config)
        self._watch, self._stage = watch or _ignore, Stage("choosing the range", 0, len(self.bandwidths) + 1, "runs")
        self._watch(self._stage)
        data = prepare_data(Points(points[rows], weights[rows], np.arange(len(rows)), np.zeros(d), self.geometry))
        pool = build_pool(data)
        features = candidate_features(data, base_sample(data), pool)
        self._probabilities = load_choice().probabilities(features, with_single(pool.agreement))
        one = np.zeros(len(tried), dtype=np.int32)
        self._candidates = [*(each.labels[tried] for each in pool.candidates), one]
        self._report()

    def scores(self, algorithm: Algorithm) -> list[BandwidthScore]:
        """Return the scores of all bandwidths of the grid."""
        sample = TrialSample(self.points, self.weights, self.share)
        partitions = []
        for labels in trial_partitions(sample, self.bandwidths, self.config, climbing=algorithm == "MS"):
            partitions.append(labels)
            self._report()
        sizes = [int(labels.max()) + 1 for labels in partitions]
        expected = self._expected(partitions)
        return [BandwidthScore(*each) for each in zip(self.bandwidths.tolist(), sizes, expected, strict=True)]

    def adjusted(self, found: Range, algorithm: Algorithm) -> Range:
        """Multiply a range by the factor whose trial run of the algorithm itself has the best score.

        The factors of the config are tried first, and then the two next to the best of them.
        """
        config = self.config
        scores: dict[float, float] = {}
        self._stage = self._stage._replace(total=self._stage.done + len(config.factors) + 2)

        def try_factors(factors: Iterable[float]) -> float:
            for factor in factors:
                range_ = Range(*(factor * h for h in found))
                labels = chain_partition(
                    self.points, self.weights, self.geometry, range_ if algorithm == "DSMS" else range_.h_inf, config
                )
                (scores[factor],) = self._expected([labels])
                self._report()
            return max(scores, key=lambda factor: round(scores[factor] / TIE))  # the earlier one of equal scores

        best = try_factors(config.factors)
        best = try_factors((best * config.fine_factor, best / config.fine_factor))
        return Range(*(best * h for h in found))

    def _expected(self, partitions: list[IntArray]) -> list[float]:
        """Return the expected agreement of each partition with the candidates."""
        return (_agreement(partitions, self._candidates) @ self._probabilities).tolist()

    def _report(self) -> None:
        self._stage = self._stage._replace(done=self._stage.done + 1)
        self._watch(self._stage)


def _ignore(stage: Stage) -> None:
    """Report nothing."""


def _samples(points: Array, n_tried: int, config: RangeConfig) -> tuple[IntArray, IntArray]:
    """Return the indices of a random sample for candidates, and the positions in it of the points for trial runs.

    Points are sorted by their distance from the mean, so that the sample depends neither on the order of rows nor on a
    rotation.
    """
    exact = points.astype(np.float64)  # squares of single precision may overflow
    order = np.argsort(np.linalg.norm(exact - exact.mean(axis=0), axis=1), kind="stable")
    drawn = np.random.default_rng(config.seed).permutation(len(points))[: config.candidate_points]
    places = np.sort(drawn)
    return order[places], np.searchsorted(places, np.sort(drawn[:n_tried]))


def _agreement(partitions: list[Array], candidates: list[Array]) -> Array:
    """Return the adjusted Rand index of each partition with each candidate."""
    from modeseek.selection.partition_loops import pair_agreement

    table, sizes, which = table_of([*partitions, *candidates], np.arange(len(candidates[0])))
    found = pair_agreement(table, sizes)[0]
    return found[np.ix_(which[: len(partitions)], which[len(partitions) :])]


def _range_of(scored: list[BandwidthScore], config: RangeConfig) -> Range:
    """Return the range around the best bandwidth, or around the mean of its neighbours that are nearly as good.

    Scores are smoothed over neighbouring bandwidths. The range extends at most half-way to the next bandwidth with a
    much lower score: in many dimensions, a bandwidth that is larger by a few percent may merge all clusters.
    """
    bandwidths = np.log([each.h for each in scored])
    raw = np.array([each.score for each in scored])
    around = np.pad(raw, 1, mode="edge")
    scores = (1.0 - config.smoothing) * raw + config.smoothing * (around[:-2] + around[2:]) / 2
    best = int(scores.argmax())
    if scored[best].n_clusters == 1:
        # the largest bandwidth, because outliers of all points may be further away than those of the sample
        center = bandwidths[-1]
    else:
        worse = np.flatnonzero(scores < scores[best] - config.plateau)
        first = worse[worse < best].max(initial=-1) + 1
        last = worse[worse > best].min(initial=len(scored))
        center = bandwidths[first:last].mean()
    bad = bandwidths[raw < config.least_share * raw.max()]
    below = np.max((center + bad[bad < center]) / 2, initial=-np.inf)
    above = np.min((center + bad[bad > center]) / 2, initial=np.inf)
    h = np.exp([max(center + np.log(config.lower), below), center, min(center + np.log(config.upper), above)])
    return Range(*h.tolist())
