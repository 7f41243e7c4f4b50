"""Labels of new rows for mean shift. A row climbs to a mode and gets its label, or gets that of the nearest point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from modeseek._common.neighbors import nearest, nearest_of
from modeseek._common.points import Points
from modeseek._common.storable import is_real, is_within, require, storable
from modeseek._common.types import Array, IntArray, Watcher
from modeseek.meanshift.chains.problem import Problem
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import Profile


@dataclass(frozen=True)
class BasinConfig:
    """Conditions under which a new row need not climb, because its mode is clear.

    Attributes
    ----------
    n_neighbors : int
        A row does not climb if its `n_neighbors` nearest training points all belong to one mode.
    same_point : float
        A row does not climb if it is closer to a training point than this share of the bandwidth.
    """

    n_neighbors: int = 10
    same_point: float = 1e-6


def _check_basins(basins: Basins) -> None:
    require(is_real(basins.ends, 2) and basins.h > 0 and basins.max_steps >= 0, "the modes of a density")
    require(basins.end_modes.shape == basins.ends.shape[:1] and basins.modes.ndim == 1, "the modes of a density")
    require(is_within(basins.end_modes, 0, np.inf) and is_within(basins.modes, 0, np.inf), "the modes of a density")


@storable(_check_basins)
@dataclass(frozen=True, eq=False)
class Basins:
    """The modes of a fitted density, with the arrays that assign new rows to them.

    Attributes
    ----------
    h, tol : float
        The bandwidth, and the tolerance: a climb ends with a step of length tol * h or less.
    max_steps : int
        Largest number of steps of a climb; 0 if rows belong to the nearest mode.
    profile : Profile
    ends : (m, d) array
        Distinct final positions of the climbs of training points; the positions of the modes if `max_steps` is 0.
    end_modes : (m,) integer array
        Mode of each end.
    modes : (n,) integer array
        Mode of each training point.
    """

    h: float
    tol: float
    max_steps: int
    profile: Profile
    ends: Array
    end_modes: IntArray
    modes: IntArray

    def find(self, points: Points, rows: Array, near: IntArray, n_jobs: int | None, config: BasinConfig) -> IntArray:
        """Return for each row the nearest training point of its mode; `near` has the nearest points of any mode."""
        unsure = self._unsure(points, rows, near, n_jobs, config)
        found = near.copy()
        if not len(unsure):
            return found
        ends = self._climb(points, rows[unsure], n_jobs)
        reached = self.end_modes[nearest(self.ends, ends, n_jobs=n_jobs)]
        for mode in np.unique(reached[reached != self.modes[near[unsure]]]):
            own, members = unsure[reached == mode], np.flatnonzero(self.modes == mode)
            if len(members):
                found[own] = members[nearest(points.values[members], rows[own], n_jobs=n_jobs)]
        return found

    def _unsure(self, points: Points, rows: Array, near: IntArray, n_jobs: int | None, config: BasinConfig) -> IntArray:
        """Return the indices of rows whose mode may differ from that of the nearest point."""
        if not self.max_steps:
            return np.arange(len(rows))
        with np.errstate(over="ignore"):
            distances = np.linalg.norm(rows.astype(np.float64) - points.values[near], axis=1)
        # a row without points within h cannot climb
        between = np.flatnonzero((distances > config.same_point * self.h) & (distances <= self.h))
        k = min(config.n_neighbors, len(points.values))
        around = self.modes[nearest_of(points.values, rows[between], k, n_jobs=n_jobs)]
        return between[(around != self.modes[near[between], None]).any(axis=1)]

    def _climb(self, points: Points, rows: Array, n_jobs: int | None) -> Array:
        """Return the final position of each row; the other rows have no effect on it."""
        if not self.max_steps:
            return rows
        engine = choose("auto", self.profile, points.values, self.h)
        problem = Problem(points.values, points.weights, engine, self.profile, points.geometry, n_jobs)
        workspace, reach = problem.open(), problem.reach(self.h)
        at, climbing = rows.astype(points.values.dtype), np.arange(len(rows))
        for _ in range(self.max_steps):
            old = at[climbing]
            at[climbing] = workspace.shift_all(old, reach)
            steps = np.linalg.norm(at[climbing].astype(np.float64) - old, axis=1)
            climbing = climbing[steps > self.tol * self.h]
            if not len(climbing):
                break
        return at


def find_points(
    points: Points,
    rows: Array,
    basins: Basins | None = None,
    *,
    n_jobs: int | None = None,
    watch: Watcher | None = None,
    config: BasinConfig | None = None,
) -> IntArray:
    """Return for each row the index of the training point whose label the row gets.

    Parameters
    ----------
    points : Points
        The training points.
    rows : (m, d) array
        New rows in the coordinates of `points.values`.
    basins : Basins, optional
        The modes, if a row gets the label of its mode. By default, it gets the label of the nearest point.
    n_jobs : int, optional
        Number of threads.
    watch : callable, optional
        Receives the number of finished rows, as a `Stage`.
    config : BasinConfig, optional

    Examples
    --------
    >>> from modeseek._common.points import canonical_points
    >>> from modeseek._common.types import Geometry
    >>> points = canonical_points(np.array([[0.0], [1.0], [5.0]]), np.ones(3), Geometry())
    >>> found = find_points(points, points.to_canonical(np.array([[0.2], [4.0]])))
    >>> points.to_data(points.values[found]).ravel()
    array([0., 5.])
    """
    near = nearest(points.values, rows, n_jobs=n_jobs, watch=watch)
    return near if basins is None else basins.find(points, rows, near, n_jobs, config or BasinConfig())
