"""Modes of the density over place and colour, and which of them stand out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.neighbors import pairs_within
from modeseek._common.types import Array, IntArray, Watcher
from modeseek.images.picture import Picture
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.selection.modes import cut, point_tree
from modeseek.sketches import Grid, GridCells

__all__ = ["Scales", "basins", "survey"]

# cells are half a bandwidth wide: neighbours in reach are then two cells away at most, a few dozen of them
HALF = -1
# cells at most; more are joined to wider ones
LIMIT = 200_000
# cells are counted from here, below all that a picture can hold
OFFSET = 1 << 40


class Scales(NamedTuple):
    """Bandwidths: of places, in units of spacing, and of colours."""

    place: float
    colour: float

    def features(self, picture: Picture, band: slice) -> Array:
        """Return the pixels of a band in units of the bandwidths: one kernel of width 1 is the product's support."""
        return np.hstack([picture.colours(band) / self.colour, picture.places(band) / self.place])


def survey(picture: Picture, scales: Scales, tile: int, watch: Watcher | None = None) -> GridCells:
    """Count all pixels in the cells of a grid, band by band; no size of bands changes the result."""
    d = picture.pixels.shape[-1] + len(picture.shape)
    cells = Grid(HALF, (OFFSET,) * d, LIMIT).empty()
    for band in picture.bands(tile, "counting", watch):
        cells = cells.add(scales.features(picture, band))
    return cells


def basins(cells: GridCells, prominence: float) -> IntArray:
    """Return the mode that each cell belongs to, when modes that rise by less than `prominence` have merged.

    The density is summed at the cells' means, f(x) = sum of w k(|x - y|^2) over all cells y in reach, with k the
    biweight; a pass between two cells in reach is as high as the lower of them.
    """
    points, weights = cells.means, cells.counts
    # cells come in one order whatever the tiles were, so pairs do too, and sums round alike
    pairs, distances = pairs_within(points, 1.0)
    (i, j), near = pairs.T, BIWEIGHT.k(distances**2)
    del distances
    mass = weights * BIWEIGHT.k(np.zeros(1))
    mass = mass + np.bincount(i, near * weights[j], len(points)) + np.bincount(j, near * weights[i], len(points))
    del near
    heights = np.log(mass)
    return cut(point_tree(heights, pairs, np.minimum(heights[i], heights[j])), prominence)
