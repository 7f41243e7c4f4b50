"""Regions of a label image: their sizes, mean colours and neighbours, collected band by band."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from modeseek._common.types import Array, IntArray
from modeseek.meanshift.partition import rank_by_weight

# label of pixels outside the mask
MASKED = -1
# colours are summed as integers, in units of 1 / COLOR_STEPS, so that the sums do not depend on the tile size
COLOR_STEPS = 256
NO_PAIRS = np.zeros((0, 2), np.int64)


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions in the order of their first pixels.

    Attributes
    ----------
    sizes : (k,) integer array
        Number of pixels of each region.
    color_sums : (k, channels) integer array
        Sum of the colours of each region, in steps of 1 / 256.
    pairs : (m, 2) integer array
        Pairs of adjacent regions, each pair once.
    """

    sizes: IntArray
    color_sums: IntArray
    pairs: IntArray

    def merged(self, groups: IntArray) -> Regions:
        """Return the regions after merging those of the same group; groups are numbered by their first members."""
        k = int(groups.max()) + 1 if len(groups) else 0
        sizes, sums = np.zeros(k, np.int64), np.zeros((k, self.color_sums.shape[1]), np.int64)
        np.add.at(sizes, groups, self.sizes)
        np.add.at(sums, groups, self.color_sums)
        return Regions(sizes, sums, distinct_pairs(groups[self.pairs], k)[0])

    def without_small(self, min_size: float) -> tuple[Regions, IntArray]:
        """Merge regions of fewer than `min_size` pixels into the neighbour with the closest mean colour.

        The smallest regions are merged first.

        Returns
        -------
        regions : Regions
            The remaining regions.
        numbers : (k,) integer array
            For each former region, its number in `regions`.
        """
        regions, numbers = self, np.arange(len(self.sizes))
        limit = 1.0
        while limit < 2 * min_size:
            groups = regions._group_small(min(limit, min_size))
            if groups is None:
                limit *= 2
                continue
            regions, numbers = regions.merged(groups), groups[numbers]
        return regions, numbers

    def _group_small(self, min_size: float) -> IntArray | None:
        """Group each region below `min_size` with its closest neighbour; None if there is no such region."""
        ends = np.concatenate([self.pairs, self.pairs[:, ::-1]])
        ends = ends[self.sizes[ends[:, 0]] < min_size]
        if not len(ends):
            return None
        means = self.color_sums / self.sizes[:, None]
        distances = np.square(means[ends[:, 0]] - means[ends[:, 1]]).sum(axis=1)
        ends = ends[np.lexsort((ends[:, 1], distances, ends[:, 0]))]
        closest = np.append(True, ends[1:, 0] != ends[:-1, 0])
        return node_components(len(self.sizes), ends[closest])


class RegionCollector:
    """Collects the regions of a label image that arrives band by band.

    Parameters
    ----------
    labels : integer array
        The whole label image, into which `add` writes preliminary region numbers (`MASKED` outside the mask).
    channels : int
        Number of colour channels.
    connected : bool
        Whether each connected part of a mode is a region. If False, all pixels of a mode are one region.
    """

    def __init__(self, labels: NDArray, channels: int, connected: bool):
        self.labels, self.connected = labels, connected
        self.sizes, self.color_sums = np.zeros(0, np.int64), np.zeros((0, channels), np.int64)
        self._pairs, self._same = [NO_PAIRS], [NO_PAIRS]
        # the modes and the region numbers of the last row of the previous band
        self._last_row: tuple[NDArray, NDArray] | None = None

    def add(self, band: slice, modes: NDArray, colors: Array) -> None:
        """Add a band: the mode of each pixel, and the colours of the pixels inside the mask."""
        numbers = self._connected_parts(modes) if self.connected else modes
        self.labels[band] = numbers
        flat = numbers[numbers != MASKED]
        k = max(len(self.sizes), int(flat.max()) + 1 if len(flat) else 0)
        self.sizes = _padded(self.sizes, k) + np.bincount(flat, minlength=k)
        steps = np.rint(colors * COLOR_STEPS)
        # bincount adds floats, which is exact for integers below 2^53
        sums = [np.bincount(flat, steps[:, c], minlength=k) for c in range(steps.shape[1])]
        self.color_sums = _padded(self.color_sums, k) + np.stack(sums, axis=1).astype(np.int64)
        for axis in range(numbers.ndim):
            along = np.moveaxis(numbers, axis, 0)
            self._add_neighbors(along[:-1], along[1:])
        if self._last_row is not None:
            above, below = self._last_row[1], numbers[0]
            if self.connected:
                same = (self._last_row[0] == modes[0]) & (below != MASKED) & (above != MASKED)
                self._same.append(np.unique(np.column_stack([above[same], below[same]]), axis=0))
            self._add_neighbors(above, below)
        self._last_row = modes[-1].copy(), numbers[-1].copy()

    def finish(self) -> tuple[Regions, Callable[[NDArray], NDArray]]:
        """Return the regions, and a function that maps the preliminary numbers in `labels` to final region numbers."""
        groups = node_components(len(self.sizes), np.concatenate(self._same))
        regions = Regions(self.sizes, self.color_sums, np.concatenate(self._pairs)).merged(groups)
        return regions, lambda numbers: np.where(numbers == MASKED, MASKED, groups[numbers])

    def _connected_parts(self, modes: NDArray) -> NDArray:
        from skimage.measure import label

        # scikit-image numbers the parts from 1 in the order of first pixels; 0 is the background
        parts = label(modes, background=MASKED, connectivity=1).astype(np.int64)
        return np.where(parts == 0, MASKED, parts - 1 + len(self.sizes))

    def _add_neighbors(self, first: NDArray, second: NDArray) -> None:
        differ = (first != second) & (first != MASKED) & (second != MASKED)
        self._pairs.append(distinct_pairs(np.column_stack([first[differ], second[differ]]), len(self.sizes))[0])


def _padded(values: IntArray, k: int) -> IntArray:
    return np.concatenate([values, np.zeros((k - len(values), *values.shape[1:]), values.dtype)])


def distinct_pairs(pairs: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """Return the distinct pairs, with the lower number first, and for each given pair its index among them.

    All numbers are below k. Pairs of equal numbers are left out and have the index -1.
    """
    low, high = pairs.min(axis=1, initial=k), pairs.max(axis=1, initial=-1)
    differ = low != high
    places = np.full(len(pairs), -1)
    keys, places[differ] = np.unique((low.astype(np.int64) * k + high)[differ], return_inverse=True)
    return np.column_stack([keys // max(k, 1), keys % max(k, 1)]), places


def node_components(k: int, pairs: IntArray) -> IntArray:
    """Return the connected component of each of k nodes; components are numbered by their first nodes."""
    graph = coo_matrix((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(k, k))
    _, part = connected_components(graph, directed=False)
    return rank_by_weight(part, np.zeros(k)).labels  # equal weights are ordered by the first node
