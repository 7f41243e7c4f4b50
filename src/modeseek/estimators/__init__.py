"""The estimators: scikit-learn classes around the chains."""

from modeseek.estimators.blurring import BlurringMeanShift
from modeseek.estimators.mean_shift import MeanShift
from modeseek.estimators.stochastic import DoublyStochasticMeanShift, StochasticMeanShift

__all__ = ["BlurringMeanShift", "DoublyStochasticMeanShift", "MeanShift", "StochasticMeanShift"]
