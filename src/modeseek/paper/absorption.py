"""Where the bandwidth walk of Algorithm 1b ends, by simulation and by a formula; shrinking is shown for comparison."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from modeseek._common.types import Array
from modeseek.meanshift.bandwidth import Shrinking, Walk, get_nu
from modeseek.meanshift.theory import walk_paths
from modeseek.paper.experiment import Experiment, Job, grid_jobs, seed_for
from modeseek.paper.intervals import wilson
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import COLORS, dashed_line, heading, legend, new_figure, plain_numbers, style_panel
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR
from modeseek.report import TableBlock

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
NU_NAMES = {"log-log": "the paper's slow nu", "1/k": "nu = 1/k"}
LAST_SHRINKING_DRAW = 10**7


@dataclass(frozen=True)
class AbsorptionWalks(Experiment):
    """Shares of simulated walks that end at h_min and h_max, compared with a formula.

    Attributes
    ----------
    starts : tuple of float
        Starting values h_0 of the walks, including h_inf.
    nus : tuple of str
        Names of the sequences nu_k: the paper's, which decreases slowly, and 1/k, whose squares have a finite sum.
    paths : int
        Number of walks from each start, in each run.
    draws : int
        Number of bandwidths that each walk draws.
    shown : int
        Number of walks from h_inf in the figure, all from run 0.
    tolerance : float
        A walk counts as being at an end of the range if its relative distance from this end is smaller.
    """

    starts: tuple[float, ...] = (0.22, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
    nus: tuple[str, ...] = ("log-log", "1/k")
    paths: int = 100
    draws: int = 1000
    shown: int = 40
    tolerance: float = 1e-3

    name: ClassVar[str] = "absorption"
    small: ClassVar = {"starts": (0.25, 0.4, 0.6, 0.9, 1.3), "draws": 600, "shown": 25}
    columns: ClassVar[tuple[str, ...]] = (
        "kind", "nu", "run", "h_0", "paths", "at_min", "at_max", "path", "k", "h", "absorbed_at",
    )  # fmt: skip

    def jobs(self, runs: int) -> list[Job]:
        """Return one job for each nu and run: a batch of walks from all starts."""
        cost = 3.2e-5 * len(self.starts) * self.paths * self.draws
        return grid_jobs(runs, lambda cell: cost, nu=self.nus)

    def walk(self, nu: str) -> Walk:
        """Return the paper's walk with the given nu."""
        return Walk(self.settings.h_min, self.settings.h_max, self.settings.h_inf, get_nu(nu))

    def _at_ends(self, h: Array) -> tuple[Array, Array]:
        """Return which bandwidths are at h_min, and which are at h_max."""
        low, high = self.settings.h_min * (1 + self.tolerance), self.settings.h_max * (1 - self.tolerance)
        return h <= low, h >= high

    def work(self, job: Job, seed: int) -> list[Row]:
        """Return a row for each start, a row for each walk from h_inf, and rows with the steps in the figure."""
        nu = str(job.cell["nu"])
        rng = np.random.default_rng(seed_for(seed, job.run, self.nus.index(nu)))
        h_0 = np.repeat(self.starts, self.paths)
        paths = walk_paths(self.walk(nu), rng.random((len(h_0), self.draws)), h_0)
        low, high = self._at_ends(paths)
        rows: list[Row] = []
        for start in self.starts:
            mine = h_0 == start
            ends = {"at_min": int(low[mine, -1].sum()), "at_max": int(high[mine, -1].sum())}
            rows.append({"kind": "share", "h_0": start, "paths": self.paths, **ends})
        mine = np.flatnonzero(h_0 == self.settings.h_inf)
        for path, at in zip(mine, _absorbed_at(low[mine] | high[mine]), strict=True):
            last: Row = {"path": int(path - mine[0]), "k": self.draws, "h": float(paths[path, -1]), "absorbed_at": at}
            rows.append({"kind": "path", "h_0": self.settings.h_inf, **last})
        if job.run == 0:
            for path in mine[: self.shown]:
                for k in _shown_draws(self.draws):
                    step: Row = {"path": int(path - mine[0]), "k": k, "h": float(paths[path, k - 1])}
                    rows.append({"kind": "step", "h_0": self.settings.h_inf, **step})
        return rows

    def shrinking(self, k: int) -> tuple[float, float]:
        """Return the ends of the interval from which the policy shrinking takes draw k, by its formula."""
        policy = Shrinking(self.settings.h_min, self.settings.h_max, self.settings.h_inf)
        low, high = (float(policy.draw(np.array([u]), self.settings.h_inf, k - 1)[0]) for u in (0.0, 1.0))
        return low, high

    def _formula(self, nu: str, starts: Array) -> Array:
        """Return the probability of ending at h_min for each start; NaN if there is no formula for this nu."""
        return np.array([self.walk(nu).absorption(h).to_min for h in starts], dtype=np.float64)

    def _counts(self, rows: Rows, nu: str) -> Array:
        """Return three rows: the numbers of walks at h_min, at h_max and in total, for each start (columns)."""
        by_start = [rows.where(kind="share", nu=nu, h_0=start) for start in self.starts]
        return np.array([[mine[name].sum() for mine in by_start] for name in ("at_min", "at_max", "paths")])

    def tables(self, rows: Rows) -> list[TableBlock]:
        """Return tables: shares by start, draws until absorption, and the share of the range that shrinking covers."""
        return [self._shares(rows), self._times(rows), self._cover()]

    def _shares(self, rows: Rows) -> TableBlock:
        formula = self._formula("log-log", np.array(self.starts))
        columns = [[f"{start:g}" for start in self.starts], [f"{100 * share:.2f}" for share in formula]]
        header, inside = ["h_0", "formula: at h_min, %"], 0
        for nu in self.nus:
            at_min, at_max, n = self._counts(rows, nu)
            shares = [wilson(count, total) for count, total in zip(at_min, n, strict=True)]
            header += [f"nu {nu}: at h_min, % (90 %)", f"nu {nu}: inside, %"]
            columns += [
                [f"{100 * share.center:.2f} ({100 * share.low:.2f} to {100 * share.high:.2f})" for share in shares],
                [f"{each:.2f}" for each in 100 * (n - at_min - at_max) / n],
            ]
            expected = self._formula(nu, np.array(self.starts))
            inside += sum(bool(share.low <= each <= share.high) for share, each in zip(shares, expected, strict=True))
        caption = (
            f"Where walks are after {self.draws:,} draws, {int(n[0]):,} walks from each start. With the paper's nu the "
            f"formula lies inside {inside} of {len(self.starts)} intervals; about nine in ten are expected."
        )
        return TableBlock(header, [list(line) for line in zip(*columns, strict=True)], caption)

    def _times(self, rows: Rows) -> TableBlock:
        lines = []
        for nu in self.nus:
            times = rows.where(kind="path", nu=nu)["absorbed_at"]
            arrived = np.sort(np.where(np.isnan(times), np.inf, times))
            picked = [arrived[min(int(np.ceil(q * len(arrived))), len(arrived)) - 1] for q in QUANTILES]
            texts = [f"{k:.0f}" if np.isfinite(k) else f"> {self.draws:,}" for k in picked]
            lines.append([nu, f"{len(arrived):,}", f"{100 * np.isnan(times).mean():.2f}", *texts])
        header = ["nu", "walks", "still inside, %", *(f"{100 * q:g} % by draw" for q in QUANTILES)]
        caption = f"Draws after which a walk from {self.settings.h_inf:g} stays within 0.1 % of an end."
        return TableBlock(header, lines, caption)

    def _cover(self) -> TableBlock:
        lines = []
        for power in range(2, 8):
            low, high = self.shrinking(10**power)
            share = (high - low) / (self.settings.h_max - self.settings.h_min)
            lines.append([f"10^{power}", f"{low:.3f} to {high:.3f}", f"{100 * share:.1f}"])
        header = ["draw k", "shrinking draws from", "share of the range, %"]
        return TableBlock(header, lines, "From the formula of nu_k.")

    def draw(self, rows: Rows) -> dict[str, Figure]:
        """Return two figures: single walks, and the ends of all walks by start."""
        return {"absorption-paths": self._draw_paths(rows), "absorption-starts": self._draw_starts(rows)}

    def _draw_paths(self, rows: Rows) -> Figure:
        given, figure = self.settings, new_figure(11, 6.2)
        axes = figure.subplots(2, len(self.nus) + 1, sharey="row", height_ratios=[3, 2])
        for column, nu in enumerate(self.nus):
            self._draw_walks(axes[0, column], rows, nu)
            self._draw_ends(axes[1, column], rows, nu)
        self._draw_shrinking(axes[0, -1], axes[1, -1])
        axes[0, 0].set_ylabel("bandwidth h", color=TEXT_COLOR)
        axes[1, 0].set_ylabel("share", color=TEXT_COLOR)
        for ax in axes[0]:
            for end in (given.h_min, given.h_max):
                dashed_line(ax, end)
            plain_numbers(ax, "y", [given.h_min, given.h_inf, 1.0, given.h_max])
        shares = [100 * np.isfinite(rows.where(kind="path", nu=nu)["absorbed_at"]).mean() for nu in self.nus]
        parts = [f"{share:.0f} % with {NU_NAMES.get(nu, nu)}" for share, nu in zip(shares, self.nus, strict=True)]
        heading(figure, f"Walks from {given.h_inf:g} at an end after {self.draws:,} draws: {', '.join(parts)}")
        return figure

    def _draw_walks(self, ax: Axes, rows: Rows, nu: str) -> None:
        steps = rows.where(kind="step", nu=nu)
        for path in steps.distinct("path"):
            mine = steps.where(path=path)
            at_min, at_max = self._at_ends(mine["h"][-1])
            color = COLORS["h_max"] if at_max else COLORS["h_min"] if at_min else MUTED_COLOR
            ax.plot(mine["k"], mine["h"], color=color, linewidth=0.9, alpha=0.65)
        ax.set_xscale("log")
        style_panel(ax, title=f"walk, {NU_NAMES.get(nu, nu)}")

    def _draw_ends(self, ax: Axes, rows: Rows, nu: str) -> None:
        paths = rows.where(kind="path", nu=nu)
        at, low = paths["absorbed_at"], paths["h"] < self.settings.h_inf
        k = np.arange(1, self.draws + 1)
        to_min, to_max = ((at[side][:, None] <= k).sum(axis=0) / len(at) for side in (low, ~low))
        bands = [("at h_min", "h_min", 0 * to_min, to_min), ("inside", "inside", to_min, 1 - to_max)]
        for label, name, bottom, top in [*bands, ("at h_max", "h_max", 1 - to_max, np.ones_like(to_max))]:
            ax.fill_between(k, bottom, top, color=COLORS[name], linewidth=0, alpha=0.85, label=label)
        ax.set(xscale="log", ylim=(0, 1))
        style_panel(ax, x="draw k", title=f"where {len(at):,} walks are")
        ax.margins(x=0.045)
        legend(ax, place="lower left")

    def _draw_shrinking(self, above: Axes, below: Axes) -> None:
        h_inf = self.settings.h_inf
        offset: dict[str, Any] = {"textcoords": "offset points", "color": TEXT_COLOR}
        k = np.unique(np.round(np.geomspace(1, LAST_SHRINKING_DRAW, 400)))
        low, high = np.array([self.shrinking(int(at)) for at in k]).T
        draws = low + (high - low) * np.random.default_rng(0).random(len(k))
        above.fill_between(k, low, high, color=COLORS["shrinking"], alpha=0.15, linewidth=0)
        above.plot(k, draws, ".", markersize=2.5, color=COLORS["shrinking"])
        above.axhline(h_inf, color=TEXT_COLOR, linewidth=0.9)
        label = above.annotate("h_inf", (1, h_inf), (2, 4), **offset)
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1})
        above.set_xscale("log")
        style_panel(above, title="shrinking, the paper's slow nu")
        share = (high - low) / (self.settings.h_max - self.settings.h_min)
        below.plot(k, share, color=COLORS["shrinking"], linewidth=2)
        below.annotate(f"{share[-1]:.2f} at k = 10^7", (k[-1], share[-1]), (0, -16), ha="right", **offset)
        below.set_xscale("log")
        style_panel(below, x="draw k", title="share of the range it draws from")

    def _draw_starts(self, rows: Rows) -> Figure:
        given, figure = self.settings, new_figure(11, 4.0)
        *panels, difference = axes = figure.subplots(1, len(self.nus) + 1)
        grid = np.linspace(given.h_min, given.h_max, 300)
        for ax, nu in zip(panels, self.nus, strict=True):
            at_min, at_max, total = self._counts(rows, nu)
            formula = self._formula(nu, grid)
            if not np.isnan(formula[0]):
                ax.plot(grid, formula, color=COLORS["h_min"], linewidth=1.4)
                ax.plot(grid, 1 - formula, color=COLORS["h_max"], linewidth=1.4)
                ax.plot([], [], color=TEXT_COLOR, linewidth=1.4, label="formula")
                expected = self._formula("log-log", np.array(self.starts))
                self._draw_shares(difference, at_min, total, COLORS["h_min"], "at h_min", expected)
            self._draw_shares(ax, at_min, total, COLORS["h_min"], "at h_min")
            self._draw_shares(ax, at_max, total, COLORS["h_max"], "at h_max")
            self._draw_shares(ax, total - at_min - at_max, total, MUTED_COLOR, "inside")
            style_panel(ax, x="start h_0", y="share of walks", title=f"walk, {NU_NAMES.get(nu, nu)}")
            ax.set_ylim(-0.03, 1.03)
        difference.axhline(0, color=TEXT_COLOR, linewidth=1)
        difference.yaxis.set_major_formatter(PercentFormatter(1, decimals=1))
        style_panel(difference, x="start h_0", title="at h_min: simulated less formula")
        for ax in axes:
            ax.set_xlim(given.h_min - 0.04, given.h_max + 0.04)
        legend(panels[0], place="center right")
        heading(figure, f"Where walks are after {self.draws:,} draws, {int(total[0]):,} from each start")
        return figure

    def _draw_shares(
        self, ax: Axes, count: Array, total: Array, color: str, label: str, expected: Array | float = 0.0
    ) -> None:
        """Draw shares of walks minus their expected values, with Wilson intervals, for each initial bandwidth."""
        share = wilson(count, total)
        bars, y = np.abs([share.center - share.low, share.high - share.center]), share.center - expected
        style: dict[str, Any] = {"fmt": "o", "markersize": 4.5, "elinewidth": 1.3, "capsize": 2.5}
        ax.errorbar(self.starts, y, bars, color=color, label=label, **style)


def _absorbed_at(at_end: Array) -> list[int | None]:
    """Return the draw after which each walk stayed at an end; None if it is not at an end after its last draw.

    Examples
    --------
    >>> _absorbed_at(np.array([[False, True, False, True], [True, True, True, True], [True, True, True, False]]))
    [4, 1, None]
    """
    draws = at_end.shape[1]
    # a walk that is close to an end can leave it again
    last_inside = np.where(at_end.all(axis=1), 0, draws - np.argmax(~at_end[:, ::-1], axis=1))
    return [None if k == draws else int(k) + 1 for k in last_inside]


def _shown_draws(draws: int) -> list[int]:
    """Return up to 60 draw numbers that are nearly evenly spaced on a logarithmic axis."""
    return np.unique(np.round(np.geomspace(1, draws, 60)).astype(int)).tolist()
