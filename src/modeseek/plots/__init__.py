"""Pictures: of a clustering, and of lines with intervals."""

from modeseek.plots.clusters import plot_clusters, save_clusters
from modeseek.plots.colours import palette
from modeseek.plots.lines import Band, Style, legend_below, plot_lines, style_cycle
from modeseek.plots.style import PICTURE_SUFFIXES, save_figure

__all__ = [
    "PICTURE_SUFFIXES",
    "Band",
    "Style",
    "legend_below",
    "palette",
    "plot_clusters",
    "plot_lines",
    "save_clusters",
    "save_figure",
    "style_cycle",
]
