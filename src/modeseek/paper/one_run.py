"""One run of doubly stochastic mean shift, watched to its certificate and a little beyond."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from modeseek.meanshift.chains import Chain
from modeseek.meanshift.objective import objective
from modeseek.meanshift.partition import read_off
from modeseek.meanshift.types import ChainState
from modeseek.paper.experiment import Experiment, Job
from modeseek.paper.one_run_figures import draw_course, draw_points
from modeseek.paper.paper_chains import POLICIES, paper_chain, paper_policy
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import NAMES
from modeseek.report import TableBlock

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["OneRun"]


@dataclass(frozen=True)
class OneRun(Experiment):
    """One run under each policy, with the same data and the same chosen points.

    Attributes
    ----------
    n_per_cluster : int
        Points of each of the mixture's three components.
    tau : float
        Distance at which clusters are read off.
    snapshots : tuple of int
        Sweeps after which all points are kept; those of the certificate are kept too.
    beyond : int
        Sweeps that are run after the certificate.
    most_sweeps : int
        Limit of a run that is never certified.
    every : int
        Of the bandwidths after the first sweep, one in so many is kept.
    """

    n_per_cluster: int = 50
    tau: float = 0.05
    snapshots: tuple[int, ...] = (0, 1, 2, 4)
    beyond: int = 5
    most_sweeps: int = 500
    every: int = 5

    name: ClassVar[str] = "one-run"
    title: ClassVar[str] = "One run, from the data to its certificate"
    text: ClassVar[str] = """\
One run of doubly stochastic mean shift on the paper's mixture, under the walk of Algorithm 1b and under shrinking,
our reading of the paper's experiments. Both runs start from the same points and move the same ones in the same order.
Only the bandwidths differ. One sweep is as many updates as there are points.

Theorem 2 says that almost surely the clusters are fixed from some update on, but not from which. A run can tell by a
certificate: clusters of diameter at most D < tau that are a gap apart with gap > h_upper + 2D, where h_upper is the
largest bandwidth that can still be drawn, can never change again. After each sweep we read off the clusters (points
closer than tau are linked), D and the gap, and mark the first sweep at which the certificate holds. The runs then go
on for a few sweeps. Where all points are in one cluster there is no gap, and D < tau is enough."""
    columns: ClassVar[tuple[str, ...]] = (
        "kind", "policy", "sweep", "k", "h", "L", "clusters", "diameter", "gap", "h_upper", "certified",
        "index", "x", "y", "label",
    )  # fmt: skip
    captions: ClassVar[dict[str, str]] = {
        "one-run-points": (
            "The points after some sweeps and at the certificate (final), in the colours of the clusters they end in "
            "(grey: clusters of one point). Lines lead from where each point was in the picture before."
        ),
        "one-run-course": (
            "The same runs over time, in updates per point (sweeps). Top: the bandwidths drawn. Middle: L_h at the "
            "bandwidth of the moment, over its largest possible value n(n+1)/2 k(0). Bottom: diameter D and gap of "
            "the clusters, and h_upper + 2D. The run is certified, at the dashed line, as soon as D is below tau "
            "and the gap is above h_upper + 2D; where there is one cluster there is no gap."
        ),
    }

    def quick(self) -> Self:
        """Return a config with fewer points."""
        return replace(self, n_per_cluster=20)

    def jobs(self, runs: int) -> list[Job]:
        """Return one run for each policy, however many runs there are."""
        return [Job({"policy": policy}, 0, 1.5 * self.n_per_cluster) for policy in POLICIES if runs]

    def work(self, job: Job, seed: int) -> list[Row]:
        """Return rows of three kinds: sweeps, bandwidths that were drawn, and points at snapshots."""
        policy = str(job.cell["policy"])
        chain = paper_chain(self.n_per_cluster, paper_policy(policy, self.settings), seed, job.run)
        blank: Row = {**dict.fromkeys(self.columns), "policy": policy}
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
        labels = self._labels(chain, state)
        for at, points in kept.items():
            for index, (x, y) in enumerate(points):
                place: Row = {"index": index, "x": float(x), "y": float(y), "label": int(labels[index])}
                rows.append({"kind": "point", "sweep": at, **place})
        return [{**blank, **row} for row in rows]

    def _sweep(self, chain: Chain, state: ChainState, sweep: int) -> Row:
        assert chain.upper is not None
        n, upper = len(state.points), chain.upper(state)
        found = read_off(state.points, chain.problem.weights, self.tau, h_min=chain.h_min, h_upper=upper)
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
            "h_upper": upper,
            "certified": int(found.certified),
        }

    def _labels(self, chain: Chain, state: ChainState) -> list[int]:
        assert chain.upper is not None
        weights, upper = chain.problem.weights, chain.upper(state)
        return read_off(state.points, weights, self.tau, h_min=chain.h_min, h_upper=upper).labels.tolist()

    def draw(self, rows: Rows) -> dict[str, Figure]:
        """Return the points and the course."""
        return {"one-run-points": draw_points(self, rows), "one-run-course": draw_course(self, rows)}

    def tables(self, rows: Rows) -> list[TableBlock]:
        """Return both runs at their certificates and at their ends."""
        lines = []
        for policy in POLICIES:
            mine = rows.where(kind="sweep", policy=policy)
            certified = mine.where(certified=1)
            for when, shown in (("at the certificate", certified), ("last sweep", mine)):
                if not len(shown):
                    lines.append([NAMES[policy], "never certified", *["-"] * 8])
                    continue
                at = 0 if shown is certified else len(shown) - 1
                value = {name: shown[name][at] for name in self.columns[2:11]}
                gap = "none" if np.isnan(value["gap"]) else f"{value['gap']:.4g}"
                line = [NAMES[policy], when, f"{value['sweep']:.0f}", f"{value['k']:,.0f}", f"{value['h']:.4g}"]
                line += [f"{value['L']:.4f}", f"{value['clusters']:.0f}", f"{value['diameter']:.2g}", gap]
                lines.append([*line, f"{value['h_upper'] + 2 * value['diameter']:.4g}"])
        header = ["policy", "when", "sweep", "updates k", "h_k", "L / largest", "clusters", "D", "gap", "h_upper + 2D"]
        return [TableBlock(header, lines, f"The two runs; clusters are read off at tau = {self.tau:g}.")]
