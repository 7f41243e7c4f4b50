"""The plot of a clustering."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.path import Path
from numpy.typing import ArrayLike, NDArray

from modeseek._common.text import counted
from modeseek._common.types import Array
from modeseek._common.validation import check_number, check_state
from modeseek.estimators.table import DOUBTFUL
from modeseek.plots.cluster_labels import MAX_IN_LEGEND, cluster_legend, number_clusters
from modeseek.plots.colors import MUTED_COLOR, NOISE_COLOR, TEXT_COLOR, palette, point_colors
from modeseek.plots.projection import project, robust_limits
from modeseek.plots.sources import ClusteringSource, check_column, read_clustering
from modeseek.plots.style import DASHED, draw_points, new_axes, style_axes

MAX_POINTS = 50_000
# a cross without its middle, so that the points of a small cluster stay visible
OPEN_CROSS = Path(
    [(0.45, 0), (1, 0), (-0.45, 0), (-1, 0), (0, 0.45), (0, 1), (0, -0.45), (0, -1)], [Path.MOVETO, Path.LINETO] * 4
)


class _Points(NamedTuple):
    """Points to draw, the doubtful ones last, so that they are on top."""

    positions: Array
    colors: Array
    doubtful: NDArray[np.bool_]


def plot_clusters(
    source: ClusteringSource,
    X: ArrayLike,
    *,
    centers: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    doubtful: float | None = DOUBTFUL,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw points in the colours of their clusters.

    Points with a lower confidence are fainter, and doubtful points have a dark ring. With more than twelve clusters,
    numbers in the plot replace the legend.

    One feature is drawn as a histogram above a strip of points, two features as a scatter plot, and more features by
    their first two principal components, x -> V^T (x - mean), where V holds the two leading eigenvectors of the
    covariance. The axes then state the share of the variance. Of more than 50,000 points, a random 50,000 are drawn,
    and a note states so. Triangles at the edge stand for points far outside, which would leave less than half of an
    axis to all others.

    Parameters
    ----------
    source : fitted estimator, or array-like of shape (n,)
        A fitted estimator of modeseek, or any other with `labels_`, provides labels, and also centres, confidence and
        feature names if it has them. Or the cluster of each point; -1 is noise, drawn in grey.
    X : array-like of shape (n, d)
        The points.
    centers : array-like of shape (m, d), default=None
        Centres to mark.
    confidence : array-like of shape (n,), default=None
        Numbers in [0, 1]. Those of noise are ignored.
    doubtful : float, default=0.75
        Points with a lower confidence get a dark ring; None draws no rings.
    feature_names : sequence of str, default=None
        Labels of the axes for one or two features.
    ax : matplotlib Axes, default=None
        The axes to draw on; None creates a pyplot figure.
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
    >>> ax = plot_clusters([0, 0, 1], [[0, 0], [0, 1], [5, 5]], feature_names=["width", "height"], ax=ax)
    >>> ax.get_xlabel(), ax.get_legend().texts[0].get_text()
    ('width', '0  (2)')

    With a fitted estimator:

    >>> from modeseek import ModeSeek
    >>> from modeseek.datasets import paper_mixture
    >>> X, _ = paper_mixture(50, random_state=0)
    >>> ax = plot_clusters(ModeSeek(random_state=0).fit(X), X, ax=Figure().subplots())
    >>> ax.get_legend().texts[-1].get_text()
    'confidence < 0.75  (1)'
    """
    X = check_state(X, name="X").astype(np.float64)
    clustering = read_clustering(source)
    labels = check_column("labels", clustering.labels, len(X))
    names = clustering.feature_names if feature_names is None else feature_names
    view = project(X, names)
    positions = view.apply(X)
    marks = view.apply(_check_centers(clustering.centers if centers is None else centers, X.shape[1]))
    confidence = clustering.confidence if confidence is None else confidence
    certainty = _check_confidence(confidence, labels)
    limit = 0.0 if doubtful is None else check_number("doubtful", doubtful, strict=False)
    ax = new_axes() if ax is None else ax
    clusters, sizes = np.unique(labels[labels != -1], return_counts=True)
    # a reproducible random order, so that no cluster covers the others
    shown = np.random.default_rng(0).permutation(len(X))[:MAX_POINTS]
    shown = shown[np.argsort(certainty[shown] < limit, kind="stable")]
    colors = point_colors(labels[shown], clusters, 0.15 + 0.85 * certainty[shown])
    points = _Points(positions[shown], colors, certainty[shown] < limit)
    low, high = robust_limits(positions)
    if positions.shape[1] == 1:
        _draw_histogram(ax, positions[:, 0], labels, clusters, (float(low[0]), float(high[0])))
        _draw_strip(ax, points, marks[:, 0])
    else:
        _draw_plane(ax, points, marks, small_centers=len(clusters) > MAX_IN_LEGEND)
    n_outside = int(((positions < low) | (positions > high)).any(axis=1).sum())
    if n_outside:
        _mark_outside(ax, points, low, high)
    n_noise, n_doubtful = int((labels == -1).sum()), int((certainty < limit).sum())
    ringed = f"confidence < {limit:g}  ({n_doubtful:,})" if n_doubtful else ""
    notes = []
    if len(clusters) > MAX_IN_LEGEND:
        inside = labels[shown] != -1
        places = np.c_[points.positions, np.zeros(len(shown))][inside, :2]
        n_numbers = number_clusters(ax, places, labels[shown][inside])
        notes.append(
            f"{len(clusters):,} clusters" + (f", {counted(n_noise, 'noise point')} in grey" if n_noise else "")
        )
        notes += [f"{n_numbers} of the largest numbered"] if n_numbers < len(clusters) else []
        notes += [f"ringed: {ringed}"] if ringed else []
    notes += [f"{MAX_POINTS:,} of {len(X):,} points drawn"] if len(X) > MAX_POINTS else []
    notes += [f"triangles: {counted(n_outside, 'point')} far outside"] if n_outside else []
    notes += ["faint: low confidence"] if confidence is not None else []
    notes += [f"{'dashed lines' if positions.shape[1] == 1 else 'crosses'}: centres"] if len(marks) else []
    y_label = view.axes[1] if len(view.axes) > 1 else "number of points"
    style_axes(ax, x_label=view.axes[0], y_label=y_label, title=title, note="; ".join(notes))
    cluster_legend(ax, clusters, sizes, n_noise, ringed=ringed)
    return ax


def _check_centers(centers: ArrayLike | None, n_features: int) -> Array:
    if centers is None or not len(np.asarray(centers)):
        return np.empty((0, n_features))
    checked = check_state(centers, name="centers").astype(np.float64)
    if checked.shape[1] != n_features:
        raise ValueError(f"centers has {checked.shape[1]} features, but X has {n_features}: both need the same number.")
    return checked


def _check_confidence(confidence: ArrayLike | None, labels: NDArray[np.generic]) -> Array:
    """Return the confidence of each point, 1 for noise; 1 for all points without a confidence."""
    if confidence is None:
        return np.ones(len(labels))
    values = check_column("confidence", confidence, len(labels)).astype(np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("confidence must be numbers in [0, 1].")
    return np.where(labels == -1, 1.0, values)


def _draw_plane(ax: Axes, points: _Points, centers: Array, *, small_centers: bool) -> None:
    n = len(points.positions)
    size = float(np.clip(9000 / n, 3, 34))
    # a white rim separates touching points; small points would consist of the rim only
    rim = size > 12
    draw_points(
        ax,
        points.positions,
        s=np.where(points.doubtful, max(size, 9.0), size),
        c=points.colors,
        linewidths=np.where(points.doubtful, 1.0 if rim else 0.6, 0.5 if rim else 0.0).tolist(),
        edgecolors=np.where(points.doubtful, TEXT_COLOR, "white" if rim else "none").tolist(),
        zorder=2,
    )
    area, width = (50, 0.9) if small_centers else (170, 1.7)
    for color, line in (("white", 2 * width), (TEXT_COLOR, width)):
        draw_points(ax, centers, s=area, marker=OPEN_CROSS, c="none", edgecolors=color, linewidths=line, zorder=3)


def _mark_outside(ax: Axes, points: _Points, low: Array, high: Array) -> None:
    """Limit the axes, and draw triangles at the edge that point to the points outside."""
    margin = 0.05 * (high - low)
    positions = np.clip(points.positions, low - margin / 2, high + margin / 2)
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    if len(low) == 1:
        positions = np.c_[positions, np.full(len(positions), ax.get_ylim()[0] / 2)]
    else:
        ax.set_ylim(low[1] - margin[1], high[1] + margin[1])
    left = np.zeros(len(positions), dtype=bool)
    for axis, markers in enumerate(("<>", "v^")[: len(low)]):
        values = points.positions[:, axis]
        for marker, there in zip(markers, (values < low[axis], values > high[axis]), strict=True):
            mine = there & ~left
            draw_points(
                ax, positions[mine], s=42, marker=marker, c=points.colors[mine], edgecolors=TEXT_COLOR, zorder=4
            )
            left |= there


def _draw_histogram(
    ax: Axes, values: Array, labels: NDArray[np.generic], clusters: NDArray[np.generic], limits: tuple[float, float]
) -> None:
    groups = [values[labels == cluster] for cluster in clusters]
    colors = palette(len(clusters))
    if (labels == -1).any():
        groups, colors = [*groups, values[labels == -1]], [*colors, NOISE_COLOR]
    edges = np.histogram_bin_edges(values, bins=int(np.clip(np.sqrt(len(values)) * 2, 10, 80)), range=limits)
    if len(groups) <= MAX_IN_LEGEND + 1:
        ax.hist(groups, bins=edges.tolist(), stacked=True, color=colors, edgecolor="white", linewidth=0.4)
    else:  # `hist` takes half a minute for thousands of groups
        below = np.zeros(len(edges) - 1)
        for group, color in zip(groups, colors, strict=True):
            above = below + np.histogram(group, edges)[0]
            ax.stairs(above, edges, baseline=below, fill=True, color=color)
            below = above
    top = float(np.histogram(values, edges)[0].max())
    ax.axhline(0, color=MUTED_COLOR, linewidth=0.8)
    ax.set_ylim(-0.2 * top, 1.05 * top)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1.05 * top])


def _draw_strip(ax: Axes, points: _Points, centers: Array) -> None:
    """Draw points below a histogram, with vertical jitter that separates equal values, and lines at the centres."""
    n = len(points.positions)
    heights = np.random.default_rng(1).uniform(0.2, 0.8, n) * ax.get_ylim()[0]
    draw_points(
        ax,
        np.c_[points.positions, heights],
        s=float(np.clip(4000 / n, 2, 16)),
        c=points.colors,
        linewidths=np.where(points.doubtful, 0.7, 0.0).tolist(),
        edgecolors=TEXT_COLOR,
    )
    for center in centers:
        ax.axvline(center, color=TEXT_COLOR, linewidth=0.9, linestyle=DASHED)
