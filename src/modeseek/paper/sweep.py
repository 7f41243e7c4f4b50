"""What must be right: h_inf, h_max, or the bandwidth of SMS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from matplotlib.figure import Figure

from modeseek.paper.comparison import OnPaperMixture
from modeseek.paper.comparison_figures import (
    SPREADS,
    Curve,
    FigureLayout,
    Panel,
    draw_panels,
    mean_table,
    outcome_table,
)
from modeseek.paper.lines import POLICIES, Line, doubly_stochastic_line, fixed_lines
from modeseek.paper.rows import Rows
from modeseek.plots import LineStyle, palette
from modeseek.report import TableBlock

__all__ = ["Sweep"]


@dataclass(frozen=True)
class Sweep(OnPaperMixture):
    """SMS over its bandwidth, DSMS over h_inf and over h_max, on the paper's mixture."""

    bandwidths: tuple[float, ...] = (0.3, 0.6, 0.9, 1.2, 1.6, 2.0, 2.4, 3.2)
    h_infs: tuple[float, ...] = (0.3, 0.6, 0.9, 1.2, 1.6)
    h_maxs: tuple[float, ...] = (0.9, 1.2, 1.6, 2.0, 2.4, 3.2)

    name: ClassVar[str] = "sweep"
    title: ClassVar[str] = "What must be right: the bandwidth, h_inf or h_max"
    text: ClassVar[str] = """\
The paper gives DSMS one range and the others one bandwidth. Here each is turned by itself on the paper's mixture: the
bandwidth h of SMS; h_inf of DSMS on [0.2, 1.6]; h_max of DSMS with h_min = 0.2 and h_inf = 0.6. A flat line means
that the number does not matter. A line like that of SMS means that one choice has taken the place of another."""
    captions: ClassVar[Mapping[str, str]] = {
        "sweep-std": "Number of clusters and ARI against the number that is turned; 0.65 as standard deviation.",
        "sweep-variance": "The same with 0.65 as variance.",
    }

    def quick(self) -> Self:
        """Return fewer sizes and values."""
        return replace(
            self, sizes=(10, 50), bandwidths=(0.3, 0.6, 1.2, 2.4), h_infs=(0.3, 0.6, 1.2), h_maxs=(0.9, 1.6, 2.4)
        )

    def lines(self) -> list[Line]:
        random = []
        for policy in POLICIES:
            for h_inf in self.h_infs:
                settings = replace(self.settings, h_inf=h_inf)
                random.append(doubly_stochastic_line(settings, policy, name=f"DSMS {policy} over h_inf", h=h_inf))
            for h_max in self.h_maxs:
                settings = replace(self.settings, h_max=h_max)
                random.append(doubly_stochastic_line(settings, policy, name=f"DSMS {policy} over h_max", h=h_max))
        return [*fixed_lines(self.settings, self.bandwidths, ["SMS"]), *random]

    def draw(self, rows: Rows) -> dict[str, Figure]:
        return {f"sweep-{spread}": draw_panels(rows, self._summary(spread)) for spread in self.spreads}

    def tables(self, rows: Rows) -> list[TableBlock]:
        pairs = [(summary, panel) for summary in map(self._summary, self.spreads) for panel in summary.panels]
        means = [
            mean_table(rows, summary, measure, panel) for measure in ("n_clusters", "ari") for summary, panel in pairs
        ]
        return [*means, outcome_table(rows)]

    def _summary(self, spread: str) -> FigureLayout:
        blue, orange, green, pink, _, red = palette(6)
        looks = {
            "SMS, its h": ("SMS", LineStyle(color=orange, marker="s")),
            "DSMS shrinking, h_inf": ("DSMS shrinking over h_inf", LineStyle(color=blue, marker="o", width=2.0)),
            "DSMS shrinking, h_max": ("DSMS shrinking over h_max", LineStyle(color=green, marker="^", width=2.0)),
            "DSMS walk, h_inf": ("DSMS walk over h_inf", LineStyle(color=red, marker="D", dash="--")),
            "DSMS walk, h_max": ("DSMS walk over h_max", LineStyle(color=pink, marker="v", dash="--")),
        }
        lines = tuple(Curve(label, {"line": name}, style) for label, (name, style) in looks.items())
        panels = tuple(Panel(f"N = {n}\n{SPREADS[spread]}", {"spread": spread, "n_per_cluster": n}) for n in self.sizes)
        return FigureLayout(
            "h",
            "the number that is turned",
            ("n_clusters", "ari"),
            panels,
            lines,
            {"n_clusters": 3.0},
            log_y=("n_clusters",),
        )
