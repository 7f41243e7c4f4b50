"""Clusters of unequal size: K of DSMS and SMS."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from modeseek._common.types import Array, IntArray
from modeseek.datasets import imbalanced_mixture
from modeseek.paper.against_sms import AgainstSMS, Setup
from modeseek.paper.comparison_figures import FigureLayout
from modeseek.paper.rows import Value


@dataclass(frozen=True)
class Imbalance(AgainstSMS):
    """SMS and DSMS on the paper's three Gaussians, against the ratio of the largest to the smallest size."""

    ratios: tuple[int, ...] = (1, 2, 8, 32)
    sizes: tuple[str, ...] = ("graded", "one small")
    n_per_cluster: int = 50

    name: ClassVar[str] = "imbalance"
    x_label: ClassVar[str] = "largest cluster over smallest"

    def quick(self) -> Self:
        """Return fewer ratios and bandwidths."""
        return replace(self, ratios=(1, 8), sweep=(0.6, 1.2))

    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        return {"sizes": self.sizes, "spread": self.spreads, "ratio": self.ratios}

    def n_points(self, cell: Mapping[str, Any]) -> int:
        return 3 * self.n_per_cluster

    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        return imbalanced_mixture(
            cell["ratio"], self.n_per_cluster, sizes=cell["sizes"], spread=cell["spread"], random_state=seed
        )

    def setups(self) -> list[Setup]:
        titles = {"graded": "graded sizes", "one small": "one small cluster"}
        return [Setup(f"imbalance-{each.replace(' ', '-')}", "sizes", each, titles[each]) for each in self.sizes]

    def layout(self) -> FigureLayout:
        return replace(super().layout(), reference={"n_clusters": 3.0}, log_x=True)
