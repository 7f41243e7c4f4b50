"""Draw one data set of every family, and list the families in README.md beside this file.

python benchmarks/synthetic/gallery.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from synthetic import FAMILIES, NULL, make, prepared

HERE = Path(__file__).parent
ACROSS = 9
HEAD = f"""# Synthetic data sets

Labelled data sets from {len(FAMILIES)} families, seeded and without end. `make(name, seed)` returns a `Sample`: rows,
labels, the metric and, where the density is known, the labels of the Bayes rule. Families of the group "{NULL}" have no
clusters. `gallery.py` made this page and the picture, one set of each family (first two principal components, colours
are the labels, grey is background noise).

![One data set of every family](families.png)

| family | group | data |
|---|---|---|
"""


def draw() -> Figure:
    down = -(-len(FAMILIES) // ACROSS)
    figure = Figure(figsize=(1.5 * ACROSS, 1.65 * down), layout="constrained")
    grid = figure.subplots(down, ACROSS)
    for ax in grid.flat:
        ax.set_axis_off()
    for ax, name in zip(grid.flat, FAMILIES, strict=False):
        sample = make(name, 1)
        X = prepared(sample)
        X = X - X.mean(axis=0)
        if X.shape[1] > 2:
            X = X @ np.linalg.svd(X[:800], full_matrices=False)[2][:2].T
        x, y = (X[:, 0], X[:, 1]) if X.shape[1] > 1 else (X[:, 0], np.random.default_rng(0).normal(size=len(X)))
        some = np.random.default_rng(0).permutation(len(x))[:700]
        noise = sample.y[some] < 0
        ax.scatter(x[some][noise], y[some][noise], s=1.5, color="0.75", linewidths=0)
        ax.scatter(x[some][~noise], y[some][~noise], s=1.5, c=sample.y[some][~noise] % 20, cmap="tab20", linewidths=0)
        ax.set_title(name.replace("_", " "), fontsize=6)
    return figure


def main() -> None:
    draw().savefig(HERE / "families.png", dpi=80)
    lines = []
    for family in FAMILIES.values():
        text = (family.generate.__doc__ or "").strip().splitlines()[0]
        lines.append(f"| `{family.name}` | {family.group} | {text} |")
    (HERE / "README.md").write_text(HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
