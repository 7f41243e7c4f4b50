"""Experiments that run several clusterers on the same data."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from modeseek._common.types import Array, IntArray
from modeseek.datasets import paper_mixture
from modeseek.paper.contenders import RESULT_COLUMNS, Contender, measure
from modeseek.paper.experiment import Experiment, Job, seed_for
from modeseek.paper.rows import Row, Value

# rough costs for the progress bar: milliseconds for each fit and for each point of a fit
COST_OF_FIT = 8.0
COST_OF_POINT = 0.03
# one fit of MS takes as long as this many fits of the others
COST_OF_MS = 4


@dataclass(frozen=True)
class Comparison(Experiment):
    """Clusterers on mixtures with known labels: one job is one data set, on which every contender runs.

    Attributes
    ----------
    spreads : tuple of str
        Both interpretations of the paper's 0.65: as a standard deviation and as a variance.
    user_contenders : tuple of Contender
        Contenders that the user added.
    """

    spreads: tuple[str, ...] = ("std", "variance")
    user_contenders: tuple[Contender, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns of the cell, the run, and the results of a contender."""
        return (*self.axes(), "run", *RESULT_COLUMNS)

    @abstractmethod
    def axes(self) -> Mapping[str, Iterable[Value]]:
        """Return the values of each column of a cell; every combination is run."""

    @abstractmethod
    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        """Draw the points of a cell and their true labels."""

    @abstractmethod
    def contenders(self) -> list[Contender]:
        """Return the contenders of the paper, without those of the user."""

    def jobs(self, runs: int) -> list[Job]:
        """Return a job for each data set."""
        values = self.axes()
        fits = sum(COST_OF_MS if each.name == "MS" else 1 for each in (*self.contenders(), *self.user_contenders))
        cells = [dict(zip(values, each, strict=True)) for each in product(*values.values())]
        return [
            Job(cell, run, fits * (COST_OF_FIT + COST_OF_POINT * self.n_points(cell)))
            for cell in cells
            for run in range(runs)
        ]

    @abstractmethod
    def n_points(self, cell: Mapping[str, Any]) -> int:
        """Return the number of points of a cell's data."""

    def work(self, job: Job, seed: int) -> list[Row]:
        """Run every contender on one data set, all with the same seed, so that differences are paired."""
        X, truth = self.data(job.cell, seed_for(seed, job.run, 0))
        chance = seed_for(seed, job.run, 1)
        return [measure(each, X, truth, chance) for each in (*self.contenders(), *self.user_contenders)]


@dataclass(frozen=True)
class OnPaperMixture(Comparison):
    """A comparison on the paper's three Gaussians.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of points in each Gaussian.
    """

    sizes: tuple[int, ...] = (10, 50, 200)

    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        return {"spread": self.spreads, "n_per_cluster": self.sizes}

    def n_points(self, cell: Mapping[str, Any]) -> int:
        return int(3 * cell["n_per_cluster"])

    def data(self, cell: Mapping[str, Any], seed: int) -> tuple[Array, IntArray]:
        return paper_mixture(cell["n_per_cluster"], spread=cell["spread"], random_state=seed)
