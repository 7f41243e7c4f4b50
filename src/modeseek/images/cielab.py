"""Conversion from sRGB to CIELAB.

`skimage.color.rgb2lab` multiplies matrices, and the rounding of a matrix product may depend on the number of rows. This
version is elementwise, so that the result does not depend on the tile size.
"""

import numpy as np
from numpy.typing import NDArray

from modeseek._common.types import Array

# sRGB to XYZ under D65, each row divided by the coordinate of the white point (IEC 61966-2-1, CIE 15)
TO_XYZ = (
    (0.412453 / 0.95047, 0.357580 / 0.95047, 0.180423 / 0.95047),
    (0.212671, 0.715160, 0.072169),
    (0.019334 / 1.08883, 0.119193 / 1.08883, 0.950227 / 1.08883),
)


def to_cielab(rgb: NDArray) -> Array:
    """Return CIELAB colours (D65, 2 degrees): L* from 0 to 100, a* and b* around 0.

    Parameters
    ----------
    rgb : (n, 3) array
        sRGB colours: uint8, uint16, or floats in [0, 1].

    Examples
    --------
    >>> to_cielab(np.array([[0, 0, 0], [255, 255, 255]], np.uint8)).round(2) + 0.0
    array([[  0.,   0.,   0.],
           [100.,   0.,   0.]])
    """
    if rgb.dtype.kind == "u":
        # a table of all levels is faster than a power for each pixel
        largest = np.iinfo(rgb.dtype).max
        levels = _linear(np.arange(largest + 1) / largest)
        red, green, blue = (levels[rgb[:, channel]] for channel in range(3))
    else:
        red, green, blue = (_linear(np.ascontiguousarray(rgb[:, channel], dtype=np.float64)) for channel in range(3))
    x, y, z = (_root(red * row[0] + green * row[1] + blue * row[2]) for row in TO_XYZ)
    return np.column_stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)])


def _linear(values: Array) -> Array:
    return np.where(values > 0.04045, ((np.maximum(values, 0.0) + 0.055) / 1.055) ** 2.4, values / 12.92)


def _root(t: Array) -> Array:
    return np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16.0 / 116.0)
