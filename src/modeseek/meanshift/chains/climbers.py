"""The sweeps of mean shift: each climber (a moving query) steps by itself, or with the climbers it has met."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek._common.unique_rows import unique_rows
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


class ClimberGroups:
    """Merges climbers that are in the same cell of a grid.

    Members of a group are at the same position. So groups can be recovered from any state. Groups stored in the last
    sweep only save comparisons.

    Parameters
    ----------
    start : (m, d) array
        Starting points of the climbers.
    side : float
        Side of a cell.

    Attributes
    ----------
    order : (m,) integer array
        Climbers in the lexicographic order of their starting points. The first of a group leads it, so that the
        order in which climbers were given has no effect.
    """

    def __init__(self, start: Array, side: float):
        self._side = side
        sorted_already = bool((np.diff(start[:, 0]) > 0).all())
        self.order = np.arange(len(start)) if sorted_already else np.lexsort(start.T[::-1])
        self._points: Array | None = None
        self._leader = np.arange(len(start))

    def leaders(self, points: Array, climbing: Array) -> tuple[IntArray, IntArray]:
        """Return which climbers step, and which of them each climber follows.

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
            The climber that each one follows; one that arrived alone follows itself.
        """
        everyone = np.arange(len(points))
        leader = self._leader if points is self._points else everyone
        alone = self.order[(climbing & (leader == everyone))[self.order]]
        first, number = unique_rows(np.round(np.take(points, alone, axis=0).astype(np.float64) / self._side))
        steps, joined = alone[first], everyone
        joined[alone] = steps[number]
        return steps, joined[leader]

    def remember(self, points: Array, leader: IntArray) -> None:
        """Store the groups of a state for the sweep that continues from it."""
        self._points, self._leader = points, leader


class BaseClimbers:
    """Climbers on the density of points that stay fixed; a subclass has a method `sweep`.

    Parameters
    ----------
    start : (m, d) array
        Starting points.
    h, tol : float
        A climber has arrived when its shift is at most tol * h.
    """

    def __init__(self, start: Array, h: float, tol: float):
        self._start, self._h, self._tol = start, h, tol

    def begin(self) -> ChainState:
        """Return the state before the first step."""
        return ChainState.initial(self._start, self._h)

    def climbing(self, state: ChainState) -> Array:
        """Return a boolean array of the climbers that have not arrived."""
        return state.last_shift > self._tol * self._h


class Climbers(BaseClimbers):
    """Climbers that step together with those that they have met.

    Parameters
    ----------
    shift : callable
        Returns S_h(x) for an array of positions x.
    start, h, tol
        As for `BaseClimbers`.
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
        super().__init__(start, h, tol)
        self._shift, self._side = shift, side
        self._groups = ClimberGroups(start, side)
        self._paths: ScoutPaths | None = None
        self._most_steps, self._config = most_steps, config

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


class EngineClimbers(BaseClimbers):
    """Climbers that an engine moves to their modes in one sweep, each independently.

    Parameters
    ----------
    workspace : ClimbingWorkspace
        Holds the data.
    start, h, tol
        As for `BaseClimbers`.
    most_steps : int
        Maximum number of steps in one sweep.
    """

    def __init__(self, workspace: ClimbingWorkspace, start: Array, h: float, tol: float, most_steps: int):
        super().__init__(start, h, tol)
        self._workspace, self._most = workspace, most_steps

    def sweep(self, state: ChainState) -> tuple[ChainState, SweepInfo]:
        """Move each climber that has not arrived to its mode."""
        rows = np.flatnonzero(self.climbing(state))
        points, last_shift = state.points.copy(), state.last_shift.copy()
        points[rows], last_shift[rows], steps = self._workspace.climb(points[rows], self._h, self._tol, self._most)
        info = SweepInfo(np.full(1, self._h), float(last_shift[rows].max()), int(steps.max()))
        return ChainState(points, self._h, state.k + int(steps.sum()), last_shift), info
