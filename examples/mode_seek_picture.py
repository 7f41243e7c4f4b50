"""Draw the figure of docs/mode-seek.md: the steps of ModeSeek on points in the plane.

python examples/mode_seek_picture.py docs/images/mode-seek-steps.png
"""

import sys

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs

from modeseek import ModeSeek
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.plots import plot_clusters
from modeseek.plots.colors import MUTED_COLOR, palette
from modeseek.selection import SelectionData, base_sample, build_pool, candidate_features, prepare_data
from modeseek.selection.choice import load_choice, with_single
from modeseek.selection.pool import ORIGINS
from modeseek.selection.proposers.modes import Modes, unique_edges
from modeseek.selection.select import in_words

CENTERS = [(0.0, 0.0), (4.1, 0.5), (1.9, 3.8), (8.2, 4.1)]
N_NEIGHBORS = 8
TITLE = {"loc": "left", "fontweight": "bold", "fontsize": 11}


def draw_density(ax: Axes, data: SelectionData, X: np.ndarray) -> None:
    """Draw the edges of the nearest-neighbour graph, and the points coloured by their density."""
    near = slice(None), slice(N_NEIGHBORS)
    edges = np.column_stack(unique_edges(data.indices[near], data.distances[near])[:2])
    ((_, tree),) = Modes().trees(data, [N_NEIGHBORS])
    ax.add_collection(LineCollection(list(X[edges]), colors=MUTED_COLOR, linewidths=0.4, alpha=0.6, zorder=1))
    points = ax.scatter(*X.T, c=tree.heights, s=14, cmap="viridis", zorder=2)
    ax.figure.colorbar(points, ax=ax, label="log density", shrink=0.8)
    ax.set_title("1. Nearest-neighbour graph and density", **TITLE)
    ax.set(xlabel="x", ylabel="y")


def draw_proposals(ax: Axes, pool) -> None:
    """Draw how many proposals each proposer made, by number of clusters."""
    counts = np.array([each.labels.max() + 1 for each in pool.candidates])
    top, below = 12, np.zeros(12)
    for number, origin in enumerate(ORIGINS):
        votes = np.bincount(np.minimum(counts, top) - 1, weights=pool.votes[:, number], minlength=top)
        ax.bar(np.arange(1, top + 1), votes, bottom=below, color=palette(len(ORIGINS))[number], label=in_words(origin))
        below += votes
    ax.set_title(f"2. Proposals: {int(below.sum())}, of which {len(pool)} differ", **TITLE)
    ax.set(xlabel="number of clusters", ylabel="proposals")
    ax.set_xticks(range(2, top + 1), [*map(str, range(2, top)), f"{top}+"])
    ax.legend(frameon=False, fontsize=8, loc=(0.42, 0.45))


def draw_choice(ax: Axes, pool, expected: np.ndarray, chosen: int) -> None:
    """Draw the expected agreement of every candidate against its number of clusters."""
    counts = np.array([*(each.labels.max() + 1 for each in pool.candidates), 1])
    owner = np.array([*(ORIGINS.index(each.proposer) for each in pool.candidates), -1])
    for number in range(len(ORIGINS)):
        own = owner == number
        ax.scatter(counts[own], expected[own], s=16, color=palette(len(ORIGINS))[number])
    ax.scatter(counts[-1], expected[-1], s=30, marker="D", color="black", label="one cluster")
    ax.plot(counts[chosen], expected[chosen], "o", ms=13, mfc="none", mec="black", mew=1.6, label="chosen")
    ax.set_title("3. Expected agreement of the candidates", **TITLE)
    ax.set(xlabel="number of clusters", ylabel="expected agreement", xscale="log", ylim=(0, 1))
    ax.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    ax.minorticks_off()
    ax.legend(frameon=False, fontsize=8)


def main(path: str) -> None:
    """Fit, and draw one panel for each step."""
    X, _ = make_blobs([110, 90, 60, 50], centers=CENTERS, cluster_std=[0.8, 0.8, 0.7, 0.6], random_state=0)
    model = ModeSeek(random_state=0).fit(X)
    print(model.message_)
    points = canonical_points(X, np.ones(len(X)), Geometry())
    data = prepare_data(points)
    pool = build_pool(data)
    features = candidate_features(data, base_sample(data), pool)
    together = with_single(pool.agreement)
    agreement = load_choice().probabilities(features, together) @ together
    figure = Figure(figsize=(11, 8), layout="constrained")
    (density, proposals), (expected, clusters) = figure.subplots(2, 2)
    draw_density(density, data, points.to_data(points.values))
    draw_proposals(proposals, pool)
    draw_choice(expected, pool, agreement, int(agreement.argmax()))
    plot_clusters(model, X, feature_names=["x", "y"], ax=clusters, title="4. Selected clusters and confidence")
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1])
