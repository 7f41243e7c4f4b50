"""The pictures of the certificate's times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from modeseek.paper.intervals import wilson
from modeseek.paper.paper_chains import POLICIES
from modeseek.paper.rows import Rows
from modeseek.paper.theory_style import COLORS, NAMES, legend, new_figure, plain_numbers, style_panel
from modeseek.plots.colors import TEXT_COLOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_differences", "draw_times"]

TIMES = {"shifts": "paper's rule", "certificate": "certificate", "final": "partition final (hindsight)"}
BAND = (5, 25, 50, 75, 95)
TICKS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 300, 500, 1000)


def draw_times(rows: Rows) -> Figure:
    """Draw sweeps against n, a panel for each policy."""
    figure = new_figure(10.5, 4.8)
    axes = figure.subplots(1, len(POLICIES), sharey=True)
    for ax, policy in zip(axes, POLICIES, strict=True):
        mine = rows.where(policy=policy)
        sizes = mine.distinct("n")
        n = np.array(sizes, dtype=np.float64)
        for name, label in TIMES.items():
            # a partition that is final from the start counts as one sweep: the axis is logarithmic
            values = [np.maximum(mine.where(n=size)[name], 1) for size in sizes]
            low, lower, median, upper, high = np.array([np.percentile(at, BAND) for at in values]).T
            if name == "final":  # close to the certificate: bands would lie on one another
                ax.plot(n, median, color=TEXT_COLOR, linewidth=1.4, linestyle=(0, (2, 2)), label=label)
                continue
            ax.fill_between(n, low, high, color=COLORS[name], alpha=0.13, linewidth=0)
            ax.fill_between(n, lower, upper, color=COLORS[name], alpha=0.30, linewidth=0)
            ax.plot(n, median, color=COLORS[name], marker="o", markersize=4, linewidth=1.8, label=label)
        ax.set(xscale="log", yscale="log")
        plain_numbers(ax, "x", n.tolist())
        style_panel(ax, x="points n", title=NAMES[policy])
    low, high = axes[0].get_ylim()
    plain_numbers(axes[0], "y", [tick for tick in TICKS if low < tick < high])
    axes[0].set_ylabel("updates per point (sweeps)", color=TEXT_COLOR)
    legend(axes[0], place="upper left")
    return figure


def draw_differences(rows: Rows) -> Figure:
    """Draw how often the paper's rule and Theorem 2's conditions came before a change."""
    figure = new_figure(10.5, 3.8)
    left, right = figure.subplots(1, 2, sharey=True)
    _shares(left, rows, "ari", "the paper's rule stopped at other clusters")
    _shares(right, rows, "theorem2_changed", "Theorem 2's conditions held, then a change")
    left.set_ylabel("share of runs", color=TEXT_COLOR)
    legend(left, place="center")
    return figure


def _shares(ax: Axes, rows: Rows, column: str, title: str) -> None:
    for shift, policy in zip((-1, 1), POLICIES, strict=True):
        mine = rows.where(policy=policy)
        sizes = mine.distinct("n")
        n = np.array(sizes, dtype=np.float64)
        values = [mine.where(n=size)[column] for size in sizes]
        counts = [int(((at < 1) if column == "ari" else (at > 0)).sum()) for at in values]
        share = wilson(counts, [len(at) for at in values])
        bars = np.abs([share.center - share.low, share.high - share.center])
        # a little to the side, so that both can be seen
        ax.errorbar(
            n * 1.025**shift, share.center, bars,
            color=COLORS[policy], marker="o", markersize=4.5, linewidth=1.3, capsize=2.5, label=NAMES[policy],
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_ylim(-0.03, 1.03)
    plain_numbers(ax, "x", n.tolist())
    style_panel(ax, x="points n", title=title)
