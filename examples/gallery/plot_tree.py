"""
Merge tree of the modes
=======================

``plot_tree`` draws the density that ``ModeSeek`` estimates as hills, one for each cluster, whose width is the number of
points. A line goes from the top of a hill down to the saddle at which it merges with a higher hill.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from modeseek import ModeSeek
from modeseek.plots import plot_tree

X, _ = make_blobs([90, 60, 50], centers=[(0, 0), (5, 0), (0, 5)], random_state=0)
model = ModeSeek(random_state=0).fit(X)
plot_tree(model, title="Three hills")
plt.show()

# %%
# The same tree at a lower level of prominence, which gives five hills.
plot_tree(model.tree_, level=model.tree_.level_for(5), title="Five hills")
plt.show()
