"""Bandwidths from the data: a range for doubly stochastic mean shift, and what goes with it."""

from modeseek.selection.bandwidths.automatic import Range, RangeScore, automatic_range, score_ranges
from modeseek.selection.bandwidths.ranges import complete_range, estimate_bandwidth, local_scales

__all__ = [
    "Range",
    "RangeScore",
    "automatic_range",
    "complete_range",
    "estimate_bandwidth",
    "local_scales",
    "score_ranges",
]
