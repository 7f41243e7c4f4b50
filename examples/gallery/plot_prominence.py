"""
Modes by prominence
===================

The prominence of a mode is its height above the saddle to the next higher mode. Random fluctuations produce many modes
with a small prominence; clusters are modes with a large one. ``plot_prominence`` shows both kinds and the gap between
them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from modeseek import ModeSeek
from modeseek.plots import plot_prominence

X, _ = make_blobs([90, 60, 50], centers=[(0, 0), (5, 0), (0, 5)], random_state=0)
plot_prominence(ModeSeek(random_state=0).fit(X), title="Three prominent modes")
plt.show()
