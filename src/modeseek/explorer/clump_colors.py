"""Colours of clumps that stay the same while clumps grow and merge.

A clump is a group of points that are linked by distances below tau during a run.
"""

import numpy as np

from modeseek._common.types import IntArray

# while points move, colours are numbered 0 to N_COLORS - 1; number N_COLORS is grey, for single points and small clumps
N_COLORS = 24
# smallest share of the points for which a clump gets a colour
MIN_SHARE = 0.01


class ClumpColors:
    """Assigns colours to clumps: a clump keeps the colour that most of its points had before.

    Parameters
    ----------
    n : int
        Number of points.

    Examples
    --------
    >>> colors = ClumpColors(6)
    >>> colors.update(np.array([0, 0, 0, 1, 1, 2])).tolist()
    [0, 0, 0, 1, 1, 24]
    >>> colors.update(np.array([1, 1, 1, 0, 0, 0])).tolist()  # other labels, the same clumps
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(self, n: int):
        self._colors = np.full(n, N_COLORS, dtype=np.uint8)
        self._min_size = max(2, int(MIN_SHARE * n))

    def update(self, clumps: IntArray) -> IntArray:
        """Return the colour of each point, 0 to N_COLORS, given the clump of each point."""
        sizes = np.bincount(clumps)
        large = np.flatnonzero(sizes >= self._min_size)
        large = large[np.argsort(-sizes[large], kind="stable")][:N_COLORS]
        rank = np.full(len(sizes), len(large))
        rank[large] = np.arange(len(large))
        votes = np.zeros((len(large) + 1, N_COLORS + 1))
        np.add.at(votes, (rank[clumps], self._colors), 1.0)
        votes = votes[: len(large), :N_COLORS]
        color_of = np.full(len(sizes), N_COLORS, dtype=np.uint8)
        free, without = list(range(N_COLORS)), []
        # the clump with the most points of one colour chooses first
        for row in np.argsort(-votes.max(axis=1, initial=0.0), kind="stable"):
            color = int(votes[row].argmax())
            if votes[row, color] > 0 and color in free:
                color_of[large[row]] = color
                free.remove(color)
            else:
                without.append(row)
        for row in sorted(without):
            color_of[large[row]] = free.pop(0)
        self._colors = color_of[clumps]
        return self._colors
