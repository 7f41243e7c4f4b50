"""More clusters: K of DSMS and SMS."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from modeseek._common.types import Array, IntArray
from modeseek.datasets import many_clusters
from modeseek.paper.against_sms import AgainstSMS, Setup
from modeseek.paper.rows import Value


@dataclass(frozen=True)
class Clusters(AgainstSMS):
    """SMS and DSMS on Gaussians on a square grid, against their number."""

    numbers: tuple[int, ...] = (2, 4, 9, 16)
    spacings: tuple[float, ...] = (2.0, 4.0)
    n_per_cluster: int = 50

    name: ClassVar[str] = "clusters"
    x_label: ClassVar[str] = "true number of clusters"

    def quick(self) -> Self:
        """Return fewer numbers and bandwidths."""
        return replace(self, numbers=(2, 9), sweep=(0.6, 1.2))

    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        return {"spacing": self.spacings, "spread": self.spreads, "n_true": self.numbers}

    def n_points(self, cell: Mapping[str, Any]) -> int:
        return int(self.n_per_cluster * cell["n_true"])

    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        return many_clusters(
            cell["n_true"], self.n_per_cluster, spacing=cell["spacing"], spread=cell["spread"], random_state=seed
        )

    def setups(self) -> list[Setup]:
        return [Setup(f"clusters-{each:g}", "spacing", each, f"centres {each:g} apart") for each in self.spacings]
