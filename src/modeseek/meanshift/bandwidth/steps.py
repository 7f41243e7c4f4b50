"""The policies' arithmetic, written once: bandwidths and their bounds from a uniform number u, nu_k, and the range.

As in `formulas.py`, these are plain expressions, so that one text serves arrays here and a compiler for another
machine. What a walk needs is scalar, step by step, and keeps to Python's own functions, a tenth of the time of NumPy's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = [
    "anchored",
    "anchored_room",
    "anchored_upper",
    "log_log",
    "power",
    "shrinking",
    "shrinking_upper",
    "uniform",
    "walk",
    "walk_room",
]


def log_log(k: Any) -> Any:
    """Return nu_k = 1 / log10(10 + log10 k)."""
    return 1.0 / np.log10(10.0 + np.log10(k))


def power(k: Any, a: float) -> Any:
    """Return nu_k = k^-a."""
    return k**-a


def uniform(u: Any, h_min: float, h_max: float) -> Any:
    """Draw from [h_min, h_max]."""
    return h_min + u * (h_max - h_min)


def shrinking(u: Any, nu: Any, h_min: float, h_0: float, h_max: float) -> Any:
    """Draw from the range around h_0 that is left at nu."""
    share = np.minimum(nu, 1.0)
    low = h_0 - share * (h_0 - h_min)
    high = h_0 + share * (h_max - h_0)
    return low + u * (high - low)


def shrinking_upper(nu: float, h_0: float, h_max: float) -> float:
    """Return the upper end of the range that is left at nu."""
    return h_0 + min(nu, 1.0) * (h_max - h_0)


def anchored_room(h_min: float, h_0: float, h_max: float) -> float:
    """Return the largest delta that keeps h_0 / sqrt(1 +- delta) in the range."""
    return max(min((h_0 / h_min) ** 2 - 1.0, 1.0 - (h_0 / h_max) ** 2), 0.0)


def anchored(u: Any, nu: Any, room: float, h_min: float, h_0: float, h_max: float) -> Any:
    """Take one step of a walk, from h_0."""
    delta = np.minimum(nu, room)
    return np.minimum(np.maximum(h_0 / np.sqrt(1.0 - delta + 2.0 * delta * u), h_min), h_max)


def anchored_upper(nu: float, room: float, h_0: float, h_max: float) -> float:
    """Return the upper end of what a step from h_0 can reach at nu."""
    return min(h_0 / math.sqrt(1.0 - min(nu, room)), h_max)


def walk_room(h: float, h_min: float, h_max: float) -> float:
    """Return the largest delta that keeps h / sqrt(1 +- delta) in the range; a few units of rounding are 0."""
    delta = min((h / h_min) ** 2 - 1.0, 1.0 - (h / h_max) ** 2)
    return delta if delta > 1.7763568394002505e-15 else 0.0


def walk(u: float, nu: float, room: float, h: float, h_min: float, h_max: float) -> float:
    """Take one step of a walk, from h."""
    delta = min(nu, room)
    return min(max(h / math.sqrt(1.0 - delta + 2.0 * delta * u), h_min), h_max)
