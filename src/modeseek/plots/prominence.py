"""The plot of modes by their density and their prominence."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import blended_transform_factory

from modeseek._common.text import counted
from modeseek.plots.cluster_labels import cluster_legend
from modeseek.plots.colors import NOISE_COLOR, TEXT_COLOR, palette
from modeseek.plots.sources import TreeSource, read_tree
from modeseek.plots.style import DASHED, draw_points, new_axes, style_axes

# areas of markers in square points: the smallest, and the scale of what is added in proportion to the size of a mode
MIN_AREA = 14.0
EXTRA_AREA = 700.0
# position and half-height of the band of modes that never merge, in units of the largest finite prominence
NEVER_POSITION = 1.16
NEVER_HALF_HEIGHT = 0.08


def plot_prominence(
    source: TreeSource, *, level: float | None = None, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw each mode of the density by its height and its prominence.

    The prominence of a mode is its height above the saddle to the next higher mode. Clusters are modes with a large
    prominence; random fluctuations produce many modes with a small one. A clear gap between the two groups means a
    clear number of clusters. Modes that never merge with another one are in the grey band at the top.

    Parameters
    ----------
    source : MergeTree or fitted ModeSeek
        The modes.
    level : float, default=None
        Prominence that a cluster needs, drawn as a line. The default is the chosen level, if there is one.
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
    >>> ax = plot_prominence(tree, level=0.5, ax=Figure().subplots())
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().texts]
    ('log density of the mode', ['0  (2)', '1  (1)'])
    """
    tree, level, labels, is_top, sizes = found = read_tree(source, level)
    ax = new_axes() if ax is None else ax
    finite = tree.prominence[np.isfinite(tree.prominence)]
    highest = max(float(finite.max(initial=0.0)), level or 0.0) or 1.0
    y = np.where(np.isinf(tree.prominence), NEVER_POSITION * highest, tree.prominence)
    modes = np.c_[tree.height, y]
    draw_points(ax, modes[~is_top], s=MIN_AREA, c=NOISE_COLOR, linewidths=0, zorder=2, clip_on=False)
    # the largest markers first, so that they do not cover others
    area = MIN_AREA + EXTRA_AREA * tree.size / tree.size.max() / np.sqrt(max(len(sizes), 4))
    tops = np.flatnonzero(is_top)[np.argsort(-area[is_top], kind="stable")]
    colors = np.array(palette(len(sizes)))[labels[tree.row[tops]]]
    draw_points(ax, modes[tops], s=area[tops], c=colors, edgecolors="white", linewidths=0.7, alpha=0.9, zorder=3)
    if level is not None:
        ax.axhline(level, color=TEXT_COLOR, linewidth=1.0, linestyle=DASHED, zorder=1.5)
        side, text = blended_transform_factory(ax.transAxes, ax.transData), f"level {level:.3g}"
        ax.text(1.0, level, text, transform=side, ha="right", va="bottom", fontsize="small", color=TEXT_COLOR)
    _draw_never_band(ax, highest, ticks=bool(len(finite)) or level is not None)
    n_minor = int((~is_top).sum())
    note = f"{counted(len(tree), 'mode')}; {n_minor:,} in grey are not clusters" if n_minor else ""
    style_axes(
        ax, x_label="log density of the mode", y_label="prominence (height above the saddle)", title=title, note=note
    )
    cluster_legend(ax, np.arange(len(sizes)), sizes, found.n_noise)
    return ax


def _draw_never_band(ax: Axes, highest: float, *, ticks: bool) -> None:
    """Draw the band at the top for modes that never merge; `ticks` is whether the axis below it has ticks."""
    low, high = ((NEVER_POSITION + side * NEVER_HALF_HEIGHT) * highest for side in (-1, 1))
    ax.set_ylim(0.0, high)
    ax.axhspan(low, high, color="#F4F4F4", linewidth=0, zorder=0)
    kept = [tick for tick in ax.get_yticks() if ticks and 0 <= tick < low]
    ax.set_yticks([*kept, NEVER_POSITION * highest], [*(f"{tick:g}" for tick in kept), "never\nmerges"])
