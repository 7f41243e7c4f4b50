"""Shared part of the comparisons of SMS with DSMS: contenders, figures and tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

from matplotlib.figure import Figure

from modeseek.paper.comparison import Comparison
from modeseek.paper.comparison_figures import (
    SPREADS,
    Curve,
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


@dataclass(frozen=True)
class AgainstSMS(Comparison):
    """K of SMS at several bandwidths and of DSMS on the paper's range.

    Attributes
    ----------
    sweep : tuple of float
        Bandwidths of SMS in addition to the paper's.
    """

    sweep: tuple[float, ...] = (0.9, 1.2, 1.6)

    def contenders(self) -> list[Contender]:
        return paper_contenders(self.settings, self.sweep, ["SMS"])

    @abstractmethod
    def layout(self) -> FigureLayout:
        """Return the figure of K: a panel for each set-up and spread."""

    @abstractmethod
    def setups(self) -> dict[str, tuple[str, Value]]:
        """Return the stem of the figure of each set-up, with the column and the value that select its rows."""

    def draw(self, rows: Rows) -> dict[str, Figure]:
        layout = self.layout()
        scores = replace(layout, measures=("n_clusters", "k_weighted", "ari"), log_y=("n_clusters",))
        parts = {
            stem: replace(scores, panels=tuple(panel for panel in scores.panels if panel.where[column] == value))
            for stem, (column, value) in self.setups().items()
        }
        return {stem: draw_panels(rows, each) for stem, each in {self.name: layout, **parts}.items()}

    def tables(self, rows: Rows) -> list[TableBlock]:
        return [*mean_tables(rows, self.layout(), ("k", "ari")), outcome_table(rows)]

    def _curves(self) -> tuple[Curve, ...]:
        bandwidths = sorted({self.settings.h, *self.sweep})
        return (*sweep_curves(bandwidths), *dsms_curves(), *user_curves(self.user_contenders))

    def _panels(self, column: str, titles: Mapping[Value, str]) -> tuple[Panel, ...]:
        return tuple(
            Panel(f"{title}\n{SPREADS[spread]}", {column: value, "spread": spread})
            for (value, title), spread in product(titles.items(), self.spreads)
        )
