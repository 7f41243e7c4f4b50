"""Checks of Proposition 1, Theorem 1, Corollary 1 and Lemma 1 at single updates and states."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from matplotlib.figure import Figure

from modeseek.datasets import paper_mixture
from modeseek.meanshift.chains import Stopping, partition, run
from modeseek.meanshift.theory import gradient_paths, lemma1, proposition1, theorem1
from modeseek.paper.experiment import Experiment, Job, seed_for
from modeseek.paper.paper_chains import PANEL_POLICIES, paper_chain, paper_policy, policy_jobs, states_at
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import COLORS, NAMES, legend, policy_panels, style_panel
from modeseek.plots.colors import TEXT_COLOR
from modeseek.report import TableBlock


@dataclass(frozen=True)
class Updates(Experiment):
    """Both sides of the inequalities about single updates, and of Lemma 1.

    Attributes
    ----------
    n_per_cluster : int
        Number of points in each of the mixture's three components.
    states : tuple of float
        Numbers of updates per point after which every point's next update is checked.
    h_ratios : tuple of float
        Theorem 1 is checked at these multiples of the gap of the final state.
    n_lemma : int
        Number of points of the state from which Lemma 1's runs start: all but one coincide.
    distance : float
        Distance of the last of these points from the others.
    lemma_range : tuple of float
        h_min, h_max and h_inf of these runs. The range is narrow: the gradients of the coinciding points are then
        always shorter than `epsilon`, and the gradient of the last point is longer until this point moves.
    epsilon : float
        Lemma 1's epsilon.
    lemma_runs, lemma_updates : int
        Number and length of the runs, for each job.
    path_updates : int
        Number of updates that the figure of Corollary 1 shows.
    after : int
        Number of sweeps for which these runs continue after their certificate.
    """

    n_per_cluster: int = 10
    states: tuple[float, ...] = (0, 0.5, 1, 2, 4, 8)
    h_ratios: tuple[float, ...] = (0.5, 0.99, 1.01, 2.0)
    n_lemma: int = 12
    distance: float = 0.1
    lemma_range: tuple[float, float, float] = (1.0, 1.2, 1.1)
    epsilon: float = 1.0
    lemma_runs: int = 200
    lemma_updates: int = 24
    path_updates: int = 1500
    after: int = 40

    name: ClassVar[str] = "updates"
    small: ClassVar = {
        "n_per_cluster": 5,
        "states": (0, 1, 4),
        "lemma_runs": 100,
        "path_updates": 300,
    }
    also_shown: ClassVar[tuple[str, ...]] = ("updates-gradients",)
    columns: ClassVar[tuple[str, ...]] = (
        "kind", "spread", "policy", "run", "k", "gain", "bound", "corollary", "critical", "separated",
        "selected", "largest", "p", "count", "runs",
    )  # fmt: skip

    def jobs(self, runs: int) -> list[Job]:
        """Return a job for each spread, policy and run."""
        return policy_jobs(runs, 60.0)

    def work(self, job: Job, seed: int) -> list[Row]:
        """Return rows of four kinds: updates, states, paths of gradients, and counts of Lemma 1's event."""
        rows = [*self._updates(job, seed), *self._states(job, seed)]
        if job.cell["spread"] == "std":  # Lemma 1's runs do not start from the mixture
            rows += self._lemma(job, seed)
        return rows

    def _updates(self, job: Job, seed: int) -> list[Row]:
        policy = paper_policy(job.cell["policy"], self.settings)
        chain = paper_chain(self.n_per_cluster, self.settings, seed, job)
        n, rows = len(chain.problem.points), []
        for state in states_at(chain, [round(each * n) for each in self.states]):
            h = float(policy.draw(np.array([0.5]), state.h, state.k)[0])
            checks = [proposition1(state.points, i, h) for i in range(n)]
            moved = [each for each in checks if each.least_increase > 1e6 * each.rounding]
            row: Row = {"kind": "update", "k": state.k, "count": sum(not each.holds for each in checks), "runs": n}
            if moved:
                row["gain"] = float(min(each.increase / each.least_increase for each in moved))
                row["bound"] = float(max(each.gradient / each.largest_gradient for each in moved))
                row["corollary"] = float(max(each.gradient / np.sqrt(each.corollary1) for each in moved))
            rows.append(row)
        return rows

    def _states(self, job: Job, seed: int) -> list[Row]:
        chain = paper_chain(self.n_per_cluster, self.settings, seed, job)
        tau = self.settings.h_min / 4
        ended = run(chain, Stopping(tau))
        found = partition(chain, ended, tau)
        rows = self._paths(job, seed, ended.sweeps)
        # two states: coincident points in place of the clusters, which are critical for h below the gap, and the data
        gap = found.gap if np.isfinite(found.gap) else self.settings.h_max
        for state in (found.centers[found.labels].astype(np.float64), chain.problem.points):
            for ratio in self.h_ratios:
                both = theorem1(state, ratio * gap)
                rows.append({"kind": "state", "critical": int(both.critical), "separated": int(both.separated)})
        return rows

    def _paths(self, job: Job, seed: int, certificate: int) -> list[Row]:
        policy, n = paper_policy(job.cell["policy"], self.settings), 3 * self.n_per_cluster
        data = paper_mixture(self.n_per_cluster, spread=job.cell["spread"], random_state=seed_for(seed, job.run, 0))[0]
        length = max(self.path_updates, (certificate + self.after) * n)
        paths = gradient_paths(data, policy, n_runs=1, n_updates=length, seed=seed_for(seed, job.run, 1))
        selected, largest = paths.selected[0].tolist(), paths.largest[0].tolist()
        shown = np.unique(np.round(np.geomspace(1, self.path_updates, 40)).astype(int)) - 1
        rows: list[Row] = [{"kind": "path", "k": int(k), "selected": selected[k], "largest": largest[k]} for k in shown]
        # "last" holds the longest blocks of the last sweep, because a single block can be small by chance
        return [*rows, {"kind": "last", "k": length - 1, "selected": max(selected[-n:]), "largest": max(largest[-n:])}]

    def _lemma(self, job: Job, seed: int) -> list[Row]:
        h_min, h_max, h_inf = self.lemma_range
        policy = paper_policy(job.cell["policy"], replace(self.settings, h_min=h_min, h_max=h_max, h_inf=h_inf))
        clump = np.append(np.zeros(self.n_lemma - 1), self.distance)[:, None]
        paths = gradient_paths(
            clump, policy, n_runs=self.lemma_runs, n_updates=self.lemma_updates, seed=seed_for(seed, job.run, 2)
        )
        found = lemma1(paths, 1 / self.n_lemma, epsilon=self.epsilon)
        counts = np.round(found.share * self.lemma_runs).astype(int)
        return [{"kind": "lemma", "p": p, "count": int(c), "runs": self.lemma_runs} for p, c in enumerate(counts)]

    def lemma(self, rows: Rows, policy: str) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the counts of Lemma 1's event over all jobs, its bounds (1 - 1/n)^p, and the number of runs."""
        mine = rows.where(kind="lemma", policy=policy)
        p = mine.sorted("p")
        counts = np.array([mine.where(p=each)["count"].sum() for each in p])
        return counts, (1 - 1 / self.n_lemma) ** np.array(p), int(mine.where(p=0)["runs"].sum())

    def draw(self, rows: Rows) -> dict[str, Figure]:
        """Return two figures: Lemma 1 and Corollary 1."""
        lemma, lemma_panels = policy_panels(10.5, 4.0)
        paths, path_panels = policy_panels(10.5, 4.4)
        for policy, ax in lemma_panels.items():
            counts, bound, total = self.lemma(rows, policy)
            ax.plot(bound, color=TEXT_COLOR, linewidth=1.6, label="bound (1 - 1/n)^p")
            ax.plot(np.maximum(counts / total, 0.5 / total), "o", color=COLORS[policy], label=f"{total:,} runs")
            ax.set_yscale("log")
            style_panel(ax, x="p", y="probability", title=NAMES[policy])
            legend(ax, place="upper right")
        for policy, ax in path_panels.items():
            mine = rows.where(kind="path", policy=policy)
            k = mine.distinct("k")
            for name, color in (("largest", TEXT_COLOR), ("selected", COLORS[policy])):
                values = np.array([np.quantile(mine.where(k=at)[name], [0.5, 0.95, 1.0]) for at in k])
                label = "longest block" if name == "largest" else "block of the point that moves"
                for quantile, dash in zip(np.maximum(values, 1e-16).T, ("-", "--", ":"), strict=True):
                    shown = label if dash == "-" else None
                    ax.plot(np.array(k) + 1, quantile, color=color, linestyle=dash, linewidth=1.6, label=shown)
            ax.set(xscale="log", yscale="log")
            style_panel(ax, x="update k + 1", y="length of the gradient at h_{k+1}", title=NAMES[policy])
            legend(ax, place="lower left")
        return {"updates-lemma": lemma, "updates-gradients": paths}

    def tables(self, rows: Rows) -> list[TableBlock]:
        """Return a table of the extreme ratios of Proposition 1 and Corollary 1, and of the counts of Theorem 1."""
        body = []
        for policy in PANEL_POLICIES:
            mine, states = rows.where(kind="update", policy=policy), rows.where(kind="state", policy=policy)
            ratios = [np.nanmin(mine["gain"]), np.nanmax(mine["bound"]), np.nanmax(mine["corollary"])]
            agree = int((states["critical"] == states["separated"]).sum())
            numbers = [f"{mine['runs'].sum():,.0f}", *(f"{each:.3f}" for each in ratios)]
            body.append([NAMES[policy], *numbers, f"{mine['count'].sum():.0f}", f"{agree:,} of {len(states):,}"])
        header = ["policy", "updates", "smallest increase / lower bound", "largest gradient / upper bound"]
        header += ["largest gradient / bound of Corollary 1", "violations", "states at which Theorem 1 holds"]
        caption = "Proposition 1 says that the first ratio is at least 1 and the others at most 1."
        return [TableBlock(header, body, caption)]
