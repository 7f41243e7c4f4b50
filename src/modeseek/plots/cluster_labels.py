"""Names of clusters in a plot: a legend to the right, or numbers at the clusters if there are too many of them."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from modeseek._common.types import Array, IntArray
from modeseek.plots.colors import MUTED_COLOR, NOISE_COLOR, TEXT_COLOR, palette

MAX_IN_LEGEND = 12
MAX_NUMBERS = 200
# width of a digit and height of a line, as shares of the axes
LETTER_WIDTH = 0.013
LINE_HEIGHT = 0.038


def cluster_legend(ax: Axes, clusters: NDArray[np.generic], sizes: IntArray, n_noise: int, *, ringed: str = "") -> None:
    """List the clusters with colours and sizes to the right of the axes, if there are at most `MAX_IN_LEGEND`.

    If `ringed` is not empty, the last line of the legend shows a dark ring with this text.
    """
    if len(clusters) > MAX_IN_LEGEND:
        return
    entries = [
        (f"{c}  ({size:,})", color) for c, size, color in zip(clusters, sizes, palette(len(clusters)), strict=True)
    ]
    if n_noise:
        entries.append((f"noise  ({n_noise:,})", NOISE_COLOR))
    dots = [Line2D([], [], ls="", marker="o", markersize=7, color=color, label=label) for label, color in entries]
    if ringed:
        dots.append(Line2D([], [], ls="", marker="o", markersize=7, color=TEXT_COLOR, mfc="none", label=ringed))
    legend = ax.legend(
        handles=dots,
        title="cluster (points)",
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        frameon=False,
        labelcolor=TEXT_COLOR,
        alignment="left",
        handletextpad=0.3,
    )
    legend.get_title().set_color(MUTED_COLOR)


def number_clusters(ax: Axes, points: Array, labels: NDArray[np.generic]) -> int:
    """Write the numbers of the largest clusters at the medians of their points, skipping numbers that would overlap.

    Parameters
    ----------
    ax : matplotlib Axes
    points : (n, 2) array
        The points of the clusters, without noise.
    labels : (n,) array
        Their clusters.

    Returns
    -------
    int
        How many numbers were written.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> number_clusters(Figure().subplots(), np.array([[0.0, 0], [0, 1], [9, 9]]), np.array([4, 4, 5]))
    2
    """
    clusters, index, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    members = np.split(np.argsort(index, kind="stable"), np.cumsum(sizes)[:-1]) if len(clusters) else []
    extent = np.ptp(points, axis=0) if len(points) else np.ones(2)
    extent = np.where(extent > 0, extent, 1.0)
    placed: list[tuple[Array, float]] = []
    for c in np.argsort(-sizes, kind="stable").tolist():
        position, text = np.median(points[members[c]], axis=0), str(clusters[c])
        width = LETTER_WIDTH * (len(text) + 1.4)
        distances = [(np.abs(position - other) / extent, (width + wide) / 2) for other, wide in placed]
        if any(dx < least and dy < LINE_HEIGHT for (dx, dy), least in distances):
            continue
        placed.append((position, width))
        x, y = position.tolist()
        label = ax.annotate(
            text, (x, y), (0, 4), textcoords="offset points", ha="center", fontsize="small", color=TEXT_COLOR, zorder=4
        )
        label.set_path_effects([withStroke(linewidth=2.2, foreground="white")])
        if len(placed) == MAX_NUMBERS:
            break
    return len(placed)
