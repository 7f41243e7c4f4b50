"""Clusters of unequal size: K of DSMS and SMS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from modeseek._common.types import Array, IntArray
from modeseek.datasets import imbalanced_mixture
from modeseek.paper.against_sms import AgainstSMS
from modeseek.paper.comparison_figures import FigureLayout
from modeseek.paper.rows import Value


@dataclass(frozen=True)
class Imbalance(AgainstSMS):
    """SMS and DSMS on the paper's three Gaussians, against the ratio of the largest to the smallest size."""

    ratios: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    sizes: tuple[str, ...] = ("graded", "one small")
    n_per_cluster: int = 50

    name: ClassVar[str] = "imbalance"
    cell_columns: ClassVar[tuple[str, ...]] = ("sizes", "spread", "ratio")

    def quick(self) -> Self:
        """Return fewer ratios and bandwidths."""
        return replace(self, ratios=(1, 4, 16), sweep=(1.2,))

    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        return {"sizes": self.sizes, "spread": self.spreads, "ratio": self.ratios}

    def n_points(self, cell: Mapping[str, Any]) -> int:
        return 3 * self.n_per_cluster

    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        return imbalanced_mixture(
            cell["ratio"], self.n_per_cluster, sizes=cell["sizes"], spread=cell["spread"], random_state=seed
        )

    def setups(self) -> dict[str, tuple[str, Value]]:
        return {f"imbalance-{each.replace(' ', '-')}": ("sizes", each) for each in self.sizes}

    def layout(self) -> FigureLayout:
        return FigureLayout(
            x="ratio",
            x_label="largest cluster over smallest",
            measures=("k",),
            panels=self._panels("sizes", {"graded": "graded sizes", "one small": "one small cluster"}),
            curves=self._curves(),
            reference={"n_clusters": 3.0},
            log_x=True,
        )
