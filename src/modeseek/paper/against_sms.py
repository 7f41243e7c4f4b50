"""Experiments that compare SMS and DSMS by K: clusters of unequal size, several numbers of clusters, and outliers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.datasets import imbalanced_mixture, many_clusters, paper_mixture
from modeseek.paper.comparison import Comparison, FigureLayout, Panel, outcome_table, sweep_curves
from modeseek.paper.contenders import SEARCHED_H, Contender, paper_contenders
from modeseek.paper.experiment import SPREADS, seed_for
from modeseek.paper.rows import Rows, Value
from modeseek.report import TableBlock


@dataclass(frozen=True)
class AgainstSMS(Comparison):
    """Base class of the experiments that compare K of SMS at several bandwidths with K of DSMS.

    Attributes
    ----------
    sweep : tuple of float
        Bandwidths of SMS.
    x_label : str
        Label of the horizontal axis, which shows the last entry of `axes`.
    """

    sweep: tuple[float, ...] = SEARCHED_H

    x_label: ClassVar[str]

    def contenders(self) -> list[Contender]:
        return paper_contenders(self.settings, self.sweep, ["SMS"])

    def setups(self) -> dict[str, Panel]:
        """Return the set-ups of the data by the stems of their figures of scores; empty if there is a single one."""
        return {}

    def layout(self) -> FigureLayout:
        """Return the layout of the figure of K, with a panel for each set-up and spread."""
        bandwidths = sorted({self.settings.h, *self.sweep})
        return FigureLayout(
            x=list(self.axes())[-1],
            x_label=self.x_label,
            measures=("k",),
            panels=tuple(
                Panel("\n".join(filter(None, (each.title, SPREADS[spread]))), {**each.where, "spread": spread})
                for each, spread in product(list(self.setups().values()) or [Panel("", {})], self.spreads)
            ),
            curves=(*sweep_curves(bandwidths), *self.dsms_and_user_curves()),
        )

    def figures(self) -> dict[str, FigureLayout]:
        layout = self.layout()
        scores = replace(layout, measures=("n_clusters", "k_weighted", "ari"), log_y=("n_clusters",))
        parts = {
            stem: replace(
                scores, panels=tuple(panel for panel in scores.panels if setup.where.items() < panel.where.items())
            )
            for stem, setup in self.setups().items()
        }
        return {self.name: layout, **parts}

    def tables(self, rows: Rows) -> list[TableBlock]:
        return [*self.layout().tables(rows, ("k", "ari")), outcome_table(rows)]


@dataclass(frozen=True)
class Imbalance(AgainstSMS):
    """SMS and DSMS on the paper's three Gaussians, for several ratios of the largest to the smallest size."""

    ratios: tuple[int, ...] = (1, 2, 8, 32)
    sizes: tuple[str, ...] = ("graded", "one small")
    n_per_cluster: int = 50

    name: ClassVar[str] = "imbalance"
    small: ClassVar = {"ratios": (1, 8), "sweep": (0.6, 1.2)}
    x_label: ClassVar[str] = "largest cluster over smallest"

    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        return {"sizes": self.sizes, "spread": self.spreads, "ratio": self.ratios}

    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        return imbalanced_mixture(
            cell["ratio"], self.n_per_cluster, sizes=cell["sizes"], spread=cell["spread"], random_state=seed
        )

    def setups(self) -> dict[str, Panel]:
        titles = {"graded": "graded sizes", "one small": "one small cluster"}
        return {f"imbalance-{each.replace(' ', '-')}": Panel(titles[each], {"sizes": each}) for each in self.sizes}

    def layout(self) -> FigureLayout:
        return replace(super().layout(), reference={"n_clusters": 3.0}, log_x=True)


@dataclass(frozen=True)
class Clusters(AgainstSMS):
    """SMS and DSMS on several numbers of Gaussians, whose centres lie on a square grid."""

    numbers: tuple[int, ...] = (2, 4, 9, 16)
    spacings: tuple[float, ...] = (2.0, 4.0)
    n_per_cluster: int = 50

    name: ClassVar[str] = "clusters"
    small: ClassVar = {"numbers": (2, 9), "sweep": (0.6, 1.2)}
    x_label: ClassVar[str] = "true number of clusters"

    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        return {"spacing": self.spacings, "spread": self.spreads, "n_true": self.numbers}

    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        return many_clusters(
            cell["n_true"], self.n_per_cluster, spacing=cell["spacing"], spread=cell["spread"], random_state=seed
        )

    def setups(self) -> dict[str, Panel]:
        return {f"clusters-{each:g}": Panel(f"centres {each:g} apart", {"spacing": each}) for each in self.spacings}


@dataclass(frozen=True)
class Outliers(AgainstSMS):
    """SMS and DSMS on the paper's three Gaussians with outliers, which are drawn uniformly from a square.

    Attributes
    ----------
    shares : tuple of float
        Numbers of outliers, divided by the number of points of the mixture.
    side : float
        Side of the square, whose centre is the origin.
    """

    shares: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2)
    n_per_cluster: int = 50
    side: float = 8.0

    name: ClassVar[str] = "outliers"
    small: ClassVar = {"shares": (0.0, 0.1), "sweep": (0.6, 1.2)}
    x_label: ClassVar[str] = "outliers / other points"

    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        return {"spread": self.spreads, "share": self.shares}

    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        X, y = paper_mixture(self.n_per_cluster, spread=cell["spread"], random_state=seed)
        n_outliers = round(len(X) * cell["share"])
        # an independent generator: the mixture is then the same for every share
        far = self.side * (np.random.default_rng(seed_for(seed, 1)).random((n_outliers, 2)) - 0.5)
        return np.concatenate([X, far]), np.append(y, np.full(n_outliers, -1))

    def layout(self) -> FigureLayout:
        measures = ("k", "ari", "n_clusters")
        return replace(super().layout(), measures=measures, reference={"n_clusters": 3.0})
