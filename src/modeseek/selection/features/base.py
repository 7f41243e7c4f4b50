"""The description of a feature, and helpers of several modules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray


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


def nan_elsewhere(values: Array, rows: IntArray, n: int) -> Array:
    """Return an array of length n with values in some rows; the others are NaN."""
    out = np.full(n, np.nan)
    out[rows] = values
    return out


def third_moment(values: Array) -> float:
    """Return the third standardized moment."""
    return float(np.power(values - values.mean(), 3).mean() / (values.std() ** 3 + 1e-9))
