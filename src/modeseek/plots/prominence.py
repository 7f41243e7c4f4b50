"""The picture of modes by their prominence."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import blended_transform_factory

from modeseek.plots.cluster_legend import cluster_legend
from modeseek.plots.colors import NOISE_COLOR, TEXT_COLOR, palette
from modeseek.plots.style import new_axes, style_axes
from modeseek.plots.tree_source import Source, look_at

__all__ = ["plot_prominence"]

# area of a marker in square points: at least, and what the heaviest has more
SMALL, LARGE = 14.0, 700.0
# where modes stand that never merge, and how far around that is set apart, in units of the largest prominence
EDGE, BAND = 1.16, 0.08


def plot_prominence(
    source: Source, *, level: float | None = None, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw every mode by its height and its prominence.

    A cluster is a mode that rises far above the saddle to the next higher one; chance makes many that rise a little. A
    clear gap between the two kinds is a clear number of clusters. Modes that never merge stand at the upper edge.

    Parameters
    ----------
    source : MergeTree or fitted ModeSeek
        The modes.
    level : float, default=None
        Prominence that a cluster needs, drawn as a line. None: the one chosen, if any.
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
    >>> ax = plot_prominence(tree, level=0.5, ax=Figure().subplots())
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().texts]
    ('log density at the mode', ['0  (2)', '1  (1)'])
    """
    look = look_at(source, level)
    tree = look.tree
    ax = new_axes() if ax is None else ax
    finite = tree.prominence[np.isfinite(tree.prominence)]
    top = max(float(finite.max(initial=0.0)), look.level or 0.0) or 1.0
    y = np.where(np.isinf(tree.prominence), EDGE * top, tree.prominence)
    area = SMALL + LARGE * tree.size / tree.size.max() / np.sqrt(max(len(look.sizes), 4))
    shades = np.array(palette(len(look.sizes)))
    ax.scatter(tree.height[~look.tops], y[~look.tops], s=SMALL, c=NOISE_COLOR, linewidths=0, zorder=2, clip_on=False)
    # the largest first, so that they hide nobody
    tops = np.flatnonzero(look.tops)[np.argsort(-area[look.tops], kind="stable")]
    ax.scatter(
        tree.height[tops],
        y[tops],
        s=area[tops],
        c=shades[look.rows[tree.row[tops]]],
        edgecolors="white",
        linewidths=0.7,
        alpha=0.9,
        zorder=3,
    )
    if look.level is not None:
        ax.axhline(look.level, color=TEXT_COLOR, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.5)
        side, text = blended_transform_factory(ax.transAxes, ax.transData), f"level {look.level:.3g}"
        ax.text(1.0, look.level, text, transform=side, ha="right", va="bottom", fontsize="small", color=TEXT_COLOR)
    _set_apart(ax, top, ticks=bool(len(finite)) or look.level is not None)
    small = int((~look.tops).sum())
    note = f"{len(tree):,} modes, {small:,} without a cluster of their own (grey)" if small else ""
    style_axes(ax, x_label="log density at the mode", y_label="prominence (above the saddle)", title=title, note=note)
    cluster_legend(ax, np.arange(len(look.sizes)), look.sizes, look.n_noise)
    return ax


def _set_apart(ax: Axes, top: float, *, ticks: bool) -> None:
    """Set apart the upper edge, where modes stand that never merge."""
    low, high = (EDGE - BAND) * top, (EDGE + BAND) * top
    ax.set_ylim(0.0, high)
    ax.axhspan(low, high, color="#F4F4F4", linewidth=0, zorder=0)
    own = [tick for tick in ax.get_yticks() if ticks and 0 <= tick < low]
    ax.set_yticks([*own, EDGE * top], [*(f"{tick:g}" for tick in own), "never\nmerges"])
