"""Bandwidths from the data: a range for doubly stochastic mean shift, and what goes with it."""

from modeseek.selection.bandwidths.choice import Range, Scale, automatic_range, judge_scales
from modeseek.selection.bandwidths.given import complete_range, estimate_bandwidth, local_scales

__all__ = ["Range", "Scale", "automatic_range", "complete_range", "estimate_bandwidth", "judge_scales", "local_scales"]
