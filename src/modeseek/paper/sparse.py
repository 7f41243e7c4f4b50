"""Few points in each cluster: how many clusters each algorithm finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from matplotlib.figure import Figure

from modeseek.paper.comparison import OnPaperMixture
from modeseek.paper.comparison_figures import (
    SPREADS,
    FigureLayout,
    Panel,
    draw_panels,
    dsms_curves,
    fixed_curves,
    mean_table,
    outcome_table,
    sweep_curves,
    user_curves,
)
from modeseek.paper.lines import FIXED, POLICIES, Line, doubly_stochastic_line, fixed_lines
from modeseek.paper.rows import Rows
from modeseek.report import TableBlock

__all__ = ["Sparse"]


@dataclass(frozen=True)
class Sparse(OnPaperMixture):
    """MS, BMS, SMS and DSMS on the paper's three Gaussians, against the points of each."""

    sizes: tuple[int, ...] = (10, 20, 50, 100, 150, 200)
    sweep: tuple[float, ...] = (0.6, 0.9, 1.2, 1.6)

    name: ClassVar[str] = "sparse"
    title: ClassVar[str] = "Few points in each cluster"
    text: ClassVar[str] = """\
The paper's mixture of three round Gaussians in the plane, with the same number N of points in each. MS, BMS and SMS
run at the paper's h = 0.6, DSMS on [0.2, 1.6] with h_inf = 0.6. The true number of clusters is three.

Beside that, MS, BMS and SMS over a sweep of h: the paper compares at one h only, and h = 0.6 need not be the one that
suits them."""
    captions: ClassVar[Mapping[str, str]] = {
        "sparse": "Mean number of clusters against the points of each, at the paper's settings; dotted: the truth.",
        "sparse-scores": "The same runs by K in the paper's weighting, K weighted by size, and ARI.",
        "sparse-sweep-std": "MS, BMS and SMS over a sweep of h, beside DSMS; 0.65 as standard deviation.",
        "sparse-sweep-variance": "The same with 0.65 as variance.",
    }

    def quick(self) -> Self:
        """Return fewer sizes and bandwidths."""
        return replace(self, sizes=(10, 50, 200), sweep=(0.6, 1.2))

    def lines(self) -> list[Line]:
        bandwidths = sorted({self.settings.h, *self.sweep})
        return [
            *fixed_lines(self.settings, bandwidths),
            *(doubly_stochastic_line(self.settings, policy) for policy in POLICIES),
        ]

    def draw(self, rows: Rows) -> dict[str, Figure]:
        scores = replace(self._summary(), measures=("k", "k_weighted", "ari"), reference={})
        sweeps = {f"sparse-sweep-{spread}": draw_panels(rows, self._sweep(spread)) for spread in self.spreads}
        return {"sparse": draw_panels(rows, self._summary()), "sparse-scores": draw_panels(rows, scores), **sweeps}

    def tables(self, rows: Rows) -> list[TableBlock]:
        summary = self._summary()
        fixed = tuple(each for name in FIXED for each in sweep_curves(self.sweep, name))
        sweep = replace(summary, lines=(*fixed, *dsms_curves(), *user_curves(self.own)))
        return [
            *(mean_table(rows, summary, "n_clusters", panel) for panel in summary.panels),
            *(mean_table(rows, summary, "k", panel) for panel in summary.panels),
            *(mean_table(rows, sweep, "ari", panel) for panel in summary.panels),
            outcome_table(rows),
        ]

    def _summary(self) -> FigureLayout:
        return FigureLayout(
            x="n_per_cluster",
            x_label="points in each cluster, N",
            measures=("n_clusters",),
            panels=tuple(Panel(SPREADS[spread], {"spread": spread}) for spread in self.spreads),
            lines=(*fixed_curves(self.settings.h), *dsms_curves(), *user_curves(self.own)),
            reference={"n_clusters": 3.0},
        )

    def _sweep(self, spread: str) -> FigureLayout:
        panels = tuple(
            Panel(name, {"spread": spread}, (*sweep_curves(self.sweep, name, named=False), *dsms_curves()))
            for name in FIXED
        )
        return replace(self._summary(), measures=("n_clusters", "ari"), panels=panels, log_y=("n_clusters",))
