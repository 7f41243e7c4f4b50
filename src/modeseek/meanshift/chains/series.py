"""Recorded series of bounded length: thinned when they get too long, with some early draws kept."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from modeseek._common.storable import require, storable
from modeseek._common.types import Array, IntArray

# number of draws kept from each doubling of k, because plots of h have a logarithmic axis
DRAWS_PER_OCTAVE = 8
# number of the sweep or draw, number of updates so far, and value
Entry: TypeAlias = tuple[int, int, Array | float]


def _check_series(series: Series) -> None:
    require(series.k.ndim == 1 and len(series.k) == len(series.values), "a series")


@storable(_check_series)
class Series(NamedTuple):
    """A recorded quantity.

    Attributes
    ----------
    k : (m,) integer array
        Number of updates at each entry; for bandwidths, the number of the draw.
    values : (m, ...) array
    """

    k: IntArray
    values: Array


class ThinnedSeries:
    """Entries at multiples of an interval, which doubles whenever there are more entries than `limit`."""

    def __init__(self, every: int, limit: int):
        self.every, self.limit = every, limit
        self._entries: list[Entry] = []

    def kept(self) -> tuple[int, list[Entry]]:
        """Return the interval and the entries, for `resume`."""
        return self.every, list(self._entries)

    def resume(self, every: int, entries: list[Entry]) -> None:
        """Restore the interval and the entries that `kept` returned."""
        self.every, self._entries = every, list(entries)

    def wants(self, count: int) -> bool:
        """Return whether an entry is due at sweep or draw number `count`."""
        return count % self.every == 0

    def add(self, count: int, k: int, value: Array | float) -> None:
        """Add an entry that is due."""
        self._entries.append((count, k, value))
        while len(self._entries) > self.limit:
            self._thin()

    def extend(self, first: int, values: Array) -> None:
        """Add the values that are due; `values` belong to the draws first, first + 1, ..."""
        last = first + len(values) - 1
        while last // self.every > self.limit:
            self._thin()
        counts = range(-(-first // self.every) * self.every, last + 1, self.every)
        due = np.asarray(values)[counts.start - first :: self.every].tolist()
        self._entries += zip(counts, counts, due, strict=True)

    def lacks(self, k: int) -> bool:
        """Return whether there is no entry at k updates, which would be the last entry."""
        return not self._entries or self._entries[-1][1] != k

    def close(self, count: int, k: int, value: Array | float) -> None:
        """Add the last entry, even if it is not due."""
        self._entries.append((count, k, value))

    def _thin(self) -> None:
        self.every *= 2
        self._entries = [entry for entry in self._entries if self.wants(entry[0])]

    def series(self) -> Series:
        """Return the entries as arrays."""
        return Series(
            np.array([k for _, k, _ in self._entries], dtype=np.int64),
            np.array([value for _, _, value in self._entries], dtype=np.float64),
        )


class EarlyDraws:
    """Some of the first draws, the same number from each doubling of k."""

    def __init__(self) -> None:
        # pairs in one list, so that an interruption cannot separate a number from its value
        self._entries: list[tuple[int, float]] = []

    def kept(self) -> tuple[list[int], list[float]]:
        """Return numbers and values, for `resume`."""
        return [k for k, _ in self._entries], [value for _, value in self._entries]

    def resume(self, k: list[int], values: list[float]) -> None:
        """Restore the numbers and values that `kept` returned."""
        self._entries = list(zip(k, values, strict=True))

    def extend(self, first: int, values: Array) -> None:
        """Keep some of the values; `values` belong to the draws first, first + 1, ..."""
        last, low = first + len(values) - 1, 1 << (first.bit_length() - 1)
        while low <= last:
            step = max(1, low // DRAWS_PER_OCTAVE)
            counts = np.arange(max(low, -(-first // step) * step), min(2 * low - 1, last) + 1, step)
            self._entries += list(zip(counts.tolist(), np.asarray(values)[counts - first].tolist(), strict=True))
            low *= 2

    def merged_with(self, series: Series) -> Series:
        """Return the series after the kept draws are added at its start, where they are denser than its entries."""
        if not len(series.k):
            return series
        numbers, values = self.kept()
        early = np.array(numbers, dtype=np.int64)
        finer = early < DRAWS_PER_OCTAVE * series.k[0]
        k, first = np.unique(np.concatenate([early[finer], series.k]), return_index=True)
        return Series(k, np.concatenate([np.array(values, dtype=np.float64)[finer], series.values])[first])
