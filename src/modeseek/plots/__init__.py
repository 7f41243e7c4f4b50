"""Pictures: of a clustering, of a run, of scales and modes, of several partitions, and of lines with intervals."""

from modeseek.plots.alternatives import plot_alternatives
from modeseek.plots.animation import FILM_SUFFIXES, animate
from modeseek.plots.bandwidths import plot_bandwidths
from modeseek.plots.clusters import plot_clusters, save_clusters
from modeseek.plots.coassociation import plot_coassociation
from modeseek.plots.colours import palette
from modeseek.plots.comparison import plot_comparison
from modeseek.plots.course import plot_course
from modeseek.plots.lines import Band, Style, legend_below, plot_lines, style_cycle
from modeseek.plots.prominence import plot_prominence
from modeseek.plots.scales import plot_scales
from modeseek.plots.style import PICTURE_SUFFIXES, save_figure
from modeseek.plots.trajectories import plot_trajectories
from modeseek.plots.tree import plot_tree

__all__ = [
    "FILM_SUFFIXES",
    "PICTURE_SUFFIXES",
    "Band",
    "Style",
    "animate",
    "legend_below",
    "palette",
    "plot_alternatives",
    "plot_bandwidths",
    "plot_clusters",
    "plot_coassociation",
    "plot_comparison",
    "plot_course",
    "plot_lines",
    "plot_prominence",
    "plot_scales",
    "plot_trajectories",
    "plot_tree",
    "save_clusters",
    "save_figure",
    "style_cycle",
]
