"""The plot of a merge tree: modes as hills, and the densities at which they merge."""

import numpy as np
from matplotlib.axes import Axes

from modeseek._common.text import counted
from modeseek._common.types import Array
from modeseek.plots.cluster_labels import cluster_legend
from modeseek.plots.colors import NOISE_COLOR, TEXT_COLOR, palette
from modeseek.plots.sources import TreeSource, read_tree
from modeseek.plots.style import new_axes, style_axes
from modeseek.plots.tree_layout import layout_hills
from modeseek.selection.modes import MergeTree

# share of the weight that may lie below the plot, so that a few isolated points do not take half of its height
MAX_SHARE_BELOW = 0.005


def plot_tree(
    source: TreeSource, *, level: float | None = None, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw how the modes (local maxima) of a density merge as the density decreases.

    Each cluster is a hill whose width is its weight, and minor modes are peaks on a hill. Points that are connected
    above some density are next to each other. A line goes from the top of a hill down to its saddle, and from there to
    the higher hill that it merges with at this density. Hills without a line are not connected to any other.

    Parameters
    ----------
    source : MergeTree or fitted ModeSeek
        The merge tree. The points of a ModeSeek have the colours of their clusters.
    level : float, default=None
        Prominence that a mode needs to be a hill of its own. The default is the level that was chosen; if there is
        none, each connected component is a hill.
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
    >>> from modeseek.selection.modes import point_tree, merge_tree
    >>> tree = merge_tree(point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0]))
    >>> ax = plot_tree(tree, level=0.5, ax=Figure().subplots())
    >>> len(ax.lines), ax.get_ylabel()
    (2, 'log density')
    """
    found = read_tree(source, level)
    tree = found.tree
    ax = new_axes() if ax is None else ax
    labels = np.empty(len(tree.weights), dtype=np.intp)
    labels[tree.inverse] = found.labels
    hills = layout_hills(tree, np.inf if found.level is None else found.level)
    gap = float(tree.weights.sum()) * (0.2 if len(hills) <= 20 else 0.5) / max(len(hills), 8)
    floor = _lowest_height(tree, len(hills))
    reach = float(tree.height.max()) - floor or 1.0
    ground = floor - 0.05 * reach
    colors = [*palette(len(found.sizes)), NOISE_COLOR]
    peaks, x = np.zeros(len(tree)), 0.0
    for hill in hills:
        edges = x + np.concatenate([[0.0], np.cumsum(hill.weights)])
        # a point is drawn as a column, whose two upper corners have the height of the point
        outline_x, outline_y = (
            np.repeat(edges, 2)[1:-1],
            np.repeat(np.maximum(tree.point_tree.heights[hill.points], floor), 2),
        )
        for label in np.unique(labels[hill.points]):
            where = np.repeat(labels[hill.points] == label, 2)
            # columns narrower than a pixel are visible because of the line
            ax.fill_between(outline_x, outline_y, ground, where=where, color=colors[label], linewidth=0.4, zorder=2)
        top = int(np.flatnonzero(hill.points == tree.inverse[tree.row[hill.mode]])[0])
        peaks[hill.mode] = (edges[top] + edges[top + 1]) / 2
        x = edges[-1] + gap
    _draw_merges(ax, tree, [hill.mode for hill in hills], peaks)
    ax.set_ylim(ground, floor + 1.06 * reach)
    ax.set_xlim(-gap, x)
    ax.set_xticks([])
    n_minor = len(tree) - len(hills)
    note = counted(len(hills), "hill") + (f" with {counted(n_minor, 'minor mode')}" if n_minor else "")
    style_axes(ax, x_label="points, grouped by cluster", y_label="log density", title=title, note=note)
    cluster_legend(ax, np.arange(len(found.sizes)), found.sizes, found.n_noise)
    return ax


def _draw_merges(ax: Axes, tree: MergeTree, modes: list[int], peaks: Array) -> None:
    # many thick lines would hide the hills
    width = float(np.clip(40 / len(modes), 0.3, 1.1))
    for mode in modes:
        x, elder = peaks[mode], int(tree.elder[mode])
        # the line of the highest mode ends at the lowest saddle that joins it
        saddles = [float(tree.saddle[other]) for other in modes if tree.elder[other] == mode]
        foot = float(tree.saddle[mode]) if elder >= 0 else min(saddles, default=float(tree.height[mode]))
        end = peaks[elder] if elder >= 0 else x
        ax.plot([x, x, end], [tree.height[mode], foot, foot], color=TEXT_COLOR, linewidth=width, zorder=3)


def _lowest_height(tree: MergeTree, n_hills: int) -> float:
    """Return the lower end of the plot, which is below nearly all points and all saddles."""
    order = np.argsort(tree.point_tree.heights, kind="stable")
    share = np.cumsum(tree.weights[order]) / tree.weights.sum()
    lowest = float(tree.point_tree.heights[order][np.searchsorted(share, MAX_SHARE_BELOW)])
    saddles = tree.saddle[:n_hills]
    return min(lowest, float(saddles[np.isfinite(saddles)].min(initial=lowest)))
