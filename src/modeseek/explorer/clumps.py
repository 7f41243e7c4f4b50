"""Colours that stay with their clump while clumps grow and merge."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array, IntArray

__all__ = ["SLOTS", "Tracker"]

# colours at hand while points move; the last one, grey, is for points on their own and small clumps
SLOTS = 24
# a clump has a colour from this share of the points on
SHARE = 0.01


class Tracker:
    """Gives clumps colours: each keeps the one that most of its points had before.

    Parameters
    ----------
    n : int
        Number of points.

    Examples
    --------
    >>> tracker = Tracker(6)
    >>> tracker.follow(np.array([0, 0, 0, 1, 1, 2])).tolist()
    [0, 0, 0, 1, 1, 24]
    >>> tracker.follow(np.array([1, 1, 1, 0, 0, 0])).tolist()  # other numbers, the same clumps
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(self, n: int):
        self._slots = np.full(n, SLOTS, dtype=np.uint8)
        self._least = max(2, int(SHARE * n))

    def follow(self, labels: IntArray, weights: Array | None = None) -> IntArray:
        """Return the colour, 0 to SLOTS, of each point, given the clump of each."""
        sizes = np.bincount(labels, weights=weights)
        counted = np.bincount(labels)
        big = np.flatnonzero(counted >= self._least)
        big = big[np.argsort(-sizes[big], kind="stable")][:SLOTS]
        slots = np.full(len(sizes), SLOTS, dtype=np.uint8)
        free = list(range(SLOTS))
        homeless = []
        votes = np.zeros((len(big), SLOTS + 1))
        place = np.full(len(sizes), -1)
        place[big] = np.arange(len(big))
        member = place[labels] >= 0
        np.add.at(votes, (place[labels[member]], self._slots[member]), 1.0)
        # by how firmly a clump holds its colour
        for row in np.argsort(-votes[:, :SLOTS].max(axis=1, initial=0.0), kind="stable"):
            wanted = int(votes[row, :SLOTS].argmax())
            if votes[row, wanted] > 0 and wanted in free:
                slots[big[row]] = wanted
                free.remove(wanted)
            else:
                homeless.append(row)
        for row in sorted(homeless):
            slots[big[row]] = free.pop(0)
        self._slots = slots[labels]
        return self._slots
