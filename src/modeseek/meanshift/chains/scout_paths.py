"""Paths of climbers that went ahead: who enters one stops there and takes its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import hash_rows, unique_rows
from modeseek.meanshift.partition import components
from modeseek.meanshift.types import ChainState, SweepInfo

__all__ = ["ScoutPaths", "choose_scouts", "walk"]

# scouts are this many times the square root of the number of climbers
SCOUTS = 4.0
# the line between two steps belongs to the path if it crosses at most this many cells ...
LONGEST = 64
# a table of bits, this many for each cell, tells quickly that a cell was not visited
BITS = 8


def choose_scouts(order: IntArray) -> IntArray:
    """Choose who climbs first: evenly spaced among climbers in their order, so that all regions have some."""
    n = len(order)
    some = min(n, int(np.ceil(SCOUTS * np.sqrt(n))))
    return order[np.unique(np.round(np.linspace(0, n - 1, some)).astype(np.intp))]


class ScoutPaths(NamedTuple):
    """Visited cells, sorted by a hash, and where the paths through them end.

    Attributes
    ----------
    side : float
        Side of a cell.
    keys : (c,) array
        Hash of each cell.
    piece : (c,) integer array
        On which piece of a path the cell lies, a piece being the line from one step to the next.
    share : (c,) array
        How far along the piece.
    visited : array of bool
        Whether a cell has these leading bits.
    lines : (2, p, d) array
        Where the pieces begin, and how far they go.
    owner : (p,) integer array
        Whose piece it is.
    ends : (m, d) array
        Where each scout arrived.
    last_shift : (m,) array
        Length of its last step.
    updates : int
        Steps of all scouts.
    """

    side: float
    keys: Array
    piece: IntArray
    share: Array
    visited: Array
    lines: Array
    owner: IntArray
    ends: Array
    last_shift: Array
    updates: int

    def find(self, places: Array) -> tuple[IntArray, IntArray]:
        """Return which places are in a visited cell, and whose end (a row of `ends`) each of them takes."""
        cells = _cells(places, self.side)
        keys = hash_rows(cells)
        near = np.flatnonzero(self.visited[_leading(keys, len(self.visited))])
        found = np.minimum(np.searchsorted(self.keys, keys[near]), len(self.keys) - 1)
        near, found = near[hit := self.keys[found] == keys[near]], found[hit]
        # cells may share a hash
        on_path = _along(self.lines, self.piece[found], self.share[found])
        same = (_cells(on_path, self.side) == np.take(cells, near, axis=0)).all(axis=1)
        return near[same], self.owner[self.piece[found[same]]]


def walk(
    sweep: Callable[[ChainState], tuple[ChainState, SweepInfo]],
    climbing: Callable[[ChainState], Array],
    state: ChainState,
    side: float,
    most_steps: int,
) -> ScoutPaths:
    """Let scouts climb, and keep the cells on their ways.

    A cell on the ways to different modes stops nobody. Neither does the way of a scout that does not arrive.

    Parameters
    ----------
    sweep, climbing : callable
        One step of all scouts; who of them has not arrived.
    state : ChainState
        Pioneers at the start.
    side : float
        Side of a cell.
    most_steps : int
        After so many steps nobody is waited for.
    """
    lines, owners = [], []
    for _ in range(most_steps):
        who = np.flatnonzero(climbing(state))
        if not len(who):
            break
        old, (state, _) = state.points, sweep(state)
        begin = np.take(old, who, axis=0).astype(np.float64)
        lines.append(np.stack([begin, np.take(state.points, who, axis=0) - begin]))
        owners.append(who)
    everything, owner = np.concatenate(lines, axis=1), np.concatenate(owners)
    # those that climb as one leave one path; `take` and not brackets, whose result it would have to copy each time
    once = np.sort(unique_rows(np.concatenate(everything, axis=1))[0])
    once = once[~climbing(state)[owner[once]]]
    return _table(side, np.take(everything, once, axis=1), owner[once], state)


def _table(side: float, lines: Array, owner: IntArray, state: ChainState) -> ScoutPaths:
    piece, share = _pieces(lines, side, state.h)
    keys = np.empty(len(piece), dtype=np.uint64)
    block = max(1, (1 << 22) // lines.shape[2])
    for rows in (slice(start, start + block) for start in range(0, len(piece), block)):
        keys[rows] = hash_rows(_cells(_along(lines, piece[rows], share[rows]), side))
    order = np.argsort(keys)
    opens = np.flatnonzero(np.append(True, np.diff(keys[order]) != 0)[: len(keys)])
    if len(opens):
        first = np.minimum.reduceat(order, opens)
        mode = components(state.points, state.h / 4)[owner[piece[order]]]
        first = first[np.minimum.reduceat(mode, opens) == np.maximum.reduceat(mode, opens)]
    else:
        first = opens
    visited = np.zeros(1 << int(BITS * len(first)).bit_length(), dtype=bool)
    visited[_leading(keys[first], len(visited))] = True
    kept = keys[first], piece[first], share[first]
    return ScoutPaths(side, *kept, visited, lines, owner, state.points, state.last_shift, state.k)


def _pieces(lines: Array, side: float, h: float) -> tuple[IntArray, Array]:
    """Return points on the pieces, one for each cell or so: the piece of each and how far along it is."""
    length = np.linalg.norm(lines[1], axis=1)
    count = np.ceil(length / side)
    # ... and if a way that bends with radius h leaves it by no more than half a cell: length^2 / (8 h) <= side / 2
    straight = (count <= LONGEST) & (length <= 2.0 * np.sqrt(side * h))
    count = np.where(straight, np.maximum(count, 1), 1).astype(np.intp)
    piece = np.repeat(np.arange(len(count)), count)
    return piece, (np.arange(len(piece)) - (np.cumsum(count) - count)[piece]) / count[piece]


def _along(lines: Array, piece: IntArray, share: Array) -> Array:
    return np.take(lines[0], piece, axis=0) + share[:, None] * np.take(lines[1], piece, axis=0)


def _cells(places: Array, side: float) -> Array:
    return np.round(places.astype(np.float64) / side)


def _leading(keys: Array, size: int) -> Array:
    """Return the leading bits of keys: a number below `size`, a power of two."""
    return keys >> np.uint64(65 - size.bit_length())
