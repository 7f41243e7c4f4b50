"""Draw the figure of docs/mode-seek.md: the merge tree of the modes of the penguin measurements.

python examples/tree_picture.py docs/images/merge-tree.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics import adjusted_rand_score

from modeseek import ModeSeek
from modeseek.plots import plot_prominence, plot_tree

PENGUINS = Path(__file__).parent / "penguins.csv"


def main(path: str) -> None:
    """Fit, print the agreement of the tree with the species, and draw the modes by prominence and as a tree."""
    X = np.loadtxt(PENGUINS, delimiter=",", skiprows=1, usecols=range(4))
    species = np.loadtxt(PENGUINS, delimiter=",", skiprows=1, usecols=4, dtype=str)
    model = ModeSeek(random_state=0).fit((X - X.mean(axis=0)) / X.std(axis=0))
    print(model.message_)
    print(model.tree_)
    for n_clusters in (2, 3, 4):
        labels = model.tree_.clusters(n_clusters)
        score = adjusted_rand_score(species, labels)
        print(f"{n_clusters} clusters of the tree: sizes {np.bincount(labels).tolist()}, ARI with species {score:.2f}")
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_prominence(model, ax=left, title="Modes by prominence")
    plot_tree(model, ax=right, title="Merge tree")
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1])
