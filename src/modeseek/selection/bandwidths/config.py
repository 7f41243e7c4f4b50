"""Settings of the automatic bandwidth, with the values in use as defaults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RangeConfig:
    """Settings of the automatic bandwidth range.

    Attributes
    ----------
    candidate_points : int
        Candidate partitions of larger data are proposed and compared on a random sample of this size.
    max_points : int
        Trial runs use at most this many points of that sample.
    max_points_many_features : int
        Trial runs use at most this many points if the data have more than `many_features` features.
    many_features : int
        See `max_points_many_features`.
    few_features : int
        Up to this many features, trial runs of blurring mean shift are compiled loops. They are faster than matrix
        products there; results agree up to rounding.
    min_points : int
        For fewer points, the bandwidth is the median distance to neighbour number sqrt(2 n), without trial runs.
    n_counts : int
        Number of values of k, from 1 to the number of points, for which the median distance to the k-th neighbour is
        a bandwidth.
    max_ratio, min_ratio : float
        Bounds on the ratio of successive bandwidths. Bandwidths are inserted where the ratio is larger than
        `max_ratio`, and dropped where it is smaller than `min_ratio`.
    max_sweeps : int
        Upper bound on the sweeps of a trial run.
    tol : float
        A trial run ends when no coordinate moves by more than this share of the bandwidth.
    merge_every : int
        Number of sweeps between two merges of coincident points.
    merge_radius : float
        Points closer than this share of the bandwidth count as coincident.
    radius : float
        Points that end closer than this share of the bandwidth form a cluster.
    smoothing : float
        Weight of the two neighbouring bandwidths in the smoothed score of a bandwidth.
    plateau : float
        Neighbouring bandwidths are averaged with the best one if their scores are lower by at most this.
    lower, upper : float
        h_min and h_max as multiples of h_inf.
    factors : tuple of float
        Factors on the range of a stochastic algorithm in more than `many_features` features that are tried by trial
        runs of the algorithm itself.
    fine_factor : float
        Ratio of the two further factors to the best of these.
    least_share : float
        The range ends half-way to the next bandwidth whose score is below this share of the best one.
    seed : int
        Seed of the random sample.
    """

    candidate_points: int = 2000
    max_points: int = 500
    max_points_many_features: int = 300
    many_features: int = 32
    few_features: int = 8
    min_points: int = 20
    n_counts: int = 14
    max_ratio: float = 1.35
    min_ratio: float = 1.01
    max_sweeps: int = 25
    tol: float = 0.01
    merge_every: int = 3
    merge_radius: float = 0.001
    radius: float = 0.25
    smoothing: float = 0.5
    plateau: float = 0.01
    lower: float = 1 / 1.4
    upper: float = 1.2
    factors: tuple[float, ...] = (1.0, 1.2, 1 / 1.2, 1 / 1.44)
    fine_factor: float = 1.095
    least_share: float = 0.8
    seed: int = 0


DEFAULT = RangeConfig()
