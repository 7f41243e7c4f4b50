"""Norm of the gradient of L along runs, which converges to 0. Runs continue for some sweeps after their certificate."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from modeseek._common.types import Array
from modeseek.meanshift.chains import Stopping, run
from modeseek.meanshift.theory import gradient_norms
from modeseek.paper.experiment import BySpread, Job
from modeseek.paper.paper_chains import PANEL_POLICIES, paper_chain, policy_jobs
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import COLORS, NAMES, dashed_line, legend, policy_panels, style_panel
from modeseek.plots.colors import TEXT_COLOR
from modeseek.report import TableBlock

QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class GradientNorm(BySpread):
    """Max norm of the gradient of L_{h_{k+1}} at X^(k) after each sweep.

    Attributes
    ----------
    n_per_cluster : int
        Number of points in each of the mixture's three components.
    sweeps : int
        Minimum number of sweeps of a run.
    tau : float
        Points closer than this distance are linked; linked points form a cluster.
    after : int
        Number of sweeps for which a run continues after its certificate.
    levels : tuple of float
        Levels for which the table gives the number of sweeps until the norm stays below them.
    floor : float
        Smaller norms, which are rounding errors or 0, are drawn at this value.
    """

    n_per_cluster: int = 20
    sweeps: int = 60
    tau: float = 0.05
    after: int = 40
    levels: tuple[float, ...] = (1e-3, 1e-6)
    floor: float = 1e-16

    name: ClassVar[str] = "gradient"
    small: ClassVar = {"n_per_cluster": 10, "sweeps": 20}
    columns: ClassVar[tuple[str, ...]] = ("spread", "policy", "run", "sweep", "norm", "certificate")

    def jobs(self, runs: int) -> list[Job]:
        """Return a job for each policy and run."""
        return policy_jobs(runs, self.sweeps * self.n_per_cluster * 0.065)

    def work(self, job: Job, seed: int) -> list[Row]:
        """Return the norm after each sweep, including the start, until some sweeps after the certificate."""
        chain = paper_chain(self.n_per_cluster, self.settings, seed, job)
        certificate = run(chain, Stopping(self.tau)).sweeps
        norms = gradient_norms(chain, sweeps=max(self.sweeps, certificate + self.after))
        return [{"sweep": sweep, "norm": float(norm), "certificate": certificate} for sweep, norm in enumerate(norms)]

    def draw_spread(self, rows: Rows) -> dict[str, Figure]:
        """Return the figure of the norms of all runs."""
        figure, panels = policy_panels(10.5, 4.4)
        for policy, ax in panels.items():
            self._draw_norms(ax, _norms(rows, policy), policy)
        panels["walk"].set_ylabel("max norm of the gradient at h_{k+1}", color=TEXT_COLOR)
        return {"gradient-norms": figure}

    def _draw_norms(self, ax: Axes, norms: Array, policy: str) -> None:
        shown = np.maximum(norms, self.floor)  # NaN after the end of a run
        ax.plot(shown.T, color=COLORS[policy], linewidth=0.6, alpha=0.3)
        ax.plot(
            np.median(shown[:, : self.sweeps + 1], axis=0),
            color=TEXT_COLOR,
            linewidth=2.2,
            label=f"median of {len(norms)} runs",
        )
        for level in self.levels:
            dashed_line(ax, level)
        ax.set_yscale("log")
        style_panel(ax, x="updates per point (sweeps)", title=NAMES[policy])
        legend(ax, place="upper right")

    def spread_tables(self, rows: Rows) -> list[TableBlock]:
        """Return the numbers of sweeps until the norm stays below each level, and the last norms."""
        lines = []
        for policy in PANEL_POLICIES:
            norms = _norms(rows, policy)
            line = [NAMES[policy], str(len(norms))]
            for level in self.levels:
                first = np.sort(below_from(norms, level))
                picked = [first[max(int(np.ceil(q * len(first))) - 1, 0)] for q in QUANTILES]
                line.append(" / ".join(f"{at:.0f}" if np.isfinite(at) else "never" for at in picked))
            last = last_norms(rows.where(policy=policy))
            lines.append([*line, f"{np.median(last):.1e}", f"{last.max():.1e}"])
        header = ["policy", "runs", *(f"sweeps until < {level:g} for good (5 / 50 / 95 %)" for level in self.levels)]
        header += ["median norm at the end", "largest norm at the end"]
        caption = (
            f"Runs of at least {self.sweeps} sweeps, and of {self.after} sweeps after the certificate. 'For good' is "
            "up to the last sweep."
        )
        return [TableBlock(header, lines, caption)]


def _norms(rows: Rows, policy: str) -> Array:
    """Return the norms of each run (rows) after each sweep (columns); NaN after the end of a run."""
    mine = rows.where(policy=policy)
    runs = mine.distinct("run")
    norms = np.full((len(runs), int(mine["sweep"].max()) + 1), np.nan)
    norms[[runs.index(run) for run in mine["run"]], mine["sweep"].astype(int)] = mine["norm"]
    return norms


def last_norms(rows: Rows) -> Array:
    """Return the norm after the last sweep of each run."""
    runs = [rows.where(run=run, policy=policy) for policy in rows.distinct("policy") for run in rows.distinct("run")]
    return np.array([mine["norm"][np.argmax(mine["sweep"])] for mine in runs])


def below_from(norms: Array, level: float) -> Array:
    """Return the sweep after which each run stays below a level; inf if its last norm is not below.

    Examples
    --------
    >>> below_from(np.array([[5.0, 0.1, 2.0, 0.1], [0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 5.0]]), 1.0)
    array([ 3.,  0., inf])
    """
    above = norms >= level
    last = np.where(above.any(axis=1), norms.shape[1] - np.argmax(above[:, ::-1], axis=1), 0)
    return np.where(last == np.isfinite(norms).sum(axis=1), np.inf, last.astype(np.float64))
