"""Gaussian mixtures of weighted points: fit, search for the number of components, and tests."""

from modeseek.selection.mixture.em import FORMS, Mixture
from modeseek.selection.mixture.saddles import saddle_depths
from modeseek.selection.mixture.sample import MixtureSample, component_labels
from modeseek.selection.mixture.search import FoundMixture, search_mixtures

__all__ = [
    "FORMS",
    "FoundMixture",
    "Mixture",
    "MixtureSample",
    "component_labels",
    "saddle_depths",
    "search_mixtures",
]
