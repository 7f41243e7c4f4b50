"""The picture of a run over time: L_h, clumps, diameter and gap."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from modeseek._common.types import Array
from modeseek._common.validation import check_choice
from modeseek.meanshift.bandwidth import Constant
from modeseek.meanshift.chains import Series
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR, palette
from modeseek.plots.run_source import Run, Watched, recorded, watch
from modeseek.plots.style import new_figure, style_axes
from modeseek.plots.ticks import log_ticks, plain

__all__ = ["QUANTITIES", "plot_trace"]

QUANTITIES = {
    "objective": "objective L_h",
    "clumps": "number of clumps",
    "diameter": "diameter of the widest clump",
    "gap": "gap between clumps",
}
PANEL_WIDTH, PANEL_HEIGHT = 3.9, 2.7
# beyond this ratio of the largest to the smallest value an axis is logarithmic
WIDE = 20.0


def plot_trace(
    source: Run,
    *,
    quantities: Sequence[str] | None = None,
    figure: Figure | SubFigure | None = None,
    axes: Sequence[Axes] | None = None,
    title: str | None = None,
) -> Figure | SubFigure:
    """Draw what was recorded of a run over its updates: L_h, the number of clumps, their diameter and their gap.

    Clumps are what is closer than tau. The line below the diameter is tau, and the one below the gap is
    h_upper + 2D: a run is certified where the diameter D is below the one and the gap above the other.

    Parameters
    ----------
    source : fitted estimator, or ChainResult
        A chain that recorded: fit with `record=["objective", "clumps", "diameter", "gap"]`, or some of them.
    quantities : sequence of str, default=None
        Which of these four to draw. None: those that were recorded.
    figure : matplotlib Figure, default=None
        Where to draw; None makes a new pyplot figure.
    axes : sequence of matplotlib Axes, default=None
        Where to draw instead, one for each quantity.
    title : str, default=None
        A title.

    Returns
    -------
    matplotlib Figure
        The figure drawn on.

    Examples
    --------
    >>> from modeseek import BlurringMeanShift
    >>> model = BlurringMeanShift(1.0, record=["clumps", "gap"]).fit([[0.0], [0.3], [5.0]])
    >>> [ax.get_title(loc="left") for ax in plot_trace(model, figure=Figure()).axes]
    ['number of clumps', 'gap between clumps']
    """
    run = watch(source)
    names = _chosen(run, quantities)
    series = {name: recorded(run, name) for name in names}
    if axes is None:
        n_rows = ceil(len(names) / 3) if len(names) != 4 else 2
        n_columns = ceil(len(names) / n_rows)
        figure = figure or new_figure(PANEL_WIDTH * n_columns, PANEL_HEIGHT * n_rows + 0.5)
        axes = list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())
    elif len(axes) != len(names):
        raise ValueError(f"axes must be one for each of {', '.join(names)}; got {len(axes)}.")
    for ax, name in zip(axes, names, strict=False):
        _draw(ax, name, series[name])
        if name == "diameter" and run.tau is not None:
            _line(ax, np.array([0.0, ax.get_xlim()[1]]), np.full(2, run.tau), f"tau = {run.tau:.3g}")
        if name == "gap" and "diameter" in series and np.isfinite(series[name].values).any():
            _bound(ax, run, series["diameter"])
        if ax.get_yscale() == "log":
            log_ticks(ax.yaxis, *ax.get_ylim())
    where = axes[0].figure
    if title:
        where.suptitle(title, x=0.01, ha="left", color=TEXT_COLOR, fontsize="large", fontweight="bold")
    whose = "" if run.n_chains == 1 else f"; the first of {run.n_chains} chains"
    where.supxlabel(f"updates ({run.outcome.value}{whose})", color=TEXT_COLOR, fontsize="medium")
    return where


def _chosen(run: Watched, quantities: Sequence[str] | None) -> list[str]:
    if quantities is not None:
        words = [quantities] if isinstance(quantities, str) else list(quantities)
        return [check_choice("quantities", name, QUANTITIES) for name in words]
    names = [name for name in QUANTITIES if getattr(run.trace, name) is not None]
    if not names:
        how = "Record(objective=1, clumps=1, diameter=1, gap=1)" if run.by_hand else str(list(QUANTITIES))
        raise ValueError(
            f"nothing of the course was recorded: {'run' if run.by_hand else 'fit'} with record={how}, or some of them."
        )
    return names


def _draw(ax: Axes, name: str, series: Series) -> None:
    colour = dict(zip(QUANTITIES, palette(len(QUANTITIES)), strict=True))[name]
    k, values = series.k, np.where(np.isfinite(series.values), series.values, np.nan)
    if name in ("diameter", "gap"):
        values = np.where(values > 0, values, np.nan)  # a logarithm knows no 0
    style = "steps-post" if name == "clumps" else "default"
    marker = "o" if len(k) <= 60 else ""
    ax.plot(k, values, color=colour, linewidth=1.6, drawstyle=style, marker=marker, markersize=3.2, zorder=3)
    known = values[np.isfinite(values)]
    if len(known) and name != "objective" and known.max() > WIDE * known.min():
        ax.set_yscale("log")
    elif name == "clumps":
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=0)
    if not len(known):
        why = "one clump: no gap" if name == "gap" else "0 throughout"
        ax.text(0.5, 0.5, why, transform=ax.transAxes, ha="center", va="center", color=MUTED_COLOR)
        ax.set_yticks([])
    if ax.get_yscale() == "linear":
        ax.yaxis.set_major_formatter(FuncFormatter(plain))
    style_axes(ax, x_label="", y_label="")
    ax.set_title(QUANTITIES[name], loc="left", fontsize="medium", color=TEXT_COLOR)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.xaxis.set_major_formatter(FuncFormatter(plain))
    ax.set_xlim(0, max(int(k[-1]), 1) * 1.02)


def _bound(ax: Axes, run: Watched, diameter: Series) -> None:
    """Draw what the gap has to exceed, where the policy tells how far h can still go."""
    if run.policy is None or not (run.plain or isinstance(run.policy, Constant)) or run.trace.h is None:
        return
    at = np.searchsorted(run.trace.h.k, diameter.k, side="right")
    h = np.concatenate([[run.policy.h_0], run.trace.h.values])[at]
    upper = np.array([run.policy.upper(float(now), int(k)) for now, k in zip(h, diameter.k, strict=True)])
    if np.isfinite(upper).all():
        _line(ax, diameter.k, upper + 2 * diameter.values, "h_upper + 2D")


def _line(ax: Axes, x: Array, y: Array, label: str) -> None:
    ax.plot(x, y, color=TEXT_COLOR, linewidth=1.0, linestyle=(0, (4, 3)), zorder=2, label=label)
    ax.legend(loc="best", frameon=False, labelcolor=TEXT_COLOR, fontsize="small", handlelength=2.4)
