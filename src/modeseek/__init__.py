"""modeseek: the mean-shift family of clustering, with stochastic and doubly stochastic mean shift."""

from __future__ import annotations

import importlib
from types import ModuleType

from modeseek import bandwidth, datasets, diagnostics, metrics, objective, profiles
from modeseek.estimators import (
    BlurringMeanShift,
    DoublyStochasticMeanShift,
    MeanShift,
    StochasticMeanShift,
)
from modeseek.ranges import estimate_bandwidth

__version__ = "0.1.0"

__all__ = [
    "BlurringMeanShift",
    "DoublyStochasticMeanShift",
    "MeanShift",
    "StochasticMeanShift",
    "__version__",
    "bandwidth",
    "datasets",
    "diagnostics",
    "estimate_bandwidth",
    "metrics",
    "objective",
    "plots",
    "profiles",
]


def __getattr__(name: str) -> ModuleType:
    # matplotlib takes longer to import than all the rest: only who plots pays for it
    if name == "plots":
        return importlib.import_module("modeseek.plots")
    raise AttributeError(f"module 'modeseek' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
