"""modeseek: the mean-shift family of clustering, with stochastic and doubly stochastic mean shift."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeseek import datasets, io, metrics, plots, scorers
    from modeseek import paper as experiments
    from modeseek.estimators import (
        BlurringMeanShift,
        DoublyStochasticMeanShift,
        MeanShift,
        ModeSeek,
        StochasticMeanShift,
    )
    from modeseek.meanshift import bandwidth, objective
    from modeseek.meanshift import theory as diagnostics
    from modeseek.meanshift.kernels import profiles
    from modeseek.selection.bandwidths import estimate_bandwidth

__version__ = "0.1.0"

__all__ = [
    "BlurringMeanShift",
    "DoublyStochasticMeanShift",
    "MeanShift",
    "ModeSeek",
    "StochasticMeanShift",
    "__version__",
    "bandwidth",
    "datasets",
    "diagnostics",
    "estimate_bandwidth",
    "experiments",
    "io",
    "metrics",
    "objective",
    "plots",
    "profiles",
    "scorers",
]

# scikit-learn, SciPy and matplotlib take longer to import than all that is here: who asks for a name pays for it
_HOME = {
    "BlurringMeanShift": "modeseek.estimators",
    "DoublyStochasticMeanShift": "modeseek.estimators",
    "MeanShift": "modeseek.estimators",
    "ModeSeek": "modeseek.estimators",
    "StochasticMeanShift": "modeseek.estimators",
    "estimate_bandwidth": "modeseek.selection.bandwidths",
}
_ROOMS = (
    *("bandwidth", "datasets", "diagnostics", "experiments", "io", "metrics", "objective", "plots", "profiles"),
    "scorers",
    *("chain", "engines", "ensemble", "estimators", "images", "partition", "ranges", "report"),
    *("resources", "scale", "types"),
)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"modeseek.{name}")
    from modeseek._common.hints import closest

    # __all__ and the rooms are what a user can mean; private names, which inspection asks for, get no hint
    hint = "" if name.startswith("_") else closest(name, [*__all__, *_ROOMS])
    raise AttributeError(f"module 'modeseek' has no attribute {name!r}.{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
