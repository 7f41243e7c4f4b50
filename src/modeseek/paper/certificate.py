"""When runs are certified, when the paper's rule would have stopped them, and when Theorem 2's conditions hold.

A certificate proves that no later update can change the clusters. The paper's rule stops a run when all last shifts are
small.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import ClassVar, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.metrics import adjusted_rand_score

from modeseek._common.types import Array, IntArray
from modeseek.meanshift.certificate import meets_theorem2
from modeseek.meanshift.chains import RULES, Chain, Outcome, Stopping
from modeseek.meanshift.components import components, diameter_of, gap_of
from modeseek.meanshift.partition import rank_by_weight
from modeseek.meanshift.types import ChainState
from modeseek.paper.experiment import BySpread, Job, grid_jobs
from modeseek.paper.intervals import wilson
from modeseek.paper.paper_chains import PANEL_POLICIES, paper_chain
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import COLORS, NAMES, legend, new_figure, plain_numbers, policy_panels, style_panel
from modeseek.plots.colors import TEXT_COLOR
from modeseek.report import TableBlock

TIMES = {"shifts": "paper's rule", "certificate": "certificate", "final": "partition final (hindsight)"}
BAND_PERCENTILES = (5, 25, 50, 75, 95)
# stopping rule -> the sweep at which it ended the run, and the outcome
Ends: TypeAlias = dict[str, tuple[int, Outcome]]
TICKS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 300, 500, 1000)


@dataclass(frozen=True)
class CertificateTimes(BySpread):
    """Number of sweeps until the certificate, and until the paper's rule stops, in the same runs.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of points in each of the mixture's three components.
    tau : float
        Points closer than this distance are linked; linked points form a cluster.
    most_sweeps : int
        Maximum number of sweeps.
    """

    sizes: tuple[int, ...] = (10, 50, 200, 500)
    tau: float = 0.05
    most_sweeps: int = 2000

    name: ClassVar[str] = "certificate"
    small: ClassVar = {"sizes": (10, 30)}
    columns: ClassVar[tuple[str, ...]] = (
        "spread", "policy", "n", "run", "certificate", "certificate_outcome", "shifts", "shifts_outcome", "final",
        "clusters", "shifts_clusters", "ari", "theorem2", "theorem2_changed",
    )  # fmt: skip

    def jobs(self, runs: int) -> list[Job]:
        """Return a job for each policy, size and run."""
        n = [3 * size for size in self.sizes]
        return grid_jobs(runs, lambda cell: 28 + 0.09 * cell["n"], spread=self.spreads, policy=PANEL_POLICIES, n=n)

    def work(self, job: Job, seed: int) -> list[Row]:
        """Run one chain until both rules have stopped, and return the result of each rule."""
        chain = paper_chain(job.cell["n"] // 3, self.settings, seed, job)
        limits = Stopping(self.tau, self.settings.threshold, max_sweeps=self.most_sweeps)
        ends: Ends = {}
        partitions: list[IntArray] = []
        held: list[int] = []
        for sweep, state in enumerate(states_until(chain, limits, ends)):
            if "certificate" not in ends:  # after the certificate, the partition cannot change
                labels = components(state.points, self.tau)
                partitions.append(rank_by_weight(labels, chain.problem.weights).labels)
                diameter, h_min = diameter_of(state.points, labels), self.settings.h_min
                # the gap takes longer to compute than the diameter
                if diameter < self.tau and meets_theorem2(diameter, gap_of(state.points, labels), self.tau, h_min):
                    held.append(sweep)
        (certificate, certificate_outcome), (shifts, shifts_outcome) = ends["certificate"], ends["shifts"]
        last, at_shifts = partitions[-1], partitions[min(shifts, len(partitions) - 1)]
        differs = [(labels != last).any() for labels in partitions]
        held = [sweep for sweep in held if sweep < certificate]
        row: Row = {
            "certificate": certificate,
            "certificate_outcome": certificate_outcome.name,
            "shifts": shifts,
            "shifts_outcome": shifts_outcome.name,
            "final": final_from(partitions),
            "clusters": int(last.max() + 1),
            "shifts_clusters": int(at_shifts.max() + 1),
            "ari": float(adjusted_rand_score(last, at_shifts)),
            "theorem2": held[0] if held else None,
            "theorem2_changed": int(any(differs[sweep] for sweep in held)),
        }
        return [row]

    def draw_spread(self, rows: Rows) -> dict[str, Figure]:
        """Return two figures: the times, and the shares of runs that would have been stopped too early."""
        return {"certificate-times": _draw_times(rows), "certificate-differences": _draw_differences(rows)}

    def spread_tables(self, rows: Rows) -> list[TableBlock]:
        """Return two tables by policy and size: times, and how often a rule or conditions held too early."""
        times, counts = [], []
        for policy in PANEL_POLICIES:
            for n in rows.where(policy=policy).distinct("n"):
                mine = rows.where(policy=policy, n=n)
                start = [NAMES[policy], f"{n:,}", str(len(mine))]
                certified = len(mine.where(certificate_outcome=Outcome.CERTIFIED.name))
                small = len(mine.where(shifts_outcome=Outcome.SMALL_SHIFTS.name))
                ends = [_spread(mine[name]) for name in ("final", "certificate", "shifts")]
                times.append([*start, *ends, str(certified), str(small)])
                early, other = mine["shifts"] < mine["certificate"], mine["ari"] < 1
                held, changed = np.isfinite(mine["theorem2"]), mine["theorem2_changed"] > 0
                numbers = [str(int(which.sum())) for which in (early, other, held, changed)]
                counts.append([*start, *numbers[:2], f"{mine['ari'].min():.7g}", *numbers[2:]])
        start = ["policy", "n", "runs"]
        header = [f"{name} (5 / 50 / 95 %)" for name in ("final from sweep", "certificate", "paper's rule")]
        header = [*start, *header, "ended by certificate", "ended by small shifts"]
        first = TableBlock(header, times, f"Sweeps, at most {self.most_sweeps:,}; one sweep is n updates.")
        header = [*start, "paper's rule came first", "it stopped at other clusters", "smallest ARI"]
        header += ["Theorem 2's conditions held before the certificate", "and the partition changed afterwards"]
        caption = "How often the paper's rule and Theorem 2's conditions were premature."
        return [first, TableBlock(header, counts, caption)]


def states_until(chain: Chain, limits: Stopping, ends: Ends) -> Iterator[ChainState]:
    """Yield the initial state and the state after each sweep, until every stopping rule has ended the run.

    The sweep and the outcome at which each rule ends the run are added to `ends`.
    """
    rules = {rule: replace(limits, rule=rule) for rule in RULES}
    state = chain.init()
    for sweep in count():
        yield state
        for rule, stopping in rules.items():
            if rule not in ends and (outcome := stopping.check(chain, state, sweep, 0.0)) is not None:
                ends[rule] = (sweep, outcome)
        if len(ends) == len(rules):
            return
        state, _ = chain.sweep(state)


def final_from(partitions: Sequence[IntArray]) -> int:
    """Return the first sweep after which the partition always equals the last one."""
    return max((sweep + 1 for sweep, labels in enumerate(partitions) if (labels != partitions[-1]).any()), default=0)


def _spread(values: Array) -> str:
    return " / ".join(f"{value:.0f}" for value in np.percentile(values, (5, 50, 95), method="inverted_cdf"))


def _draw_times(rows: Rows) -> Figure:
    figure, panels = policy_panels(10.5, 4.8)
    for policy, ax in panels.items():
        mine = rows.where(policy=policy)
        sizes = mine.distinct("n")
        n = np.array(sizes, dtype=np.float64)
        for name, label in TIMES.items():
            # the log axis cannot show zeros: a partition that is final from the start counts as one sweep
            values = [np.maximum(mine.where(n=size)[name], 1) for size in sizes]
            low, lower, median, upper, high = np.array([np.percentile(at, BAND_PERCENTILES) for at in values]).T
            if name == "final":  # a line only: it is close to the certificate, and bands would overlap
                ax.plot(n, median, color=TEXT_COLOR, linewidth=1.4, linestyle=(0, (2, 2)), label=label)
                continue
            ax.fill_between(n, low, high, color=COLORS[name], alpha=0.13, linewidth=0)
            ax.fill_between(n, lower, upper, color=COLORS[name], alpha=0.30, linewidth=0)
            ax.plot(n, median, color=COLORS[name], marker="o", markersize=4, linewidth=1.8, label=label)
        ax.set(xscale="log", yscale="log")
        plain_numbers(ax, "x", n.tolist())
        style_panel(ax, x="points n", title=NAMES[policy])
    left = panels["walk"]
    low, high = left.get_ylim()
    plain_numbers(left, "y", [tick for tick in TICKS if low < tick < high])
    left.set_ylabel("updates per point (sweeps)", color=TEXT_COLOR)
    legend(left, place="upper left")
    return figure


def _draw_differences(rows: Rows) -> Figure:
    figure = new_figure(10.5, 3.8)
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_shares(left, rows, "ari", "the paper's rule stopped at other clusters")
    _draw_shares(right, rows, "theorem2_changed", "Theorem 2's conditions held, then a change")
    left.set_ylabel("share of runs", color=TEXT_COLOR)
    legend(left, place="center")
    return figure


def _draw_shares(ax: Axes, rows: Rows, column: str, title: str) -> None:
    for shift, policy in zip((-1, 1), PANEL_POLICIES, strict=True):
        mine = rows.where(policy=policy)
        sizes = mine.distinct("n")
        n = np.array(sizes, dtype=np.float64)
        values = [mine.where(n=size)[column] for size in sizes]
        counts = [int(((at < 1) if column == "ari" else (at > 0)).sum()) for at in values]
        share = wilson(counts, [len(at) for at in values])
        bars = np.abs([share.center - share.low, share.high - share.center])
        # shifted a little: the intervals do not overlap
        ax.errorbar(
            n * 1.025**shift, share.center, bars,
            color=COLORS[policy], marker="o", markersize=4.5, linewidth=1.3, capsize=2.5, label=NAMES[policy],
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_ylim(-0.03, 1.03)
    plain_numbers(ax, "x", n.tolist())
    style_panel(ax, x="points n", title=title)
