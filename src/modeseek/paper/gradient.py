"""Convergence of the gradient of L to 0 along runs."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from modeseek._common.types import Array
from modeseek.meanshift.theory import gradient_norms
from modeseek.paper.experiment import Experiment, Job
from modeseek.paper.paper_chains import POLICIES, paper_chain, paper_policy, policy_jobs
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import COLORS, NAMES, dashed_line, legend, new_figure, style_panel
from modeseek.plots.colors import TEXT_COLOR
from modeseek.report import TableBlock

QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class GradientNorm(Experiment):
    """Max norm of the gradient of L_h after each sweep.

    Attributes
    ----------
    n_per_cluster : int
        Number of points in each of the mixture's three components.
    sweeps : int
        Length of a run.
    levels : tuple of float
        Levels for which the table gives the number of sweeps until the norm stays below them.
    floor : float
        Smaller norms, which are rounding errors or 0, are drawn at this value.
    """

    n_per_cluster: int = 20
    sweeps: int = 80
    levels: tuple[float, ...] = (1e-3, 1e-6)
    floor: float = 1e-16

    name: ClassVar[str] = "gradient"
    columns: ClassVar[tuple[str, ...]] = ("policy", "run", "sweep", "norm")

    def quick(self) -> Self:
        """Return a config with fewer points and sweeps."""
        return replace(self, n_per_cluster=10, sweeps=50)

    def jobs(self, runs: int) -> list[Job]:
        """Return a job for each policy and run."""
        return policy_jobs(runs, self.sweeps * self.n_per_cluster * 0.065)

    def work(self, job: Job, seed: int) -> list[Row]:
        """Return the norm after each sweep, including the start."""
        policy = paper_policy(job.cell["policy"], self.settings)
        norms = gradient_norms(paper_chain(self.n_per_cluster, policy, seed, job.run), sweeps=self.sweeps)
        return [{**job.cell, "run": job.run, "sweep": sweep, "norm": float(norm)} for sweep, norm in enumerate(norms)]

    def draw(self, rows: Rows) -> dict[str, Figure]:
        """Return the figure of the norms of all runs."""
        figure = new_figure(10.5, 4.4)
        axes = figure.subplots(1, len(POLICIES), sharey=True)
        for ax, policy in zip(axes, POLICIES, strict=True):
            self._draw_norms(ax, _norms(rows, policy), policy)
        axes[0].set_ylabel("max norm of the gradient of L_h", color=TEXT_COLOR)
        return {"gradient-norms": figure}

    def _draw_norms(self, ax: Axes, norms: Array, policy: str) -> None:
        shown = np.maximum(norms, self.floor)
        ax.plot(shown.T, color=COLORS[policy], linewidth=0.6, alpha=0.3)
        ax.plot(np.median(shown, axis=0), color=TEXT_COLOR, linewidth=2.2, label=f"median of {len(norms)} runs")
        for level in self.levels:
            dashed_line(ax, level)
        ax.set_yscale("log")
        style_panel(ax, x="updates per point (sweeps)", title=NAMES[policy])
        legend(ax, place="upper right")

    def tables(self, rows: Rows) -> list[TableBlock]:
        """Return the numbers of sweeps until the norm stays below each level, and the last norms."""
        lines = []
        for policy in POLICIES:
            norms = _norms(rows, policy)
            line = [NAMES[policy], str(len(norms))]
            for level in self.levels:
                first = np.sort(below_from(norms, level))
                picked = [first[max(int(np.ceil(q * len(first))) - 1, 0)] for q in QUANTILES]
                line.append(" / ".join(f"{at:.0f}" if np.isfinite(at) else f"> {self.sweeps}" for at in picked))
            last = np.sort(norms[:, -1])
            lines.append([*line, f"{np.median(last):.1e}", f"{last[-1]:.1e}"])
        header = ["policy", "runs", *(f"sweeps until < {level:g} for good (5 / 50 / 95 %)" for level in self.levels)]
        header += ["median norm at the end", "largest norm at the end"]
        caption = f"Runs of {self.sweeps} sweeps; 'for good' means up to the last sweep."
        return [TableBlock(header, lines, caption)]


def _norms(rows: Rows, policy: str) -> Array:
    mine = rows.where(policy=policy)
    in_order = np.lexsort((mine["sweep"], mine["run"]))
    return mine["norm"][in_order].reshape(len(mine.distinct("run")), -1)


def below_from(norms: Array, level: float) -> Array:
    """Return the sweep after which each run stays below a level; inf if its last norm is not below.

    Examples
    --------
    >>> below_from(np.array([[5.0, 0.1, 2.0, 0.1], [0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 5.0]]), 1.0)
    array([ 3.,  0., inf])
    """
    above = norms >= level
    last = np.where(above.any(axis=1), norms.shape[1] - np.argmax(above[:, ::-1], axis=1), 0)
    return np.where(last == norms.shape[1], np.inf, last.astype(np.float64))
