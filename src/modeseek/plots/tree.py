"""The picture of how modes merge as the density falls."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from modeseek._common.types import Array, IntArray
from modeseek.plots.cluster_legend import cluster_legend
from modeseek.plots.colors import NOISE_COLOR, TEXT_COLOR, palette
from modeseek.plots.style import new_axes, style_axes
from modeseek.plots.tree_layout import Hill, hills
from modeseek.plots.tree_source import Source, look_at
from modeseek.selection.modes import MergeTree

__all__ = ["plot_tree"]

# share of the weight that may lie below the picture, so that a few lone points do not take half of it
BELOW = 0.005


def plot_tree(source: Source, *, level: float | None = None, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw how modes merge as the density falls.

    Each cluster is a hill, as wide as it is heavy. Points that are joined above some density stand together, so lesser
    modes are crags on a hill. A line goes from the top of a hill down to its saddle, and from there to the highest hill
    beyond: the height at which the two would be one. Hills without a line are joined by no edge of the graph.

    Parameters
    ----------
    source : MergeTree or fitted ModeSeek
        The modes. Of a ModeSeek, points have the colours of their clusters.
    level : float, default=None
        Prominence that a hill needs. None: the one chosen; where none was, parts that nothing joins are hills.
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
    >>> from modeseek.selection.modes import point_tree, merge_tree
    >>> tree = merge_tree(point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0]))
    >>> ax = plot_tree(tree, level=0.5, ax=Figure().subplots())
    >>> len(ax.lines), ax.get_ylabel()
    (2, 'log density')
    """
    look = look_at(source, level)
    tree = look.tree
    ax = new_axes() if ax is None else ax
    row_of = np.empty(len(tree.weights), dtype=np.intp)
    row_of[tree.inverse] = np.arange(len(tree.inverse))
    drawn = hills(tree, np.inf if look.level is None else look.level)
    gap = float(tree.weights.sum()) * (0.2 if len(drawn) <= 20 else 0.5) / max(len(drawn), 8)
    floor = _floor(tree, len(drawn))
    reach = float(tree.height.max()) - floor or 1.0
    ground = floor - 0.05 * reach
    shades = [*palette(len(look.sizes)), NOISE_COLOR]
    peak, x = np.zeros(len(tree)), 0.0
    for hill in drawn:
        edges = x + np.concatenate([[0.0], np.cumsum(hill.weights)])
        _draw_hill(ax, hill, edges, tree.point_tree.heights, look.rows[row_of[hill.points]], shades, ground, floor)
        top = int(np.flatnonzero(hill.points == tree.inverse[tree.row[hill.mode]])[0])
        peak[hill.mode] = (edges[top] + edges[top + 1]) / 2
        x = edges[-1] + gap
    _draw_lines(ax, tree, [hill.mode for hill in drawn], peak)
    ax.set_ylim(ground, floor + 1.06 * reach)
    ax.set_xlim(-gap, x)
    ax.set_xticks([])
    style_axes(
        ax, x_label="points, cluster by cluster", y_label="log density", title=title, note=_note(tree, len(drawn))
    )
    cluster_legend(ax, np.arange(len(look.sizes)), look.sizes, look.n_noise)
    return ax


def _draw_hill(
    ax: Axes, hill: Hill, edges: Array, heights: Array, labels: IntArray, shades: list[str], ground: float, floor: float
) -> None:
    # each point a column: two corners at its height
    x, y = np.repeat(edges, 2)[1:-1], np.repeat(np.maximum(heights[hill.points], floor), 2)
    mine = np.repeat(labels, 2)
    for label in np.unique(labels):
        # an edge of its own colour, so that a column narrower than a pixel is seen
        ax.fill_between(x, y, ground, where=mine == label, color=shades[label], linewidth=0.4, zorder=2)


def _draw_lines(ax: Axes, tree: MergeTree, modes: list[int], peak: Array) -> None:
    # many thick lines would hide the hills
    width = float(np.clip(40 / len(modes), 0.3, 1.1))
    for mode in modes:
        x, elder = peak[mode], int(tree.elder[mode])
        # a line without a hill beyond ends at the lowest that meets it
        met = [float(tree.saddle[other]) for other in modes if tree.elder[other] == mode]
        foot = float(tree.saddle[mode]) if elder >= 0 else min(met, default=float(tree.height[mode]))
        to = peak[elder] if elder >= 0 else x
        ax.plot([x, x, to], [tree.height[mode], foot, foot], color=TEXT_COLOR, linewidth=width, zorder=3)


def _floor(tree: MergeTree, n_hills: int) -> float:
    """Return the height at which the picture ends below: above it is nearly all weight, and every line."""
    order = np.argsort(tree.point_tree.heights, kind="stable")
    share = np.cumsum(tree.weights[order]) / tree.weights.sum()
    lowest = float(tree.point_tree.heights[order][np.searchsorted(share, BELOW)])
    saddles = tree.saddle[:n_hills]
    return min(lowest, float(saddles[np.isfinite(saddles)].min(initial=lowest)))


def _note(tree: MergeTree, n_hills: int) -> str:
    rest = len(tree) - n_hills
    crags = "" if not rest else f", with {rest:,} lesser {'mode' if rest == 1 else 'modes'} on them"
    return f"{n_hills:,} {'hill' if n_hills == 1 else 'hills'}{crags}"
