"""Shared part of the comparisons of SMS with DSMS: contenders, figures and tables."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar, NamedTuple

from matplotlib.figure import Figure

from modeseek.paper.comparison import Comparison
from modeseek.paper.comparison_figures import (
    SPREADS,
    FigureLayout,
    Panel,
    draw_panels,
    dsms_curves,
    mean_tables,
    outcome_table,
    sweep_curves,
    user_curves,
)
from modeseek.paper.contenders import Contender, paper_contenders
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
        Bandwidths of SMS in addition to the paper's.
    x_label : str
        Label of the horizontal axis, which shows the last column of the cells.
    """

    sweep: tuple[float, ...] = (0.9, 1.2, 1.6)

    x_label: ClassVar[str]

    def contenders(self) -> list[Contender]:
        return paper_contenders(self.settings, self.sweep, ["SMS"])

    @abstractmethod
    def setups(self) -> list[Setup]:
        """Return the set-ups, each with a figure of scores and a panel for each spread."""

    def layout(self) -> FigureLayout:
        """Return the figure of K: a panel for each set-up and spread."""
        bandwidths = sorted({self.settings.h, *self.sweep})
        return FigureLayout(
            x=list(self.axes())[-1],
            x_label=self.x_label,
            measures=("k",),
            panels=tuple(
                Panel(f"{each.title}\n{SPREADS[spread]}", {each.column: each.value, "spread": spread})
                for each, spread in product(self.setups(), self.spreads)
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
