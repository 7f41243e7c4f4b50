"""Regions with their histograms, and the contrast along the borders between adjacent regions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from modeseek._common.types import Array, IntArray, Watcher
from modeseek.images.config import SegmentConfig
from modeseek.images.input_image import InputImage
from modeseek.images.pixel_features import histogram_sizes, pixel_features
from modeseek.images.regions import COLOR_STEPS, MASKED, distinct_pairs


@dataclass(frozen=True, eq=False)
class RegionGraph:
    """Regions with their histograms, and the borders between adjacent regions.

    Attributes
    ----------
    sizes : (k,) array
        Number of pixels of each region.
    histograms : (k, bins) array
        Counts of pixels, all histograms side by side.
    bin_weights : (bins,) array
        Weight of each bin in the dissimilarity.
    inner_contrasts : (k,) array
        Sum of the contrast over the pixels of each region.
    pairs : (m, 2) integer array
        Pairs of adjacent regions, each pair once.
    lengths, contrasts : (m,) arrays
        Length of each border in pixels, and the sum of the contrast along it.
    """

    sizes: Array
    histograms: Array
    bin_weights: Array
    inner_contrasts: Array
    pairs: IntArray
    lengths: Array
    contrasts: Array

    def dissimilarities(self, reference_size: float, config: SegmentConfig) -> Array:
        """Return the dissimilarity of each pair of adjacent regions."""
        i, j = self.pairs.T
        shares = self.histograms / self.sizes[:, None]
        total = shares[i] + shares[j]
        squares = np.divide((shares[i] - shares[j]) ** 2, total, out=np.zeros_like(total), where=total > 0)
        # not a matrix product, whose rounding may depend on the number of rows
        different = (squares * self.bin_weights).sum(axis=1) / 2
        # textures and blurred borders have contrast inside a region too: only contrast above it indicates a border
        small = np.where(self.sizes[i] <= self.sizes[j], i, j)
        inner = self.inner_contrasts[small] / self.sizes[small]
        border = np.maximum(self.contrasts / self.lengths - inner, 0.0)
        size = self.sizes[small] / reference_size
        return different * (config.contrast_offset + border) * size**config.size_exponent

    def merged(self, groups: IntArray) -> RegionGraph:
        """Return the graph after merging the regions of each group."""
        k = int(groups.max()) + 1
        sizes, histograms = np.zeros(k), np.zeros((k, self.histograms.shape[1]))
        np.add.at(sizes, groups, self.sizes)
        np.add.at(histograms, groups, self.histograms)
        inner = np.bincount(groups, self.inner_contrasts, k)
        pairs, numbers = distinct_pairs(groups[self.pairs], k)
        kept = numbers >= 0
        lengths, contrasts = (
            np.bincount(numbers[kept], values[kept], len(pairs)) for values in (self.lengths, self.contrasts)
        )
        return RegionGraph(sizes, histograms, self.bin_weights, inner, pairs, lengths, contrasts)


def measure_regions(
    image: InputImage,
    region_of: Callable[[slice], NDArray],
    k: int,
    tile: int,
    config: SegmentConfig,
    progress: Watcher | None = None,
) -> RegionGraph:
    """Return the graph of k regions; `region_of` returns the region of each pixel of a band, or MASKED.

    The image is read in bands of `tile` pixels. All sums are integers, so they do not depend on `tile`.
    """
    bins, _ = histogram_sizes(image, config)
    counts, inner = np.zeros(k * sum(bins), np.int64), np.zeros(k)
    borders = _Borders(k)
    for band in image.bands(tile, "measuring", progress):
        rows = band.stop - band.start
        # one more row, for the borders between this band and the next
        wide = slice(band.start, min(band.stop + 1, image.shape[0]))
        regions, features = region_of(wide), pixel_features(image, wide, config)
        selected = regions[:rows] != MASKED
        flat = regions[:rows][selected] * sum(bins)
        for start, numbers in zip(np.cumsum([0, *bins]), features.bins, strict=False):
            counts += np.bincount(flat + start + numbers[:rows][selected], minlength=len(counts))
        steps = np.rint(features.contrast * COLOR_STEPS)
        inner += np.bincount(regions[:rows][selected], steps[:rows][selected], k)
        for axis in range(regions.ndim):
            own = np.s_[:] if axis == 0 else np.s_[:rows]
            borders.add(np.moveaxis(regions[own], axis, 0), np.moveaxis(steps[own], axis, 0))
    histograms = counts.reshape(k, -1)
    sizes = histograms[:, : bins[0]].sum(axis=1).astype(float)
    blocks = np.split(histograms.astype(float), np.cumsum(bins)[:-1], axis=1)
    # smoothed over adjacent bins, because a value close to the edge of a bin is similar to values in the next bin
    smooth = np.hstack([gaussian_filter1d(block, 1.0, axis=1, mode="nearest") for block in blocks])
    return RegionGraph(sizes, smooth, bin_weights(image, config), inner / COLOR_STEPS, *borders.finish())


def bin_weights(image: InputImage, config: SegmentConfig) -> Array:
    """Return the weight of each bin; a grey image is treated like an RGB image with three equal channels."""
    bins, colors = histogram_sizes(image, config)
    weights = [1 / max(colors, 3)] * colors
    if image.to_lab or colors == 1:
        weights = [config.lightness_weight, *[(1 - config.lightness_weight) / 2] * (colors - 1)]
    return np.repeat([*weights, config.texture_weight], bins)


class _Borders:
    """Collects the borders between regions: pairs of neighbouring pixels in different regions."""

    def __init__(self, k: int):
        self.k = k
        self.pairs, self.sums = np.zeros((0, 2), np.int64), np.zeros((0, 2))

    def add(self, regions: NDArray, steps: Array) -> None:
        """Add the pixels that are neighbours along the first axis, with their contrasts in integer steps."""
        first, second = regions[:-1], regions[1:]
        differ = (first != second) & (first != MASKED) & (second != MASKED)
        pairs = np.concatenate([self.pairs, np.column_stack([first[differ], second[differ]])])
        contrasts = (steps[:-1] + steps[1:])[differ]
        sums = np.concatenate([self.sums, np.column_stack([np.ones(len(contrasts)), contrasts])])
        self.pairs, numbers = distinct_pairs(pairs, self.k)
        self.sums = np.column_stack([np.bincount(numbers, sums[:, c], len(self.pairs)) for c in (0, 1)])

    def finish(self) -> tuple[IntArray, Array, Array]:
        """Return the pairs of regions, the lengths of their borders and the sums of contrast along them."""
        return self.pairs, self.sums[:, 0], self.sums[:, 1] / (2 * COLOR_STEPS)
