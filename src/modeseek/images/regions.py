"""Regions of a label image that comes in bands: connected parts, their sizes and colours, and who touches whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from modeseek._common.types import Array, IntArray

__all__ = ["NOBODY", "Collector", "Regions"]

NOBODY = -1
# colours are added up in whole units, so that no order of pixels changes a sum
UNITS = 256


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions in the order of their first pixels.

    Attributes
    ----------
    sizes : (k,) integer array
        Pixels of each.
    sums : (k, channels) integer array
        Their colours, added up in whole units.
    pairs : (m, 2) integer array
        Regions that touch, each pair once.
    """

    sizes: IntArray
    sums: IntArray
    pairs: IntArray

    def joined(self, groups: IntArray) -> Regions:
        """Return the regions with those of one group as one; groups are numbered by their first members."""
        k = int(groups.max()) + 1 if len(groups) else 0
        sizes, sums = np.zeros(k, np.int64), np.zeros((k, self.sums.shape[1]), np.int64)
        np.add.at(sizes, groups, self.sizes)
        np.add.at(sums, groups, self.sums)
        return Regions(sizes, sums, _distinct(groups[self.pairs], k))

    def without_small(self, least: float) -> tuple[Regions, IntArray]:
        """Let regions of fewer pixels join the neighbour most like them in colour, the smallest first.

        Returns the regions that are left, and for each former region its number among them.
        """
        regions, number = self, np.arange(len(self.sizes))
        limit = 1.0
        while limit < 2 * least:
            groups = regions._choice(min(limit, least))
            if groups is None:
                limit *= 2
                continue
            regions, number = regions.joined(groups), groups[number]
        return regions, number

    def _choice(self, least: float) -> IntArray | None:
        """Return groups in which each region below `least` is with a neighbour; None where there is none."""
        ends = np.concatenate([self.pairs, self.pairs[:, ::-1]])
        ends = ends[self.sizes[ends[:, 0]] < least]
        if not len(ends):
            return None
        means = self.sums / self.sizes[:, None]
        apart = np.square(means[ends[:, 0]] - means[ends[:, 1]]).sum(axis=1)
        ends = ends[np.lexsort((ends[:, 1], apart, ends[:, 0]))]
        first = np.append(True, ends[1:, 0] != ends[:-1, 0])
        return _components(len(self.sizes), ends[first])


class Collector:
    """Takes in a label image band by band and tells its regions.

    Parameters
    ----------
    labels : integer array
        The whole label image, `NOBODY` where a pixel does not count; written to when regions are connected parts.
    channels : int
    connected : bool
        Whether the parts of a label that do not touch are regions of their own.
    """

    def __init__(self, labels: NDArray, channels: int, connected: bool):
        self.labels, self.connected = labels, connected
        self.sizes, self.sums = np.zeros(0, np.int64), np.zeros((0, channels), np.int64)
        self.pairs: list[IntArray] = []
        self.same: list[IntArray] = []
        # the last row before a band, by label and by region
        self._row: tuple[NDArray, NDArray] | None = None

    def add(self, band: slice, found: NDArray, colours: Array) -> None:
        """Take in the labels of a band and the colours of its pixels that count."""
        numbers = self._parts(found) if self.connected else found
        self.labels[band] = numbers
        flat = numbers.ravel()
        flat = flat[flat != NOBODY]
        k = max(len(self.sizes), int(flat.max()) + 1 if len(flat) else 0)
        self.sizes = _grown(self.sizes, k) + np.bincount(flat, minlength=k)
        units = np.rint(colours * UNITS)
        # exact in floats too: whole numbers far below 2^53
        sums = [np.bincount(flat, units[:, c], minlength=k) for c in range(units.shape[1])]
        self.sums = _grown(self.sums, k) + np.stack(sums, axis=1).astype(np.int64)
        for axis in range(numbers.ndim):
            self._touch(*(np.take(numbers, range(*ends), axis) for ends in _shifted(numbers.shape[axis])))
        if self._row is not None:
            above, below = self._row[1], numbers[0]
            if self.connected:
                alike = (self._row[0] == found[0]) & (below != NOBODY) & (above != NOBODY)
                self.same.append(np.unique(np.column_stack([above[alike], below[alike]]), axis=0))
            self._touch(above, below)
        self._row = found[-1].copy(), numbers[-1].copy()

    def finish(self) -> tuple[Regions, Callable[[NDArray], NDArray]]:
        """Return the regions, and what turns the numbers in `labels` into theirs."""
        k = len(self.sizes)
        pairs = np.concatenate([np.zeros((0, 2), np.int64), *self.pairs])
        groups = _components(k, np.concatenate([np.zeros((0, 2), np.int64), *self.same]))
        found = Regions(self.sizes, self.sums, pairs).joined(groups)
        return found, lambda numbers: np.where(numbers == NOBODY, NOBODY, groups[numbers])

    def _parts(self, found: NDArray) -> NDArray:
        from skimage.measure import label

        # its labels count from 1 in the order of first pixels, and the background is 0
        parts = label(found, background=NOBODY, connectivity=1).astype(np.int64)
        return np.where(parts == 0, NOBODY, parts - 1 + len(self.sizes))

    def _touch(self, one: NDArray, two: NDArray) -> None:
        apart = (one != two) & (one != NOBODY) & (two != NOBODY)
        self.pairs.append(_distinct(np.column_stack([one[apart], two[apart]]), len(self.sizes)))


def _shifted(n: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (0, n - 1), (1, n)


def _grown(values: IntArray, k: int) -> IntArray:
    return np.concatenate([values, np.zeros((k - len(values), *values.shape[1:]), values.dtype)])


def _distinct(pairs: IntArray, k: int) -> IntArray:
    """Return each pair once, the lower number first; pairs of one with itself are dropped."""
    low, high = pairs.min(axis=1, initial=k), pairs.max(axis=1, initial=-1)
    key = np.unique((low.astype(np.int64) * k + high)[low != high])
    return np.column_stack([key // max(k, 1), key % max(k, 1)])


def _components(k: int, pairs: IntArray) -> IntArray:
    """Return who is connected to whom, numbered by the first members."""
    graph = coo_matrix((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(k, k))
    _, part = connected_components(graph, directed=False)
    _, first, number = np.unique(part, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[number]
