"""Whether L rises in the mean: at single states by Monte Carlo, and over whole runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from matplotlib.ticker import FuncFormatter

from modeseek.meanshift import theory
from modeseek.meanshift.objective import objective
from modeseek.paper.experiment import Experiment, Job, seed_for
from modeseek.paper.intervals import half_width, mean_interval
from modeseek.paper.paper_chains import POLICIES, paper_chain, paper_policy, states_at
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import COLORS, NAMES, legend, new_figure, style_panel
from modeseek.plots.colors import TEXT_COLOR
from modeseek.report import TableBlock

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SubmartingaleMeans"]

# below this share of the largest L a mean is rounding
ROUNDING = 1e-14


@dataclass(frozen=True)
class SubmartingaleMeans(Experiment):
    """E[L_{h_{k+1}}(X^(k+1)) | X^(k), h_k] - L_{h_k}(X^(k)) along runs, and the mean of L over runs.

    Attributes
    ----------
    n_per_cluster : int
        Points of each of the mixture's three components.
    states : tuple of float
        After how many updates per point next updates are drawn from the state.
    curve : tuple of float
        After how many updates per point L is kept; the first update and the start come in addition.
    next_updates : int
        How many next updates are drawn from a state.
    shown : int
        Runs whose states are drawn.
    """

    n_per_cluster: int = 20
    states: tuple[float, ...] = (0, 0.25, 0.5, 1, 2, 4, 8, 16)
    curve: tuple[float, ...] = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11, 16, 22, 32)
    next_updates: int = 1000
    shown: int = 12

    name: ClassVar[str] = "submartingale"
    title: ClassVar[str] = "Does L rise in the mean?"
    text: ClassVar[str] = """\
The paper proves for the walk of Algorithm 1b that L_{h_k}(X^(k)) is a submartingale: from any state X^(k) and
bandwidth h_k, the mean of L_{h_{k+1}}(X^(k+1)) over the next bandwidth and the next chosen point is at least
L_{h_k}(X^(k)). A single step may well lower L, for a smaller bandwidth counts fewer pairs. There is no such statement
for shrinking, whose next bandwidth does not depend on the one before.

We check the mean at states along runs on the paper's mixture: from each, many next updates are drawn and L is
compared with its value now. Bars are 90 % Student intervals, of which one in twenty may lie below a true mean of 0 by
chance. The table adds a margin that supposes nothing about the law of the differences (an empirical Bernstein bound,
wrong with probability at most 10^-6 at a state): a state refutes the statement if its mean is below 0 by more than
that. And we average L_{h_k}(X^(k)) over runs. All values are over the largest that L can take, n(n+1)/2 k(0)."""
    columns: ClassVar[tuple[str, ...]] = (
        "kind", "policy", "run", "k", "h", "L", "mean", "std", "margin", "next_updates",
    )  # fmt: skip
    captions: ClassVar[dict[str, str]] = {
        "submartingale-states": (
            "Mean change of L by one more update, at states along some of the runs, with 90 % intervals; the runs "
            "of a group stand side by side, in the same order in every group. The vertical axis is linear near 0 "
            "and logarithmic beyond. Bars wholly below 0 would speak against the paper's statement, which is about "
            "the walk only."
        ),
        "submartingale-means": (
            "Mean of L over all runs against the number of updates, with 90 % intervals over runs. The paper's "
            "statement implies that the mean under the walk never falls."
        ),
    }

    def quick(self) -> Self:
        """Return a config with fewer points, states and next updates."""
        return replace(self, n_per_cluster=10, states=(0, 0.5, 1, 4), next_updates=300)

    @property
    def n(self) -> int:
        """Number of points."""
        return 3 * self.n_per_cluster

    def jobs(self, runs: int) -> list[Job]:
        """Return a run for each policy."""
        cost = len(self.states) * self.next_updates * (0.02 + 7e-6 * self.n**2)
        return [Job({"policy": policy}, run, cost) for policy in POLICIES for run in range(runs)]

    def work(self, job: Job, seed: int) -> list[Row]:
        """Return a row for each point of the curve, and one for each state that next updates are drawn from."""
        name = str(job.cell["policy"])
        policy = paper_policy(name, self.settings)
        given = paper_chain(self.n_per_cluster, policy, seed, job.run).problem
        largest = self.n * (self.n + 1) / 2 * float(given.profile.k(np.zeros(1))[0])
        drawn, kept = ({round(at * self.n) for at in times} for times in (self.states, (0, 1 / self.n, *self.curve)))
        rows: list[Row] = []
        blank: Row = {**dict.fromkeys(self.columns), "policy": name, "run": job.run}
        for state in states_at(given, policy, seed_for(seed, job.run, 1), sorted(drawn | kept)):
            here: Row = {"k": state.k, "h": state.h, "L": objective(state.points, state.h) / largest}
            if state.k in kept:
                rows.append({**blank, "kind": "curve", **here})
            if state.k in drawn:
                found = theory.submartingale(
                    state.points,
                    policy,
                    h=state.h,
                    k=state.k,
                    n_draws=self.next_updates,
                    seed=seed_for(seed, job.run, 2),
                )
                measured = {name: getattr(found, name) / largest for name in ("mean", "std", "margin")}
                rows.append({**blank, "kind": "state", **here, **measured, "next_updates": self.next_updates})
        return rows

    def draw(self, rows: Rows) -> dict[str, Figure]:
        """Return the means at states, and the means over runs."""
        states = new_figure(11, 4.4)
        for ax, policy in zip(axes := states.subplots(1, len(POLICIES), sharey=True), POLICIES, strict=True):
            self._bars(ax, rows.where(kind="state", policy=policy), policy)
        axes[0].set_ylabel("mean change of L / largest", color=TEXT_COLOR)
        means = new_figure(8, 4.4)
        self._means(means.subplots(), rows.where(kind="curve"))
        return {"submartingale-states": states, "submartingale-means": means}

    def _bars(self, ax: Axes, states: Rows, policy: str) -> None:
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
        ax.set_title(
            f"{below} of {len(states)} bars below 0 (all runs)", loc="right", fontsize="small", color=TEXT_COLOR
        )

    def _means(self, ax: Axes, curve: Rows) -> None:
        for policy in POLICIES:
            mine = curve.where(policy=policy)
            ks = mine.distinct("k")
            values = np.column_stack([mine.where(k=k)["L"] for k in ks])
            mean = mean_interval(values)
            x = np.array(ks, dtype=np.float64)
            ax.plot(
                x, mean.center, color=COLORS[policy], marker="o", markersize=3.5, linewidth=1.6, label=NAMES[policy]
            )
            if len(values) > 1:
                ax.fill_between(x, mean.low, mean.high, color=COLORS[policy], alpha=0.18, linewidth=0)
        ax.set_xscale("symlog", linthresh=1, linscale=0.3)
        ax.set_xlim(left=0)
        ax.set_ylim(0, 1)
        style_panel(ax, x=f"updates k (n = {self.n})", y="L / largest", title=f"mean of L over {len(values)} runs")
        legend(ax, place="upper left")

    def tables(self, rows: Rows) -> list[TableBlock]:
        """Return what the states say, by policy and update."""
        lines = []
        for policy in POLICIES:
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
            f"Mean change of L by one more update, over the largest L; {self.next_updates:,} next updates from each "
            "state. Half intervals and margins are medians over states. "
            "Refuted and confirmed go by the rigorous margin."
        )
        return [TableBlock(header, lines, caption), self._falls(rows)]

    def _falls(self, rows: Rows) -> TableBlock:
        lines = []
        for policy in POLICIES:
            mine = rows.where(kind="curve", policy=policy)
            ks = mine.distinct("k")
            change = mean_interval(np.diff(np.column_stack([mine.where(k=k)["L"] for k in ks]), axis=1))
            worst = int(np.argmin(change.center))
            counts = [str(int(which.sum())) for which in (change.center < 0, change.high < -ROUNDING)]
            at = f"{change.center[worst]:+.4f}, from k = {ks[worst]:,} to {ks[worst + 1]:,}"
            lines.append([NAMES[policy], str(len(ks) - 1), *counts, at])
        header = ["policy", "steps of the curve", "mean falls", "interval < 0", "smallest mean change"]
        caption = (
            "Steps from one point of the curve to the next, each run compared with itself; 90 % intervals over runs."
        )
        return TableBlock(header, lines, caption)
