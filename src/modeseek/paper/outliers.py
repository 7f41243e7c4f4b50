"""Outliers: K of DSMS and SMS on the other points, and the number of clusters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.datasets import paper_mixture
from modeseek.paper.against_sms import AgainstSMS
from modeseek.paper.comparison_figures import FigureLayout
from modeseek.paper.experiment import seed_for
from modeseek.paper.rows import Value


@dataclass(frozen=True)
class Outliers(AgainstSMS):
    """SMS and DSMS on the paper's three Gaussians with added outliers, uniform on a square.

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
    x_label: ClassVar[str] = "outliers / other points"

    def quick(self) -> Self:
        """Return fewer shares and bandwidths."""
        return replace(self, shares=(0.0, 0.1), sweep=(0.6, 1.2))

    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        return {"spread": self.spreads, "share": self.shares}

    def n_points(self, cell: Mapping[str, Any]) -> int:
        return round(3 * self.n_per_cluster * (1 + cell["share"]))

    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        X, y = paper_mixture(self.n_per_cluster, spread=cell["spread"], random_state=seed)
        n_outliers = self.n_points(cell) - len(X)
        # an independent generator, so that the mixture is the same for every share
        far = self.side * (np.random.default_rng(seed_for(seed, 1)).random((n_outliers, 2)) - 0.5)
        return np.concatenate([X, far]), np.append(y, np.full(n_outliers, -1))

    def layout(self) -> FigureLayout:
        measures = ("k", "ari", "n_clusters")
        return replace(super().layout(), measures=measures, reference={"n_clusters": 3.0})
