"""Base class of the experiments: a frozen config with its jobs, one job's computation, figures and tables."""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from modeseek.paper.rows import Row, Rows, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from modeseek.report import TableBlock


# titles of the spreads: both interpretations of the paper's value 0.65
SPREADS: dict[Value, str] = {"std": "0.65 as standard deviation", "variance": "0.65 as variance"}


@dataclass(frozen=True)
class Hyperparameters:
    """The paper's table of hyperparameters, with our choice of the kernel profile.

    Attributes
    ----------
    h : float
        Bandwidth of MS, BMS and SMS.
    h_min, h_max, h_inf : float
        Range of DSMS and its limiting bandwidth.
    nu : str
        Name of the sequence nu_k; "log-log" is 1 / log10(10 + log10 k).
    max_updates : int
        The paper's limit on iterations.
    threshold : float
        The paper's absolute convergence threshold. MS stops when shifts are below it. BMS, SMS and DSMS stop when no
        later update can change the partition; they stop on small shifts only if their bandwidth is constant by then.
    profile : str
        Kernel profile; the paper does not name it.
    engine : str
        Engine of SMS and DSMS; results do not depend on it.
    """

    h: float = 0.6
    h_min: float = 0.2
    h_max: float = 1.6
    h_inf: float = 0.6
    nu: str = "log-log"
    max_updates: int = 10**7
    threshold: float = 1e-6
    profile: str = "biweight"
    engine: str = "auto"


class Job(NamedTuple):
    """A unit of work, which is computed and stored as a whole.

    Attributes
    ----------
    cell : mapping
        Cell of the experiment's grid: column -> value, for example {"spread": "std", "n_per_cluster": 10}.
    run : int
        Number of the repetition.
    cost : float
        Approximate duration in milliseconds, for progress bars.
    """

    cell: Mapping[str, Any]
    run: int
    cost: float = 1.0

    @property
    def key(self) -> str:
        """A name that is unique within the experiment."""
        return "/".join([*(f"{name}={value}" for name, value in self.cell.items()), f"run={self.run}"])


def grid_jobs(runs: int, cost: Callable[[Mapping[str, Any]], float], **axes: Iterable[Value]) -> list[Job]:
    """Return a job for each combination of values and each run; `cost` returns the cost of a cell."""
    cells = [dict(zip(axes, each, strict=True)) for each in product(*axes.values())]
    return [Job(cell, run, each) for cell in cells for each in [cost(cell)] for run in range(runs)]


@dataclass(frozen=True)
class Experiment(ABC):
    """An experiment, which is a section of the report. Its fields are its config, which the report prints.

    Its title, introduction and captions are in `texts.toml`.

    Attributes
    ----------
    settings : Hyperparameters
    name : str
        Name on the command line, and stem of the output files.
    small : mapping
        Fields of the config that `quick` replaces, and their values.
    columns : tuple of str
        Columns of its CSV file.
    also_shown : tuple of str
        Stems of the figures that the short page shows in addition to the first figure.
    tables_shown : bool
        Whether the short page also shows the tables.
    """

    settings: Hyperparameters = field(default_factory=Hyperparameters)

    name: ClassVar[str]
    small: ClassVar[Mapping[str, Any]]
    columns: ClassVar[tuple[str, ...]]
    also_shown: ClassVar[tuple[str, ...]] = ()
    tables_shown: ClassVar[bool] = False

    @property
    def title(self) -> str:
        """Heading of the section."""
        return report_texts()[self.name]["title"]

    @property
    def text(self) -> str:
        """Introduction of the section, in Markdown: one or several paragraphs."""
        return report_texts()[self.name]["text"]

    @property
    def captions(self) -> Mapping[str, str]:
        """Captions of the figures that `draw` returns, by the same keys."""
        return report_texts()[self.name]["captions"]

    def quick(self) -> Self:
        """Return a smaller config that runs in seconds."""
        return replace(self, **self.small)

    def on_engine(self, engine: str) -> Self:
        """Return the same config with another engine for SMS and DSMS."""
        return replace(self, settings=replace(self.settings, engine=engine))

    @abstractmethod
    def jobs(self, runs: int) -> list[Job]:
        """Return all jobs; a larger `runs` adds jobs and changes none."""

    @abstractmethod
    def work(self, job: Job, seed: int) -> list[Row]:
        """Compute one job; its rows depend only on the config, the job and the seed.

        A row may leave out the columns of the job (its cell and "run"), and columns without a value.
        """

    def rows_of(self, job: Job, seed: int) -> list[Row]:
        """Return the rows of one job with all columns."""
        known = {**job.cell, "run": job.run}
        shared: Row = {name: known.get(name) for name in self.columns}
        return [{**shared, **row} for row in self.work(job, seed)]

    @abstractmethod
    def draw(self, rows: Rows) -> dict[str, Figure]:
        """Return the figures, with the keys of `captions`."""

    @abstractmethod
    def tables(self, rows: Rows) -> list[TableBlock]:
        """Return the tables below the figures."""


class BySpread(Experiment):
    """An experiment whose figures and tables are made separately for each spread."""

    spreads: ClassVar[tuple[str, ...]] = ("std", "variance")

    @property
    def captions(self) -> Mapping[str, str]:
        """Captions of the figures that `draw` returns, by the same keys."""
        found = super().captions
        return {
            f"{stem}-{spread}": f"{caption} {SPREADS[spread]}."
            for spread in self.spreads
            for stem, caption in found.items()
        }

    def draw(self, rows: Rows) -> dict[str, Figure]:
        """Return the figures of all spreads."""
        return {
            f"{stem}-{spread}": figure
            for spread in rows.distinct("spread")
            for stem, figure in self.draw_spread(rows.where(spread=spread)).items()
        }

    def tables(self, rows: Rows) -> list[TableBlock]:
        """Return the tables of all spreads."""
        return [
            replace(table, caption=f"{SPREADS[spread]}. {table.caption}")
            for spread in rows.distinct("spread")
            for table in self.spread_tables(rows.where(spread=spread))
        ]

    @abstractmethod
    def draw_spread(self, rows: Rows) -> dict[str, Figure]:
        """Return the figures of one spread, to which `rows` belong."""

    @abstractmethod
    def spread_tables(self, rows: Rows) -> list[TableBlock]:
        """Return the tables of one spread, to which `rows` belong."""


@cache
def report_texts(file: str = "texts.toml") -> dict[str, Any]:
    """Return the prose of the report: `texts.toml` by experiment, or `claims.toml` by claim."""
    return tomllib.loads((files("modeseek.paper") / file).read_text(encoding="utf-8"))


def seed_for(seed: int, *path: int) -> int:
    """Return an independent seed for each path of numbers, for example (run, 0) for data and (run, 1) for chains.

    Examples
    --------
    >>> seed_for(0, 3, 0) == seed_for(0, 3, 0), seed_for(0, 3, 0) == seed_for(0, 3, 1)
    (True, False)
    """
    return int(np.random.SeedSequence([seed, *path]).generate_state(1)[0])
