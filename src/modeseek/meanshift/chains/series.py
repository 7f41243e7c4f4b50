"""Entries of a trace: thinned when there are too many, and a few early ones for good."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from modeseek._common.storable import require, storable
from modeseek._common.types import Array, IntArray

__all__ = ["EarlyDraws", "Entry", "Series", "ThinnedSeries"]

# draws kept of each doubling of k at the start, however long the run: pictures of h have a logarithmic axis
PER_OCTAVE = 8
# sweep or draw, updates done, value
Entry: TypeAlias = tuple[int, int, Array | float]


def _check_series(series: Series) -> None:
    require(series.k.ndim == 1 and len(series.k) == len(series.values), "a series")


@storable(_check_series)
class Series(NamedTuple):
    """A recorded quantity.

    Attributes
    ----------
    k : (m,) integer array
        Updates done at each entry; for the bandwidth path, the number of the draw.
    values : (m, ...) array
    """

    k: IntArray
    values: Array


class ThinnedSeries:
    """Entries at multiples of an interval, thinned when there are too many."""

    def __init__(self, every: int, limit: int):
        self.every, self.limit = every, limit
        self._entries: list[Entry] = []

    def kept(self) -> tuple[int, list[Entry]]:
        """Return the interval and the entries as they are now."""
        return self.every, list(self._entries)

    def resume(self, every: int, entries: list[Entry]) -> None:
        """Go on from what was kept."""
        self.every, self._entries = every, list(entries)

    def wants(self, count: int) -> bool:
        """Whether an entry is due."""
        return count % self.every == 0

    def add(self, count: int, k: int, value: Array | float) -> None:
        """Add an entry that is due."""
        self._entries.append((count, k, value))
        while len(self._entries) > self.limit:
            self._thin()

    def extend(self, first: int, values: Array) -> None:
        """Add values number first, first + 1, ..., looking at those only that are kept."""
        last = first + len(values) - 1
        while last // self.every > self.limit:
            self._thin()
        counts = np.arange(-(-first // self.every) * self.every, last + 1, self.every)
        self._entries += [
            (c, c, value) for c, value in zip(counts.tolist(), values[counts - first].tolist(), strict=True)
        ]

    def lacks(self, k: int) -> bool:
        """Whether the last entry is of another k."""
        return not self._entries or self._entries[-1][1] != k

    def close(self, count: int, k: int, value: Array | float) -> None:
        """Add the last entry, whether or not one is due."""
        self._entries.append((count, k, value))

    def _thin(self) -> None:
        self.every *= 2
        self._entries = [entry for entry in self._entries if self.wants(entry[0])]

    def series(self) -> Series:
        """Return the entries."""
        return Series(
            np.array([k for _, k, _ in self._entries], dtype=np.int64),
            np.array([value for _, _, value in self._entries], dtype=np.float64),
        )


class EarlyDraws:
    """The first of many values, so many of each doubling."""

    def __init__(self) -> None:
        # pairs, so that Ctrl-C never comes between a number and its value
        self._entries: list[tuple[int, float]] = []

    def kept(self) -> tuple[list[int], list[float]]:
        """Return numbers and values as they are now."""
        return [k for k, _ in self._entries], [value for _, value in self._entries]

    def resume(self, k: list[int], values: list[float]) -> None:
        """Go on from what was kept."""
        self._entries = list(zip(k, values, strict=True))

    def extend(self, first: int, values: Array) -> None:
        """Look at values number first, first + 1, ..."""
        last, low = first + len(values) - 1, 1 << (first.bit_length() - 1)
        while low <= last:
            step = max(1, low // PER_OCTAVE)
            counts = np.arange(max(low, -(-first // step) * step), min(2 * low - 1, last) + 1, step)
            self._entries += list(zip(counts.tolist(), np.asarray(values)[counts - first].tolist(), strict=True))
            low *= 2

    def before(self, series: Series) -> Series:
        """Put those before a series that came before it: where its steps are finer than these, it needs none."""
        if not len(series.k):
            return series
        numbers, values = self.kept()
        early = np.array(numbers, dtype=np.int64)
        mine = early < PER_OCTAVE * series.k[0]
        k, first = np.unique(np.concatenate([early[mine], series.k]), return_index=True)
        return Series(k, np.concatenate([np.array(values, dtype=np.float64)[mine], series.values])[first])
