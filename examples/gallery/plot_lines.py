"""
Lines with intervals
====================

``plot_lines`` draws one quantity against another, with shaded intervals, one line for each thing compared. This example
shows how many clusters two algorithms find in the paper's mixture of three components, as mean and range over five
seeds.
"""

import matplotlib.pyplot as plt
import numpy as np

from modeseek import DoublyStochasticMeanShift, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.plots import Band, plot_lines

sizes = [10, 20, 40, 80]
methods = {
    "SMS, h = 0.9": lambda seed: StochasticMeanShift(0.9, random_state=seed),
    "DSMS, 0.2 to 1.6": lambda seed: DoublyStochasticMeanShift(0.2, 1.6, 0.6, random_state=seed),
}
lines = {}
for name, make in methods.items():
    counts = np.array(
        [[make(seed).fit(paper_mixture(n, random_state=seed)[0]).n_clusters_ for n in sizes] for seed in range(5)]
    )
    lines[name] = Band(sizes, counts.mean(axis=0), counts.min(axis=0), counts.max(axis=0))
labels = {"x_label": "points in each component", "y_label": "number of clusters"}
plot_lines(lines, **labels, reference=3, reference_label="true number")
plt.show()
