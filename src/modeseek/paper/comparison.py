"""Experiments that lay several clusterers over the same data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

from modeseek._common.types import Array, IntArray
from modeseek.datasets import paper_mixture
from modeseek.paper.experiment import Experiment, Job, seed_for
from modeseek.paper.lines import LINE_COLUMNS, Line, measure
from modeseek.paper.rows import Row, Value

__all__ = ["Comparison", "OnPaperMixture"]

# milliseconds for each fit, and for each fit and point, by a rough measurement, and how many fits one of MS is worth:
# progress bars go by it
COST_OF_FIT, COST_OF_POINT, COST_OF_MS = 8.0, 0.03, 4


@dataclass(frozen=True)
class Comparison(Experiment):
    """Clusterers on mixtures with known labels: one job is one data set, on which every line is run.

    Attributes
    ----------
    spreads : tuple of str
        Both readings of the paper's 0.65: as a standard deviation and as a variance.
    own : tuple of Line
        Lines of the user's own.
    """

    spreads: tuple[str, ...] = ("std", "variance")
    own: tuple[Line, ...] = ()

    cell_columns: ClassVar[tuple[str, ...]]

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """The cell, the run, then what was measured of a line."""
        return (*self.cell_columns, "run", *LINE_COLUMNS)

    @abstractmethod
    def axes(self) -> Mapping[str, Iterable[Value]]:
        """Return the values of each column of a cell; every combination is run."""

    @abstractmethod
    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        """Draw the points of a cell and their true labels."""

    @abstractmethod
    def lines(self) -> list[Line]:
        """Return what is compared, without the user's own."""

    def jobs(self, runs: int) -> list[Job]:
        """Return a job for each data set."""
        values = self.axes()
        fits = sum(COST_OF_MS if line.name == "MS" else 1 for line in (*self.lines(), *self.own))
        cells = [dict(zip(values, each, strict=True)) for each in product(*values.values())]
        return [
            Job(cell, run, fits * (COST_OF_FIT + COST_OF_POINT * self.points(cell)))
            for cell in cells
            for run in range(runs)
        ]

    @abstractmethod
    def points(self, cell: Mapping[str, Any]) -> int:
        """Return how many points a cell's data have."""

    def work(self, job: Job, seed: int) -> list[Row]:
        """Run every line on one data set; all with the same seed, so that they are paired."""
        X, truth = self.data(job.cell, seed_for(seed, job.run, 0))
        chance = seed_for(seed, job.run, 1)
        return [{**job.cell, "run": job.run, **measure(line, X, truth, chance)} for line in (*self.lines(), *self.own)]


@dataclass(frozen=True)
class OnPaperMixture(Comparison):
    """A comparison on the paper's three Gaussians.

    Attributes
    ----------
    sizes : tuple of int
        Points of each.
    """

    sizes: tuple[int, ...] = (10, 50, 200)

    cell_columns: ClassVar[tuple[str, ...]] = ("spread", "n_per_cluster")

    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        return {"spread": self.spreads, "n_per_cluster": self.sizes}

    def points(self, cell: Mapping[str, Any]) -> int:
        return int(3 * cell["n_per_cluster"])

    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        return paper_mixture(cell["n_per_cluster"], spread=cell["spread"], random_state=seed)
