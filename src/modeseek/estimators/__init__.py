"""The estimators: scikit-learn classes around the chains."""

from modeseek.estimators.blurring import BlurringMeanShift
from modeseek.estimators.doubly_stochastic import DoublyStochasticMeanShift
from modeseek.estimators.mean_shift import MeanShift
from modeseek.estimators.mode_seek import ModeSeek
from modeseek.estimators.stochastic import StochasticMeanShift
from modeseek.estimators.sweep import BandwidthSweep, Plateau, sweep_bandwidths

__all__ = [
    "BandwidthSweep",
    "BlurringMeanShift",
    "DoublyStochasticMeanShift",
    "MeanShift",
    "ModeSeek",
    "Plateau",
    "StochasticMeanShift",
    "sweep_bandwidths",
]
