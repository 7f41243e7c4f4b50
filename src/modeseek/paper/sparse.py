"""The number of clusters that each algorithm finds if clusters have few points."""

from dataclasses import dataclass, replace
from typing import ClassVar

from modeseek.estimators import MeanShift
from modeseek.paper.comparison import (
    FigureLayout,
    OnPaperMixture,
    Panel,
    dsms_curves,
    fixed_curves,
    outcome_table,
    sweep_curves,
)
from modeseek.paper.contenders import FIXED, SEARCHED_H, Contender, paper_contenders
from modeseek.paper.experiment import SPREADS
from modeseek.paper.rows import Rows
from modeseek.report import TableBlock


@dataclass(frozen=True)
class Sparse(OnPaperMixture):
    """MS, BMS, SMS and DSMS on the paper's three Gaussians, for several numbers of points in each."""

    sizes: tuple[int, ...] = (10, 20, 50, 100, 150, 200)
    sweep: tuple[float, ...] = SEARCHED_H

    name: ClassVar[str] = "sparse"
    small: ClassVar = {"sizes": (10, 50, 200), "sweep": (0.6, 1.2)}

    def contenders(self) -> list[Contender]:
        # scikit-learn's rule for MS: modes within h of a higher mode join it; our default links modes within h / 4
        given, h = self.settings, self.settings.h
        nearest = MeanShift(
            h, max_iter=given.max_updates, tol=given.threshold / h, profile=given.profile, assign_labels="nearest"
        )
        return [*paper_contenders(given, self.sweep), Contender("MS, modes within h", h, nearest)]

    def figures(self) -> dict[str, FigureLayout]:
        scores = replace(self._layout(), measures=("k", "k_weighted", "ari"), reference={})
        sweeps = {f"sparse-sweep-{spread}": self._sweep_layout(spread) for spread in self.spreads}
        return {"sparse": self._layout(), "sparse-scores": scores, **sweeps}

    def tables(self, rows: Rows) -> list[TableBlock]:
        layout = self._layout()
        fixed = tuple(each for name in FIXED for each in sweep_curves(self.sweep, name))
        sweep = replace(layout, curves=(*fixed, *self.dsms_and_user_curves()))
        return [*layout.tables(rows, ("n_clusters", "k")), *sweep.tables(rows, ("ari",)), outcome_table(rows)]

    def _layout(self) -> FigureLayout:
        return FigureLayout(
            x="n_per_cluster",
            x_label="points in each cluster, N",
            measures=("n_clusters",),
            panels=tuple(Panel(SPREADS[spread], {"spread": spread}) for spread in self.spreads),
            curves=(*fixed_curves(self.settings.h), *self.dsms_and_user_curves()),
            reference={"n_clusters": 3.0},
        )

    def _sweep_layout(self, spread: str) -> FigureLayout:
        panels = tuple(
            Panel(name, {"spread": spread}, (*sweep_curves(self.sweep, name, named=False), *dsms_curves()))
            for name in FIXED
        )
        return replace(self._layout(), measures=("n_clusters", "ari"), panels=panels, log_y=("n_clusters",))
