"""The picture of the ways that points went."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import ArrayLike, NDArray

from modeseek._common.types import Array, IntArray
from modeseek.plots.cluster_legend import MOST_IN_LEGEND, cluster_legend
from modeseek.plots.cluster_numbers import number_clusters
from modeseek.plots.colors import NOISE_COLOR, point_colors
from modeseek.plots.projection import project
from modeseek.plots.run_source import Run, Watched, given_labels, recorded, some_rows, watch
from modeseek.plots.style import new_axes, style_axes
from modeseek.plots.ticks import plain

__all__ = ["paths_of", "plot_trajectories"]

MOST_PATHS = 2000


def plot_trajectories(
    source: Run,
    *,
    labels: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the way of every point, from where it was to where it ended.

    Starts are grey dots, ends have the colour of the cluster. One feature is drawn over time, two as they are, and more
    by the first two principal components of the data. Above 2,000 points some are drawn, of each cluster one at least,
    and the picture says so.

    Parameters
    ----------
    source : fitted estimator, or ChainResult
        A chain that recorded its snapshots: fit with `record=["snapshots"]`.
    labels : array-like of shape (n,), default=None
        Clusters, -1 for noise. None: the estimator's; of a ChainResult all points have one colour.
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
    >>> from modeseek import BlurringMeanShift
    >>> model = BlurringMeanShift(1.0, record=["snapshots"]).fit([[0.0, 0.0], [0.3, 0.1], [5.0, 5.0]])
    >>> ax = plot_trajectories(model, ax=Figure().subplots())
    >>> len(ax.collections[0].get_segments())
    3
    """
    run = watch(source)
    snapshots = recorded(run, "snapshots")
    mine = given_labels(run, labels, snapshots.values.shape[1])
    rows = some_rows(mine, MOST_PATHS)
    paths, names = paths_of(snapshots.values, rows, feature_names)
    ax = new_axes() if ax is None else ax
    clusters, sizes = np.unique(mine[mine != -1], return_counts=True)
    colours = point_colors(mine[rows], clusters, np.ones(len(rows)))
    flat = paths.shape[2] == 1
    if flat:
        time = np.broadcast_to(snapshots.k[:, None, None].astype(np.float64), paths.shape)
        paths = np.concatenate([paths, time], axis=2)
    _draw(ax, paths, colours, mine[rows] == -1, seen=not flat)
    style_axes(ax, x_label=names[0], y_label="updates" if flat else names[1], title=title, note=_note(run, rows, mine))
    if flat:
        _time_axis(ax, snapshots.k)
    own = mine[rows] != -1
    if len(clusters) > MOST_IN_LEGEND:
        number_clusters(ax, paths[-1][own], mine[rows][own])
    # of a run by hand nobody told clusters
    if labels is not None or run.labels is not None:
        cluster_legend(ax, clusters, sizes, int((mine == -1).sum()))
    return ax


def paths_of(snapshots: Array, rows: IntArray, feature_names: Sequence[str] | None) -> tuple[Array, tuple[str, ...]]:
    """Return where rows were at each snapshot, as (m, rows, 1 or 2), in the view of all the data; and the axes' names.

    Examples
    --------
    >>> paths, names = paths_of(np.zeros((4, 10, 3)), np.arange(6), None)
    >>> paths.shape
    (4, 6, 2)
    """
    some = snapshots[:, rows].astype(np.float64)
    view = project(snapshots[0].astype(np.float64), some.reshape(-1, some.shape[2]), feature_names)
    return view.centres.reshape(*some.shape[:2], -1), view.axes


def _draw(ax: Axes, paths: Array, colours: Array, lost: NDArray[np.bool_], *, seen: bool) -> None:
    n = paths.shape[1]
    faint = colours.copy()
    faint[:, 3] *= 0.7
    width = float(np.clip(120 / n, 0.35, 1.1))
    rasterized = n * len(paths) > 20_000
    lines = LineCollection(
        list(np.swapaxes(paths, 0, 1)), colors=faint, linewidths=width, zorder=2, rasterized=rasterized
    )
    ax.add_collection(lines)
    size = float(np.clip(2000 / n, 2.5, 12))
    ax.scatter(paths[0, :, 0], paths[0, :, 1], s=size, c=NOISE_COLOR, linewidths=0, zorder=1.8, rasterized=rasterized)
    if seen:
        ax.scatter(
            paths[-1, :, 0],
            paths[-1, :, 1],
            s=np.where(lost, 14, 44),
            c=colours,
            edgecolors="white",
            linewidths=0.8,
            zorder=3,
        )
    ax.autoscale_view()


def _time_axis(ax: Axes, k: IntArray) -> None:
    """Make room for the first sweeps, in which most happens."""
    moved = k[k > 0]
    if not len(moved):
        ax.set_yticks([0])
        return
    first = float(moved[0])
    ax.set_yscale("symlog", linthresh=first, linscale=0.6)
    doublings = first * 2.0 ** np.arange(int(np.log2(k[-1] / first)) + 1)
    ax.set_yticks([0.0, *doublings])
    ax.yaxis.set_major_formatter(FuncFormatter(plain))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(0, float(k[-1]) * 1.05)


def _note(run: Watched, rows: IntArray, labels: IntArray) -> str:
    parts = []
    if len(rows) < len(labels):
        parts.append(f"{len(rows):,} of {len(labels):,} paths drawn")
    if run.n_chains > 1:
        parts.append(f"paths of the first chain, colours by what {run.n_chains} chains agree on")
    n_clusters = len(np.unique(labels[labels != -1]))
    if n_clusters > MOST_IN_LEGEND:
        parts.append(f"{n_clusters:,} clusters")
    return "; ".join(parts)
