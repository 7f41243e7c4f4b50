"""Automatic bandwidths: a range for doubly stochastic mean shift, and a single bandwidth for the other mean shifts."""

from modeseek.selection.bandwidths.automatic import BandwidthScore, automatic_range, score_bandwidths
from modeseek.selection.bandwidths.ranges import Range, complete_range, estimate_bandwidth, local_scales

__all__ = [
    "BandwidthScore",
    "Range",
    "automatic_range",
    "complete_range",
    "estimate_bandwidth",
    "local_scales",
    "score_bandwidths",
]
