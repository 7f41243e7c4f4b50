"""What the comparisons of SMS with DSMS share: their lines, pictures and tables."""

from __future__ import annotations

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
    mean_table,
    outcome_table,
    sweep_curves,
    user_curves,
)
from modeseek.paper.lines import POLICIES, Line, doubly_stochastic_line, fixed_lines
from modeseek.paper.rows import Rows, Value
from modeseek.report import TableBlock

__all__ = ["AgainstSMS"]


@dataclass(frozen=True)
class AgainstSMS(Comparison):
    """SMS over a sweep of bandwidths against DSMS at the paper's range, by K.

    Attributes
    ----------
    sweep : tuple of float
        Bandwidths of SMS beside the paper's.
    """

    sweep: tuple[float, ...] = (0.9, 1.2, 1.6)

    def lines(self) -> list[Line]:
        return [
            *fixed_lines(self.settings, sorted({self.settings.h, *self.sweep}), ["SMS"]),
            *(doubly_stochastic_line(self.settings, policy) for policy in POLICIES),
        ]

    def summary(self) -> FigureLayout:
        """Return the figure of K: a panel for each set-up and spread."""
        raise NotImplementedError

    def setups(self) -> dict[str, tuple[str, Value]]:
        """Return the stem of a picture of scores for each set-up: the column and its value."""
        raise NotImplementedError

    def draw(self, rows: Rows) -> dict[str, Figure]:
        summary = self.summary()
        scores = replace(summary, measures=("n_clusters", "k_weighted", "ari"), log_y=("n_clusters",))
        parts = {
            stem: replace(scores, panels=tuple(panel for panel in scores.panels if panel.where[column] == value))
            for stem, (column, value) in self.setups().items()
        }
        return {
            self.name: draw_panels(rows, summary),
            **{stem: draw_panels(rows, each) for stem, each in parts.items()},
        }

    def tables(self, rows: Rows) -> list[TableBlock]:
        summary = self.summary()
        scores = [mean_table(rows, summary, measure, panel) for measure in ("k", "ari") for panel in summary.panels]
        return [*scores, outcome_table(rows)]

    def _curves(self) -> tuple[Curve, ...]:
        bandwidths = sorted({self.settings.h, *self.sweep})
        return (*sweep_curves(bandwidths), *dsms_curves(), *user_curves(self.own))

    def _panels(self, column: str, titles: Mapping[Value, str]) -> tuple[Panel, ...]:
        return tuple(
            Panel(f"{title}\n{SPREADS[spread]}", {column: value, "spread": spread})
            for (value, title), spread in product(titles.items(), self.spreads)
        )
