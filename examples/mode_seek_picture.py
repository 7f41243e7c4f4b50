"""Draw the figure of docs/mode-seek.md: the steps of ModeSeek on points in the plane.

python examples/mode_seek_picture.py docs/images/mode-seek-steps.png
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs

from modeseek import ModeSeek
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.plots import plot_clusters, plot_prominence
from modeseek.plots.colors import MUTED_COLOR, SHARE_COLORS
from modeseek.selection import DEFAULT, Candidate, KnnGraph, build_knn_graph
from modeseek.selection.grid_proposers import Modes
from modeseek.selection.progress import SelectionProgress

CENTERS = [(0.0, 0.0), (4.1, 0.5), (1.9, 3.8), (8.2, 4.1)]
N_NEIGHBORS = 8
TITLE = {"loc": "left", "fontweight": "bold", "fontsize": 11}


def draw_density(ax: Axes, graph: KnnGraph, X: np.ndarray) -> None:
    """Draw the edges of the nearest-neighbour graph, and the points coloured by their density."""
    heights, edges, _ = Modes().densities(graph, (N_NEIGHBORS,))[N_NEIGHBORS]
    ax.add_collection(LineCollection(X[edges], colors=MUTED_COLOR, linewidths=0.4, alpha=0.6, zorder=1))
    points = ax.scatter(*X.T, c=heights, s=14, cmap="viridis", zorder=2)
    ax.figure.colorbar(points, ax=ax, label="log density", shrink=0.8)
    ax.set_title("1. Nearest-neighbour graph and density", **TITLE)
    ax.set(xlabel="x", ylabel="y")


def draw_stability(ax: Axes, candidates: list[Candidate]) -> None:
    """Draw the stability of the partitions on the grid of settings, with their numbers of clusters."""
    by_setting = {each.setting: each for each in candidates}
    counts = sorted({count for count, _ in by_setting})
    errors = list(DEFAULT.modes.standard_errors)
    table = np.array([[_stability(by_setting.get((count, error))) for error in errors] for count in counts])
    image = ax.imshow(table, origin="lower", cmap=SHARE_COLORS, vmin=0.0, vmax=1.0, aspect="auto")
    for (count, error), each in by_setting.items():
        row, column = counts.index(count), errors.index(error)
        color = "white" if each.stability > 0.6 else "black"
        ax.text(column, row, f"{each.n_clusters}", ha="center", va="center", color=color, fontsize=8)
    count, error = candidates[0].setting
    ax.plot(errors.index(error), counts.index(count), "s", ms=19, mfc="none", mec="#D55E00", mew=2.0)
    ax.set_title("3. Stability and number of clusters", **TITLE)
    ax.set(xlabel="least prominence, standard errors", ylabel="neighbours")
    ax.set_xticks(range(len(errors)), [f"{each:g}" for each in errors])
    ax.set_yticks(range(len(counts)), [f"{each:g}" for each in counts])
    ax.figure.colorbar(image, ax=ax, label="stability", shrink=0.8)


def _stability(candidate: Candidate | None) -> float:
    return 0.0 if candidate is None else candidate.stability


def main(path: str) -> None:
    """Fit, and draw one panel for each step."""
    X, _ = make_blobs([110, 90, 60, 50], centers=CENTERS, cluster_std=[0.8, 0.8, 0.7, 0.6], random_state=0)
    model = ModeSeek(random_state=0).fit(X)
    print(model.message_)
    points = canonical_points(X, np.ones(len(X)), Geometry())
    graph = build_knn_graph(points)
    candidates = Modes().propose(graph, 0, SelectionProgress())
    figure = Figure(figsize=(11, 8), layout="constrained")
    (density, prominence), (stability, clusters) = figure.subplots(2, 2)
    draw_density(density, graph, points.to_data(points.values))
    plot_prominence(model, ax=prominence, title="2. Modes and their prominence")
    draw_stability(stability, candidates)
    plot_clusters(X, model, feature_names=["x", "y"], ax=clusters, title="4. Selected clusters and confidence")
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1])
