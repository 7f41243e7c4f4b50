"""The sweeps of mean shift: each climber (a moving query) steps by itself, or with the climbers it has met."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from modeseek._common.types import Array
from modeseek.meanshift.chains.climber_groups import ClimberGroups
from modeseek.meanshift.chains.scout_paths import ScoutPaths, choose_scouts, record_paths
from modeseek.meanshift.types import ChainState, ClimbingWorkspace, SweepInfo


@dataclass(frozen=True)
class ClimbConfig:
    """Conditions under which climbers of mean shift are merged and scouts climb first.

    Attributes
    ----------
    cell_tolerances : float
        Climbers merge in cells with a side of this many times tol * h, if kernel weights are continuous. Their distance
        is then about that from the mode at which they stop.
    widest_cell : float
        Upper bound of the side, as a share of h. In wider cells, some labels change.
    rounding_cell : float
        Side of the cells as a share of h if kernel weights jump, as flat ones do. Neighbouring climbers can then
        separate again, so only climbers at the same position up to rounding are merged.
    scouts_from : int
        Scouts are used from this number of climbers times dimensions on; below, they cost as much as they save
        (measured by benchmarks/climbing.py).
    scouts_per_root : float
        Number of scouts, as a multiple of the square root of the number of climbers.
    """

    cell_tolerances: float = 10.0
    widest_cell: float = 5e-3
    rounding_cell: float = 1e-9
    scouts_from: int = 30_000
    scouts_per_root: float = 4.0

    def cell_side(self, tol: float, *, continuous: bool) -> float:
        """Return the side of the cells as a share of h."""
        return max(min(self.cell_tolerances * tol, self.widest_cell) if continuous else 0.0, self.rounding_cell)


class Climbers:
    """Climbers on the density of points that stay fixed.

    Parameters
    ----------
    shift : callable
        Returns S_h(x) for an array of positions x.
    start : (m, d) array
        Starting points.
    h, tol : float
        A climber has arrived when its shift is at most tol * h.
    side : float
        Side of the cells in which climbers merge, and that the paths of scouts consist of.
    most_steps : int
        A scout leaves a path if it arrives within this many steps. 0 disables scouts.
    config : ClimbConfig
    """

    def __init__(
        self,
        shift: Callable[[Array], Array],
        start: Array,
        h: float,
        tol: float,
        side: float,
        most_steps: int,
        config: ClimbConfig,
    ):
        self._shift, self._start, self._h, self._tol, self._side = shift, start, h, tol, side
        self._groups = ClimberGroups(start, side)
        self._paths: ScoutPaths | None = None
        self._most_steps, self._config = most_steps, config

    def begin(self) -> ChainState:
        """Return the state before the first step."""
        return ChainState.initial(self._start, self._h)

    def climbing(self, state: ChainState) -> Array:
        """Return a boolean array of the climbers that have not arrived."""
        return state.last_shift > self._tol * self._h

    def sweep(self, state: ChainState) -> tuple[ChainState, SweepInfo]:
        """Move each climber that has not arrived by one step, or to the end of the path that it has entered."""
        climbing = self.climbing(state)
        if not climbing.any():
            return state, SweepInfo(np.full(1, self._h), 0.0)
        steps, leader = self._groups.leaders(state.points, climbing)
        points, last_shift, k = state.points.copy(), state.last_shift.copy(), state.k
        rows = np.flatnonzero(climbing)
        if self._most_steps:
            paths = self._scout_paths()
            k += paths.updates if k == 0 else 0
            on_path, end = paths.find(np.take(points, steps, axis=0))
            points[steps[on_path]], last_shift[steps[on_path]] = paths.ends[end], paths.last_shift[end]
            steps = np.delete(steps, on_path)
        old = np.take(state.points, steps, axis=0)
        new = self._shift(old)
        shift = new.astype(np.float64) - old
        points[steps] = new
        last_shift[steps] = np.sqrt(np.einsum("ij,ij->i", shift, shift))
        stepped = np.zeros(len(points), dtype=bool)
        stepped[steps] = True
        points[rows] = np.take(points, leader[rows], axis=0)
        last_shift[rows] = last_shift[leader[rows]]
        self._groups.remember(points, leader)
        info = SweepInfo(np.full(1, self._h), float(last_shift[steps].max(initial=0.0)))
        return ChainState(points, self._h, k + int(stepped[leader[rows]].sum()), last_shift), info

    def _scout_paths(self) -> ScoutPaths:
        if self._paths is None:
            chosen = choose_scouts(self._groups.order, self._config.scouts_per_root)
            start = np.take(self._start, chosen, axis=0)
            scouts = Climbers(self._shift, start, self._h, self._tol, self._side, 0, self._config)
            self._paths = record_paths(scouts.sweep, scouts.climbing, scouts.begin(), self._side, self._most_steps)
        return self._paths


class EngineClimbers:
    """Climbers that an engine moves to their modes in one sweep, each independently.

    Parameters
    ----------
    workspace : ClimbingWorkspace
        Holds the data.
    start : (m, d) array
        Starting points.
    h, tol : float
        A climber has arrived when its shift is at most tol * h.
    most_steps : int
        Maximum number of steps in one sweep.
    """

    def __init__(self, workspace: ClimbingWorkspace, start: Array, h: float, tol: float, most_steps: int):
        self._workspace, self._start, self._h, self._tol, self._most = workspace, start, h, tol, most_steps

    def begin(self) -> ChainState:
        """Return the state before the first step."""
        return ChainState.initial(self._start, self._h)

    def climbing(self, state: ChainState) -> Array:
        """Return a boolean array of the climbers that have not arrived."""
        return state.last_shift > self._tol * self._h

    def sweep(self, state: ChainState) -> tuple[ChainState, SweepInfo]:
        """Move each climber that has not arrived to its mode."""
        rows = np.flatnonzero(self.climbing(state))
        points, last_shift = state.points.copy(), state.last_shift.copy()
        points[rows], last_shift[rows], steps = self._workspace.climb(points[rows], self._h, self._tol, self._most)
        info = SweepInfo(np.full(1, self._h), float(last_shift[rows].max()), int(steps.max()))
        return ChainState(points, self._h, state.k + int(steps.sum()), last_shift), info
