"""Settings of the automatic bandwidth, with the values in use as defaults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RangeConfig:
    """Settings of the automatic bandwidth range.

    Attributes
    ----------
    n_queries : int
        Points over which median neighbour distances are taken.
    step : float
        Factor between the neighbour counts of successive ranges.
    max_points : int
        Larger data are judged on a random sample of this size.
    max_work : float
        Upper bound on (points of the sample)^2 * features, which makes the sample smaller in high dimension.
    min_splits, max_splits : int
        Bounds on the number of random splits into halves.
    total_points : int
        Points of all splits together; smaller samples are split more often.
    max_sweeps : int
        Upper bound on the sweeps of the chain on each half.
    min_points : int
        Fewer points are not split; their range has a fixed neighbour count.
    small_cluster : int
        Clusters of fewer points count as fragments.
    """

    n_queries: int = 200
    step: float = 2**0.5
    max_points: int = 1000
    max_work: float = 5e7
    min_splits: int = 4
    max_splits: int = 16
    total_points: int = 2400
    max_sweeps: int = 15
    min_points: int = 20
    small_cluster: int = 5
