"""The picture of a clustering, on axes or in a file."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from modeseek.plots.colours import FAINT, INK, NOISE_COLOUR, colours_of, palette
from modeseek.plots.projection import View, project
from modeseek.plots.style import FIGURE_SIZE, PICTURE_SUFFIXES, dress, new_axes, save_figure
from modeseek.storage import check_target
from modeseek.types import Array, IntArray
from modeseek.validation import check_state

__all__ = ["cluster_legend", "plot_clusters", "save_clusters"]

MOST_POINTS, MOST_IN_LEGEND = 50_000, 12


def plot_clusters(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    centers: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw points in the colours of their clusters.

    One feature is drawn as a histogram over a strip of points, two as they are, and more by their first two
    principal components, x -> V^T (x - mean) with V the two leading eigenvectors of the covariance; the axes
    then say how much of the variance each holds. Above 50,000 points a random 50,000 are drawn, and the
    picture says so.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    labels : array-like of shape (n,)
        Cluster of each point; -1 is noise, drawn in grey.
    centers : array-like of shape (m, d), default=None
        Centres to mark.
    confidence : array-like of shape (n,), default=None
        Numbers in [0, 1]; the less certain a point, the fainter it is.
    feature_names : sequence of str, default=None
        Labels of the axes for one and two features.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new pyplot figure.
    title : str, default=None
        A title.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> ax = plot_clusters([[0, 0], [0, 1], [5, 5]], [0, 0, 1], feature_names=["width", "height"], ax=ax)
    >>> ax.get_xlabel(), ax.get_legend().texts[0].get_text()
    ('width', '0  (2)')
    """
    X = check_state(X, name="X").astype(np.float64)
    labels = _column("labels", labels, len(X))
    centres = np.empty((0, X.shape[1])) if centers is None else check_state(centers, name="centers")
    if centres.shape[1] != X.shape[1]:
        raise ValueError(f"centers has {centres.shape[1]} features, but X has {X.shape[1]}: give both alike.")
    alpha = np.ones(len(X)) if confidence is None else _opacity(_column("confidence", confidence, len(X)))
    view = project(X, centres.astype(np.float64), feature_names)
    ax = new_axes() if ax is None else ax
    clusters, sizes = np.unique(labels[labels != -1], return_counts=True)
    # a random order, so that no cluster lies on top of the others; always the same, so that a picture repeats
    shown = np.random.default_rng(0).permutation(len(X))[:MOST_POINTS]
    colours = colours_of(labels[shown], clusters, alpha[shown])
    if view.points.shape[1] == 1:
        _draw_line(ax, view, labels, clusters, shown, colours)
    else:
        _draw_plane(ax, view, shown, colours)
    n_noise = int((labels == -1).sum())
    note = _note(clusters, n_noise, len(X), faint=confidence is not None)
    y_label = view.axes[1] if len(view.axes) > 1 else "points"
    dress(ax, x_label=view.axes[0], y_label=y_label, title=title, note=note)
    cluster_legend(ax, clusters, sizes, n_noise)
    return ax


def save_clusters(
    path: str | os.PathLike[str],
    X: ArrayLike,
    labels: ArrayLike,
    *,
    centers: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> None:
    """Write the picture of `plot_clusters` to a file, whole or not at all.

    The ending of the name chooses the format (PNG, SVG, PDF, ...). The same data give the same bytes, and
    nothing of pyplot is touched.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    X, labels, centers, confidence, feature_names, title
        As for `plot_clusters`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "clusters.png")
    >>> save_clusters(path, [[0, 0], [0, 1], [5, 5]], [0, 0, 1])
    >>> path.read_bytes()[1:4]
    b'PNG'
    """
    check_target(path, PICTURE_SUFFIXES)  # before the work of drawing
    figure = Figure(figsize=FIGURE_SIZE, layout="constrained")
    plot_clusters(
        X,
        labels,
        centers=centers,
        confidence=confidence,
        feature_names=feature_names,
        ax=figure.subplots(),
        title=title,
    )
    save_figure(path, figure)


def _column(name: str, values: ArrayLike, n: int) -> NDArray[np.generic]:
    column = np.asarray(values)
    if column.shape != (n,):
        raise ValueError(f"{name} must have one entry for each of the {n} rows of X; got shape {column.shape}.")
    return column


def _opacity(confidence: NDArray[np.generic]) -> Array:
    values = confidence.astype(np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("confidence must be numbers in [0, 1]: 0 for a guess, 1 for certain.")
    return 0.15 + 0.85 * values


def _draw_plane(ax: Axes, view: View, shown: IntArray, colours: Array) -> None:
    size = float(np.clip(9000 / len(shown), 3, 34))
    ax.scatter(
        view.points[shown, 0],
        view.points[shown, 1],
        s=size,
        c=colours,
        # a white rim tells touching points apart; on small ones there would be nothing but rim
        linewidths=0.5 if size > 12 else 0,
        edgecolors="white" if size > 12 else "none",
        rasterized=len(shown) > 5000,
        zorder=2,
    )
    x, y = view.centres.T
    ax.scatter(x, y, s=90, marker="X", c=INK, edgecolors="white", linewidths=1.2, zorder=3)


def _draw_line(
    ax: Axes,
    view: View,
    labels: NDArray[np.generic],
    clusters: NDArray[np.generic],
    shown: IntArray,
    colours: Array,
) -> None:
    values = view.points[:, 0]
    groups = [values[labels == cluster] for cluster in clusters]
    shades = palette(len(clusters))
    if (labels == -1).any():
        groups, shades = [*groups, values[labels == -1]], [*shades, NOISE_COLOUR]
    edges = np.histogram_bin_edges(values, bins=int(np.clip(np.sqrt(len(values)) * 2, 10, 80)))
    heights = ax.hist(groups, bins=edges.tolist(), stacked=True, color=shades, edgecolor="white", linewidth=0.4)[0]
    top = float(np.max(heights))
    # below the axis, spread at random so that points of one value can be told apart
    jitter = np.random.default_rng(1).uniform(-0.16, -0.04, len(shown)) * top
    size = float(np.clip(4000 / len(shown), 2, 16))
    ax.scatter(values[shown], jitter, s=size, c=colours, linewidths=0, rasterized=len(shown) > 5000)
    for centre in view.centres[:, 0]:
        ax.axvline(centre, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    ax.axhline(0, color=FAINT, linewidth=0.8)
    ax.set_ylim(-0.2 * top, 1.05 * top)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1.05 * top])


def cluster_legend(ax: Axes, clusters: NDArray[np.generic], sizes: IntArray, n_noise: int) -> None:
    """List clusters with their colours and sizes beside the axes, unless they are many."""
    if len(clusters) > MOST_IN_LEGEND:
        return
    entries = [
        (f"{cluster}  ({size:,})", colour)
        for cluster, size, colour in zip(clusters, sizes, palette(len(clusters)), strict=True)
    ]
    if n_noise:
        entries.append((f"noise  ({n_noise:,})", NOISE_COLOUR))
    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=7, color=colour, label=label) for label, colour in entries
    ]
    legend = ax.legend(
        handles=handles,
        title="cluster (points)",
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        frameon=False,
        labelcolor=INK,
        alignment="left",
        handletextpad=0.3,
    )
    legend.get_title().set_color(FAINT)


def _note(clusters: NDArray[np.generic], n_noise: int, n: int, *, faint: bool) -> str:
    parts = []
    if len(clusters) > MOST_IN_LEGEND:
        parts.append(f"{len(clusters):,} clusters" + (f", {n_noise:,} noise points in grey" if n_noise else ""))
    if n > MOST_POINTS:
        parts.append(f"{MOST_POINTS:,} of {n:,} points drawn")
    if faint:
        parts.append("the fainter, the less certain")
    return "; ".join(parts)
