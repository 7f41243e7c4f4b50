"""Pictures: of a clustering, of how modes merge, and of lines with intervals."""

from modeseek.plots.alternatives import plot_alternatives
from modeseek.plots.clusters import plot_clusters, save_clusters
from modeseek.plots.colours import palette
from modeseek.plots.lines import Band, Style, legend_below, plot_lines, style_cycle
from modeseek.plots.prominence import plot_prominence
from modeseek.plots.style import PICTURE_SUFFIXES, save_figure
from modeseek.plots.tree import plot_tree

__all__ = [
    "PICTURE_SUFFIXES",
    "Band",
    "Style",
    "legend_below",
    "palette",
    "plot_alternatives",
    "plot_clusters",
    "plot_lines",
    "plot_prominence",
    "plot_tree",
    "save_clusters",
    "save_figure",
    "style_cycle",
]
