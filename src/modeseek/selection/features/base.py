"""The description of a feature, and functions that several modules of features use."""

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
        Whether it needs only neighbours, distances and weights, and no coordinates.
    """

    name: str
    meaning: str
    graph_only: bool = True


def nan_elsewhere(values: Array, rows: IntArray, n: int) -> Array:
    """Return an array of length n with `values` at the indices `rows`, and NaN elsewhere."""
    out = np.full(n, np.nan)
    out[rows] = values
    return out


def third_moment(values: Array) -> float:
    """Return the third standardized moment."""
    return float(np.power(values - values.mean(), 3).mean() / (values.std() ** 3 + 1e-9))
