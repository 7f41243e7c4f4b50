"""Views of data: each proposes partitions, at several settings, from nearest neighbours alone."""

from modeseek.views.proposals import Landscape, by_communities, by_modes, rise
from modeseek.views.thinning import Thinned, thin

__all__ = ["Landscape", "Thinned", "by_communities", "by_modes", "rise", "thin"]
