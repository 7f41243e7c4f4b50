"""Modes of the density of pixels over position and colour, computed on the cells of a grid."""

from typing import NamedTuple

import numpy as np

from modeseek._common.distances import pairs_within
from modeseek._common.types import Array, IntArray, Watcher
from modeseek.images.config import SegmentConfig
from modeseek.images.input_image import InputImage
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.selection.modes import cut, point_tree
from modeseek.sketches import Grid, GridCells

# cell numbers are counted from a cell that is this far below 0, and thus below any feature of an image
GRID_ORIGIN = 1 << 40


class Bandwidths(NamedTuple):
    """The two bandwidths of a segmentation: in space, in units of spacing, and in colour."""

    spatial: float
    color: float

    def features(self, image: InputImage, band: slice) -> Array:
        """Return the pixels of a band in units of the bandwidths, so that the kernel has radius 1."""
        return np.hstack([image.colors(band) / self.color, image.positions(band) / self.spatial])


def count_pixels(
    image: InputImage, bandwidths: Bandwidths, tile: int, config: SegmentConfig, progress: Watcher | None = None
) -> GridCells:
    """Count the pixels in the cells of a grid; the result does not depend on `tile`."""
    d = image.pixels.shape[-1] + len(image.shape)
    cells = Grid(config.cell_level, (GRID_ORIGIN,) * d, config.max_cells).empty()
    for band in image.bands(tile, "counting", progress):
        cells = cells.add(bandwidths.features(image, band))
    return cells


def modes_of_cells(cells: GridCells) -> IntArray:
    """Return the mode of each cell.

    The density at the mean of a cell is f(x) = sum of w k(|x - y|^2) over all cells y within distance 1, with k the
    biweight kernel. The saddle between two cells within distance 1 has the lower of their two densities.
    """
    points, weights = cells.means, cells.counts
    # the order of cells and pairs does not depend on the tile size, so neither does the rounding of the sums
    pairs, distances = pairs_within(points, 1.0)
    (i, j), kernel = pairs.T, BIWEIGHT.k(distances**2)
    del distances
    mass = weights * BIWEIGHT.k(np.zeros(1))
    mass = mass + np.bincount(i, kernel * weights[j], len(points)) + np.bincount(j, kernel * weights[i], len(points))
    del kernel
    heights = np.log(mass)
    return cut(point_tree(heights, pairs, np.minimum(heights[i], heights[j])), 0.0)
