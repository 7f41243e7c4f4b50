"""One run of doubly stochastic mean shift, recorded until a few sweeps after its certificate."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from modeseek._common.types import Array, IntArray
from modeseek.meanshift.chains import Chain
from modeseek.meanshift.objective import objective
from modeseek.meanshift.partition import Partition, read_off
from modeseek.meanshift.types import ChainState
from modeseek.paper.experiment import BySpread, Job
from modeseek.paper.paper_chains import PANEL_POLICIES, paper_chain, policy_jobs
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import (
    COLORS,
    DASHES,
    NAMES,
    dashed_line,
    legend,
    new_figure,
    plain_numbers,
    style_panel,
    title_right,
)
from modeseek.plots.colors import MUTED_COLOR, NOISE_COLOR, TEXT_COLOR, palette
from modeseek.report import TableBlock


@dataclass(frozen=True)
class OneRun(BySpread):
    """One run under each policy, with the same data and the same random choices of points.

    Attributes
    ----------
    n_per_cluster : int
        Number of points in each of the mixture's three components.
    tau : float
        Points closer than this distance are linked; linked points form a cluster.
    snapshots : tuple of int
        Sweeps after which all points are recorded; they are also recorded at the certificate.
    beyond : int
        Number of sweeps for which a run continues after its certificate.
    most_sweeps : int
        Maximum number of sweeps of a run that is never certified.
    every : int
        After the first sweep, one in `every` bandwidths is recorded.
    """

    n_per_cluster: int = 50
    tau: float = 0.05
    snapshots: tuple[int, ...] = (0, 1, 2, 4)
    beyond: int = 5
    most_sweeps: int = 500
    every: int = 5

    name: ClassVar[str] = "one-run"
    small: ClassVar = {"n_per_cluster": 20}
    columns: ClassVar[tuple[str, ...]] = (
        "kind", "spread", "policy", "sweep", "k", "h", "L", "clusters", "diameter", "gap", "h_upper", "certified",
        "index", "x", "y", "label",
    )  # fmt: skip

    def jobs(self, runs: int) -> list[Job]:
        """Return one job for each spread and policy, whatever the number of runs is."""
        return policy_jobs(min(runs, 1), 1.5 * self.n_per_cluster)

    def work(self, job: Job, seed: int) -> list[Row]:
        """Return rows of three kinds: sweeps, drawn bandwidths, and points at snapshots."""
        chain = paper_chain(self.n_per_cluster, self.settings, seed, job)
        state, sweeps = chain.init(), 0
        rows: list[Row] = [self._sweep(chain, state, 0), {"kind": "draw", "k": 0, "h": state.h}]
        kept, left = {0: state.points} if 0 in self.snapshots else {}, self.beyond
        while left and sweeps < self.most_sweeps:
            (state, info), sweeps = chain.sweep(state), sweeps + 1
            rows.append(self._sweep(chain, state, sweeps))
            first = state.k - len(info.bandwidths) + 1
            picked = range(0, len(info.bandwidths), 1 if sweeps == 1 else self.every)
            rows += [{"kind": "draw", "k": first + j, "h": float(info.bandwidths[j])} for j in picked]
            certified = bool(rows[-len(picked) - 1]["certified"])
            if left == self.beyond and (certified or sweeps in self.snapshots):
                kept[sweeps] = state.points
            left -= certified
        labels = self._partition(chain, state).labels
        for at, points in kept.items():
            for index, (x, y) in enumerate(points):
                place: Row = {"index": index, "x": float(x), "y": float(y), "label": int(labels[index])}
                rows.append({"kind": "point", "sweep": at, **place})
        return rows

    def _partition(self, chain: Chain, state: ChainState) -> Partition:
        assert chain.upper is not None
        weights, upper = chain.problem.weights, chain.upper(state)
        return read_off(state.points, weights, self.tau, h_min=chain.h_min, h_upper=upper)

    def _sweep(self, chain: Chain, state: ChainState, sweep: int) -> Row:
        assert chain.upper is not None
        n, found = len(state.points), self._partition(chain, state)
        largest = n * (n + 1) / 2 * float(chain.problem.profile.k(np.zeros(1))[0])
        return {
            "kind": "sweep",
            "sweep": sweep,
            "k": state.k,
            "h": state.h,
            "L": objective(state.points, state.h, profile=chain.problem.profile) / largest,
            "clusters": found.n_clusters,
            "diameter": found.diameter,
            # one cluster has no gap
            "gap": found.gap if np.isfinite(found.gap) else None,
            "h_upper": chain.upper(state),
            "certified": int(found.certified),
        }

    def spread_tables(self, rows: Rows) -> list[TableBlock]:
        """Return a table of both runs, at the certificate and after the last sweep."""
        lines = []
        for policy in PANEL_POLICIES:
            mine = rows.where(kind="sweep", policy=policy)
            certified = mine.where(certified=1)
            for when, shown in (("at the certificate", certified), ("last sweep", mine)):
                if not len(shown):
                    lines.append([NAMES[policy], "never certified", *["-"] * 8])
                    continue
                at = 0 if shown is certified else len(shown) - 1
                value = {name: shown[name][at] for name in self.columns[3:12]}
                gap = "none" if np.isnan(value["gap"]) else f"{value['gap']:.4g}"
                line = [NAMES[policy], when, f"{value['sweep']:.0f}", f"{value['k']:,.0f}", f"{value['h']:.4g}"]
                line += [f"{value['L']:.4f}", f"{value['clusters']:.0f}", f"{value['diameter']:.2g}", gap]
                lines.append([*line, f"{value['h_upper'] + 2 * value['diameter']:.4g}"])
        header = ["policy", "when", "sweep", "updates k", "h_k", "L / largest", "clusters", "D", "gap", "h_upper + 2D"]
        return [TableBlock(header, lines, f"The two runs; points closer than tau are linked; tau = {self.tau:g}.")]

    def draw_spread(self, rows: Rows) -> dict[str, Figure]:
        """Return two figures: the points at some sweeps, and bandwidths, L and certificate over time."""
        return {"one-run-points": _draw_points(rows), "one-run-course": self._draw_course(rows)}

    def _draw_course(self, rows: Rows) -> Figure:
        figure = new_figure(10.5, 7.6)
        axes = figure.subplots(3, len(PANEL_POLICIES), sharex="col", sharey="row", height_ratios=[3, 2.2, 4])
        for policy, column in zip(PANEL_POLICIES, axes.T, strict=True):
            sweeps, draws = rows.where(kind="sweep", policy=policy), rows.where(kind="draw", policy=policy)
            n = 3 * self.n_per_cluster
            certified = sweeps["certified"].astype(bool)
            at = int(np.argmax(certified)) if certified.any() else None
            # all recorded draws of the walk, which changes most in its first sweep; one in `every` of independent draws
            kept = (draws["k"] - 1) % (1 if policy == "walk" else self.every) == 0
            self._draw_bandwidths(column[0], draws["k"][kept] / n, draws["h"][kept], policy)
            column[1].plot(sweeps["sweep"], sweeps["L"], color=COLORS[policy], marker="o", markersize=3, linewidth=1.3)
            style_panel(column[1])
            column[1].set_ylim(0, 1.03)
            self._draw_certificate(column[2], sweeps)
            if at is not None:
                for ax in column:
                    ax.axvline(at, color=TEXT_COLOR, linewidth=1.1, linestyle=DASHES)
                count = sweeps["clusters"][at]
                words = f"certified after sweep {at}: {count:.0f} cluster" + "s" * int(count > 1)
                title_right(column[0], words)
        for ax, label in zip(axes[:, 0], ("bandwidth h", "L_h / largest", "distance"), strict=True):
            ax.set_ylabel(label, color=TEXT_COLOR)
        legend(axes[2, 0], place="lower left")
        return figure

    def _draw_bandwidths(self, ax: Axes, sweeps: Array, h: Array, policy: str) -> None:
        # the walk is a path; the draws of the other policy are independent
        style = {"linewidth": 1.4} if policy == "walk" else {"linewidth": 0, "marker": ".", "markersize": 2.2}
        ax.plot(sweeps, h, color=COLORS[policy], **style)
        given = self.settings
        for end in (given.h_min, given.h_max):
            dashed_line(ax, end)
        style_panel(ax, title=NAMES[policy])
        plain_numbers(ax, "y", [given.h_min, given.h_inf, 1.0, given.h_max])

    def _draw_certificate(self, ax: Axes, sweeps: Rows) -> None:
        at, diameter = sweeps["sweep"], sweeps["diameter"]
        lines = [
            ("gap", "gap between clusters", sweeps["gap"]),
            ("bound", "h_upper + 2D", sweeps["h_upper"] + 2 * diameter),
            ("diameter", "diameter D", np.where(diameter > 0, diameter, np.nan)),
        ]
        for name, label, values in lines:
            ax.plot(at, values, color=COLORS[name], marker="o", markersize=3, linewidth=1.4, label=label)
        dashed_line(ax, self.tau, f"tau = {self.tau:g}")
        ax.set_yscale("log")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        style_panel(ax, x="updates per point (sweeps)")


def _draw_points(rows: Rows) -> Figure:
    points = rows.where(kind="point")
    shown = {policy: points.where(policy=policy).distinct("sweep") for policy in PANEL_POLICIES}
    columns = max(len(sweeps) for sweeps in shown.values())
    figure = new_figure(2.3 * columns + 0.4, 5.2)
    axes = figure.subplots(len(PANEL_POLICIES), columns, sharex=True, sharey=True, squeeze=False)
    for policy, line in zip(PANEL_POLICIES, axes, strict=True):
        mine = points.where(policy=policy)
        by_sweep = rows.where(kind="sweep", policy=policy)
        colors = _colors(mine.where(sweep=shown[policy][0])["label"].astype(int))
        before = None
        for ax, sweep in zip(line, shown[policy], strict=False):
            at = mine.where(sweep=sweep)
            now = np.column_stack([at["x"], at["y"]])
            if before is not None:
                trails = LineCollection(np.stack([before, now], axis=1).tolist(), colors=colors, alpha=0.35)
                trails.set_linewidth(0.7)
                ax.add_collection(trails)
            ax.scatter(*now.T, s=13, c=colors, linewidths=0.3, edgecolors="white", zorder=3)
            (count,), (certified,) = (by_sweep.where(sweep=sweep)[name] for name in ("clusters", "certified"))
            words = f"{count:.0f} cluster" + "s" * int(count > 1)
            style_panel(ax, title=f"sweep {sweep}{': final' * int(certified)}" if sweep else "the data")
            title_right(ax, words, MUTED_COLOR)
            before = now
        for ax in line[len(shown[policy]) :]:
            ax.set_visible(False)
        line[0].set_ylabel(NAMES[policy], color=COLORS[policy], fontweight="bold")
        for ax in line:
            ax.set_aspect("equal", adjustable="box")
    return figure


def _colors(labels: IntArray) -> list[str]:
    """Return the colour of each point, which is that of its cluster; clusters of one point are grey."""
    several = int((np.bincount(labels) > 1).sum())
    shades = palette(several)
    return [shades[label] if label < several else NOISE_COLOR for label in labels]
