"""
Comparison of two partitions
============================

``plot_comparison`` matches the clusters of two partitions of the same points. Points that stay in their cluster are
pale, points that change cluster are not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from modeseek import ModeSeek
from modeseek.plots import plot_comparison

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)
cultivar = wine.target_names[wine.target]
model = ModeSeek(random_state=0).fit(X)
plot_comparison(cultivar, model, names=("cultivar", "ModeSeek"), title="178 wines")
plt.show()

# %%
# With more than fourteen clusters, the plot is a matrix. Matched clusters are in frames on the diagonal.
rng = np.random.default_rng(0)
before = rng.integers(0, 30, 3000)
after = np.where(rng.random(3000) < 0.15, rng.integers(0, 30, 3000), before)
plot_comparison(before, after, names=("before", "after"), title="Thirty clusters")
plt.show()
