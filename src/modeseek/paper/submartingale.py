"""Whether the objective L increases in the mean: at single states by Monte Carlo, and over whole runs."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from modeseek._common.types import Array
from modeseek.meanshift import theory
from modeseek.meanshift.objective import objective
from modeseek.paper.experiment import BySpread, Job, seed_for
from modeseek.paper.intervals import half_width, mean_interval
from modeseek.paper.paper_chains import PANEL_POLICIES, paper_chain, paper_policy, policy_jobs, states_at
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import COLORS, NAMES, legend, new_figure, policy_panels, style_panel, title_right
from modeseek.plots.colors import TEXT_COLOR
from modeseek.report import TableBlock

# means below this share of the upper bound of L are rounding errors
ROUNDING = 1e-14


@dataclass(frozen=True)
class SubmartingaleMeans(BySpread):
    """Mean change E[L_{h_{k+1}}(X^(k+1)) | X^(k), h_k] - L_{h_k}(X^(k)) at states along runs, and mean of L over runs.

    Attributes
    ----------
    n_per_cluster : int
        Number of points in each of the mixture's three components.
    states : tuple of float
        Numbers of updates per point. From the state after these updates, many possible next updates are drawn.
    curve : tuple of float
        Numbers of updates per point after which L is recorded, in addition to the start and the first update.
    next_updates : int
        Number of next updates drawn from a state.
    shown : int
        Number of runs in the figure of states.
    """

    n_per_cluster: int = 20
    states: tuple[float, ...] = (0, 0.25, 0.5, 1, 2, 4, 8, 16)
    curve: tuple[float, ...] = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11, 16, 22, 32)
    next_updates: int = 1000
    shown: int = 12

    name: ClassVar[str] = "submartingale"
    small: ClassVar = {"n_per_cluster": 10, "states": (0, 0.5, 1, 4), "next_updates": 300}
    columns: ClassVar[tuple[str, ...]] = (
        "kind", "spread", "policy", "run", "k", "h", "L", "mean", "std", "margin", "next_updates",
    )  # fmt: skip

    @property
    def n(self) -> int:
        """Number of points."""
        return 3 * self.n_per_cluster

    def jobs(self, runs: int) -> list[Job]:
        """Return a job for each policy and run."""
        return policy_jobs(runs, len(self.states) * self.next_updates * (0.02 + 7e-6 * self.n**2))

    def work(self, job: Job, seed: int) -> list[Row]:
        """Return a row for each point of the curve, and one for each state from which next updates are drawn."""
        policy = paper_policy(job.cell["policy"], self.settings)
        chain = paper_chain(self.n_per_cluster, self.settings, seed, job)
        largest = self.n * (self.n + 1) / 2 * float(chain.problem.profile.k(np.zeros(1))[0])
        drawn, kept = ({round(at * self.n) for at in times} for times in (self.states, (0, 1 / self.n, *self.curve)))
        rows: list[Row] = []
        for state in states_at(chain, sorted(drawn | kept)):
            here: Row = {"k": state.k, "h": state.h, "L": objective(state.points, state.h) / largest}
            if state.k in kept:
                rows.append({"kind": "curve", **here})
            if state.k in drawn:
                draws, chance = self.next_updates, seed_for(seed, job.run, 2)
                found = theory.submartingale(state.points, policy, h=state.h, k=state.k, n_draws=draws, seed=chance)
                scaled = {"mean": found.mean / largest, "std": found.std / largest, "margin": found.margin / largest}
                rows.append({"kind": "state", **here, **scaled, "next_updates": draws})
        return rows

    def draw_spread(self, rows: Rows) -> dict[str, Figure]:
        """Return two figures: the mean change of L by the update after some states, and the mean of L over k."""
        states, panels = policy_panels(11, 4.4)
        for policy, ax in panels.items():
            self._draw_states(ax, rows.where(kind="state", policy=policy), policy)
        panels["walk"].set_ylabel("mean change of L / largest", color=TEXT_COLOR)
        means = new_figure(8, 4.4)
        self._draw_means(means.subplots(), rows)
        return {"submartingale-states": states, "submartingale-means": means}

    def _draw_states(self, ax: Axes, states: Rows, policy: str) -> None:
        ticks = [round(at * self.n) for at in self.states]
        runs = states.distinct("run")[: self.shown]
        for group, k in enumerate(ticks):
            at = states.where(k=k)
            mean, half = at["mean"][: len(runs)], half_width(at["std"], self.next_updates)[: len(runs)]
            places = group + (np.arange(len(runs)) - (len(runs) - 1) / 2) * 0.8 / max(len(runs), 1)
            ax.errorbar(places, mean, half, color=COLORS[policy], fmt="o", markersize=2.6, elinewidth=1.1)
        ax.axhline(0, color=TEXT_COLOR, linewidth=1)
        ax.set_yscale("symlog", linthresh=1e-3, linscale=0.8)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.set_xticks(range(len(ticks)), [f"{k:,}" for k in ticks])
        below = int((states["mean"] + half_width(states["std"], self.next_updates) < -ROUNDING).sum())
        style_panel(ax, x=f"updates k before (n = {self.n})", title=NAMES[policy])
        ax.grid(visible=False, axis="x")
        title_right(ax, f"{below} of {len(states)} bars below 0 (all runs)")

    def _draw_means(self, ax: Axes, rows: Rows) -> None:
        for policy in PANEL_POLICIES:
            k, values = _curve(rows, policy)
            mean, color = mean_interval(values), COLORS[policy]
            ax.plot(k, mean.center, color=color, marker="o", markersize=3.5, linewidth=1.6, label=NAMES[policy])
            if len(values) > 1:
                ax.fill_between(k, mean.low, mean.high, color=color, alpha=0.18, linewidth=0)
        ax.set_xscale("symlog", linthresh=1, linscale=0.3)
        ax.set_xlim(left=0)
        ax.set_ylim(0, 1)
        style_panel(ax, x=f"updates k (n = {self.n})", y="L / largest", title=f"mean of L over {len(values)} runs")
        legend(ax, place="upper left")

    def spread_tables(self, rows: Rows) -> list[TableBlock]:
        """Return two tables by policy: the mean changes of L at states, and those along the curve."""
        lines = []
        for policy in PANEL_POLICIES:
            for k in rows.where(kind="state", policy=policy).distinct("k"):
                at = rows.where(kind="state", policy=policy, k=k)
                mean, margin = at["mean"], at["margin"]
                half = half_width(at["std"], self.next_updates)
                counts = [mean + half < -ROUNDING, mean - half > ROUNDING, mean + margin < 0, mean - margin >= 0]
                numbers = [f"{mean.mean():.2e}", f"{np.median(half):.1e}", f"{np.median(margin):.1e}"]
                lines.append([NAMES[policy], f"{k:,}", str(len(at)), *numbers, *(str(int(c.sum())) for c in counts)])
        header = ["policy", "k", "states", "mean change", "half interval (90 %)", "rigorous margin"]
        header += ["interval < 0", "interval > 0", "refuted", "confirmed"]
        caption = (
            f"Mean change of L after one more update, divided by the upper bound of L; {self.next_updates:,} next "
            "updates from each state. Half intervals and margins are medians over states. "
            "Refuted and confirmed: by the rigorous margin."
        )
        return [TableBlock(header, lines, caption), _decreases(rows)]


def _curve(rows: Rows, policy: str) -> tuple[Array, Array]:
    """Return the numbers of updates of the curve, and L at each of them (columns) in each run (rows)."""
    mine = rows.where(kind="curve", policy=policy)
    k = mine.distinct("k")
    return np.array(k, dtype=np.float64), np.column_stack([mine.where(k=each)["L"] for each in k])


def _decreases(rows: Rows) -> TableBlock:
    lines = []
    for policy in PANEL_POLICIES:
        k, values = _curve(rows, policy)
        change = mean_interval(np.diff(values, axis=1))
        worst = int(np.argmin(change.center))
        counts = [str(int(which.sum())) for which in (change.center < 0, change.high < -ROUNDING)]
        at = f"{change.center[worst]:+.4f}, from k = {k[worst]:,.0f} to {k[worst + 1]:,.0f}"
        lines.append([NAMES[policy], str(len(k) - 1), *counts, at])
    header = ["policy", "steps of the curve", "mean falls", "interval < 0", "smallest mean change"]
    caption = "Changes between neighbouring points of the curve, paired by run; 90 % intervals over runs."
    return TableBlock(header, lines, caption)
