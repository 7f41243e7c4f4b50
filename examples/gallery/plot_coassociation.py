"""
How often two points share a cluster
====================================

Several chains rarely agree on every point. ``plot_coassociation`` shows the share of the chains in which two points are
in the same cluster. Dark squares on the diagonal are stable clusters; pale lines through them are points that some
chains put into another cluster.
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
# For ``ModeSeek``, the probability follows from its memberships, which are computed from partitions of subsamples.
plot_coassociation(ModeSeek(random_state=0).fit(X), title="ModeSeek")
plt.show()
