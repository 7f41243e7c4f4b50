"""Pictures of a clustering."""

from modeseek.plots.clusters import PICTURE_SUFFIXES, plot_clusters, save_clusters
from modeseek.plots.colours import palette

__all__ = ["PICTURE_SUFFIXES", "palette", "plot_clusters", "save_clusters"]
