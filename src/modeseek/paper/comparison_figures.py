"""Figures and tables of comparisons: means with intervals, a panel for each measure and set-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from modeseek.paper.intervals import LEVEL, mean_interval
from modeseek.paper.lines import POLICIES, Line
from modeseek.paper.rows import Rows, Value
from modeseek.paper.scores import MEASURES
from modeseek.plots import Band, LineStyle, legend_below, palette, plot_lines
from modeseek.report import TableBlock

__all__ = [
    "SPREADS",
    "Curve",
    "FigureLayout",
    "Panel",
    "band_of",
    "draw_panels",
    "dsms_curves",
    "fixed_curves",
    "mean_table",
    "outcome_table",
    "sweep_curves",
    "user_curves",
]

# both readings of the paper's 0.65, as titles
SPREADS = {"std": "0.65 as standard deviation", "variance": "0.65 as variance"}
_COLORS = dict(zip(("DSMS shrinking", "SMS", "BMS", "MS", "other", "DSMS walk"), palette(6), strict=True))
_MARKS = {"DSMS shrinking": "o", "SMS": "s", "BMS": "^", "MS": "v", "DSMS walk": "D"}


class Curve(NamedTuple):
    """A line of a figure: its label, the rows that make it, and its look."""

    label: str
    where: Mapping[str, Value]
    style: LineStyle


@dataclass(frozen=True, eq=False)
class Panel:
    """A column of panels: its title, the rows it shows, and its lines where they are not those of all panels."""

    title: str
    where: Mapping[str, Value]
    lines: tuple[Curve, ...] | None = None


@dataclass(frozen=True)
class FigureLayout:
    """What a figure of panels shows.

    Attributes
    ----------
    x, x_label : str
        Column on the horizontal axis, and its name.
    measures : tuple of str
        A row of panels each.
    panels : tuple of Panel
        A column of panels each.
    lines : tuple of Curve
    reference : mapping
        Measure -> value of a thin line, such as the true number of clusters.
    log_x : bool
    log_y : tuple of str
        Measures on a logarithmic axis.
    """

    x: str
    x_label: str
    measures: tuple[str, ...]
    panels: tuple[Panel, ...]
    lines: tuple[Curve, ...]
    reference: Mapping[str, float] = field(default_factory=dict)
    log_x: bool = False
    log_y: tuple[str, ...] = ()


def fixed_curves(h: float, names: Sequence[str] = ("SMS", "BMS", "MS")) -> tuple[Curve, ...]:
    """Return MS, BMS and SMS at one bandwidth."""
    return tuple(
        Curve(f"{name}, h = {h:g}", {"line": name, "h": h}, LineStyle(color=_COLORS[name], marker=_MARKS[name]))
        for name in names
    )


def dsms_curves() -> tuple[Curve, ...]:
    """Return DSMS under both readings of the bandwidth."""
    dashes = {"shrinking": "-", "walk": "--"}
    return tuple(
        Curve(
            f"DSMS, {policy}",
            {"line": f"DSMS {policy}"},
            LineStyle(color=_COLORS[f"DSMS {policy}"], dash=dashes[policy], marker=_MARKS[f"DSMS {policy}"], width=2.0),
        )
        for policy in POLICIES
    )


def sweep_curves(bandwidths: Sequence[float], name: str = "SMS", *, named: bool = True) -> tuple[Curve, ...]:
    """Return one of MS, BMS and SMS at several bandwidths, from light to dark."""
    shades = colormaps["Greys"](np.linspace(0.4, 0.95, len(bandwidths)))
    dashes = (":", "-.", "--", (0, (5, 1)), "-")
    return tuple(
        Curve(
            f"{name}, h = {h:g}" if named else f"h = {h:g}",
            {"line": name, "h": h},
            LineStyle(color=to_hex(shade), dash=dashes[number % len(dashes)], marker=_MARKS[name], width=1.3),
        )
        for number, (h, shade) in enumerate(zip(bandwidths, shades, strict=True))
    )


def user_curves(lines: Sequence[Line]) -> tuple[Curve, ...]:
    """Return the user's own lines."""
    shades = palette(8 + len(lines))[8:]
    return tuple(
        Curve(line.name, {"line": line.name}, LineStyle(color=shade, marker="P", width=2.0))
        for line, shade in zip(lines, shades, strict=True)
    )


def band_of(rows: Rows, x: str, measure: str) -> Band:
    """Return mean and interval of a measure at each value of x, in rising order."""
    places = sorted(float(value) for value in rows.distinct(x))  # type: ignore[arg-type]
    means = [mean_interval(rows.where(**{x: place})[measure]) for place in places]
    mean, low, high = (np.array(each) for each in zip(*means, strict=True)) if means else (np.empty(0),) * 3
    return Band(np.array(places), mean, low, high)


def draw_panels(rows: Rows, summary: FigureLayout) -> Figure:
    """Draw a grid of panels, measures down and set-ups across, with one legend for all.

    Four set-ups of one measure are drawn two by two: a page is not that wide.
    """
    cells = [(measure, panel) for measure in summary.measures for panel in summary.panels]
    n_across = 2 if len(cells) == 4 else len(summary.panels)
    n_down = len(cells) // n_across
    figure = Figure(figsize=(max(4.3 * n_across, 6.0), 3.1 * n_down + 0.9), layout="constrained")
    grid = figure.subplots(n_down, n_across, squeeze=False, sharex=True, sharey="row")
    curves_in = {panel: _curves_in(rows.where(**panel.where), summary, panel) for _, panel in cells}
    for number, (ax, (measure, panel)) in enumerate(zip(grid.flat, cells, strict=True)):
        new_column = number < n_across or len(summary.measures) == 1
        plot_lines(
            {shown.label: band_of(own, summary.x, measure) for shown, own in curves_in[panel]},
            ax=ax,
            styles={shown.label: shown.style for shown, _ in curves_in[panel]},
            x_label=summary.x_label if number >= len(cells) - n_across else "",
            y_label=MEASURES[measure] if number % n_across == 0 else "",
            title=panel.title if new_column else None,
            reference=summary.reference.get(measure),
            log_x=summary.log_x,
            log_y=measure in summary.log_y,
            legend=False,
        )
    # at the end, as a limit that is set keeps later panels of the row from widening it
    for ax, (measure, _) in zip(grid.flat, cells, strict=True):
        _keep_possible(ax, measure)
    legend_below(figure, grid)
    return figure


def _curves_in(inside: Rows, summary: FigureLayout, panel: Panel) -> list[tuple[Curve, Rows]]:
    lines = summary.lines if panel.lines is None else panel.lines
    found = [(shown, inside.where(**shown.where)) for shown in lines]
    return [(shown, own) for shown, own in found if len(own)]


def _keep_possible(ax: Axes, measure: str) -> None:
    """Cut the axis where no value can lie: an interval of few runs may reach below one cluster, or beyond K = 1."""
    low, high = ax.get_ylim()
    if measure.startswith("n_"):
        ax.set_ylim(bottom=max(low, 0.8 if measure == "n_clusters" else 0.0))
    else:
        ax.set_ylim(max(low, -0.1), min(high, 1.02))


def mean_table(rows: Rows, summary: FigureLayout, measure: str, panel: Panel, digits: int | None = None) -> TableBlock:
    """Return a table of one panel: a row for each line, a column for each x, the mean and its interval."""
    digits = (1 if measure.startswith("n_") else 2) if digits is None else digits
    inside = rows.where(**panel.where)
    places = sorted(float(value) for value in inside.distinct(summary.x))  # type: ignore[arg-type]
    body = []
    for shown in summary.lines:
        own = inside.where(**shown.where)
        if not len(own):
            continue
        values = [own.where(**{summary.x: place})[measure] for place in places]
        body.append([shown.label, *(mean_interval(each).text(digits) if len(each) else "" for each in values)])
    title = ", ".join([MEASURES[measure], *panel.title.splitlines()])
    caption = f"{title[:1].upper()}{title[1:]}: mean over the runs [its {LEVEL:.0%} interval]."
    return TableBlock([summary.x_label, *(f"{place:g}" for place in places)], body, caption)


def outcome_table(rows: Rows) -> TableBlock:
    """Return how the runs of each line ended, and how many sweeps they took."""
    outcomes = [str(outcome) for outcome in rows.distinct("outcome") if outcome is not None]
    body = []
    for line in rows.distinct("line"):
        own = rows.where(line=line)
        counts = [f"{len(own.where(outcome=outcome)):,}" for outcome in outcomes]
        sweeps = own["sweeps"]
        low, middle, high = np.nanquantile(sweeps, [0.05, 0.5, 0.95]) if np.isfinite(sweeps).any() else [np.nan] * 3
        body.append([str(line), f"{len(own):,}", *counts, f"{middle:.0f} ({low:.0f} to {high:.0f})"])
    header = ["line", "runs", *(outcome.replace("_", " ") for outcome in outcomes), "sweeps: median (5 % to 95 %)"]
    return TableBlock(header, body, "How the runs ended; a sweep is as many updates as there are points.")
