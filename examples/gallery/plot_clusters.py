"""
Clusters, and who is in doubt
=============================

``plot_clusters`` draws points in the colours of their clusters. Given a fitted estimator it also knows how sure each
point is: the less certain, the fainter, and points in doubt have a ring.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from modeseek import ModeSeek
from modeseek.datasets import many_clusters
from modeseek.plots import plot_clusters

X, _ = make_blobs([150, 100, 60], centers=[(0, 0), (3, 0.5), (0.5, 3.2)], random_state=0)
model = ModeSeek(random_state=0).fit(X)
plot_clusters(X, model, title="Three blobs that touch")
plt.show()

# %%
# More than two features are drawn by their first two principal components, and the axes say how much these hold.
wine = StandardScaler().fit_transform(load_wine().data)
plot_clusters(wine, ModeSeek(random_state=0).fit(wine), title="178 wines, 13 measurements")
plt.show()

# %%
# One feature is a histogram over a strip of points. Labels of any other method will do.
plot_clusters(X[:, :1], model.labels_, feature_names=["length"], title="One feature")
plt.show()

# %%
# With many clusters there is no legend. Their numbers are in the picture instead.
many, labels = many_clusters(60, 40, spacing=4, random_state=0)
plot_clusters(many, labels, title="Sixty clusters")
plt.show()
