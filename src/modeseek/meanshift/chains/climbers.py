"""The sweeps of mean shift: every climber steps, by itself or with those it has come together with."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array
from modeseek.meanshift.chains.climber_groups import ClimberGroups
from modeseek.meanshift.chains.scout_paths import ScoutPaths, choose_scouts, walk
from modeseek.meanshift.types import ChainState, ClimbingWorkspace, SweepInfo, Workspace

__all__ = ["Ascent", "Climb"]


class Climb:
    """Climbers on the density of a workspace's points, which never move.

    Parameters
    ----------
    workspace : Workspace
    start : (m, d) array
        Where climbers start.
    h, tol : float
        A climber has arrived when its shift is at most tol * h.
    side : float
        Side of the cells in which climbers come together, and that paths lead through.
    most_steps : int
        Pioneers leave paths if they arrive within so many steps; 0: there are none.
    """

    def __init__(self, workspace: Workspace, start: Array, h: float, tol: float, side: float, most_steps: int = 0):
        self._workspace, self._start, self._h, self._tol, self._side = workspace, start, h, tol, side
        self._together = ClimberGroups(start, side)
        self._paths: ScoutPaths | None = None
        self._most_steps = most_steps

    def begin(self) -> ChainState:
        """Return the state before the first step."""
        return ChainState(self._start, float(self._h), 0, np.full(len(self._start), np.inf))

    def climbing(self, state: ChainState) -> Array:
        """Tell who has not arrived."""
        return state.last_shift > self._tol * self._h

    def sweep(self, state: ChainState) -> tuple[ChainState, SweepInfo]:
        """Let everyone who has not arrived step once, or take the end of the path it stands on."""
        climbing = self.climbing(state)
        if not climbing.any():
            return state, SweepInfo(np.full(1, self._h), 0.0)
        steps, leader = self._together.leaders(state.points, climbing)
        points, last_shift, k = state.points.copy(), state.last_shift.copy(), state.k
        rows = np.flatnonzero(climbing)
        if self._most_steps:
            paths = self._ahead()
            k += paths.updates if k == 0 else 0
            there, end = paths.find(np.take(points, steps, axis=0))
            points[steps[there]], last_shift[steps[there]] = paths.ends[end], paths.last_shift[end]
            steps = np.delete(steps, there)
        old = np.take(state.points, steps, axis=0)
        new = self._workspace.shift_all(old, self._h)
        shift = new.astype(np.float64) - old
        points[steps] = new
        last_shift[steps] = np.sqrt(np.einsum("ij,ij->i", shift, shift))
        stepped = np.zeros(len(points), dtype=bool)
        stepped[steps] = True
        points[rows] = np.take(points, leader[rows], axis=0)
        last_shift[rows] = last_shift[leader[rows]]
        self._together.remember(points, leader)
        info = SweepInfo(np.full(1, self._h), float(last_shift[steps].max(initial=0.0)))
        return ChainState(points, self._h, k + int(stepped[leader[rows]].sum()), last_shift), info

    def _ahead(self) -> ScoutPaths:
        """Return the paths of the scouts, who climb when they are first asked for."""
        if self._paths is None:
            chosen = np.take(self._start, choose_scouts(self._together.order), axis=0)
            climb = Climb(self._workspace, chosen, self._h, self._tol, self._side)
            self._paths = walk(climb.sweep, climb.climbing, climb.begin(), self._side, self._most_steps)
        return self._paths


class Ascent:
    """Climbers that an engine takes to their ends, each by itself, in one sweep.

    Parameters
    ----------
    climber : ClimbingWorkspace
        Holds the data.
    start : (m, d) array
        Where climbers start.
    h, tol : float
        A climber has arrived when its shift is at most tol * h.
    most_steps : int
        Most steps of a sweep.
    """

    def __init__(self, climber: ClimbingWorkspace, start: Array, h: float, tol: float, most_steps: int):
        self._climber, self._start, self._h, self._tol, self._most = climber, start, h, tol, most_steps

    def begin(self) -> ChainState:
        """Return the state before the first step."""
        return ChainState(self._start, float(self._h), 0, np.full(len(self._start), np.inf))

    def climbing(self, state: ChainState) -> Array:
        """Tell who has not arrived."""
        return state.last_shift > self._tol * self._h

    def sweep(self, state: ChainState) -> tuple[ChainState, SweepInfo]:
        """Let everyone who has not arrived climb."""
        rows = np.flatnonzero(self.climbing(state))
        points, last_shift = state.points.copy(), state.last_shift.copy()
        points[rows], last_shift[rows], steps = self._climber.climb(points[rows], self._h, self._tol, self._most)
        info = SweepInfo(np.full(1, self._h), float(last_shift[rows].max()), int(steps.max()))
        return ChainState(points, self._h, state.k + int(steps.sum()), last_shift), info
