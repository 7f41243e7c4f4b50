"""
Clusters and doubtful points
============================

``plot_clusters`` draws points in the colours of their clusters. With a fitted estimator, it also shows the confidence
of each point: points with a low confidence are faint, and doubtful points have a dark ring.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from modeseek import ModeSeek
from modeseek.datasets import many_clusters
from modeseek.plots import plot_clusters

X, _ = make_blobs([150, 100, 60], centers=[(0, 0), (3, 0.5), (0.5, 3.2)], random_state=0)
model = ModeSeek(random_state=0).fit(X)
plot_clusters(model, X, title="Three overlapping blobs")
plt.show()

# %%
# More than two features are drawn by their first two principal components. The axes state the share of the variance.
wine = StandardScaler().fit_transform(load_wine().data)
plot_clusters(ModeSeek(random_state=0).fit(wine), wine, title="178 wines, 13 measurements")
plt.show()

# %%
# One feature is drawn as a histogram above a strip of points. Labels can come from any method.
plot_clusters(model.labels_, X[:, :1], feature_names=["length"], title="One feature")
plt.show()

# %%
# With more than twelve clusters, numbers in the plot replace the legend.
many, labels = many_clusters(60, 40, spacing=4, random_state=0)
plot_clusters(labels, many, title="Sixty clusters")
plt.show()
