"""The plot of recorded quantities of a run: objective, number of clumps, diameter and gap."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from modeseek._common.types import Array
from modeseek._common.validation import check_choice
from modeseek.meanshift.chains import Series
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR, palette
from modeseek.plots.sources import Run, RunSource, read_run
from modeseek.plots.style import DASHED, log_ticks, new_figure, plain_ticks, style_axes

QUANTITIES = {
    "objective": "objective L_h",
    "clumps": "number of clumps",
    "diameter": "diameter of the widest clump",
    "gap": "gap between clumps",
}
PANEL_WIDTH = 3.9
PANEL_HEIGHT = 2.7
# an axis is logarithmic if the ratio of its largest to its smallest value exceeds this number
LOG_RATIO = 20.0


def plot_trace(
    source: RunSource,
    *,
    quantities: Sequence[str] | None = None,
    figure: Figure | SubFigure | None = None,
    axes: Sequence[Axes] | None = None,
    title: str | None = None,
) -> Figure | SubFigure:
    """Draw recorded quantities of a run against the number of updates.

    The quantities are the objective L_h, the number of clumps, the diameter of the widest clump, and the gap between
    clumps, where a clump is a group of points linked by distances below tau. Dashed lines are the limits of the
    certificate: a run is certified once the diameter D is below tau and the gap above h_upper + 2D, where h_upper is
    the largest bandwidth that can still be drawn.

    Parameters
    ----------
    source : fitted estimator, or ChainResult
        A run that was recorded: fit with `record=["objective", "clumps", "diameter", "gap"]`, or some of these.
    quantities : sequence of str, default=None
        Which of the four to draw. The default is all that were recorded.
    figure : matplotlib Figure, default=None
        The figure to draw on; None creates a pyplot figure.
    axes : sequence of matplotlib Axes, default=None
        The axes to draw on instead, one for each quantity.
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
    run = read_run(source)
    names = _check_quantities(run, quantities)
    series = {name: run.recorded(name) for name in names}
    if axes is None:
        n_rows = ceil(len(names) / 3) if len(names) != 4 else 2
        n_columns = ceil(len(names) / n_rows)
        figure = figure or new_figure(PANEL_WIDTH * n_columns, PANEL_HEIGHT * n_rows + 0.5)
        axes = list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())
    elif len(axes) != len(names):
        raise ValueError(f"axes must have one entry for each of {', '.join(names)}; got {len(axes)}.")
    for ax, name in zip(axes, names, strict=False):
        _draw(ax, name, series[name])
        if name == "diameter" and run.settings.tau is not None:
            tau = run.settings.tau
            _draw_limit(ax, np.array([0.0, ax.get_xlim()[1]]), np.full(2, tau), f"tau = {tau:.3g}")
        if name == "gap" and "diameter" in series and np.isfinite(series[name].values).any():
            _draw_gap_limit(ax, run, series["diameter"])
        if ax.get_yscale() == "log":
            log_ticks(ax.yaxis, *ax.get_ylim())
    drawn = axes[0].figure
    if title:
        drawn.suptitle(title, x=0.01, ha="left", color=TEXT_COLOR, fontsize="large", fontweight="bold")
    ending = "; ".join(filter(None, [f"end of the run: {run.outcome.value}", run.which]))
    drawn.supxlabel(f"number of updates\n({ending})", color=TEXT_COLOR, fontsize="medium")
    return drawn


def _check_quantities(run: Run, quantities: Sequence[str] | None) -> list[str]:
    if quantities is not None:
        names = [quantities] if isinstance(quantities, str) else quantities
        return [check_choice("quantities", name, QUANTITIES) for name in names]
    recorded = [name for name in QUANTITIES if getattr(run.trace, name) is not None]
    if not recorded:
        raise ValueError(f"no quantity was recorded: {run.how_to_record(list(QUANTITIES))}, or with some of them.")
    return recorded


def _draw(ax: Axes, name: str, series: Series) -> None:
    color = dict(zip(QUANTITIES, palette(len(QUANTITIES)), strict=True))[name]
    k, values = series.k, np.where(np.isfinite(series.values), series.values, np.nan)
    if name in ("diameter", "gap"):
        values = np.where(values > 0, values, np.nan)  # the log axis cannot show zeros
    style = "steps-post" if name == "clumps" else "default"
    marker = "o" if len(k) <= 60 else ""
    ax.plot(k, values, color=color, linewidth=1.6, drawstyle=style, marker=marker, markersize=3.2, zorder=3)
    known = values[np.isfinite(values)]
    style_axes(ax, x_label="", y_label="")
    if len(known) and name != "objective" and known.max() > LOG_RATIO * known.min():
        ax.set_yscale("log")
    else:
        plain_ticks(ax.yaxis)
    if name == "clumps" and ax.get_yscale() == "linear":
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=0)
    if not len(known):
        text = "no gap: there is one clump" if name == "gap" else "0 in all updates"
        ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=MUTED_COLOR)
        ax.set_yticks([])
    ax.set_title(QUANTITIES[name], loc="left", fontsize="medium", color=TEXT_COLOR)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    plain_ticks(ax.xaxis)
    ax.set_xlim(0, max(int(k[-1]), 1) * 1.02)


def _draw_gap_limit(ax: Axes, run: Run, diameter: Series) -> None:
    """Draw the limit of the gap, if the policy bounds later bandwidths and the bandwidth of each update is known."""
    policy, path = run.settings.policy, run.trace.h
    if policy is None or path is None or not (run.settings.single_updates or np.ptp(path.values) == 0):
        return
    index = np.searchsorted(path.k, diameter.k, side="right")
    h = np.concatenate([[policy.h_0], path.values])[index]
    upper = np.array([policy.upper(float(now), int(k)) for now, k in zip(h, diameter.k, strict=True)])
    if np.isfinite(upper).all():
        _draw_limit(ax, diameter.k, upper + 2 * diameter.values, "h_upper + 2D")


def _draw_limit(ax: Axes, x: Array, y: Array, label: str) -> None:
    ax.plot(x, y, color=TEXT_COLOR, linewidth=1.0, linestyle=DASHED, zorder=2, label=label)
    ax.legend(loc="best", frameon=False, labelcolor=TEXT_COLOR, fontsize="small", handlelength=2.4)
