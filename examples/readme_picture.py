"""Draw the README's picture: a sparse mixture, clustered by SMS and by DSMS with the paper's settings.

python examples/readme_picture.py docs/images/mixture.png
"""

from __future__ import annotations

import sys

from matplotlib.figure import Figure

from modeseek import DoublyStochasticMeanShift, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.plots import plot_clusters


def main(path: str) -> None:
    """Fit both and draw them side by side."""
    X, _ = paper_mixture(50, random_state=0)
    models = {
        "Stochastic mean shift, h = 0.6": StochasticMeanShift(0.6, random_state=0),
        "Doubly stochastic, h in [0.2, 1.6]": DoublyStochasticMeanShift(0.2, 1.6, 0.6, random_state=0),
    }
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    for ax, (name, model) in zip(figure.subplots(1, 2, sharex=True, sharey=True), models.items(), strict=True):
        model.fit(X)
        plot_clusters(X, model.labels_, centers=model.cluster_centers_, feature_names=["x", "y"], ax=ax, title=name)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1])
