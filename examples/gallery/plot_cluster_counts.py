"""
How many clusters, at which scale
=================================

The number of clusters depends on the bandwidth. A number that lasts over many bandwidths says something of the data,
one that comes and goes says something of the bandwidth. ``sweep_bandwidths`` fits an estimator at each, and
``plot_cluster_counts`` draws how many clusters there are and how long each number lasts.
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
# The plateau that lasts longest has labels, too.
longest = sweep.longest()
plot_clusters(X, sweep.labels[longest.first], title=f"{longest.n_clusters} clusters, from h = {longest.low:.2f} on")
plt.show()

# %%
# A ``ModeSeek`` needs no sweep: its tree has all scales at once, by the prominence that a mode needs.
plot_cluster_counts(ModeSeek(random_state=0).fit(X), title="The modes of a density")
plt.show()
