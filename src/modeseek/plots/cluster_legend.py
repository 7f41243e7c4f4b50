"""The list of clusters beside a picture."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from modeseek._common.types import IntArray
from modeseek.plots.colors import MUTED_COLOR, NOISE_COLOR, TEXT_COLOR, palette

__all__ = ["MOST_IN_LEGEND", "cluster_legend"]

MOST_IN_LEGEND = 12


def cluster_legend(ax: Axes, clusters: NDArray[np.generic], sizes: IntArray, n_noise: int, *, ringed: str = "") -> None:
    """List clusters with their colours and sizes beside the axes, unless they are many; then what a ring means."""
    if len(clusters) > MOST_IN_LEGEND:
        return
    entries = [
        (f"{cluster}  ({size:,})", colour)
        for cluster, size, colour in zip(clusters, sizes, palette(len(clusters)), strict=True)
    ]
    if n_noise:
        entries.append((f"noise  ({n_noise:,})", NOISE_COLOR))
    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=7, color=colour, label=label) for label, colour in entries
    ]
    if ringed:
        handles.append(
            Line2D(
                [], [], linestyle="", marker="o", markersize=7, color=TEXT_COLOR, markerfacecolor="none", label=ringed
            )
        )
    legend = ax.legend(
        handles=handles,
        title="cluster (points)",
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        frameon=False,
        labelcolor=TEXT_COLOR,
        alignment="left",
        handletextpad=0.3,
    )
    legend.get_title().set_color(MUTED_COLOR)
