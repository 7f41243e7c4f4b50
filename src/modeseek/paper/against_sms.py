"""Shared part of the comparisons of SMS with DSMS: contenders, figures and tables."""

from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar, NamedTuple

from matplotlib.figure import Figure

from modeseek.paper.comparison import Comparison
from modeseek.paper.comparison_figures import (
    FigureLayout,
    Panel,
    draw_panels,
    dsms_curves,
    mean_tables,
    outcome_table,
    sweep_curves,
    user_curves,
)
from modeseek.paper.contenders import SEARCHED_H, Contender, paper_contenders
from modeseek.paper.experiment import SPREADS
from modeseek.paper.rows import Rows, Value
from modeseek.report import TableBlock


class Setup(NamedTuple):
    """A set-up: the stem of its figure, the column and value that select its rows, and its title."""

    stem: str
    column: str
    value: Value
    title: str


@dataclass(frozen=True)
class AgainstSMS(Comparison):
    """K of SMS at several bandwidths and of DSMS on the paper's range.

    Attributes
    ----------
    sweep : tuple of float
        Bandwidths of SMS.
    x_label : str
        Label of the horizontal axis, which shows the last column of the cells.
    """

    sweep: tuple[float, ...] = SEARCHED_H

    x_label: ClassVar[str]

    def contenders(self) -> list[Contender]:
        return paper_contenders(self.settings, self.sweep, ["SMS"])

    def setups(self) -> list[Setup]:
        """Return the set-ups, each with a figure of scores and a panel for each spread; empty if there is only one."""
        return []

    def layout(self) -> FigureLayout:
        """Return the figure of K: a panel for each set-up and spread."""
        bandwidths = sorted({self.settings.h, *self.sweep})
        setups = [(f"{each.title}\n", {each.column: each.value}) for each in self.setups()] or [("", {})]
        return FigureLayout(
            x=list(self.axes())[-1],
            x_label=self.x_label,
            measures=("k",),
            panels=tuple(
                Panel(f"{title}{SPREADS[spread]}", {**where, "spread": spread})
                for (title, where), spread in product(setups, self.spreads)
            ),
            curves=(*sweep_curves(bandwidths), *dsms_curves(), *user_curves(self.user_contenders)),
        )

    def draw(self, rows: Rows) -> dict[str, Figure]:
        layout = self.layout()
        scores = replace(layout, measures=("n_clusters", "k_weighted", "ari"), log_y=("n_clusters",))
        parts = {
            stem: replace(scores, panels=tuple(panel for panel in scores.panels if panel.where[column] == value))
            for stem, column, value, _ in self.setups()
        }
        return {stem: draw_panels(rows, each) for stem, each in {self.name: layout, **parts}.items()}

    def tables(self, rows: Rows) -> list[TableBlock]:
        return [*mean_tables(rows, self.layout(), ("k", "ari")), outcome_table(rows)]
