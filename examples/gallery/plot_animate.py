"""
A film of the points settling
=============================

``animate`` makes a film of a run. With a name it writes a GIF, or an MP4 where ffmpeg is there: ``animate(model,
"settling.gif")``. Without one it returns the animation, for a notebook or a page.
"""

from modeseek import DoublyStochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.plots import animate

X, _ = paper_mixture(60, random_state=1)
model = DoublyStochasticMeanShift(0.4, 1.8, 0.9, record=["snapshots"], random_state=0).fit(X)
film = animate(model, seconds=3, title="Settling")
