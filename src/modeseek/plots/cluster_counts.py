"""The plot of the number of clusters against the bandwidth, or against the prominence that a cluster needs."""

from typing import NamedTuple, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from modeseek._common.text import counted
from modeseek.estimators import BandwidthSweep, ModeSeek
from modeseek.plots.colors import MUTED_COLOR, NOISE_COLOR, TEXT_COLOR, palette
from modeseek.plots.sources import read_tree
from modeseek.plots.style import DASHED, log_ticks, new_figure, style_axes
from modeseek.plots.trace import LOG_RATIO
from modeseek.selection.modes import MergeTree

SIZE = (7.2, 5.4)
UNBOUNDED_COLOR = "#DEDEDE"
MAX_NAMED = 4
# smallest lifetime of a named plateau, as a share of the longest
MIN_NAMED_LIFETIME = 0.3

CountsSource: TypeAlias = BandwidthSweep | MergeTree | ModeSeek


class _Plateau(NamedTuple):
    """A number of clusters, the interval in which it holds, its lifetime, and whether it holds beyond the plot."""

    n_clusters: int
    low: float
    high: float
    lifetime: float
    unbounded: bool = False


def plot_cluster_counts(source: CountsSource, *, figure: Figure | None = None, title: str | None = None) -> Figure:
    """Draw the number of clusters at each bandwidth or prominence, and below it the lifetime of each number.

    For a sweep, the horizontal axis is the bandwidth, on a logarithmic scale, and the lifetime of a number is the ratio
    of the last to the first bandwidth with that number of clusters. For a merge tree, the axis is the prominence that a
    mode needs to be a cluster, and the lifetime is a difference. A number with a long lifetime is a property of the
    data; a number with a short lifetime depends on the setting. Among the numbers above one, those with the longest
    lifetimes are coloured.

    Parameters
    ----------
    source : BandwidthSweep, MergeTree or fitted ModeSeek
        The result of `modeseek.estimators.sweep_bandwidths`, or a merge tree, such as `tree_` of a ModeSeek.
    figure : matplotlib Figure, default=None
        The figure to draw on; None creates a pyplot figure.
    title : str, default=None
        A title.

    Returns
    -------
    matplotlib Figure
        The figure drawn on, with the numbers of clusters above and the lifetimes below.

    Examples
    --------
    >>> from modeseek.estimators import sweep_bandwidths
    >>> sweep = sweep_bandwidths([[0.0], [0.1], [5.0], [5.1]], [0.01, 1.0, 2.0, 40.0])
    >>> figure = plot_cluster_counts(sweep, figure=Figure())
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['number of clusters', 'lifetime (ratio)']
    """
    level, log = None, isinstance(source, BandwidthSweep)
    if isinstance(source, BandwidthSweep):
        plateaus = [_Plateau(each.n_clusters, each.low, each.high, each.lifetime) for each in source.plateaus()]
        plateaus[-1] = plateaus[-1]._replace(unbounded=plateaus[-1].n_clusters == 1)
        x_label, y_label = "bandwidth h", "lifetime (ratio)"
    else:
        tree = read_tree(source, None).tree
        plateaus, level = _plateaus_of_tree(tree), tree.level
        x_label, y_label = "prominence that a cluster needs (difference in log density)", "lifetime (difference)"
    figure = new_figure(*SIZE) if figure is None else figure
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    _draw(above, below, plateaus, log=log)
    if level is not None and plateaus[0].low <= level <= plateaus[-1].high:
        for ax in (above, below):
            ax.axvline(level, color=TEXT_COLOR, linewidth=1.0, linestyle=DASHED, zorder=2)
        corner = ("data", "axes fraction")
        above.annotate("chosen level", (level, 1), (4, -2), corner, "offset points", va="top", fontsize="small")
    style_axes(above, x_label="", y_label="number of clusters", title=title)
    style_axes(below, x_label=x_label, y_label=y_label)
    if log:
        log_ticks(below.xaxis, plateaus[0].low, plateaus[-1].high)
    if above.get_yscale() == "log":
        log_ticks(above.yaxis, *above.get_ylim())
    else:
        above.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    return figure


def _draw(above: Axes, below: Axes, plateaus: list[_Plateau], *, log: bool) -> None:
    if log:
        below.set_xscale("log")
    # lifetime of a number of clusters that occurs at a single bandwidth or prominence
    least = 1.0 if log else 0.0
    several = [each for each in plateaus if each.n_clusters > 1 and not each.unbounded]
    several.sort(key=lambda each: -each.lifetime)
    longest = (several or plateaus)[0].lifetime - least
    lasting = MIN_NAMED_LIFETIME * max(longest, 1e-12)
    named = [each for each in several[:MAX_NAMED] if each.lifetime - least > lasting]
    colors = dict(zip(named, palette(len(named)), strict=True))
    counts = [each.n_clusters for each in plateaus]
    edges = [plateaus[0].low, *(each.high for each in plateaus)]
    above.stairs(counts, edges, baseline=None, color=MUTED_COLOR, linewidth=1.0, zorder=2)
    for each in plateaus:
        color = colors.get(each, UNBOUNDED_COLOR if each.unbounded else NOISE_COLOR)
        width = 3.2 if each in colors else 1.6
        above.hlines(each.n_clusters, each.low, each.high, color=color, linewidth=width, zorder=3)
        # an unbounded lifetime must not set the height of the axes
        height = min(each.lifetime - least, 1.25 * longest)
        below.fill_between([each.low, each.high], least, least + height, color=color, linewidth=0, zorder=2)
        middle = float(np.sqrt(each.low * each.high)) if log else (each.low + each.high) / 2
        if each in colors:
            _write(above, f"{each.n_clusters} clusters", middle, each.n_clusters)
        elif each.unbounded:
            _write(above, f"{counted(each.n_clusters, 'cluster')} from here on", each.high, each.n_clusters, "right")
    below.set_ylim(least, least + 1.3 * max(longest, 1e-12))
    if max(counts) > LOG_RATIO * min(counts):
        above.set_yscale("log")
        above.set_ylim(top=max(counts) * 1.6)
    else:
        above.set_ylim(0, max(counts) * 1.15)


def _write(ax: Axes, text: str, x: float, y: float, align: str = "center") -> None:
    ax.annotate(text, (x, y), (0, 5), "data", "offset points", ha=align, fontsize="small", color=TEXT_COLOR)


def _plateaus_of_tree(tree: MergeTree) -> list[_Plateau]:
    """Return the plateaus from prominence 0 to a little more than the largest finite prominence."""
    finite = np.unique(tree.prominence[np.isfinite(tree.prominence) & (tree.prominence > 0)])
    top = float(finite.max(initial=0.0)) or 1.0
    edges = [0.0, *finite.tolist(), 1.35 * top]
    # a mode is a cluster if the level is at most its prominence
    counts = [int((tree.prominence >= high).sum()) for high in finite] + [int(np.isinf(tree.prominence).sum())]
    plateaus = [_Plateau(n, a, b, b - a) for n, a, b in zip(counts, edges[:-1], edges[1:], strict=True)]
    return [*plateaus[:-1], plateaus[-1]._replace(unbounded=True)]
