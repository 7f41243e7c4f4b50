"""Draw the figure of the README: a sparse mixture, clustered by SMS, DSMS and ModeSeek.

python examples/readme_picture.py docs/images/mixture.png
"""

from __future__ import annotations

import sys

from matplotlib.figure import Figure

from modeseek import DoublyStochasticMeanShift, ModeSeek, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.plots import plot_clusters


def main(path: str) -> None:
    """Fit the three estimators and draw their clusters side by side."""
    X, _ = paper_mixture(50, random_state=0)
    models = {
        "SMS, h = 0.6": StochasticMeanShift(0.6, random_state=0),
        "DSMS, h in [0.2, 1.6]": DoublyStochasticMeanShift(0.2, 1.6, 0.6, random_state=0),
        "ModeSeek, defaults": ModeSeek(random_state=0),
    }
    figure = Figure(figsize=(14, 4.6), layout="constrained")
    for ax, (name, model) in zip(figure.subplots(1, 3, sharex=True, sharey=True), models.items(), strict=True):
        plot_clusters(model.fit(X), X, feature_names=["x", "y"], ax=ax, title=name)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1])
