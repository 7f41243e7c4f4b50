"""Where the walk of Algorithm 1b ends: its paths, the formula for its ends, and shrinking beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from modeseek._common.types import Array
from modeseek.meanshift.bandwidth import Shrinking, Walk, get_nu
from modeseek.meanshift.theory import walk_paths
from modeseek.paper.absorption_figures import draw_paths, draw_starts
from modeseek.paper.experiment import Experiment, Job, seed_for
from modeseek.paper.intervals import wilson
from modeseek.paper.rows import Row, Rows
from modeseek.report import TableBlock

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Absorption"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class Absorption(Experiment):
    """Simulated walks against the closed formula.

    Attributes
    ----------
    starts : tuple of float
        Where walks start, h_inf among them.
    nus : tuple of str
        The paper's slow sequence, and one whose squares have a finite sum.
    paths : int
        Walks from each start, in each run.
    draws : int
        How long each walk is.
    shown : int
        Walks from h_inf that are drawn, all of run 0.
    tolerance : float
        A walk is at an end of the range when it is within this share of it.
    """

    starts: tuple[float, ...] = (0.22, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
    nus: tuple[str, ...] = ("log-log", "1/k")
    paths: int = 100
    draws: int = 1000
    shown: int = 40
    tolerance: float = 1e-3

    name: ClassVar[str] = "absorption"
    title: ClassVar[str] = "Where the walk of Algorithm 1b ends"
    text: ClassVar[str] = """\
Algorithm 1b draws alpha from U(1 - delta, 1 + delta) with delta = min{nu_k, (h_k/h_min)^2 - 1, 1 - (h_k/h_max)^2} and
sets h_{k+1} = h_k / sqrt(alpha). So 1/h_k^2 is a bounded martingale. The paper takes nu_k = 1 / log10(10 + log10 k)
and says that the rate at which nu_k falls is of no importance in the proofs. It matters for where h goes. Where the
sum of nu_k^2 diverges, as it does here, h cannot come to rest inside the range: it is absorbed at h_min or at h_max,
and optional stopping gives P(h -> h_min) = (h_0^-2 - h_max^-2) / (h_min^-2 - h_max^-2). Where the sum converges, as
with nu_k = 1/k, h may freeze anywhere. The paper mentions neither.

We simulate walks from many starts h_0 and count where they are after the last draw. A walk is at an end when it is
within 0.1 % of it. The law of h does not look at the points, so no data are needed. Beside it stands the policy
`shrinking`, our reading of the paper's experiments, whose draws are independent and cover a share nu_k of the
range."""
    columns: ClassVar[tuple[str, ...]] = (
        "kind", "nu", "run", "h_0", "paths", "at_min", "at_max", "path", "k", "h", "absorbed_at",
    )  # fmt: skip
    captions: ClassVar[dict[str, str]] = {
        "absorption-paths": (
            "Top: single walks from the paper's start with the paper's nu and with 1/k, and for contrast draws of "
            "shrinking with the ends of what it can draw; the number of the draw on a logarithmic axis. Below the "
            "walks: the share of all walks that are at either end from that draw on. Below shrinking: the share of "
            "the range that its draws still cover, which is nu_k."
        ),
        "absorption-starts": (
            "Share of walks at each end after the last draw, against the start h_0, with 90 % Wilson intervals. "
            "Left, the paper's nu: the lines are the formula. Middle, nu = 1/k, for which there is no formula. "
            "Right, the paper's nu again: how far the simulated share is from the formula, in percentage points; "
            "bars should mostly cross 0."
        ),
    }

    def quick(self) -> Self:
        """Return a config with fewer starts; paths per start are as many as runs give."""
        return replace(self, starts=(0.25, 0.4, 0.6, 0.9, 1.3), draws=600, shown=25)

    def jobs(self, runs: int) -> list[Job]:
        """Return a batch of walks from all starts, for each nu and run."""
        cost = 3.2e-5 * len(self.starts) * self.paths * self.draws
        return [Job({"nu": nu}, run, cost) for nu in self.nus for run in range(runs)]

    def walk(self, nu: str) -> Walk:
        """Return the paper's walk with that nu."""
        return Walk(self.settings.h_min, self.settings.h_max, self.settings.h_inf, get_nu(nu))

    def work(self, job: Job, seed: int) -> list[Row]:
        """Return a row for each start, one for each walk from h_inf, and the steps of those that are drawn."""
        nu = str(job.cell["nu"])
        rng = np.random.default_rng(seed_for(seed, job.run, self.nus.index(nu)))
        h_0 = np.repeat(self.starts, self.paths)
        paths = walk_paths(self.walk(nu), rng.random((len(h_0), self.draws)), h_0)
        low, high = (
            paths <= self.settings.h_min * (1 + self.tolerance),
            paths >= self.settings.h_max * (1 - self.tolerance),
        )
        blank: Row = {**dict.fromkeys(self.columns), "nu": nu, "run": job.run}
        rows: list[Row] = []
        for start in self.starts:
            mine = h_0 == start
            ends = {"at_min": int(low[mine, -1].sum()), "at_max": int(high[mine, -1].sum())}
            rows.append({**blank, "kind": "share", "h_0": start, "paths": self.paths, **ends})
        mine = np.flatnonzero(h_0 == self.settings.h_inf)
        for path, at in zip(mine, _absorbed_at(low[mine] | high[mine]), strict=True):
            last: Row = {"path": int(path - mine[0]), "k": self.draws, "h": float(paths[path, -1]), "absorbed_at": at}
            rows.append({**blank, "kind": "path", "h_0": self.settings.h_inf, **last})
        if job.run == 0:
            for path in mine[: self.shown]:
                for k in _steps(self.draws):
                    step: Row = {"path": int(path - mine[0]), "k": k, "h": float(paths[path, k - 1])}
                    rows.append({**blank, "kind": "step", "h_0": self.settings.h_inf, **step})
        return rows

    def shrinking(self, k: int) -> tuple[float, float]:
        """Return the ends of what the shrinking policy draws from at draw k, in closed form."""
        policy = Shrinking(self.settings.h_min, self.settings.h_max, self.settings.h_inf)
        low, high = (float(policy.draw(np.array([u]), self.settings.h_inf, k - 1)[0]) for u in (0.0, 1.0))
        return low, high

    def draw(self, rows: Rows) -> dict[str, Figure]:
        """Return the walks and the ends by start."""
        return {"absorption-paths": draw_paths(self, rows), "absorption-starts": draw_starts(self, rows)}

    def tables(self, rows: Rows) -> list[TableBlock]:
        """Return shares by start, draws until absorption, and what shrinking still covers."""
        return [self._shares(rows), self._times(rows), self._cover()]

    def _shares(self, rows: Rows) -> TableBlock:
        lines, inside, shares = [], 0, rows.where(kind="share")
        for start in self.starts:
            line = [f"{start:g}", f"{100 * float(self.walk('log-log').absorption(start).to_min or 0):.2f}"]
            for nu in self.nus:
                mine = shares.where(nu=nu, h_0=start)
                n, at_min, at_max = (float(mine[name].sum()) for name in ("paths", "at_min", "at_max"))
                share = wilson(at_min, n)
                line += [f"{100 * share.center:.2f} ({100 * share.low:.2f} to {100 * share.high:.2f})"]
                line += [f"{100 * (n - at_min - at_max) / n:.2f}"]
                inside += int(share.low <= float(self.walk(nu).absorption(start).to_min or np.nan) <= share.high)
            lines.append(line)
        header = ["h_0", "formula: at h_min, %"]
        for nu in self.nus:
            header += [f"nu {nu}: at h_min, % (90 %)", f"nu {nu}: inside, %"]
        count = int(shares.where(nu="log-log", h_0=self.starts[0])["paths"].sum())
        caption = (
            f"Where walks are after {self.draws:,} draws, {count:,} walks from each start. With the paper's nu the "
            f"formula lies inside {inside} of {len(self.starts)} intervals; about nine in ten of them should hold it."
        )
        return TableBlock(header, lines, caption)

    def _times(self, rows: Rows) -> TableBlock:
        lines = []
        for nu in self.nus:
            times = rows.where(kind="path", nu=nu)["absorbed_at"]
            arrived = np.sort(np.where(np.isnan(times), np.inf, times))
            picked = [arrived[min(int(np.ceil(q * len(arrived))), len(arrived)) - 1] for q in QUANTILES]
            texts = [f"{k:.0f}" if np.isfinite(k) else f"> {self.draws:,}" for k in picked]
            lines.append([nu, f"{len(arrived):,}", f"{100 * np.isnan(times).mean():.2f}", *texts])
        header = ["nu", "walks", "still inside, %", *(f"{100 * q:g} % by draw" for q in QUANTILES)]
        return TableBlock(
            header, lines, f"Draws until a walk from {self.settings.h_inf:g} is within 0.1 % of an end for good."
        )

    def _cover(self) -> TableBlock:
        lines = []
        for power in range(2, 8):
            low, high = self.shrinking(10**power)
            share = (high - low) / (self.settings.h_max - self.settings.h_min)
            lines.append([f"10^{power}", f"{low:.3f} to {high:.3f}", f"{100 * share:.1f}"])
        return TableBlock(
            ["draw k", "shrinking draws from", "share of the range, %"], lines, "From the formula of nu_k."
        )


def _absorbed_at(at_end: Array) -> list[int | None]:
    """Return from which draw on each walk was at an end; None where it is not after its last draw.

    Examples
    --------
    >>> _absorbed_at(np.array([[False, True, False, True], [True, True, True, True], [True, True, True, False]]))
    [4, 1, None]
    """
    draws = at_end.shape[1]
    # a walk that came close to an end can leave it again, so only what lasts counts
    last_inside = np.where(at_end.all(axis=1), 0, draws - np.argmax(~at_end[:, ::-1], axis=1))
    return [None if k == draws else int(k) + 1 for k in last_inside]


def _steps(draws: int) -> list[int]:
    """Return numbers of draws that are about even on a logarithmic axis, each of the first ones."""
    return np.unique(np.round(np.geomspace(1, draws, 60)).astype(int)).tolist()
