"""Climbers that have come together climb as one."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import unique_rows

__all__ = ["ClimberGroups"]


class ClimberGroups:
    """Who climbs with whom: climbers in one cell of a grid share their way from there on.

    Only what the places say themselves is remembered: climbers that went on together are at one place. So a state that
    was never seen here gives the same groups, only with more rows to compare.

    Parameters
    ----------
    start : (m, d) array
        Where climbers start.
    side : float
        Side of a cell.

    Attributes
    ----------
    order : (m,) integer array
        Climbers from the lexicographically first start to the last.
    """

    def __init__(self, start: Array, side: float):
        self._side = side
        # who leads must not depend on the order in which climbers are given
        in_order = bool((np.diff(start[:, 0]) > 0).all())
        self.order = np.arange(len(start)) if in_order else np.lexsort(start.T[::-1])
        self._points: Array | None = None
        self._leader = np.arange(len(start))

    def leaders(self, points: Array, climbing: Array) -> tuple[IntArray, IntArray]:
        """Tell who steps for whom.

        Parameters
        ----------
        points : (m, d) array
            Where climbers are.
        climbing : (m,) array of bool
            Who has not arrived.

        Returns
        -------
        steps : (s,) integer array
            The climbers that step, one for each cell.
        leader : (m,) integer array
            Whom each climber follows; one that arrived alone follows itself.
        """
        everyone = np.arange(len(points))
        leader = self._leader if points is self._points else everyone
        alone = self.order[(climbing & (leader == everyone))[self.order]]
        first, number = unique_rows(np.round(np.take(points, alone, axis=0).astype(np.float64) / self._side))
        steps, joined = alone[first], everyone
        joined[alone] = steps[number]
        return steps, joined[leader]

    def remember(self, points: Array, leader: IntArray) -> None:
        """Keep the groups of a state, for the sweep that goes on from it."""
        self._points, self._leader = points, leader
