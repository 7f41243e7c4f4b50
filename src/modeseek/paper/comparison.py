"""Experiments that run several clusterers on the same data, with their figures and tables."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from modeseek._common.types import Array, IntArray
from modeseek.datasets import paper_mixture
from modeseek.paper.contenders import MEASURES, POLICIES, RESULT_COLUMNS, Contender, fit_and_score
from modeseek.paper.experiment import Experiment, Job, grid_jobs, seed_for
from modeseek.paper.intervals import LEVEL, mean_interval
from modeseek.paper.rows import Row, Rows, Value
from modeseek.plots import Band, LineStyle, legend_below, palette, plot_lines
from modeseek.report import TableBlock

# rough costs for the progress bar: milliseconds for each fit and for each point of a fit
COST_OF_FIT = 8.0
COST_OF_POINT = 0.03
# one fit of MS takes as long as this number of fits of another algorithm
COST_OF_MS = 4
_COLORS = dict(zip(("DSMS shrinking", "SMS", "BMS", "MS", "other", "DSMS walk"), palette(6), strict=True))
_MARKERS = {"DSMS shrinking": "o", "SMS": "s", "BMS": "^", "MS": "v", "DSMS walk": "D"}


class Curve(NamedTuple):
    """A curve of a figure: its label, the conditions that select its rows, and its style."""

    label: str
    where: Mapping[str, Value]
    style: LineStyle


@dataclass(frozen=True, eq=False)
class Panel:
    """A column of panels in a figure: one set-up, with one panel for each measure.

    `where` selects the rows of the set-up. If `curves` is None, the curves are those of the figure.
    """

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
        One column of panels for each entry.
    curves : tuple of Curve
        Curves of the panels whose `curves` are None.
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

    def draw(self, rows: Rows) -> Figure:
        """Draw a grid of panels, one row for each measure and one column for each set-up, with a shared legend.

        Four panels are drawn two by two, to limit the width.
        """
        cells = [(measure, panel) for measure in self.measures for panel in self.panels]
        n_across = 2 if len(cells) == 4 else len(self.panels)
        n_down = len(cells) // n_across
        figure = Figure(figsize=(max(4.3 * n_across, 6.0), 3.1 * n_down + 0.9), layout="constrained")
        grid = figure.subplots(n_down, n_across, squeeze=False, sharex=True, sharey="row")
        for number, (ax, (measure, panel)) in enumerate(zip(grid.flat, cells, strict=True)):
            curves = self._curves_in(rows.where(**panel.where), panel)
            plot_lines(
                {curve.label: band_of(own, self.x, measure) for curve, own in curves},
                ax=ax,
                styles={curve.label: curve.style for curve, _ in curves},
                x_label=self.x_label if number >= len(cells) - n_across else "",
                y_label=MEASURES[measure] if number % n_across == 0 else "",
                title=panel.title if number < n_across or len(self.measures) == 1 else None,
                reference=self.reference.get(measure),
                log_x=self.log_x,
                log_y=measure in self.log_y,
                legend=False,
            )
        # after all panels are drawn: a fixed limit would keep later panels of the row from widening the shared axis
        for ax, (measure, _) in zip(grid.flat, cells, strict=True):
            _keep_possible(ax, measure)
        legend_below(figure, grid)
        return figure

    def tables(self, rows: Rows, measures: Sequence[str]) -> list[TableBlock]:
        """Return a table for each measure and panel: mean and interval of each curve (rows) at each x (columns)."""
        return [self._table(rows.where(**panel.where), measure, panel) for measure in measures for panel in self.panels]

    def _table(self, rows: Rows, measure: str, panel: Panel) -> TableBlock:
        digits = 1 if measure.startswith("n_") else 2
        places = rows.sorted(self.x)
        body = []
        for curve, own in self._curves_in(rows, panel):
            values = [own.where(**{self.x: place})[measure] for place in places]
            body.append([curve.label, *(mean_interval(each).text(digits) if len(each) else "" for each in values)])
        title = ", ".join([MEASURES[measure], *panel.title.splitlines()])
        caption = f"{title[:1].upper()}{title[1:]}: mean over the runs [its {LEVEL:.0%} interval]."
        return TableBlock([self.x_label, *(f"{place:g}" for place in places)], body, caption)

    def _curves_in(self, rows: Rows, panel: Panel) -> list[tuple[Curve, Rows]]:
        """Return the curves of a panel, each with its rows; curves without rows are left out."""
        curves = self.curves if panel.curves is None else panel.curves
        found = [(curve, rows.where(**curve.where)) for curve in curves]
        return [(curve, own) for curve, own in found if len(own)]


def fixed_curves(h: float) -> tuple[Curve, ...]:
    """Return curves of MS, BMS and SMS at one bandwidth."""
    return tuple(
        Curve(f"{name}, h = {h:g}", {"line": name, "h": h}, LineStyle(color=_COLORS[name], marker=_MARKERS[name]))
        for name in ("SMS", "BMS", "MS")
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


def band_of(rows: Rows, x: str, measure: str) -> Band:
    """Return mean and interval of a measure at each value of x, in increasing order of x."""
    places = rows.sorted(x)
    means = [mean_interval(rows.where(**{x: place})[measure]) for place in places]
    mean, low, high = (np.array(each) for each in zip(*means, strict=True)) if means else (np.empty(0),) * 3
    return Band(np.array(places), mean, low, high)


def _keep_possible(ax: Axes, measure: str) -> None:
    """Limit the axis to possible values: an interval over few runs may extend below one cluster, or above K = 1."""
    low, high = ax.get_ylim()
    if measure.startswith("n_"):
        ax.set_ylim(bottom=max(low, 0.8 if measure == "n_clusters" else 0.0))
    else:
        ax.set_ylim(max(low, -0.1), min(high, 1.02))


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


@dataclass(frozen=True)
class Comparison(Experiment):
    """Base class of experiments that run clusterers (contenders) on data with known labels; a job is one data set.

    Attributes
    ----------
    spreads : tuple of str
        Both interpretations of the paper's 0.65: as a standard deviation and as a variance.
    user_contenders : tuple of Contender
        Contenders that the user added.
    """

    spreads: tuple[str, ...] = ("std", "variance")
    user_contenders: tuple[Contender, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the columns: those of the cell, "run", and those of the results of a contender."""
        return (*self.axes(), "run", *RESULT_COLUMNS)

    @abstractmethod
    def axes(self) -> Mapping[str, Iterable[Value]]:
        """Return the values of each column of the grid; every combination of values is a cell, which is run."""

    @abstractmethod
    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        """Draw the points of a cell and their true labels."""

    @abstractmethod
    def contenders(self) -> list[Contender]:
        """Return the contenders of the paper, without those of the user."""

    def dsms_and_user_curves(self) -> tuple[Curve, ...]:
        """Return the curves of DSMS, and one for each contender that the user added."""
        shades = palette(8 + len(self.user_contenders))[8:]
        added = [
            Curve(each.name, {"line": each.name}, LineStyle(color=shade, marker="P", width=2.0))
            for each, shade in zip(self.user_contenders, shades, strict=True)
        ]
        return (*dsms_curves(), *added)

    @abstractmethod
    def figures(self) -> dict[str, FigureLayout]:
        """Return the layouts of the figures, by the stems of their file names."""

    def draw(self, rows: Rows) -> dict[str, Figure]:
        return {stem: layout.draw(rows) for stem, layout in self.figures().items()}

    def jobs(self, runs: int) -> list[Job]:
        """Return a job for each data set."""
        fits = sum(COST_OF_MS if each.name == "MS" else 1 for each in (*self.contenders(), *self.user_contenders))

        def cost(cell: Mapping[str, Any]) -> float:
            return fits * (COST_OF_FIT + COST_OF_POINT * len(self.data(cell, 0)[0]))

        return grid_jobs(runs, cost, **self.axes())

    def work(self, job: Job, seed: int) -> list[Row]:
        """Run every contender on the same data set with the same seed: differences between contenders are paired."""
        X, truth = self.data(job.cell, seed_for(seed, job.run, 0))
        chance = seed_for(seed, job.run, 1)
        return [fit_and_score(each, X, truth, chance) for each in (*self.contenders(), *self.user_contenders)]


@dataclass(frozen=True)
class OnPaperMixture(Comparison):
    """A comparison on the paper's three Gaussians.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of points in each Gaussian.
    """

    sizes: tuple[int, ...] = (10, 50, 200)

    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        return {"spread": self.spreads, "n_per_cluster": self.sizes}

    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        return paper_mixture(cell["n_per_cluster"], spread=cell["spread"], random_state=seed)
