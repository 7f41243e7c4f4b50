"""
The ways of the points
======================

Mean shift moves points. An estimator with ``record=["snapshots"]`` remembers where they were, and
``plot_trajectories`` draws the way of each from the data, in grey, to the clump that it ended in.
"""

import matplotlib.pyplot as plt

from modeseek import DoublyStochasticMeanShift, MeanShift
from modeseek.datasets import paper_mixture
from modeseek.plots import plot_trajectories

X, _ = paper_mixture(80, random_state=1)
model = DoublyStochasticMeanShift(0.4, 1.8, 0.9, record=["snapshots"], random_state=0).fit(X)
plot_trajectories(model, title="Doubly stochastic mean shift")
plt.show()

# %%
# In plain mean shift nobody moves but the climbers, each uphill to a mode of the density.
climbers = MeanShift(1.2, record=["snapshots"]).fit(X)
plot_trajectories(climbers, title="Mean shift")
plt.show()

# %%
# A single feature is drawn over time.
line = DoublyStochasticMeanShift(record=["snapshots"], random_state=0).fit(X[:, :1])
plot_trajectories(line, feature_names=["x"], title="One feature")
plt.show()
