"""Paths of scouts, the climbers that climb first: a later climber that enters a path stops there and takes its mode.

A climber is a query that mean-shift steps move to a mode of the density.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from modeseek._common.distances import BLOCK
from modeseek._common.types import Array, IntArray
from modeseek._common.unique_rows import hash_rows, unique_rows
from modeseek.meanshift.components import components
from modeseek.meanshift.types import ChainState, SweepInfo

# of a step that is longer than this number of cells, only the first cell belongs to the path
LONGEST_LINE = 64


def choose_scouts(order: IntArray, per_root: float) -> IntArray:
    """Choose per_root * sqrt(n) of n climbers as scouts, evenly spaced in `order`, so that all regions have some."""
    n = len(order)
    some = min(n, int(np.ceil(per_root * np.sqrt(n))))
    return order[np.unique(np.round(np.linspace(0, n - 1, some)).astype(np.intp))]


class ScoutPaths(NamedTuple):
    """Visited cells, sorted by a hash, and the modes that the paths through them lead to.

    A line is the segment of a path from one step to the next.

    Attributes
    ----------
    side : float
        Side of a cell.
    keys : (c,) array
        Hash of each cell.
    line : (c,) integer array
        Line on which each cell lies.
    share : (c,) array
        Position of the cell on its line, from 0 to 1.
    lines : (2, p, d) array
        Start and direction of each line.
    scout : (p,) integer array
        Scout that each line belongs to.
    ends : (m, d) array
        Where each scout arrived.
    last_shift : (m,) array
        Length of each scout's last step.
    updates : int
        Number of steps of all scouts.
    """

    side: float
    keys: Array
    line: IntArray
    share: Array
    lines: Array
    scout: IntArray
    ends: Array
    last_shift: Array
    updates: int

    def find(self, positions: Array) -> tuple[IntArray, IntArray]:
        """Return which positions are in a visited cell, and the row of `ends` that each of them takes."""
        cells = _cells(positions, self.side)
        keys = hash_rows(cells)
        found = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        near = np.flatnonzero(self.keys[found] == keys) if len(self.keys) else np.arange(0)
        found = found[near]
        # different cells may share a hash, so the cells themselves are compared
        on_path = _points_on(self.lines, self.line[found], self.share[found])
        same = (_cells(on_path, self.side) == np.take(cells, near, axis=0)).all(axis=1)
        return near[same], self.scout[self.line[found[same]]]


def record_paths(
    sweep: Callable[[ChainState], tuple[ChainState, SweepInfo]],
    climbing: Callable[[ChainState], Array],
    state: ChainState,
    side: float,
    most_steps: int,
) -> ScoutPaths:
    """Move scouts to their modes and return the grid cells that their paths cross.

    Cells on paths to two different modes are left out, and so are the paths of scouts that do not arrive.

    Parameters
    ----------
    sweep : callable
        One step of all scouts.
    climbing : callable
        ChainState -> boolean array of the scouts that have not arrived.
    state : ChainState
        The scouts at their starting points.
    side : float
        Side of a cell.
    most_steps : int
        Maximum number of steps.
    """
    lines, scouts = [], []
    for _ in range(most_steps):
        moving = np.flatnonzero(climbing(state))
        if not len(moving):
            break
        old, (state, _) = state.points, sweep(state)
        begin = np.take(old, moving, axis=0).astype(np.float64)
        lines.append(np.stack([begin, np.take(state.points, moving, axis=0) - begin]))
        scouts.append(moving)
    every_line, scout = np.concatenate(lines, axis=1), np.concatenate(scouts)
    # scouts that merged leave identical lines; `take` avoids the copies that indexing with brackets would make
    once = np.sort(unique_rows(np.concatenate(every_line, axis=1))[0])
    once = once[~climbing(state)[scout[once]]]
    return _build(side, np.take(every_line, once, axis=1), scout[once], state)


def _build(side: float, lines: Array, scout: IntArray, state: ChainState) -> ScoutPaths:
    line, share = _samples(lines, side, state.h)
    keys = np.empty(len(line), dtype=np.uint64)
    block = max(1, BLOCK // lines.shape[2])
    for rows in (slice(start, start + block) for start in range(0, len(line), block)):
        keys[rows] = hash_rows(_cells(_points_on(lines, line[rows], share[rows]), side))
    order = np.argsort(keys)
    starts = np.flatnonzero(np.append(True, np.diff(keys[order]) != 0)[: len(keys)])
    if len(starts):
        first = np.minimum.reduceat(order, starts)
        mode = components(state.points, state.h / 4)[scout[line[order]]]
        first = first[np.minimum.reduceat(mode, starts) == np.maximum.reduceat(mode, starts)]
    else:
        first = starts
    cells = keys[first], line[first], share[first]
    return ScoutPaths(side, *cells, lines, scout, state.points, state.last_shift, state.k)


def _samples(lines: Array, side: float, h: float) -> tuple[IntArray, Array]:
    """Return points on the lines, about one for each cell: the line of each point and its position on the line."""
    length = np.linalg.norm(lines[1], axis=1)
    count = np.ceil(length / side)
    # a path with curvature radius h must stay within half a cell of the line: length^2 / (8 h) <= side / 2
    straight = (count <= LONGEST_LINE) & (length <= 2.0 * np.sqrt(side * h))
    count = np.where(straight, np.maximum(count, 1), 1).astype(np.intp)
    line = np.repeat(np.arange(len(count)), count)
    return line, (np.arange(len(line)) - (np.cumsum(count) - count)[line]) / count[line]


def _points_on(lines: Array, line: IntArray, share: Array) -> Array:
    return np.take(lines[0], line, axis=0) + share[:, None] * np.take(lines[1], line, axis=0)


def _cells(positions: Array, side: float) -> Array:
    return np.round(positions.astype(np.float64) / side)
