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
    return float(weighted_quantiles(values[None], weights, q)[0])


def weighted_quantiles(values: Array, weights: Array, q: float) -> Array:
    """Return `weighted_quantile` of each row of a table."""
    order = np.argsort(values, axis=1, kind="stable")
    total = np.cumsum(weights[order], axis=1)
    place = np.minimum((total < q * total[:, -1:]).sum(axis=1), values.shape[1] - 1)
    rows = np.arange(len(values))
    return values[rows, order[rows, place]]


def skewness(values: Array) -> float:
    """Return the third standardized moment."""
    return float(np.power(values - values.mean(), 3).mean() / (values.std() ** 3 + 1e-9))
