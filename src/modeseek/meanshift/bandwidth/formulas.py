"""Formulas of the bandwidth policies: bandwidths and their upper bounds from a uniform number u, nu_k and the range.

Like the kernel formulas, these are plain expressions, so that the same source works for arrays and for a compiler.
The formulas of walks are evaluated one number at a time, for which `math` is ten times faster than NumPy.
"""

import math
from typing import Any

import numpy as np


def log_log(k: Any) -> Any:
    """Return nu_k = 1 / log10(10 + log10 k)."""
    return 1.0 / np.log10(10.0 + np.log10(k))


def power(k: Any, a: float) -> Any:
    """Return nu_k = k^-a."""
    return k**-a


def uniform(u: Any, h_min: float, h_max: float) -> Any:
    """Draw uniformly from [h_min, h_max]."""
    return h_min + u * (h_max - h_min)


def shrinking(u: Any, nu: Any, h_min: float, h_0: float, h_max: float) -> Any:
    """Draw uniformly from the range [h_min, h_max], shrunk towards h_0 to the share nu."""
    share = np.minimum(nu, 1.0)
    low = h_0 - share * (h_0 - h_min)
    high = h_0 + share * (h_max - h_0)
    return low + u * (high - low)


def shrinking_upper(nu: float, h_0: float, h_max: float) -> float:
    """Return the upper end of the range that `shrinking` draws from."""
    return h_0 + min(nu, 1.0) * (h_max - h_0)


def anchored_max_delta(h_min: float, h_0: float, h_max: float) -> float:
    """Return the largest delta for which h_0 / sqrt(1 +- delta) is in the range."""
    return max(min((h_0 / h_min) ** 2 - 1.0, 1.0 - (h_0 / h_max) ** 2), 0.0)


def anchored(u: Any, nu: Any, max_delta: float, h_min: float, h_0: float, h_max: float) -> Any:
    """Take one step of a walk from h_0."""
    delta = np.minimum(nu, max_delta)
    return np.minimum(np.maximum(h_0 / np.sqrt(1.0 - delta + 2.0 * delta * u), h_min), h_max)


def anchored_upper(nu: float, max_delta: float, h_0: float, h_max: float) -> float:
    """Return the largest bandwidth that `anchored` can return."""
    return min(h_0 / math.sqrt(1.0 - min(nu, max_delta)), h_max)


def walk_max_delta(to_min: float, to_max: float) -> float:
    """Return the largest delta for which h / sqrt(1 +- delta) is in the range; values up to 8 eps count as 0.

    The arguments are the squares of h / h_min and h / h_max. The caller computes them, because Python and compiled code
    round squares differently.
    """
    delta = min(to_min - 1.0, 1.0 - to_max)
    return delta if delta > 1.7763568394002505e-15 else 0.0


def walk(u: float, nu: float, max_delta: float, h: float, h_min: float, h_max: float) -> float:
    """Take one step of a walk from h."""
    delta = min(nu, max_delta)
    return min(max(h / math.sqrt(1.0 - delta + 2.0 * delta * u), h_min), h_max)
