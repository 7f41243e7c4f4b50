"""More clusters: whether DSMS loses anything against SMS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from modeseek._common.types import Array, IntArray
from modeseek.datasets import many_clusters
from modeseek.paper.against_sms import AgainstSMS
from modeseek.paper.comparison_figures import FigureLayout
from modeseek.paper.rows import Value

__all__ = ["Clusters"]


@dataclass(frozen=True)
class Clusters(AgainstSMS):
    """SMS and DSMS on Gaussians on a square grid, against how many there are."""

    numbers: tuple[int, ...] = (2, 3, 4, 6, 9, 16)
    spacings: tuple[float, ...] = (2.0, 4.0)
    n_per_cluster: int = 50

    name: ClassVar[str] = "clusters"
    title: ClassVar[str] = "More clusters"
    text: ClassVar[str] = """\
This set-up too is only in the predecessor's paper, which is not available to us. Ours: round Gaussians of the paper's
width on a square grid, filled row by row, 50 points each. The distance between neighbouring centres is 2, as in the
paper's mixture, where neighbours overlap, and 4, where they hardly do.

SMS runs at the paper's h = 0.6 and over a sweep of h, DSMS at the paper's range."""
    captions: ClassVar[Mapping[str, str]] = {
        "clusters": "K, in the paper's weighting, against the number of clusters.",
        "clusters-2": "Centres 2 apart by the number of clusters found, K weighted by size, and ARI.",
        "clusters-4": "Centres 4 apart by the same measures.",
    }
    cell_columns: ClassVar[tuple[str, ...]] = ("spacing", "spread", "n_true")

    def quick(self) -> Self:
        """Return fewer numbers and bandwidths."""
        return replace(self, numbers=(2, 4, 9), sweep=(1.2,))

    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        return {"spacing": self.spacings, "spread": self.spreads, "n_true": self.numbers}

    def points(self, cell: Mapping[str, Any]) -> int:
        return int(self.n_per_cluster * cell["n_true"])

    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        return many_clusters(
            cell["n_true"],
            self.n_per_cluster,
            spacing=cell["spacing"],
            spread=cell["spread"],
            random_state=seed,
        )

    def setups(self) -> dict[str, tuple[str, Value]]:
        return {f"clusters-{each:g}": ("spacing", each) for each in self.spacings}

    def summary(self) -> FigureLayout:
        return FigureLayout(
            x="n_true",
            x_label="true number of clusters",
            measures=("k",),
            panels=self._panels("spacing", {each: f"centres {each:g} apart" for each in self.spacings}),
            lines=self._curves(),
        )
