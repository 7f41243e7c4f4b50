"""Colour, texture and contrast at each pixel, computed band by band.

A band consists of consecutive rows (planes of a volume); filters read a few rows beyond it. Every operation is
elementwise or a sum in a fixed order, so the values of a pixel do not depend on how the image is divided into bands.
"""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import correlate1d, gaussian_filter

from modeseek._common.types import Array, IntArray
from modeseek.images.config import SegmentConfig
from modeseek.images.input_image import InputImage

# Gaussian filters end at this many standard deviations
TRUNCATE = 3.0
# CIELAB colours outside these bounds are counted in the first or the last bin
CHROMA_BOUND = 60.0
# weights of central differences
CENTRAL = [-0.5, 0.0, 0.5]


class PixelFeatures(NamedTuple):
    """Features of the pixels of a band.

    Attributes
    ----------
    bins : list of integer arrays
        For each histogram, the bin of each pixel.
    contrast : float array
        Height, in CIELAB units, of the step in colour that would have the same gradient.
    """

    bins: list[IntArray]
    contrast: Array


def histogram_sizes(image: InputImage, config: SegmentConfig) -> tuple[list[int], int]:
    """Return the number of bins of each histogram, and how many of them are histograms of colour."""
    colors = [int(np.ceil((high - low) / config.color_bin)) for low, high in _ranges(image)]
    return [*colors, len(config.deviation_edges) + 1], len(colors)


def pixel_features(image: InputImage, band: slice, config: SegmentConfig) -> PixelFeatures:
    """Return the features of all pixels of a band; those outside the mask have arbitrary values."""
    halo = 2 + int(TRUNCATE * max(config.border_sigma, config.texture_sigma) + 0.5)
    wide = slice(max(band.start - halo, 0), min(band.stop + halo, image.shape[0]))
    inner = slice(band.start - wide.start, band.stop - wide.start)
    blur = _Blur(image, wide)
    channels = [blur.fill(values) for values in image.colors(wide).T]
    lightness = channels[0] if image.to_lab else sum(channels[1:], channels[0]) / len(channels)

    bins = [
        np.clip(((values[inner] - low) / config.color_bin).astype(np.intp), 0, n - 1)
        for values, (low, _), n in zip(channels, _ranges(image), histogram_sizes(image, config)[0], strict=False)
    ]
    mean = blur(lightness, config.texture_sigma)
    deviation = np.sqrt(np.maximum(blur(lightness**2, config.texture_sigma) - mean**2, 0.0))
    bins.append(np.searchsorted(config.deviation_edges, deviation[inner]))

    coarse = [blur(values, config.border_sigma) for values in channels]
    slopes = (correlate1d(values, CENTRAL, axis, mode="nearest") for values in coarse for axis in range(values.ndim))
    squares = sum(slope[inner] ** 2 for slope in slopes)
    # a step of height 1 has the slope 1 / (sqrt(2 pi) border_sigma) after the blur
    return PixelFeatures(bins, np.sqrt(squares) * np.sqrt(2 * np.pi) * config.border_sigma)


class _Blur:
    """Gaussian filters of a band that ignore pixels outside the mask."""

    def __init__(self, image: InputImage, band: slice):
        self.shape = (band.stop - band.start, *image.shape[1:])
        self.selected = None if image.mask is None else image.selected(band)
        finest = min(image.spacing)
        self.steps = [finest / step for step in image.spacing]

    def fill(self, values: Array) -> Array:
        """Return the values of the selected pixels as an image, with zeros elsewhere."""
        if self.selected is None:
            return np.ascontiguousarray(values).reshape(self.shape)
        filled = np.zeros(self.shape)
        filled.ravel()[self.selected] = values
        return filled

    def __call__(self, values: Array, sigma: float) -> Array:
        sigmas = [sigma * step for step in self.steps]
        blurred = gaussian_filter(values, sigmas, truncate=TRUNCATE)
        if self.selected is None:
            return blurred
        weight = gaussian_filter(self.selected.reshape(self.shape).astype(float), sigmas, truncate=TRUNCATE)
        return np.divide(blurred, weight, out=np.zeros_like(blurred), where=weight > 1e-9)


def _ranges(image: InputImage) -> list[tuple[float, float]]:
    """Return for each channel the range of values that is divided into bins."""
    if image.to_lab:
        return [(0.0, 100.0), (-CHROMA_BOUND, CHROMA_BOUND), (-CHROMA_BOUND, CHROMA_BOUND)]
    return [(0.0, 100.0)] * image.pixels.shape[-1]
