"""Views of data: each proposes partitions. Modes and communities look at neighbours alone, a mixture at the points."""

from modeseek.selection.proposers.gaussians import Gaussians, Retrial, by_mixture
from modeseek.selection.proposers.proposals import Landscape, by_communities, by_modes, rise
from modeseek.selection.proposers.thinning import Thinned, thin

__all__ = ["Gaussians", "Landscape", "Retrial", "Thinned", "by_communities", "by_mixture", "by_modes", "rise", "thin"]
