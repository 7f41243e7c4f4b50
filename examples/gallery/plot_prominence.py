"""
Modes by prominence
===================

Chance makes many modes that rise a little. A cluster is a mode that rises far above the saddle to the next higher
one: ``plot_prominence`` shows both kinds, and how clear the gap between them is.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from modeseek import ModeSeek
from modeseek.plots import plot_prominence

X, _ = make_blobs([90, 60, 50], centers=[(0, 0), (5, 0), (0, 5)], random_state=0)
plot_prominence(ModeSeek(random_state=0).fit(X), title="Three modes stand out")
plt.show()
