"""Groups of climbers that have met and move together. A climber is a query that mean-shift steps move to its mode."""

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek._common.unique_rows import unique_rows


class ClimberGroups:
    """Merges climbers that are in the same cell of a grid.

    Members of a group are at the same position, so groups can be recovered from any state. The groups that `remember`
    stores only save comparisons.

    Parameters
    ----------
    start : (m, d) array
        Starting points of the climbers.
    side : float
        Side of a cell.

    Attributes
    ----------
    order : (m,) integer array
        Climbers in the lexicographic order of their starting points. The first member in this order leads a group, so
        that the order in which climbers were given has no effect.
    """

    def __init__(self, start: Array, side: float):
        self._side = side
        sorted_already = bool((np.diff(start[:, 0]) > 0).all())
        self.order = np.arange(len(start)) if sorted_already else np.lexsort(start.T[::-1])
        self._points: Array | None = None
        self._leader = np.arange(len(start))

    def leaders(self, points: Array, climbing: Array) -> tuple[IntArray, IntArray]:
        """Return the climbers that step, and the climber that each climber follows.

        Parameters
        ----------
        points : (m, d) array
            Current positions.
        climbing : (m,) array of bool
            Climbers that have not arrived.

        Returns
        -------
        steps : (s,) integer array
            The climbers that step, one for each cell.
        leader : (m,) integer array
            The climber that each climber follows; a climber that arrived alone follows itself.
        """
        everyone = np.arange(len(points))
        leader = self._leader if points is self._points else everyone
        alone = self.order[(climbing & (leader == everyone))[self.order]]
        first, number = unique_rows(np.round(np.take(points, alone, axis=0).astype(np.float64) / self._side))
        steps, joined = alone[first], everyone
        joined[alone] = steps[number]
        return steps, joined[leader]

    def remember(self, points: Array, leader: IntArray) -> None:
        """Store the groups of a state, for the next sweep."""
        self._points, self._leader = points, leader
