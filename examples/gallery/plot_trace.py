"""
The course of a run
===================

What happens between the first update and the last? With ``record="all"`` an estimator measures it after every sweep,
and ``plot_trace`` draws it: the objective, the number of clumps, the widest of them and the gap between them. The
run is certified when the diameter is below tau and the gap above the dashed line: from then on nothing can change.
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
# Some of the four, on axes of one's own.
figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
plot_trace(model, quantities=["clumps", "gap"], axes=axes)
plt.show()
