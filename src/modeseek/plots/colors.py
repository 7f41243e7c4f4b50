"""Colours that colour-blind readers can distinguish too."""

from math import gcd

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgba
from numpy.typing import NDArray

from modeseek._common.types import Array

# the palette of Okabe and Ito (2008) without black, which marks centres; yellow is last because it is faint on white
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
NOISE_COLOR = "#B4B4B4"
TEXT_COLOR = "#333333"
MUTED_COLOR = "#777777"
# colour map of matrices whose entries are shares from 0 to 1
SHARE_COLORS = LinearSegmentedColormap.from_list("share", ["#FBFBFB", OKABE_ITO[0], "#00324F"])


def palette(n: int) -> list[str]:
    """Return n colours as "#rrggbb"; up to 200 colours differ visibly.

    Up to seven colours are those of Okabe and Ito. More colours lie on rings of equal lightness in the OKLCH space, in
    which distances match perceived differences. Consecutive colours are on different rings. The hues of a ring are
    evenly spaced, and ordered such that consecutive colours have distant hues.

    Examples
    --------
    >>> palette(2)
    ['#0072B2', '#E69F00']
    >>> len(set(palette(200)))
    200
    """
    if n <= len(OKABE_ITO):
        return list(OKABE_ITO[:n])
    n_rings = 3 if n <= 60 else 5
    n_hues = -(-n // n_rings)
    # steps of about the golden angle (0.382 of a turn), coprime to n_hues, so that every hue is visited
    stride = min((s for s in range(1, n_hues + 1) if gcd(s, n_hues) == 1), key=lambda s: abs(s - 0.382 * n_hues))
    step, ring = np.divmod(np.arange(n), n_rings)
    hue = 2 * np.pi * (step * stride / n_hues + ring * 0.382)
    lightness = np.linspace(0.50, 0.84, n_rings)[ring]
    # lower chroma for light colours, which would otherwise lie outside the sRGB gamut
    chroma = 0.17 - 0.15 * (lightness - 0.50)
    return [to_hex(rgb) for rgb in _oklch_to_rgb(lightness, chroma, hue)]


def _oklch_to_rgb(lightness: Array, chroma: Array, hue: Array) -> Array:
    """Convert OKLCH to sRGB (Ottosson 2020), clipped to the gamut."""
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)])
    to_cones = np.array(
        [
            [1.0, 0.3963377774, 0.2158037573],
            [1.0, -0.1055613458, -0.0638541728],
            [1.0, -0.0894841775, -1.2914855480],
        ]
    )
    to_linear = np.array(
        [
            [4.0767416621, -3.3077115913, 0.2309699292],
            [-1.2684380046, 2.6097574011, -0.3413193965],
            [-0.0041960863, -0.7034186147, 1.7076147010],
        ]
    )
    linear = np.clip(to_linear @ (to_cones @ lab) ** 3, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055).T


def point_colors(labels: NDArray[np.generic], clusters: NDArray[np.generic], alpha: Array) -> Array:
    """Return the colour of each point as (n, 4) RGBA: the colour of its cluster, or grey for noise.

    `clusters` are the distinct labels without -1, in ascending order. The opacity of a point is its entry of `alpha`
    times 0.85, or times 0.6 for noise.

    Examples
    --------
    >>> point_colors(np.array([3, -1]), np.array([3]), np.ones(2))[:, 3]
    array([0.85, 0.6 ])
    """
    table = np.array([to_rgba(color) for color in [*palette(len(clusters)), NOISE_COLOR]])
    noise = labels == -1
    colors = table[np.where(noise, len(clusters), np.searchsorted(clusters, labels))]
    colors[:, 3] = alpha * np.where(noise, 0.6, 0.85)
    return colors
