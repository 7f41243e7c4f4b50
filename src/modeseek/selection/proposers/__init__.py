"""Views of data: each proposes partitions. Modes and communities look at neighbours alone, a mixture at the points."""

from modeseek.selection.proposers.gaussians import Gaussians, Retrial, by_mixture
from modeseek.selection.proposers.proposals import KnnGraph, by_communities, by_modes, excess_prominence
from modeseek.selection.proposers.subsampling import Subsample, subsample

__all__ = [
    "Gaussians",
    "KnnGraph",
    "Retrial",
    "Subsample",
    "by_communities",
    "by_mixture",
    "by_modes",
    "excess_prominence",
    "subsample",
]
