"""
Who goes with whom
==================

Several chains rarely agree on every point. ``plot_coassociation`` shows in how many of them two points share a
cluster: dark squares are clusters that hold together, and lines through them are points that could go elsewhere.
"""

import matplotlib.pyplot as plt

from modeseek import DoublyStochasticMeanShift, ModeSeek
from modeseek.datasets import paper_mixture
from modeseek.plots import plot_coassociation

X, _ = paper_mixture(60, random_state=1)
model = DoublyStochasticMeanShift(n_chains=16, random_state=0).fit(X)
plot_coassociation(model, title="Sixteen chains")
plt.show()

# %%
# ``ModeSeek`` has memberships instead: how often a point went with each cluster when others were taken away.
plot_coassociation(ModeSeek(random_state=0).fit(X), title="ModeSeek")
plt.show()
