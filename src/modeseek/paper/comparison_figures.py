"""Figures and tables of comparisons: means with intervals, a panel for each measure and set-up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from modeseek.paper.contenders import POLICIES, Contender
from modeseek.paper.intervals import LEVEL, mean_interval
from modeseek.paper.rows import Rows, Value
from modeseek.paper.scores import MEASURES
from modeseek.plots import Band, LineStyle, legend_below, palette, plot_lines
from modeseek.report import TableBlock

_COLORS = dict(zip(("DSMS shrinking", "SMS", "BMS", "MS", "other", "DSMS walk"), palette(6), strict=True))
_MARKERS = {"DSMS shrinking": "o", "SMS": "s", "BMS": "^", "MS": "v", "DSMS walk": "D"}


class Curve(NamedTuple):
    """A curve of a figure: its label, the conditions that select its rows, and its style."""

    label: str
    where: Mapping[str, Value]
    style: LineStyle


@dataclass(frozen=True, eq=False)
class Panel:
    """A column of panels: title, conditions that select its rows, and curves (None: those of the figure)."""

    title: str
    where: Mapping[str, Value]
    curves: tuple[Curve, ...] | None = None


@dataclass(frozen=True)
class FigureLayout:
    """Contents of a figure with several panels.

    Attributes
    ----------
    x, x_label : str
        Column on the horizontal axis, and its label.
    measures : tuple of str
        One row of panels for each measure.
    panels : tuple of Panel
        One column of panels each.
    curves : tuple of Curve
        Curves of all panels that have none of their own.
    reference : mapping
        Measure -> value of a horizontal reference line, such as the true number of clusters.
    log_x : bool
    log_y : tuple of str
        Measures with a logarithmic axis.
    """

    x: str
    x_label: str
    measures: tuple[str, ...]
    panels: tuple[Panel, ...]
    curves: tuple[Curve, ...]
    reference: Mapping[str, float] = field(default_factory=dict)
    log_x: bool = False
    log_y: tuple[str, ...] = ()


def fixed_curves(h: float, names: Sequence[str] = ("SMS", "BMS", "MS")) -> tuple[Curve, ...]:
    """Return curves of MS, BMS and SMS at one bandwidth."""
    return tuple(
        Curve(f"{name}, h = {h:g}", {"line": name, "h": h}, LineStyle(color=_COLORS[name], marker=_MARKERS[name]))
        for name in names
    )


def dsms_curves() -> tuple[Curve, ...]:
    """Return curves of DSMS under both policies."""
    curves = []
    for policy, dash in zip(POLICIES, ("-", "--"), strict=True):
        name = f"DSMS {policy}"
        style = LineStyle(color=_COLORS[name], dash=dash, marker=_MARKERS[name], width=2.0)
        curves.append(Curve(f"DSMS, {policy}", {"line": name}, style))
    return tuple(curves)


def sweep_curves(bandwidths: Sequence[float], name: str = "SMS", *, named: bool = True) -> tuple[Curve, ...]:
    """Return curves of MS, BMS or SMS at several bandwidths, from light to dark."""
    shades = colormaps["Greys"](np.linspace(0.4, 0.95, len(bandwidths)))
    dashes = (":", "-.", "--", (0, (5, 1)), "-")
    return tuple(
        Curve(
            f"{name}, h = {h:g}" if named else f"h = {h:g}",
            {"line": name, "h": h},
            LineStyle(color=to_hex(shade), dash=dashes[number % len(dashes)], marker=_MARKERS[name], width=1.3),
        )
        for number, (h, shade) in enumerate(zip(bandwidths, shades, strict=True))
    )


def user_curves(contenders: Sequence[Contender]) -> tuple[Curve, ...]:
    """Return a curve for each contender that the user added."""
    shades = palette(8 + len(contenders))[8:]
    return tuple(
        Curve(each.name, {"line": each.name}, LineStyle(color=shade, marker="P", width=2.0))
        for each, shade in zip(contenders, shades, strict=True)
    )


def band_of(rows: Rows, x: str, measure: str) -> Band:
    """Return mean and interval of a measure at each value of x, in increasing order of x."""
    places = sorted(float(value) for value in rows.distinct(x))  # type: ignore[arg-type]
    means = [mean_interval(rows.where(**{x: place})[measure]) for place in places]
    mean, low, high = (np.array(each) for each in zip(*means, strict=True)) if means else (np.empty(0),) * 3
    return Band(np.array(places), mean, low, high)


def draw_panels(rows: Rows, layout: FigureLayout) -> Figure:
    """Draw a grid of panels, one row for each measure and one column for each set-up, with a shared legend.

    Four set-ups of one measure are drawn two by two, to limit the width.
    """
    cells = [(measure, panel) for measure in layout.measures for panel in layout.panels]
    n_across = 2 if len(cells) == 4 else len(layout.panels)
    n_down = len(cells) // n_across
    figure = Figure(figsize=(max(4.3 * n_across, 6.0), 3.1 * n_down + 0.9), layout="constrained")
    grid = figure.subplots(n_down, n_across, squeeze=False, sharex=True, sharey="row")
    curves_in = {panel: _curves_in(rows.where(**panel.where), layout, panel) for _, panel in cells}
    for number, (ax, (measure, panel)) in enumerate(zip(grid.flat, cells, strict=True)):
        new_column = number < n_across or len(layout.measures) == 1
        plot_lines(
            {curve.label: band_of(own, layout.x, measure) for curve, own in curves_in[panel]},
            ax=ax,
            styles={curve.label: curve.style for curve, _ in curves_in[panel]},
            x_label=layout.x_label if number >= len(cells) - n_across else "",
            y_label=MEASURES[measure] if number % n_across == 0 else "",
            title=panel.title if new_column else None,
            reference=layout.reference.get(measure),
            log_x=layout.log_x,
            log_y=measure in layout.log_y,
            legend=False,
        )
    # after all panels are drawn: a fixed limit would keep later panels of the row from widening the shared axis
    for ax, (measure, _) in zip(grid.flat, cells, strict=True):
        _keep_possible(ax, measure)
    legend_below(figure, grid)
    return figure


def _curves_in(inside: Rows, layout: FigureLayout, panel: Panel) -> list[tuple[Curve, Rows]]:
    curves = layout.curves if panel.curves is None else panel.curves
    found = [(curve, inside.where(**curve.where)) for curve in curves]
    return [(curve, own) for curve, own in found if len(own)]


def _keep_possible(ax: Axes, measure: str) -> None:
    """Limit the axis to possible values: an interval over few runs may extend below one cluster, or above K = 1."""
    low, high = ax.get_ylim()
    if measure.startswith("n_"):
        ax.set_ylim(bottom=max(low, 0.8 if measure == "n_clusters" else 0.0))
    else:
        ax.set_ylim(max(low, -0.1), min(high, 1.02))


def mean_tables(rows: Rows, layout: FigureLayout, measures: Sequence[str]) -> list[TableBlock]:
    """Return a table for each measure and panel: mean and interval of each curve (rows) at each x (columns)."""
    return [_mean_table(rows, layout, measure, panel) for measure in measures for panel in layout.panels]


def _mean_table(rows: Rows, layout: FigureLayout, measure: str, panel: Panel) -> TableBlock:
    digits = 1 if measure.startswith("n_") else 2
    inside = rows.where(**panel.where)
    places = sorted(float(value) for value in inside.distinct(layout.x))  # type: ignore[arg-type]
    body = []
    for curve, own in _curves_in(inside, layout, panel):
        values = [own.where(**{layout.x: place})[measure] for place in places]
        body.append([curve.label, *(mean_interval(each).text(digits) if len(each) else "" for each in values)])
    title = ", ".join([MEASURES[measure], *panel.title.splitlines()])
    caption = f"{title[:1].upper()}{title[1:]}: mean over the runs [its {LEVEL:.0%} interval]."
    return TableBlock([layout.x_label, *(f"{place:g}" for place in places)], body, caption)


def outcome_table(rows: Rows) -> TableBlock:
    """Return a table of the outcomes and the number of sweeps of each contender's runs."""
    outcomes = [str(outcome) for outcome in rows.distinct("outcome") if outcome is not None]
    body = []
    for line in rows.distinct("line"):
        own = rows.where(line=line)
        counts = [f"{len(own.where(outcome=outcome)):,}" for outcome in outcomes]
        sweeps = own["sweeps"]
        low, middle, high = np.nanquantile(sweeps, [0.05, 0.5, 0.95]) if np.isfinite(sweeps).any() else [np.nan] * 3
        body.append([str(line), f"{len(own):,}", *counts, f"{middle:.0f} ({low:.0f} to {high:.0f})"])
    header = ["line", "runs", *(outcome.replace("_", " ") for outcome in outcomes), "sweeps: median (5 % to 95 %)"]
    return TableBlock(header, body, "Outcomes of the runs; a sweep is n updates, where n is the number of points.")
