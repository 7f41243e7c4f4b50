"""Gaussian mixtures of weighted points, and whether to believe them."""

from modeseek.selection.mixture.em import FORMS, Mixture, fit, log_density, n_parameters, posterior
from modeseek.selection.mixture.ridges import dips
from modeseek.selection.mixture.rival import kernel_log_density
from modeseek.selection.mixture.search import Found, search, starts

__all__ = [
    "FORMS",
    "Found",
    "Mixture",
    "dips",
    "fit",
    "kernel_log_density",
    "log_density",
    "n_parameters",
    "posterior",
    "search",
    "starts",
]
