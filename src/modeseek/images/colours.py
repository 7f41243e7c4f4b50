"""Colours as numbers whose distances mean something: CIELAB, elementwise, so that no tiling changes a bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from modeseek._common.types import Array

__all__ = ["lab", "unit_range"]

# sRGB to XYZ under D65, each row over the white point's coordinate (IEC 61966-2-1, CIE 15)
TO_XYZ = (
    (0.412453 / 0.95047, 0.357580 / 0.95047, 0.180423 / 0.95047),
    (0.212671, 0.715160, 0.072169),
    (0.019334 / 1.08883, 0.119193 / 1.08883, 0.950227 / 1.08883),
)
STEPS = {np.dtype(np.uint8): 255, np.dtype(np.uint16): 65_535}


def unit_range(rgb: NDArray) -> Array:
    """Return colours on [0, 1]: whole numbers over the largest of their type, others as they are.

    Examples
    --------
    >>> unit_range(np.array([0, 51, 255], np.uint8))
    array([0. , 0.2, 1. ])
    """
    return rgb / STEPS[rgb.dtype] if rgb.dtype in STEPS else rgb.astype(np.float64)


def lab(rgb: NDArray) -> Array:
    """Return CIELAB (D65, 2 degrees) of sRGB colours in rows: L* from 0 to 100, a* and b* around 0.

    Examples
    --------
    >>> lab(np.array([[0, 0, 0], [255, 255, 255]], np.uint8)).round(2) + 0.0
    array([[  0.,   0.,   0.],
           [100.,   0.,   0.]])
    """
    if rgb.dtype in STEPS:
        # powers are slow, and there are few values
        levels = _linear(np.arange(STEPS[rgb.dtype] + 1) / STEPS[rgb.dtype])
        parts = [levels[rgb[:, channel]] for channel in range(3)]
    else:
        parts = [_linear(np.ascontiguousarray(rgb[:, channel], dtype=np.float64)) for channel in range(3)]
    # by hand, not as a product of matrices, whose rounding may depend on how many rows there are
    x, y, z = (_root(parts[0] * row[0] + parts[1] * row[1] + parts[2] * row[2]) for row in TO_XYZ)
    return np.column_stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)])


def _linear(values: Array) -> Array:
    return np.where(values > 0.04045, ((np.maximum(values, 0.0) + 0.055) / 1.055) ** 2.4, values / 12.92)


def _root(t: Array) -> Array:
    return np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16.0 / 116.0)
