"""The pictures of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from modeseek.paper.paper_chains import POLICIES
from modeseek.paper.rows import Rows
from modeseek.paper.theory_style import COLORS, NAMES, legend, new_figure, plain_numbers, style_panel
from modeseek.plots.colors import MUTED_COLOR, NOISE_COLOR, TEXT_COLOR, palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from modeseek.paper.one_run import OneRun

__all__ = ["draw_course", "draw_points"]

DASHES = (0, (4, 3))


def draw_points(experiment: OneRun, rows: Rows) -> Figure:
    """Draw a row of snapshots for each policy."""
    points = rows.where(kind="point")
    shown = {policy: points.where(policy=policy).distinct("sweep") for policy in POLICIES}
    columns = max(len(sweeps) for sweeps in shown.values())
    figure = new_figure(2.3 * columns + 0.4, 5.2)
    axes = figure.subplots(len(POLICIES), columns, sharex=True, sharey=True, squeeze=False)
    for policy, line in zip(POLICIES, axes, strict=True):
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
            ax.set_title(words, loc="right", fontsize="small", color=MUTED_COLOR)
            before = now
        for ax in line[len(shown[policy]) :]:
            ax.set_visible(False)
        line[0].set_ylabel(NAMES[policy], color=COLORS[policy], fontweight="bold")
        for ax in line:
            ax.set_aspect("equal", adjustable="box")
    return figure


def _colors(labels: np.ndarray) -> list[str]:
    """Colour clusters from the heaviest; single points are grey."""
    several = int((np.bincount(labels) > 1).sum())
    shades = palette(several)
    return [shades[label] if label < several else NOISE_COLOR for label in labels]


def draw_course(experiment: OneRun, rows: Rows) -> Figure:
    """Draw bandwidths, L and the certificate over time, a column for each policy."""
    figure = new_figure(10.5, 7.6)
    axes = figure.subplots(3, len(POLICIES), sharex="col", sharey="row", height_ratios=[3, 2.2, 4])
    for policy, column in zip(POLICIES, axes.T, strict=True):
        sweeps, draws = rows.where(kind="sweep", policy=policy), rows.where(kind="draw", policy=policy)
        n = 3 * experiment.n_per_cluster
        certified = sweeps["certified"].astype(bool)
        at = int(np.argmax(certified)) if certified.any() else None
        # the walk moves in its first sweep; of independent draws the same share of every sweep is shown
        kept = (draws["k"] - 1) % (1 if policy == "walk" else experiment.every) == 0
        _bandwidths(column[0], experiment, draws["k"][kept] / n, draws["h"][kept], policy)
        column[1].plot(sweeps["sweep"], sweeps["L"], color=COLORS[policy], marker="o", markersize=3, linewidth=1.3)
        style_panel(column[1])
        column[1].set_ylim(0, 1.03)
        _certificate(column[2], experiment, sweeps)
        if at is not None:
            for ax in column:
                ax.axvline(at, color=TEXT_COLOR, linewidth=1.1, linestyle=DASHES)
            count = sweeps["clusters"][at]
            words = f"certified after sweep {at}: {count:.0f} cluster" + "s" * int(count > 1)
            column[0].set_title(words, loc="right", fontsize="small", color=TEXT_COLOR)
    for ax, label in zip(axes[:, 0], ("bandwidth h", "L_h / largest", "distance"), strict=True):
        ax.set_ylabel(label, color=TEXT_COLOR)
    legend(axes[2, 0], place="lower left")
    return figure


def _bandwidths(ax: Axes, experiment: OneRun, sweeps: np.ndarray, h: np.ndarray, policy: str) -> None:
    # the walk is a path, the others are draws that have nothing to do with each other
    style = {"linewidth": 1.4} if policy == "walk" else {"linewidth": 0, "marker": ".", "markersize": 2.2}
    ax.plot(sweeps, h, color=COLORS[policy], **style)
    for end in (experiment.settings.h_min, experiment.settings.h_max):
        ax.axhline(end, color=MUTED_COLOR, linewidth=0.9, linestyle=DASHES)
    style_panel(ax, title=NAMES[policy])
    plain_numbers(ax, "y", [experiment.settings.h_min, experiment.settings.h_inf, 1.0, experiment.settings.h_max])


def _certificate(ax: Axes, experiment: OneRun, sweeps: Rows) -> None:
    at, diameter = sweeps["sweep"], sweeps["diameter"]
    lines = [
        ("gap", "gap between clusters", sweeps["gap"]),
        ("bound", "h_upper + 2D", sweeps["h_upper"] + 2 * diameter),
        ("diameter", "diameter D", np.where(diameter > 0, diameter, np.nan)),
    ]
    for name, label, values in lines:
        ax.plot(at, values, color=COLORS[name], marker="o", markersize=3, linewidth=1.4, label=label)
    ax.axhline(experiment.tau, color=MUTED_COLOR, linewidth=0.9, linestyle=DASHES, label=f"tau = {experiment.tau:g}")
    ax.set_yscale("log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    style_panel(ax, x="updates per point (sweeps)")
