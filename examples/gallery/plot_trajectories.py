"""
Paths of the points
===================

Mean shift moves points. With ``record=["snapshots"]``, an estimator records their positions, and ``plot_trajectories``
draws the path of each point from its start (grey) to its end (in the colour of its cluster).
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
# In plain mean shift, the data stay in place; each path is a climb to a mode of the density.
climbers = MeanShift(1.2, record=["snapshots"]).fit(X)
plot_trajectories(climbers, title="Mean shift")
plt.show()

# %%
# A single feature is drawn against the number of updates.
line = DoublyStochasticMeanShift(record=["snapshots"], random_state=0).fit(X[:, :1])
plot_trajectories(line, feature_names=["x"], title="One feature")
plt.show()
