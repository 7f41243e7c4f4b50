"""Distribution of the time until a run is certified, by number of points, dimension and policy."""

from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from modeseek._common.types import Array
from modeseek.meanshift.bandwidth import POLICIES
from modeseek.meanshift.chains import Outcome, Stopping, doubly_stochastic, make_problem, run
from modeseek.paper.experiment import BySpread, Job, seed_for
from modeseek.paper.paper_chains import Mixture, paper_policy
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import legend, new_figure, plain_numbers, style_panel
from modeseek.plots.colors import palette
from modeseek.report import TableBlock

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True)
class TimesToCertificate(BySpread):
    """Number of sweeps until the certificate for all policies, on the paper's mixture in d dimensions.

    Centres and bandwidths are multiplied by sqrt(d / 2), as the distances within a Gaussian grow like sqrt(d).

    Attributes
    ----------
    sizes : tuple of int
        Numbers of points of the runs in two dimensions.
    dimensions : tuple of int
        Numbers of dimensions of the runs with `n` points.
    n : int
    most_sweeps : int
        Maximum number of sweeps.
    """

    sizes: tuple[int, ...] = (30, 90, 300, 900)
    dimensions: tuple[int, ...] = (1, 2, 5, 10, 20)
    n: int = 90
    most_sweeps: int = 5000

    name: ClassVar[str] = "times"
    small: ClassVar = {"sizes": (30, 90), "dimensions": (2, 10)}
    tables_shown: ClassVar[bool] = True
    columns: ClassVar[tuple[str, ...]] = ("spread", "n", "d", "policy", "run", "sweeps", "outcome")

    def jobs(self, runs: int) -> list[Job]:
        """Return a job for each spread, size or dimension, policy and run."""
        cells = dict.fromkeys([*((n, 2) for n in self.sizes), *((self.n, d) for d in self.dimensions)])
        return [
            Job({"spread": spread, "n": n, "d": d, "policy": policy}, repeat, 20 + 0.05 * n)
            for spread, (n, d), policy, repeat in product(self.spreads, cells, POLICIES, range(runs))
        ]

    def work(self, job: Job, seed: int) -> list[Row]:
        """Run one chain to its certificate."""
        mixture = Mixture((job.cell["n"] // 3,) * 3, d=job.cell["d"])
        points, _ = mixture.draw(seed_for(seed, job.run, 0), job.cell["spread"])
        given, unit = self.settings, mixture.unit
        scaled = replace(given, h_min=unit * given.h_min, h_max=unit * given.h_max, h_inf=unit * given.h_inf)
        chain = doubly_stochastic(
            make_problem(points), paper_policy(job.cell["policy"], scaled), seed=seed_for(seed, job.run, 1)
        )
        ended = run(chain, Stopping(scaled.h_min / 4, max_sweeps=self.most_sweeps, max_updates=10**9))
        return [{"sweeps": ended.sweeps, "outcome": ended.outcome.name}]

    def draw_spread(self, rows: Rows) -> dict[str, Figure]:
        """Return the figure of the quantiles by n and by d."""
        figure = new_figure(10.5, 4.4)
        left, right = figure.subplots(1, 2, sharey=True)
        self._draw_quantiles(left, rows.where(d=2), "n", "points n, d = 2")
        self._draw_quantiles(right, rows.where(n=self.n), "d", f"dimensions d, n = {self.n}")
        left.set_ylabel("updates per point (sweeps)")
        legend(right, place="upper right")
        return {"times": figure}

    def _draw_quantiles(self, ax: Axes, rows: Rows, column: str, label: str) -> None:
        values = rows.sorted(column)
        for policy, color in zip(POLICIES, palette(len(POLICIES)), strict=True):
            found = np.array([_quantiles(rows.where(policy=policy, **{column: each})["sweeps"]) for each in values])
            ax.fill_between(values, found[:, 0], found[:, 4], color=color, alpha=0.12, linewidth=0)
            ax.plot(values, found[:, 2], color=color, marker="o", markersize=4, linewidth=1.8, label=policy)
        ax.set(xscale="log", yscale="log")
        plain_numbers(ax, "x", values)
        style_panel(ax, x=label)

    def spread_tables(self, rows: Rows) -> list[TableBlock]:
        """Return the quantiles of the number of sweeps, by n, d and policy."""
        body = []
        for (n, d), policy in product(dict.fromkeys(zip(rows["n"], rows["d"], strict=True)), POLICIES):
            mine = rows.where(n=int(n), d=int(d), policy=policy)
            certified = len(mine.where(outcome=Outcome.CERTIFIED.name))
            quantiles = [f"{each:.0f}" for each in _quantiles(mine["sweeps"])]
            body.append([policy, f"{n:.0f}", f"{d:.0f}", f"{certified} of {len(mine)}", *quantiles])
        header = ["policy", "n", "d", "certified", *(f"{100 * q:g} %" for q in QUANTILES)]
        return [TableBlock(header, body, "Quantiles over runs of the number of sweeps until the certificate.")]


def _quantiles(sweeps: Array) -> Array:
    return np.quantile(sweeps, QUANTILES, method="inverted_cdf")
