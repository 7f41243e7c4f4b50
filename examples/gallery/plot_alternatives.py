"""
Alternative partitions
======================

``ModeSeek`` compares many partitions by their stability, which is how well they are found again in random subsamples of
the rows. ``plot_alternatives`` draws the chosen partition, in a thick frame, next to the best alternatives.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from modeseek import ModeSeek
from modeseek.plots import plot_alternatives

X, _ = make_blobs([90, 60, 50], centers=[(0, 0), (4, 0.5), (0.5, 4)], random_state=0)
plot_alternatives(ModeSeek(random_state=0).fit(X), X)
plt.show()
