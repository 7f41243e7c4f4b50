"""Gaussian mixtures of weighted points, and whether to believe them."""

from modeseek.selection.mixture.em import FORMS, Mixture, fit, log_density, n_parameters, posterior
from modeseek.selection.mixture.kde_baseline import kernel_log_density
from modeseek.selection.mixture.saddles import saddle_depths
from modeseek.selection.mixture.search import Found, search, starts

__all__ = [
    "FORMS",
    "Found",
    "Mixture",
    "fit",
    "kernel_log_density",
    "log_density",
    "n_parameters",
    "posterior",
    "saddle_depths",
    "search",
    "starts",
]
