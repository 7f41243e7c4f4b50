"""
Trace of a run
==============

With ``record="all"``, an estimator records quantities after each sweep, and ``plot_trace`` draws them: the objective,
the number of clumps (groups of points linked by distances below tau), the diameter of the widest clump, and the gap
between clumps. The run is certified once the diameter is below tau and the gap is above the dashed line; no later
update can then change the clusters.
"""

import matplotlib.pyplot as plt

from modeseek import DoublyStochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.plots import plot_trace

X, _ = paper_mixture(60, random_state=0)
model = DoublyStochasticMeanShift(record="all", random_state=0).fit(X)
plot_trace(model, title="Doubly stochastic mean shift")
plt.show()

# %%
# Two of the four quantities, on given axes.
figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
plot_trace(model, quantities=["clumps", "gap"], axes=axes)
plt.show()
