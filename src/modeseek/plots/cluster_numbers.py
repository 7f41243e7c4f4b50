"""Numbers on clusters, where there are too many for a legend."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from modeseek._common.types import Array, IntArray
from modeseek.plots.colors import TEXT_COLOR

__all__ = ["number_clusters"]

MOST_NUMBERS = 200
# room that a number takes, in shares of the picture
LETTER, LINE = 0.013, 0.038


def number_clusters(ax: Axes, points: Array, labels: NDArray[np.generic]) -> int:
    """Write the numbers of the largest clusters above the middle of their points, as far as they do not overlap.

    Parameters
    ----------
    ax : matplotlib Axes
    points : (n, 2) array
        The points drawn.
    labels : (n,) array
        Their clusters, noise aside.

    Returns
    -------
    int
        How many were written.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> number_clusters(Figure().subplots(), np.array([[0.0, 0], [0, 1], [9, 9]]), np.array([4, 4, 5]))
    2
    """
    clusters, which, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    members = np.split(np.argsort(which, kind="stable"), np.cumsum(sizes)[:-1]) if len(clusters) else []
    span = np.ptp(points, axis=0) if len(points) else np.ones(2)
    span = np.where(span > 0, span, 1.0)
    places: list[Array] = []
    widths: list[float] = []
    for cluster in _largest(sizes):
        place, text = np.median(points[members[cluster]], axis=0), str(clusters[cluster])
        width = LETTER * (len(text) + 1.4)
        away = [np.abs(place - other) / span for other in places]
        if any(dx < (width + w) / 2 and dy < LINE for (dx, dy), w in zip(away, widths, strict=True)):
            continue
        places.append(place)
        widths.append(width)
        x, y = place.tolist()
        label = ax.annotate(
            text, (x, y), (0, 4), textcoords="offset points", ha="center", fontsize="small", color=TEXT_COLOR, zorder=4
        )
        label.set_path_effects([withStroke(linewidth=2.2, foreground="white")])
        if len(places) == MOST_NUMBERS:
            break
    return len(places)


def _largest(sizes: IntArray) -> list[int]:
    order: list[int] = np.argsort(-sizes, kind="stable").tolist()
    return order
