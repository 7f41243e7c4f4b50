"""
Bandwidths of a run
===================

Doubly stochastic mean shift draws a new bandwidth for each update. ``plot_bandwidths`` shows the draws (points), the
range of the next draw (band), and the limit ``h_inf``. Here are two bandwidth policies on the same data.
"""

import matplotlib.pyplot as plt

from modeseek import DoublyStochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.plots import plot_bandwidths

X, _ = paper_mixture(50, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for ax, policy in zip(axes, ("shrinking", "walk"), strict=True):
    model = DoublyStochasticMeanShift(0.2, 1.6, 0.6, policy=policy, random_state=3).fit(X)
    plot_bandwidths(model, ax=ax, title=policy)
plt.show()

# %%
# The range shrinks at the rate of the sequence nu. A faster sequence than the default:
fast = DoublyStochasticMeanShift(0.2, 1.6, 0.6, nu=0.3, random_state=3).fit(X)
plot_bandwidths(fast, title="shrinking, nu = k^-0.3")
plt.show()
