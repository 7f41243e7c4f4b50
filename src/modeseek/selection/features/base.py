"""The description of a feature, and helpers of several modules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array


class Feature(NamedTuple):
    """A feature of candidates.

    Attributes
    ----------
    name : str
    meaning : str
        One line for the documentation.
    graph_only : bool
        Whether neighbours, distances and weights are all that it needs.
    """

    name: str
    meaning: str
    graph_only: bool = True


def weighted_quantile(values: Array, weights: Array, q: float) -> float:
    """Return the smallest value below which lies a share q of the weight.

    Examples
    --------
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 8.0]), 0.5)
    2.0
    """
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][min(len(values) - 1, int(np.searchsorted(total, q * total[-1])))])


def skewness(values: Array) -> float:
    """Return the third standardized moment."""
    return float(np.power(values - values.mean(), 3).mean() / (values.std() ** 3 + 1e-9))
