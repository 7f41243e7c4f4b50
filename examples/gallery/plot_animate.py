"""
Animation of a run
==================

``animate`` shows how the points move during a run. ``animate(model, "run.gif")`` writes a GIF; the suffix ``.mp4``
writes an MP4 and needs the program ffmpeg. Without a file name, it returns the animation, for example for a notebook.
"""

from modeseek import DoublyStochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.plots import animate

X, _ = paper_mixture(60, random_state=1)
model = DoublyStochasticMeanShift(0.4, 1.8, 0.9, record=["snapshots"], random_state=0).fit(X)
animation = animate(model, seconds=3, title="Doubly stochastic mean shift")
