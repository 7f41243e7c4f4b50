"""The estimators: scikit-learn classes around the chains."""

from modeseek.estimators.blurring import BlurringMeanShift
from modeseek.estimators.doubly_stochastic import DoublyStochasticMeanShift
from modeseek.estimators.mean_shift import MeanShift
from modeseek.estimators.mode_seek import ModeSeek
from modeseek.estimators.stochastic import StochasticMeanShift
from modeseek.estimators.sweep import BandwidthSweep, Plateau, sweep_bandwidths

__all__ = [
    "ESTIMATORS",
    "BandwidthSweep",
    "BlurringMeanShift",
    "DoublyStochasticMeanShift",
    "MeanShift",
    "ModeSeek",
    "Plateau",
    "StochasticMeanShift",
    "sweep_bandwidths",
]

# estimators that model files can hold, by name
ESTIMATORS = {
    each.__name__: each
    for each in (ModeSeek, DoublyStochasticMeanShift, StochasticMeanShift, BlurringMeanShift, MeanShift)
}
