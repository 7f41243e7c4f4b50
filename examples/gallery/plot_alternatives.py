"""
What nearly won
===============

``ModeSeek`` asks many partitions how well they come back when points are taken away, and takes one.
``plot_alternatives`` puts those that nearly won beside it, with their stability.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from modeseek import ModeSeek
from modeseek.plots import plot_alternatives

X, _ = make_blobs([90, 60, 50], centers=[(0, 0), (4, 0.5), (0.5, 4)], random_state=0)
plot_alternatives(ModeSeek(random_state=0).fit(X), X)
plt.show()
