"""
Number of clusters against the bandwidth
========================================

The number of clusters depends on the bandwidth. A number that holds over a wide range of bandwidths is a property of
the data, a short-lived number an artefact of the bandwidth. ``sweep_bandwidths`` fits an estimator at each bandwidth,
and ``plot_cluster_counts`` draws the number of clusters (above) and the lifetime of each number (below).
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from modeseek import MeanShift, ModeSeek
from modeseek.estimators import sweep_bandwidths
from modeseek.plots import plot_cluster_counts, plot_clusters

X, _ = make_blobs([90, 60, 50], centers=[(0, 0), (5, 0), (0, 5)], random_state=0)
sweep = sweep_bandwidths(X, estimator=MeanShift(min_cluster_size=5))
plot_cluster_counts(sweep, title="Mean shift at 25 bandwidths")
plt.show()

# %%
# The sweep also has the labels at each bandwidth. These are the labels of the longest plateau.
longest = sweep.longest()
plot_clusters(sweep.labels[longest.first], X, title=f"{longest.n_clusters} clusters, from h = {longest.low:.2f} on")
plt.show()

# %%
# ``ModeSeek`` needs no sweep: its merge tree contains the clusters for each prominence that a mode may need.
plot_cluster_counts(ModeSeek(random_state=0).fit(X), title="ModeSeek at all levels of prominence")
plt.show()
