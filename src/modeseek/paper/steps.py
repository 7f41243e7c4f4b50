"""Number of steps of MS, BMS, SMS and DSMS under the same stopping rule, and until their clusters are final."""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
from matplotlib.figure import Figure

from modeseek._common.types import IntArray
from modeseek.datasets import paper_mixture
from modeseek.meanshift.chains import Chain, Stopping, blurring, doubly_stochastic, make_problem, mean_shift, stochastic
from modeseek.meanshift.components import components
from modeseek.meanshift.partition import rank_by_weight
from modeseek.paper.certificate import Ends, final_from, states_until
from modeseek.paper.contenders import FIXED, POLICIES
from modeseek.paper.experiment import BySpread, Job, grid_jobs, seed_for
from modeseek.paper.paper_chains import paper_policy
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import legend, new_figure, plain_numbers, style_panel
from modeseek.plots.colors import palette
from modeseek.report import TableBlock

LINES = (*FIXED, *(f"DSMS {policy}" for policy in POLICIES))
# until when steps are counted, and in which units
ENDS = {"shifts": "until every last shift is at most 10^-6", "final": "until the clusters are final"}
UNITS = {"updates": "updates of one point", "steps": "steps of the algorithm"}


@dataclass(frozen=True)
class Steps(BySpread):
    """Steps of each algorithm on the paper's mixture, at the paper's settings.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of points in each of the mixture's three components.
    most_sweeps : int
        Maximum number of sweeps.
    """

    sizes: tuple[int, ...] = (10, 50, 200)
    most_sweeps: int = 2000

    name: ClassVar[str] = "steps"
    small: ClassVar = {"sizes": (10, 30)}
    columns: ClassVar[tuple[str, ...]] = ("spread", "line", "n", "run", "end", *UNITS)

    def jobs(self, runs: int) -> list[Job]:
        """Return a job for each spread, algorithm, size and run."""
        n = [3 * size for size in self.sizes]
        return grid_jobs(runs, lambda cell: 28 + 0.09 * cell["n"], spread=self.spreads, line=LINES, n=n)

    def work(self, job: Job, seed: int) -> list[Row]:
        """Run one algorithm until its shifts are small and its clusters are final, and count updates and steps."""
        chain = self._chain(job, seed)
        limits = Stopping(chain.h_min / 4, self.settings.threshold, max_sweeps=self.most_sweeps)
        ends: Ends = {}
        partitions: list[IntArray] = []
        updates: list[int] = []
        for state in states_until(chain, limits, ends):
            partitions.append(rank_by_weight(components(state.points, limits.tau), chain.problem.weights).labels)
            updates.append(state.k)
        return [
            # a step moves one point in SMS and DSMS, and every point in MS and BMS
            {"end": end, "updates": updates[at], "steps": at if chain.plan is None else updates[at]}
            for end, at in (("shifts", ends["shifts"][0]), ("final", final_from(partitions)))
        ]

    def _chain(self, job: Job, seed: int) -> Chain:
        given, line, size = self.settings, str(job.cell["line"]), int(job.cell["n"]) // 3
        X = paper_mixture(size, spread=job.cell["spread"], random_state=seed_for(seed, job.run, 0))[0]
        problem, chance = make_problem(X, profile=given.profile), seed_for(seed, job.run, 1)
        if line == "MS":
            return mean_shift(problem, given.h, tol=given.threshold / given.h, most_steps=0)
        if line == "BMS":
            return blurring(problem, given.h)
        if line == "SMS":
            return stochastic(problem, given.h, seed=chance)
        return doubly_stochastic(problem, paper_policy(line.removeprefix("DSMS "), given), seed=chance)

    def draw_spread(self, rows: Rows) -> dict[str, Figure]:
        """Return the figure of the medians as functions of n, with a panel for each entry of `UNITS` and `ENDS`."""
        figure = new_figure(10.5, 7.6)
        axes = figure.subplots(len(UNITS), len(ENDS), sharex=True, sharey="row", squeeze=False)
        sizes = rows.sorted("n")
        for ax, (unit, end) in zip(axes.flat, product(UNITS, ENDS), strict=True):
            for line, color in zip(LINES, palette(len(LINES)), strict=True):
                mine = rows.where(line=line, end=end)
                medians = [np.median(mine.where(n=n)[unit]) for n in sizes]
                # the log axis cannot show zeros
                ax.plot(sizes, np.maximum(medians, 1), color=color, marker="o", markersize=4, label=line)
            ax.set(xscale="log", yscale="log")
            plain_numbers(ax, "x", sizes)
            style_panel(ax, x="points n", y=UNITS[unit], title=ENDS[end])
        legend(axes[1, 0], place="center right")
        return {"steps": figure}

    def spread_tables(self, rows: Rows) -> list[TableBlock]:
        """Return a table of the medians by algorithm and n, for each entry of `UNITS` and `ENDS`."""
        header = ["algorithm", "n", *(f"{unit} {end}" for unit, end in product(UNITS.values(), ENDS.values()))]
        body = []
        for line, n in product(LINES, rows.distinct("n")):
            mine = rows.where(line=line, n=n)
            medians = [np.median(mine.where(end=end)[unit]) for unit, end in product(UNITS, ENDS)]
            body.append([line, f"{n}", *(f"{each:,.0f}" for each in medians)])
        return [TableBlock(header, body, "Medians over runs.")]
