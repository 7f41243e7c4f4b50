"""The pictures of the walk's absorption."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import PercentFormatter

from modeseek._common.types import Array
from modeseek.paper.intervals import wilson
from modeseek.paper.rows import Rows
from modeseek.paper.theory_style import COLORS, heading, legend, new_figure, plain_numbers, style_panel
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from modeseek.paper.absorption import Absorption

__all__ = ["draw_paths", "draw_starts"]

NU_NAMES = {"log-log": "the paper's slow nu", "1/k": "nu = 1/k"}
FARTHEST = 10**7


def draw_paths(experiment: Absorption, rows: Rows) -> Figure:
    """Draw single walks, and the share of all at either end; beside them shrinking."""
    figure = new_figure(11, 6.2)
    axes = figure.subplots(2, len(experiment.nus) + 1, sharey="row", height_ratios=[3, 2])
    for column, nu in enumerate(experiment.nus):
        _walks(axes[0, column], experiment, rows, nu)
        _ends(axes[1, column], experiment, rows, nu)
    _shrinking(axes[0, -1], axes[1, -1], experiment)
    axes[0, 0].set_ylabel("bandwidth h", color=TEXT_COLOR)
    axes[1, 0].set_ylabel("share", color=TEXT_COLOR)
    for ax in axes[0]:
        for end in (experiment.settings.h_min, experiment.settings.h_max):
            ax.axhline(end, color=MUTED_COLOR, linewidth=0.9, linestyle=(0, (4, 3)))
        plain_numbers(ax, "y", [experiment.settings.h_min, experiment.settings.h_inf, 1.0, experiment.settings.h_max])
    shares = [100 * np.isfinite(rows.where(kind="path", nu=nu)["absorbed_at"]).mean() for nu in experiment.nus]
    parts = [f"{share:.0f} % with {NU_NAMES.get(nu, nu)}" for share, nu in zip(shares, experiment.nus, strict=True)]
    heading(
        figure,
        f"Walks from {experiment.settings.h_inf:g} at an end after {experiment.draws:,} draws: " + ", ".join(parts),
    )
    return figure


def _walks(ax: Axes, experiment: Absorption, rows: Rows, nu: str) -> None:
    steps = rows.where(kind="step", nu=nu)
    for path in steps.distinct("path"):
        mine = steps.where(path=path)
        h = mine["h"]
        at = "h_min" if h[-1] <= experiment.settings.h_min * (1 + experiment.tolerance) else "inside"
        at = "h_max" if h[-1] >= experiment.settings.h_max * (1 - experiment.tolerance) else at
        color = MUTED_COLOR if at == "inside" else COLORS[at]
        ax.plot(mine["k"], h, color=color, linewidth=0.9, alpha=0.65)
    ax.set_xscale("log")
    style_panel(ax, title=f"walk, {NU_NAMES.get(nu, nu)}")


def _ends(ax: Axes, experiment: Absorption, rows: Rows, nu: str) -> None:
    paths = rows.where(kind="path", nu=nu)
    at, low = paths["absorbed_at"], paths["h"] < experiment.settings.h_inf
    k = np.arange(1, experiment.draws + 1)
    to_min, to_max = ((at[side][:, None] <= k).sum(axis=0) / len(at) for side in (low, ~low))
    bands = [("at h_min", "h_min", 0 * to_min, to_min), ("inside", "inside", to_min, 1 - to_max)]
    for label, name, bottom, top in [*bands, ("at h_max", "h_max", 1 - to_max, np.ones_like(to_max))]:
        ax.fill_between(k, bottom, top, color=COLORS[name], linewidth=0, alpha=0.85, label=label)
    ax.set(xscale="log", ylim=(0, 1))
    style_panel(ax, x="draw k", title=f"where {len(at):,} walks are")
    ax.margins(x=0.045)
    legend(ax, place="lower left")


def _shrinking(above: Axes, below: Axes, experiment: Absorption) -> None:
    k = np.unique(np.round(np.geomspace(1, FARTHEST, 400)))
    low, high = np.array([experiment.shrinking(int(at)) for at in k]).T
    draws = low + (high - low) * np.random.default_rng(0).random(len(k))
    above.fill_between(k, low, high, color=COLORS["shrinking"], alpha=0.15, linewidth=0)
    above.plot(k, draws, ".", markersize=2.5, color=COLORS["shrinking"])
    above.axhline(experiment.settings.h_inf, color=TEXT_COLOR, linewidth=0.9)
    label = above.annotate(
        "h_inf", (1, experiment.settings.h_inf), (2, 4), textcoords="offset points", color=TEXT_COLOR
    )
    label.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1})
    above.set_xscale("log")
    style_panel(above, title="shrinking, the paper's slow nu")
    share = (high - low) / (experiment.settings.h_max - experiment.settings.h_min)
    below.plot(k, share, color=COLORS["shrinking"], linewidth=2)
    below.annotate(
        f"{share[-1]:.2f} at k = 10^7",
        (k[-1], share[-1]),
        (0, -16),
        textcoords="offset points",
        ha="right",
        color=TEXT_COLOR,
    )
    below.set_xscale("log")
    style_panel(below, x="draw k", title="share of the range it draws from")


def draw_starts(experiment: Absorption, rows: Rows) -> Figure:
    """Draw the shares at either end and inside against the start, and how far the formula is from the simulation."""
    figure = new_figure(11, 4.0)
    axes = figure.subplots(1, len(experiment.nus) + 1)
    for ax, nu in zip(axes, experiment.nus, strict=False):
        at_min, at_max, total = _counts(experiment, rows, nu)
        formula = _formula(
            experiment, nu, grid := np.linspace(experiment.settings.h_min, experiment.settings.h_max, 300)
        )
        if formula is not None:
            ax.plot(grid, formula, color=COLORS["h_min"], linewidth=1.4)
            ax.plot(grid, 1 - formula, color=COLORS["h_max"], linewidth=1.4)
            ax.plot([], [], color=TEXT_COLOR, linewidth=1.4, label="formula")
            _gaps(axes[-1], experiment, at_min, total)
        _dots(ax, experiment, at_min, total, COLORS["h_min"], "at h_min")
        _dots(ax, experiment, at_max, total, COLORS["h_max"], "at h_max")
        _dots(ax, experiment, total - at_min - at_max, total, MUTED_COLOR, "inside")
        style_panel(ax, x="start h_0", y="share of walks", title=f"walk, {NU_NAMES.get(nu, nu)}")
        ax.set(xlim=(experiment.settings.h_min - 0.04, experiment.settings.h_max + 0.04), ylim=(-0.03, 1.03))
    legend(axes[0], place="center right")
    heading(figure, f"Where walks are after {experiment.draws:,} draws, {int(total[0]):,} from each start")
    return figure


def _counts(experiment: Absorption, rows: Rows, nu: str) -> Array:
    shares = rows.where(kind="share", nu=nu)
    by_start = [shares.where(h_0=start) for start in experiment.starts]
    return np.array([[mine[name].sum() for mine in by_start] for name in ("at_min", "at_max", "paths")])


def _formula(experiment: Absorption, nu: str, starts: Array) -> Array | None:
    ends = [experiment.walk(nu).absorption(h).to_min for h in starts]
    return None if ends[0] is None else np.array(ends, dtype=np.float64)


def _dots(
    ax: Axes, experiment: Absorption, count: Array, total: Array, color: str, label: str, less: Array | float = 0.0
) -> None:
    share = wilson(count, total)
    bars = np.abs([share.center - share.low, share.high - share.center])
    place, middle = experiment.starts, share.center - less
    ax.errorbar(place, middle, bars, fmt="o", markersize=4.5, elinewidth=1.3, capsize=2.5, color=color, label=label)


def _gaps(ax: Axes, experiment: Absorption, at_min: Array, total: Array) -> None:
    formula = _formula(experiment, "log-log", np.array(experiment.starts))
    assert formula is not None
    _dots(ax, experiment, at_min, total, COLORS["h_min"], "at h_min", formula)
    ax.axhline(0, color=TEXT_COLOR, linewidth=1)
    ax.set_xlim(experiment.settings.h_min - 0.04, experiment.settings.h_max + 0.04)
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=1))
    style_panel(ax, x="start h_0", title="at h_min: simulated less formula")
