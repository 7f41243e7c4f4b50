"""The log-log figure of `peers.py`: seconds against the number of points."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np

# Okabe and Ito's colours, which colour-blind readers can tell apart; peers are grey and told apart by their labels
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
PEER = "#777777"
MARKS = "osD^vP"


def spread(values: list[float], gap: float, top: float) -> list[float]:
    """Move label heights apart to at least `gap`, in their order, none above `top`."""
    order = np.argsort(values)
    heights = np.array(values, dtype=float)
    for before, after in pairwise(order):
        heights[after] = max(heights[after], heights[before] + gap)
    ceiling = top
    for i in order[::-1]:
        heights[i] = min(heights[i], ceiling)
        ceiling = heights[i] - gap
    return list(heights)


def draw(rows: list[dict[str, str]], path: Path) -> None:
    """Draw a panel for each data set and save it."""
    import matplotlib

    matplotlib.use("Agg")
    # without it an SVG file differs from run to run though the picture does not
    matplotlib.rcParams.update({"svg.hashsalt": "modeseek", "font.size": 9})
    import matplotlib.pyplot as plt

    done = [row for row in rows if row["status"] == "ok"]
    panels = list(dict.fromkeys(row["data"] for row in done))
    own = list(dict.fromkeys(row["method"] for row in rows if row["ours"] == "True"))
    figure, axes = plt.subplots(1, len(panels), figsize=(6.4 * len(panels), 5.2), sharey=True, squeeze=False)
    seconds = [float(row["wall_s"]) for row in done]
    limits = min(seconds) / 2, max(seconds) * 2
    for axis, data in zip(axes[0], panels, strict=True):
        _panel(axis, [row for row in done if row["data"] == data], own, limits)
        axis.set_title(f"{data}, ten Gaussian blobs", loc="left")
    axes[0][0].set_ylabel("seconds (wall)")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    if path.suffix == ".svg":  # no blanks at the ends of lines
        path.write_text(re.sub(r"[ \t]+$", "", path.read_text(), flags=re.M))


def _panel(axis, rows: list[dict[str, str]], own: list[str], limits: tuple[float, float]) -> None:  # type: ignore[no-untyped-def]
    names = list(dict.fromkeys(row["method"] for row in rows))
    lines = {
        name: np.array([(float(r["n"]), float(r["wall_s"])) for r in rows if r["method"] == name]) for name in names
    }
    everything = np.concatenate(list(lines.values()))
    low, high = limits
    right = everything[:, 0].max()
    ends = spread([np.log10(lines[name][-1, 1]) for name in names], np.log10(high / low) / 22, np.log10(high) - 0.1)
    for name, height in zip(names, ends, strict=True):
        ours = name in own
        i = own.index(name) if ours else 0
        colour = COLOURS[i % len(COLOURS)] if ours else PEER
        n, seconds = lines[name].T
        axis.plot(
            n, seconds, color=colour, lw=2.0 if ours else 1.0, marker=MARKS[i % len(MARKS)] if ours else ".", ms=5
        )
        axis.plot([n[-1], right * 1.5], [seconds[-1], 10**height], color=colour, lw=0.5, ls=":", clip_on=False)
        weight = "bold" if ours else "normal"
        axis.text(right * 1.6, 10**height, name, color=colour, va="center", weight=weight, fontsize=8)
    axis.set(xscale="log", yscale="log", ylim=(low, high), xlim=(everything[:, 0].min() / 1.3, right * 1.3))
    axis.set_xlabel("number of points")
    axis.grid(which="major", color="#dddddd", lw=0.5)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
