"""What an experiment is: a frozen config that knows its jobs, how to do one, and how to show the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from modeseek.paper.hyperparameters import Hyperparameters
from modeseek.paper.rows import Row, Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from modeseek.report import TableBlock

__all__ = ["Experiment", "Job", "seed_for"]


class Job(NamedTuple):
    """One piece of work: it is done, kept and, after an interruption, found again as a whole.

    Attributes
    ----------
    cell : mapping
        Where in the experiment it belongs: column -> value, for example {"spread": "std", "n_per_cluster": 10}.
    run : int
        Which repetition.
    cost : float
        How long it takes, in about milliseconds: progress bars go by it.
    """

    cell: Mapping[str, Any]
    run: int
    cost: float = 1.0

    @property
    def key(self) -> str:
        """A name that no other job of the experiment has."""
        return "/".join([*(f"{name}={value}" for name, value in self.cell.items()), f"run={self.run}"])


@dataclass(frozen=True)
class Experiment(ABC):
    """A figure of the report; its fields are its config, which the report prints.

    Attributes
    ----------
    settings : Hyperparameters
    name : str
        What users type, and the stem of its files.
    title : str
        Heading of its section.
    text : str
        What is run and why, in Markdown: a paragraph or several.
    columns : tuple of str
        Columns of its CSV.
    captions : mapping
        Stem of a picture -> what it shows, one line for each picture of `draw`.
    """

    settings: Hyperparameters = field(default_factory=Hyperparameters)

    name: ClassVar[str]
    title: ClassVar[str]
    text: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    captions: ClassVar[Mapping[str, str]]

    @abstractmethod
    def quick(self) -> Self:
        """Return a config that takes seconds, with the same parts."""

    def on_engine(self, engine: str) -> Self:
        """Return the same with an engine for its random lines."""
        return replace(self, settings=replace(self.settings, engine=engine))

    @abstractmethod
    def jobs(self, runs: int) -> list[Job]:
        """Return what there is to do; more runs add jobs and change none."""

    @abstractmethod
    def work(self, job: Job, seed: int) -> list[Row]:
        """Do one job: its rows depend on nothing but the config, the job and the seed."""

    @abstractmethod
    def draw(self, rows: Rows) -> dict[str, Figure]:
        """Return the pictures, by the stems of `captions`."""

    @abstractmethod
    def tables(self, rows: Rows) -> list[TableBlock]:
        """Return the tables that stand below the pictures."""


def seed_for(seed: int, *path: int) -> int:
    """Return a seed of its own for each path of numbers, for example (run, 0) for the data and (run, 1) for chains.

    Examples
    --------
    >>> seed_for(0, 3, 0) == seed_for(0, 3, 0), seed_for(0, 3, 0) == seed_for(0, 3, 1)
    (True, False)
    """
    return int(np.random.SeedSequence([seed, *path]).generate_state(1)[0])
