"""
The bandwidths that were drawn
==============================

Doubly stochastic mean shift draws a new bandwidth for each update. ``plot_bandwidths`` shows them, with the range
that they come from and the value that it closes on. Two policies, on the same data:
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
# The range closes as fast as the sequence nu falls.
fast = DoublyStochasticMeanShift(0.2, 1.6, 0.6, nu=0.3, random_state=3).fit(X)
plot_bandwidths(fast, title="shrinking, nu = k^-0.3")
plt.show()
