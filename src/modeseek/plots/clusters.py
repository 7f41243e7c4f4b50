"""The picture of a clustering, on axes or in a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_number, check_state
from modeseek._storage import check_target
from modeseek.plots.cluster_legend import MOST_IN_LEGEND, cluster_legend
from modeseek.plots.cluster_numbers import number_clusters
from modeseek.plots.colors import MUTED_COLOR, NOISE_COLOR, TEXT_COLOR, palette, point_colors
from modeseek.plots.labels_source import Labelled, found_by
from modeseek.plots.projection import View, project
from modeseek.plots.style import FIGURE_SIZE, FIGURE_SUFFIXES, new_axes, save_figure, style_axes

__all__ = ["plot_clusters", "save_clusters"]

MOST_POINTS = 50_000


class _Points(NamedTuple):
    """Points as drawn, those in doubt last, so that they are seen."""

    rows: IntArray
    colours: Array
    doubtful: NDArray[np.bool_]


def plot_clusters(
    X: ArrayLike,
    labels: Labelled,
    *,
    centers: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    doubtful: float | None = 0.75,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw points in the colours of their clusters.

    Points of low confidence are faint, and ringed where they are in doubt. With more than twelve clusters there is no
    legend; the largest have their numbers in the picture instead.

    One feature is drawn as a histogram over a strip of points, two as they are, and more by their first two
    principal components, x -> V^T (x - mean) with V the two leading eigenvectors of the covariance; the axes
    then say how much of the variance each holds. Above 50,000 points a random 50,000 are drawn, and the
    picture says so.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    labels : array-like of shape (n,), or fitted estimator
        Cluster of each point; -1 is noise, drawn in grey. A fitted estimator, of modeseek or any that has `labels_`,
        brings its labels, and its centres, confidence and names of features where it has them.
    centers : array-like of shape (m, d), default=None
        Centres to mark.
    confidence : array-like of shape (n,), default=None
        Numbers in [0, 1]; the less certain a point, the fainter it is. That of noise is not looked at.
    doubtful : float, default=0.75
        Points of lower confidence have a dark ring; None draws no rings.
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

    An estimator brings what it found:

    >>> from modeseek import ModeSeek
    >>> from modeseek.datasets import paper_mixture
    >>> X, _ = paper_mixture(50, random_state=0)
    >>> ax = plot_clusters(X, ModeSeek(random_state=0).fit(X), ax=Figure().subplots())
    >>> ax.get_legend().texts[-1].get_text()
    'confidence < 0.75  (63)'
    """
    X = check_state(X, name="X").astype(np.float64)
    found = found_by(labels)
    labels = _column("labels", found.labels, len(X))
    centres = _centres(found.centers if centers is None else centers, X.shape[1])
    confidence = found.confidence if confidence is None else confidence
    sure = np.ones(len(X)) if confidence is None else _sure(_column("confidence", confidence, len(X)), labels)
    limit = 0.0 if doubtful is None else check_number("doubtful", doubtful, strict=False)
    view = project(X, centres.astype(np.float64), found.feature_names if feature_names is None else feature_names)
    ax = new_axes() if ax is None else ax
    clusters, sizes = np.unique(labels[labels != -1], return_counts=True)
    # a random order, so that no cluster lies on top of the others; always the same, so that a picture repeats
    shown = np.random.default_rng(0).permutation(len(X))[:MOST_POINTS]
    shown = shown[np.argsort(sure[shown] < limit, kind="stable")]
    points = _Points(shown, point_colors(labels[shown], clusters, 0.15 + 0.85 * sure[shown]), sure[shown] < limit)
    many = len(clusters) > MOST_IN_LEGEND
    if view.points.shape[1] == 1:
        _draw_line(ax, view, labels, clusters, points)
    else:
        _draw_plane(ax, view, points, many=many)
    own = shown[labels[shown] != -1]
    places = view.points[own] if view.points.shape[1] > 1 else np.c_[view.points[own], np.zeros(len(own))]
    n_numbers = number_clusters(ax, places, labels[own]) if many else 0
    n_noise, n_doubtful = int((labels == -1).sum()), int((sure < limit).sum())
    ringed = f"confidence < {limit:g}  ({n_doubtful:,})" if n_doubtful else ""
    note = _note(clusters, n_noise, len(X), n_numbers, ringed, faint=confidence is not None)
    y_label = view.axes[1] if len(view.axes) > 1 else "points"
    style_axes(ax, x_label=view.axes[0], y_label=y_label, title=title, note=note)
    cluster_legend(ax, clusters, sizes, n_noise, ringed=ringed)
    return ax


def save_clusters(
    path: str | os.PathLike[str],
    X: ArrayLike,
    labels: Labelled,
    *,
    centers: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    doubtful: float | None = 0.75,
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
    X, labels, centers, confidence, doubtful, feature_names, title
        As for `plot_clusters`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "clusters.png")
    >>> save_clusters(path, [[0, 0], [0, 1], [5, 5]], [0, 0, 1])
    >>> path.read_bytes()[1:4]
    b'PNG'
    """
    check_target(path, FIGURE_SUFFIXES)  # before the work of drawing
    figure = Figure(figsize=FIGURE_SIZE, layout="constrained")
    plot_clusters(
        X,
        labels,
        centers=centers,
        confidence=confidence,
        doubtful=doubtful,
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


def _centres(centers: ArrayLike | None, n_features: int) -> Array:
    if centers is None or not len(np.asarray(centers)):
        return np.empty((0, n_features))
    centres = check_state(centers, name="centers")
    if centres.shape[1] != n_features:
        raise ValueError(f"centers has {centres.shape[1]} features, but X has {n_features}: give both alike.")
    return centres


def _sure(confidence: NDArray[np.generic], labels: NDArray[np.generic]) -> Array:
    values = confidence.astype(np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("confidence must be numbers in [0, 1]: 0 for a guess, 1 for certain.")
    # noise is no guess at a cluster
    return np.where(labels == -1, 1.0, values)


def _draw_plane(ax: Axes, view: View, points: _Points, *, many: bool) -> None:
    size = float(np.clip(9000 / len(points.rows), 3, 34))
    # a white rim tells touching points apart; on small ones there would be nothing but rim
    rim = size > 12
    edges = np.where(points.doubtful, TEXT_COLOR, "white" if rim else "none")
    ax.scatter(
        view.points[points.rows, 0],
        view.points[points.rows, 1],
        s=np.where(points.doubtful, max(size, 9.0), size),
        c=points.colours,
        linewidths=np.where(points.doubtful, 1.0 if rim else 0.6, 0.5 if rim else 0.0).tolist(),
        edgecolors=edges.tolist(),
        rasterized=len(points.rows) > 5000,
        zorder=2,
    )
    x, y = view.centres.T
    area = 14 if many else 90
    ax.scatter(x, y, s=area, marker="X", c=TEXT_COLOR, edgecolors="white", linewidths=0.4 if many else 1.2, zorder=3)


def _draw_line(
    ax: Axes,
    view: View,
    labels: NDArray[np.generic],
    clusters: NDArray[np.generic],
    points: _Points,
) -> None:
    values = view.points[:, 0]
    groups = [values[labels == cluster] for cluster in clusters]
    shades = palette(len(clusters))
    if (labels == -1).any():
        groups, shades = [*groups, values[labels == -1]], [*shades, NOISE_COLOR]
    edges = np.histogram_bin_edges(values, bins=int(np.clip(np.sqrt(len(values)) * 2, 10, 80)))
    if len(groups) <= MOST_IN_LEGEND + 1:
        ax.hist(groups, bins=edges.tolist(), stacked=True, color=shades, edgecolor="white", linewidth=0.4)
    else:  # bars by the thousand take half a minute
        below = np.zeros(len(edges) - 1)
        for group, shade in zip(groups, shades, strict=True):
            above = below + np.histogram(group, edges)[0]
            ax.stairs(above, edges, baseline=below, fill=True, color=shade)
            below = above
    top = float(np.histogram(values, edges)[0].max())
    # below the axis, spread at random so that points of one value can be told apart
    jitter = np.random.default_rng(1).uniform(-0.16, -0.04, len(points.rows)) * top
    ax.scatter(
        values[points.rows],
        jitter,
        s=float(np.clip(4000 / len(points.rows), 2, 16)),
        c=points.colours,
        linewidths=np.where(points.doubtful, 0.7, 0.0).tolist(),
        edgecolors=TEXT_COLOR,
        rasterized=len(points.rows) > 5000,
    )
    for centre in view.centres[:, 0]:
        ax.axvline(centre, color=TEXT_COLOR, linewidth=0.9, linestyle=(0, (4, 3)))
    ax.axhline(0, color=MUTED_COLOR, linewidth=0.8)
    ax.set_ylim(-0.2 * top, 1.05 * top)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1.05 * top])


def _note(clusters: NDArray[np.generic], n_noise: int, n: int, n_numbers: int, ringed: str, *, faint: bool) -> str:
    parts = []
    if len(clusters) > MOST_IN_LEGEND:
        parts.append(f"{len(clusters):,} clusters" + (f", {n_noise:,} noise points in grey" if n_noise else ""))
        if n_numbers < len(clusters):
            parts.append(f"{n_numbers} of the largest numbered")
        if ringed:
            parts.append(f"ringed: {ringed}")
    if n > MOST_POINTS:
        parts.append(f"{MOST_POINTS:,} of {n:,} points drawn")
    if faint:
        parts.append("the fainter, the less certain")
    return "; ".join(parts)
