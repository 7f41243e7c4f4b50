"""The plot of the paths of points during a run."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import NullLocator
from numpy.typing import ArrayLike

from modeseek._common.types import Array, IntArray
from modeseek.plots.cluster_labels import MAX_IN_LEGEND, cluster_legend, number_clusters
from modeseek.plots.colors import NOISE_COLOR, point_colors
from modeseek.plots.projection import project
from modeseek.plots.sources import Run, RunSource, read_run, sample_rows
from modeseek.plots.style import draw_points, new_axes, plain_ticks, style_axes

MAX_PATHS = 2000


class Paths(NamedTuple):
    """Projected paths of a sample of the points of a run.

    Attributes
    ----------
    run : Run
        The run.
    k : (m,) integer array
        Number of updates at each snapshot.
    positions : (m, n, 1) or (m, n, 2) array
        Positions at each snapshot.
    labels : (n,) integer array
        Cluster of each point in the sample.
    all_labels : integer array
        Cluster of each point of the run.
    clusters, sizes : integer arrays
        The clusters, without noise, and their numbers of points.
    axes : tuple of str
        Labels of the axes.
    """

    run: Run
    k: IntArray
    positions: Array
    labels: IntArray
    all_labels: IntArray
    clusters: IntArray
    sizes: IntArray
    axes: tuple[str, ...]

    def note(self, unit: str) -> str:
        """Return a note on sampling and on the chains; "" if the run has one chain and all its points are drawn."""
        parts = []
        if len(self.labels) < len(self.all_labels):
            parts.append(f"{len(self.labels):,} of {len(self.all_labels):,} {unit} drawn")
        if self.run.n_chains > 1:
            parts.append(f"{self.run.which}, colours by the consensus of all")
        return "; ".join(parts)


def plot_trajectories(
    source: RunSource,
    *,
    labels: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the path of each point from its start to its end.

    Starts are grey dots, ends have the colour of the cluster. One feature is drawn against the number of updates, two
    features unchanged, and more by the first two principal components of the data. If there are more than 2,000 points,
    a sample with at least one point of each cluster is drawn, and a note states so.

    Parameters
    ----------
    source : fitted estimator, or ChainResult
        A run that recorded its snapshots: fit with `record=["snapshots"]`.
    labels : array-like of shape (n,), default=None
        Clusters, -1 for noise. By default, the labels of the estimator; all points of a ChainResult have one colour.
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
    >>> from modeseek import BlurringMeanShift
    >>> model = BlurringMeanShift(1.0, record=["snapshots"]).fit([[0.0, 0.0], [0.3, 0.1], [5.0, 5.0]])
    >>> ax = plot_trajectories(model, ax=Figure().subplots())
    >>> len(ax.collections[0].get_segments())
    3
    """
    paths = read_paths(source, labels, feature_names, MAX_PATHS)
    positions, y_label = paths.positions, paths.axes[-1]
    ax = new_axes() if ax is None else ax
    over_time = positions.shape[2] == 1
    if over_time:
        time = np.broadcast_to(paths.k[:, None, None].astype(np.float64), positions.shape)
        positions, y_label = np.concatenate([positions, time], axis=2), "number of updates"
    _draw(ax, positions, paths, mark_ends=not over_time)
    notes, many = [paths.note("paths")], len(paths.clusters) > MAX_IN_LEGEND
    notes += [f"{len(paths.clusters):,} clusters"] if many else []
    style_axes(ax, x_label=paths.axes[0], y_label=y_label, title=title, note="; ".join(filter(None, notes)))
    if over_time:
        _style_time_axis(ax, paths.k)
    if many:
        inside = paths.labels != -1
        number_clusters(ax, positions[-1][inside], paths.labels[inside])
    if labels is not None or paths.run.labels is not None:
        cluster_legend(ax, paths.clusters, paths.sizes, int((paths.all_labels == -1).sum()))
    return ax


def read_paths(source: RunSource, labels: ArrayLike | None, feature_names: Sequence[str] | None, n_most: int) -> Paths:
    """Return the paths of at most `n_most` points of a run; the projection is fitted to the positions at the start."""
    run = read_run(source)
    snapshots = run.recorded("snapshots")
    all_labels = run.labels_of_points(labels, snapshots.values.shape[1])
    rows = sample_rows(all_labels, n_most)
    view = project(snapshots.values[0].astype(np.float64), feature_names)
    positions = view.apply(snapshots.values[:, rows].astype(np.float64))
    clusters, sizes = np.unique(all_labels[all_labels != -1], return_counts=True)
    return Paths(run, snapshots.k, positions, all_labels[rows], all_labels, clusters, sizes, view.axes)


def _draw(ax: Axes, positions: Array, paths: Paths, *, mark_ends: bool) -> None:
    n = len(paths.labels)
    colors = point_colors(paths.labels, paths.clusters, np.ones(n))
    width = float(np.clip(120 / n, 0.35, 1.1))
    raster = n * len(positions) > 20_000
    segments, pale = list(np.swapaxes(positions, 0, 1)), colors * [1, 1, 1, 0.7]
    ax.add_collection(LineCollection(segments, colors=pale, linewidths=width, zorder=2, rasterized=raster))
    size = float(np.clip(2000 / n, 2.5, 12))
    draw_points(ax, positions[0], s=size, c=NOISE_COLOR, linewidths=0, zorder=1.8)
    if mark_ends:
        sizes = np.where(paths.labels == -1, 14, 44)
        draw_points(ax, positions[-1], s=sizes, c=colors, edgecolors="white", linewidths=0.8, zorder=3)
    ax.autoscale_view()


def _style_time_axis(ax: Axes, k: IntArray) -> None:
    """Make the time axis logarithmic after the first recorded update, because most movement is at the start."""
    later = k[k > 0]
    if not len(later):
        ax.set_yticks([0])
        return
    first = float(later[0])
    ax.set_yscale("symlog", linthresh=first, linscale=0.6)
    ax.set_yticks([0.0, *first * 2.0 ** np.arange(int(np.log2(k[-1] / first)) + 1)])
    plain_ticks(ax.yaxis)
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(0, float(k[-1]) * 1.05)
