"""The estimators, their result type, and the table of clusters."""

from modeseek.estimators.base import BaseClusterer
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

# the estimators by their names in the command; model files can hold these classes
ESTIMATORS: dict[str, type[BaseClusterer]] = {
    "modeseek": ModeSeek,
    "dsms": DoublyStochasticMeanShift,
    "sms": StochasticMeanShift,
    "bms": BlurringMeanShift,
    "ms": MeanShift,
}
