"""
How modes merge
===============

``plot_tree`` draws the density of a ``ModeSeek`` as hills, one for each cluster, as wide as it is heavy. A line goes
from the top of a hill down to the saddle where it meets a higher one.
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
# The same tree at another level: hills that rise by less are crags on others.
plot_tree(model.tree_, level=model.tree_.level_for(5), title="Five hills")
plt.show()
