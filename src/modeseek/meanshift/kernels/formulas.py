"""Formulas of the kernel profiles k(t) and their weights G(t) = -k'(t), where t = |u|^2.

Every engine compiles these functions. They are plain arithmetic expressions, so that the same source works for Python
floats, for NumPy arrays and for a compiler. All of them are zero for t > 1. A `shape` is G without its constant factor,
which cancels in S_h.
"""

from typing import Any

import numpy as np

# k(t) = exp(-4.5 t) is a Gaussian with standard deviation h / 3, truncated at three standard deviations
GAUSSIAN_RATE = 4.5


def flat_k(t: Any) -> Any:
    """Epanechnikov profile k(t) = (1 - t)_+, whose weights are flat."""
    return np.maximum(1.0 - t, 0.0)


def flat_weight(t: Any) -> Any:
    """Weights 1 for t <= 1, including t = 1 as in scikit-learn's MeanShift."""
    return 1.0 * (t <= 1.0)


def biweight_k(t: Any) -> Any:
    """Biweight profile k(t) = (1 - t)_+^2."""
    s = np.maximum(1.0 - t, 0.0)
    return s * s


def biweight_shape(t: Any) -> Any:
    """Weights without their factor, (1 - t)_+."""
    return np.maximum(1.0 - t, 0.0)


def biweight_weight(t: Any) -> Any:
    """Weights 2 (1 - t)_+."""
    return 2.0 * biweight_shape(t)


def triweight_k(t: Any) -> Any:
    """Triweight profile k(t) = (1 - t)_+^3."""
    s = np.maximum(1.0 - t, 0.0)
    return s * s * s


def triweight_shape(t: Any) -> Any:
    """Weights without their factor, (1 - t)_+^2."""
    s = np.maximum(1.0 - t, 0.0)
    return s * s


def triweight_weight(t: Any) -> Any:
    """Weights 3 (1 - t)_+^2."""
    return 3.0 * triweight_shape(t)


def quadweight_k(t: Any) -> Any:
    """Quadweight profile k(t) = (1 - t)_+^4."""
    s = np.maximum(1.0 - t, 0.0)
    return s * s * s * s


def quadweight_shape(t: Any) -> Any:
    """Weights without their factor, (1 - t)_+^3."""
    s = np.maximum(1.0 - t, 0.0)
    return s * s * s


def quadweight_weight(t: Any) -> Any:
    """Weights 4 (1 - t)_+^3."""
    return 4.0 * quadweight_shape(t)


def gaussian_k(t: Any) -> Any:
    """Gaussian profile exp(-4.5 t), truncated at t = 1."""
    return np.exp(-GAUSSIAN_RATE * t) * (t <= 1.0)


def gaussian_weight(t: Any) -> Any:
    """Weights 4.5 exp(-4.5 t) for t <= 1."""
    return GAUSSIAN_RATE * gaussian_k(t)
