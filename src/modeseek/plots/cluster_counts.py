"""The picture of the number of clusters at every scale, and of how long each number lasts."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from modeseek.estimators import BandwidthSweep, ModeSeek
from modeseek.plots.colors import MUTED_COLOR, NOISE_COLOR, TEXT_COLOR, palette
from modeseek.plots.style import new_figure, style_axes
from modeseek.plots.ticks import log_ticks
from modeseek.plots.trace import WIDE
from modeseek.plots.tree_source import look_at
from modeseek.selection.modes import MergeTree

__all__ = ["plot_cluster_counts"]

SIZE = (7.2, 5.4)
FOR_EVER = "#DEDEDE"
# plateaus that are named at most, and how long they must last in comparison with the longest
NAMED, LASTING = 4, 0.3

Scales: TypeAlias = BandwidthSweep | MergeTree | ModeSeek


class _Step(NamedTuple):
    """A number of clusters, from where to where it holds, for how long, and whether it holds for ever."""

    n_clusters: int
    low: float
    high: float
    lifetime: float
    for_ever: bool = False


def plot_cluster_counts(source: Scales, *, figure: Figure | None = None, title: str | None = None) -> Figure:
    """Draw the number of clusters against the scale, and below it how long each number lasts.

    A number that lasts over many scales is a property of the data; one that comes and goes is one of the scale. Of a
    sweep the scale is the bandwidth, on a logarithmic axis, and a lifetime is the factor from where a number comes to
    where it goes. Of a tree it is the prominence that a mode needs, and a lifetime is the difference. The numbers above
    one that last longest have colours.

    Parameters
    ----------
    source : BandwidthSweep, MergeTree or fitted ModeSeek
        What `modeseek.estimators.sweep_bandwidths` found, or a tree, such as `tree_` of a ModeSeek.
    figure : matplotlib Figure, default=None
        Where to draw; None makes a new pyplot figure.
    title : str, default=None
        A title.

    Returns
    -------
    matplotlib Figure
        The figure drawn on: the number above, the lifetime below.

    Examples
    --------
    >>> from modeseek.estimators import sweep_bandwidths
    >>> sweep = sweep_bandwidths([[0.0], [0.1], [5.0], [5.1]], [0.01, 1.0, 2.0, 40.0])
    >>> figure = plot_cluster_counts(sweep, figure=Figure())
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['clusters', 'lifetime (factor)']
    """
    level = None
    if isinstance(source, BandwidthSweep):
        steps = [_Step(each.n_clusters, each.low, each.high, each.lifetime) for each in source.plateaus()]
        steps[-1] = steps[-1]._replace(for_ever=steps[-1].n_clusters == 1)
        log, names = True, ("bandwidth h", "lifetime (factor)")
    else:
        tree = look_at(source, None).tree
        steps, level = _steps_of(tree), tree.level
        log, names = False, ("prominence that a mode needs (log density)", "lifetime (difference)")
    figure = new_figure(*SIZE) if figure is None else figure
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    _draw(above, below, steps, log=log)
    if level is not None and steps[0].low <= level <= steps[-1].high:
        for ax in (above, below):
            ax.axvline(level, color=TEXT_COLOR, linewidth=1.0, linestyle=(0, (4, 3)), zorder=2)
        above.annotate(
            "chosen", (level, 1), (4, -2), ("data", "axes fraction"), "offset points", va="top", fontsize="small"
        )
    style_axes(above, x_label="", y_label="clusters", title=title)
    style_axes(below, x_label=names[0], y_label=names[1])
    if log:
        log_ticks(below.xaxis, steps[0].low, steps[-1].high)
    if above.get_yscale() == "log":
        log_ticks(above.yaxis, *above.get_ylim())
    else:
        above.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    return figure


def _draw(above: Axes, below: Axes, steps: list[_Step], *, log: bool) -> None:
    if log:
        below.set_xscale("log")
    none = 1.0 if log else 0.0
    several = sorted(
        (each for each in steps if each.n_clusters > 1 and not each.for_ever), key=lambda each: -each.lifetime
    )
    most = several[0].lifetime - none if several else 1.0
    named = [each for each in several[:NAMED] if each.lifetime - none > LASTING * max(most, 1e-12)]
    colours = dict(zip(named, palette(len(named)), strict=True))
    edges = [steps[0].low, *(each.high for each in steps)]
    counts = [each.n_clusters for each in steps]
    above.stairs(counts, edges, baseline=None, color=MUTED_COLOR, linewidth=1.0, zorder=2)
    # what lasts for ever is drawn, but does not set the height
    top = max([each.lifetime for each in several] or [steps[0].lifetime]) - none
    for each in steps:
        colour = colours.get(each, FOR_EVER if each.for_ever else NOISE_COLOR)
        width = 3.2 if each in colours else 1.6
        above.hlines(each.n_clusters, each.low, each.high, color=colour, linewidth=width, zorder=3)
        height = min(each.lifetime - none, 1.25 * top)
        below.fill_between([each.low, each.high], none, none + height, color=colour, linewidth=0, zorder=2)
    below.set_ylim(none, none + 1.3 * max(top, 1e-12))
    if max(counts) > WIDE * min(counts):
        above.set_yscale("log")
        above.set_ylim(top=max(counts) * 1.6)
    else:
        above.set_ylim(0, max(counts) * 1.15)
    for each in steps:
        middle = float(np.sqrt(each.low * each.high)) if log else (each.low + each.high) / 2
        if each in colours:
            _write(above, f"{each.n_clusters} clusters", middle, each.n_clusters)
        elif each.for_ever:
            count = "1 cluster" if each.n_clusters == 1 else f"{each.n_clusters} clusters"
            _write(above, f"{count} from here on", each.high, each.n_clusters, align="right")


def _write(ax: Axes, text: str, x: float, y: float, align: str = "center") -> None:
    ax.annotate(text, (x, y), (0, 5), "data", "offset points", ha=align, fontsize="small", color=TEXT_COLOR)


def _steps_of(tree: MergeTree) -> list[_Step]:
    """Return the numbers of clusters of a tree, from no prominence up to a little beyond the largest finite one."""
    finite = np.unique(tree.prominence[np.isfinite(tree.prominence) & (tree.prominence > 0)])
    top = float(finite.max(initial=0.0)) or 1.0
    edges = np.concatenate([[0.0], finite, [1.35 * top]])
    # a mode goes when the level passes its prominence
    counts = [int((tree.prominence >= high).sum()) for high in edges[1:-1]] + [int(np.isinf(tree.prominence).sum())]
    steps = [_Step(n, float(a), float(b), float(b - a)) for n, a, b in zip(counts, edges[:-1], edges[1:], strict=True)]
    return [*steps[:-1], steps[-1]._replace(for_ever=True)]
