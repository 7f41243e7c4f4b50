"""Plots of clusterings, runs, merge trees and comparisons, on matplotlib axes or in files."""

from modeseek.plots.alternatives import plot_alternatives
from modeseek.plots.animation import ANIMATION_SUFFIXES, animate
from modeseek.plots.bandwidths import plot_bandwidths
from modeseek.plots.cluster_counts import plot_cluster_counts
from modeseek.plots.clusters import plot_clusters
from modeseek.plots.coassociation import plot_coassociation
from modeseek.plots.colors import palette
from modeseek.plots.comparison import plot_comparison
from modeseek.plots.lines import Band, LineStyle, legend_below, plot_lines, style_cycle
from modeseek.plots.prominence import plot_prominence
from modeseek.plots.style import FIGURE_SUFFIXES, save_figure
from modeseek.plots.trace import plot_trace
from modeseek.plots.trajectories import plot_trajectories
from modeseek.plots.tree import plot_tree

__all__ = [
    "ANIMATION_SUFFIXES",
    "FIGURE_SUFFIXES",
    "Band",
    "LineStyle",
    "animate",
    "legend_below",
    "palette",
    "plot_alternatives",
    "plot_bandwidths",
    "plot_cluster_counts",
    "plot_clusters",
    "plot_coassociation",
    "plot_comparison",
    "plot_lines",
    "plot_prominence",
    "plot_trace",
    "plot_trajectories",
    "plot_tree",
    "save_figure",
    "style_cycle",
]
