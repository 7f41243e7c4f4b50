"""modeseek: the mean-shift family of clustering, with stochastic and doubly stochastic mean shift."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from modeseek._common.version import __version__

if TYPE_CHECKING:
    from modeseek import datasets, io, meanshift, metrics, paper, pipeline, plots, scorers
    from modeseek.estimators import (
        BlurringMeanShift,
        DoublyStochasticMeanShift,
        MeanShift,
        ModeSeek,
        StochasticMeanShift,
    )
    from modeseek.selection.bandwidths import estimate_bandwidth


__all__ = [
    "BlurringMeanShift",
    "DoublyStochasticMeanShift",
    "MeanShift",
    "ModeSeek",
    "StochasticMeanShift",
    "__version__",
    "datasets",
    "estimate_bandwidth",
    "io",
    "meanshift",
    "metrics",
    "paper",
    "pipeline",
    "plots",
    "scorers",
]

# Names are imported on first use: scikit-learn, SciPy and matplotlib take longer to import than this package.
_SOURCES = {
    "BlurringMeanShift": "modeseek.estimators",
    "DoublyStochasticMeanShift": "modeseek.estimators",
    "MeanShift": "modeseek.estimators",
    "ModeSeek": "modeseek.estimators",
    "StochasticMeanShift": "modeseek.estimators",
    "estimate_bandwidth": "modeseek.selection.bandwidths",
}
_MODULES = (
    *("datasets", "diarization", "estimators", "images", "io", "meanshift", "metrics", "paper", "pipeline", "plots"),
    *("report", "scorers", "selection", "sketches"),
)


def __getattr__(name: str) -> Any:
    if name in _SOURCES:
        return getattr(importlib.import_module(_SOURCES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"modeseek.{name}")
    from modeseek._common.hints import did_you_mean

    # private names are requested by inspection tools, not by users
    hint = "" if name.startswith("_") else did_you_mean(name, [*__all__, *_MODULES])
    raise AttributeError(f"module 'modeseek' has no attribute {name!r}.{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
