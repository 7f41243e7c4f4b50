"""modeseek: the mean-shift family of clustering, with stochastic and doubly stochastic mean shift."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from modeseek._common.version import __version__

if TYPE_CHECKING:
    from modeseek import anndata, arrow, datasets, geo, io, meanshift, metrics, paper, pipeline, plots, prepare, scorers
    from modeseek._common.hints import AdviceWarning
    from modeseek._common.resources import NotEnoughMemory, limit_memory
    from modeseek._storage.unpacking import limit_unpacked
    from modeseek.estimators import (
        BlurringMeanShift,
        DoublyStochasticMeanShift,
        MeanShift,
        ModeSeek,
        StochasticMeanShift,
    )
    from modeseek.estimators.sklearn_functions import get_bin_seeds, mean_shift
    from modeseek.selection.bandwidths import estimate_bandwidth


__all__ = [
    "AdviceWarning",
    "BlurringMeanShift",
    "DoublyStochasticMeanShift",
    "MeanShift",
    "ModeSeek",
    "NotEnoughMemory",
    "StochasticMeanShift",
    "__version__",
    "anndata",
    "arrow",
    "datasets",
    "estimate_bandwidth",
    "geo",
    "get_bin_seeds",
    "io",
    "limit_memory",
    "limit_unpacked",
    "mean_shift",
    "meanshift",
    "metrics",
    "paper",
    "pipeline",
    "plots",
    "prepare",
    "scorers",
]

# Names are imported on first use, so that `import modeseek` does not import scikit-learn, SciPy and matplotlib (slow).
_SOURCES = {
    "AdviceWarning": "modeseek._common.hints",
    "BlurringMeanShift": "modeseek.estimators",
    "DoublyStochasticMeanShift": "modeseek.estimators",
    "MeanShift": "modeseek.estimators",
    "ModeSeek": "modeseek.estimators",
    "NotEnoughMemory": "modeseek._common.resources",
    "StochasticMeanShift": "modeseek.estimators",
    "estimate_bandwidth": "modeseek.selection.bandwidths",
    "get_bin_seeds": "modeseek.estimators.sklearn_functions",
    "limit_memory": "modeseek._common.resources",
    "limit_unpacked": "modeseek._storage.unpacking",
    "mean_shift": "modeseek.estimators.sklearn_functions",
}
_MODULES = (
    "anndata",
    "arrow",
    "datasets",
    "diarization",
    "estimators",
    "geo",
    "images",
    "io",
    "meanshift",
    "metrics",
    "paper",
    "pipeline",
    "plots",
    "prepare",
    "report",
    "scorers",
    "selection",
    "sketches",
)


def __getattr__(name: str) -> Any:
    if name in _SOURCES:
        return getattr(importlib.import_module(_SOURCES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"modeseek.{name}")
    from modeseek._common.hints import did_you_mean

    # no suggestion for private names: inspection tools look them up, users do not
    hint = "" if name.startswith("_") else did_you_mean(name, [*__all__, *_MODULES])
    raise AttributeError(f"module 'modeseek' has no attribute {name!r}.{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
