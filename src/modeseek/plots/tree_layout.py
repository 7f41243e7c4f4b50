"""Where the points of hills stand in a picture, so that what is joined above some density stands together."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.modes import MergeTree, cut

__all__ = ["Hill", "hills"]

# more points cannot be told apart
MOST_POINTS = 20_000


class Hill(NamedTuple):
    """A hill: a mode, and from left to right the points of its own and of what merges into it.

    Attributes
    ----------
    mode : int
    points : (n,) integer array
    weights : (n,) array
    """

    mode: int
    points: IntArray
    weights: Array


def hills(tree: MergeTree, level: float) -> list[Hill]:
    """Return the hills of the modes that rise by at least the level, in the order of `beside`.

    From the top down, a point is put on the lighter side of what it joins, and what merges stays together. So points
    above a saddle stand together, and the outline rises and falls as the density does.

    Examples
    --------
    Of three peaks, 3, 2 and 1.5 high, the last two merge first, at 1:

    >>> from modeseek.selection.modes import point_tree, merge_tree
    >>> tree = merge_tree(point_tree([3.0, 0.5, 2.0, 1.0, 1.5], [[0, 1], [1, 2], [2, 3], [3, 4]], [0.5, 0.5, 1.0, 1.0]))
    >>> [(hill.mode, hill.points.tolist()) for hill in hills(tree, 0.7)]
    [(0, [1, 0]), (1, [4, 3, 2])]
    """
    # cut counts from the highest: the mode of each such label, and so of each point
    labels = cut(tree.point_tree, 0.0)
    mode_of = np.empty(len(tree), dtype=np.intp)
    mode_of[labels[tree.inverse[tree.row]]] = np.arange(len(tree))
    basin = mode_of[labels]
    points, weights = _some(tree, basin)
    merging = np.flatnonzero(tree.prominence < level)
    # points before merges at the same height: a saddle's own point stands in the valley
    heights = np.concatenate([tree.point_tree.heights[points], tree.saddle[merging]])
    who = np.concatenate([points, -1 - merging])
    weight = np.zeros(len(basin))
    weight[points] = weights
    strips, root = [_Strip() for _ in range(len(tree))], list(range(len(tree)))
    for each in who[np.lexsort((who < 0, -heights))].tolist():
        if each >= 0:
            strips[_find(root, int(basin[each]))].add(each, float(weight[each]))
        else:
            mode, into = -1 - each, _find(root, int(tree.parent[-1 - each]))
            strips[into].join(strips[mode])
            root[mode] = into
    order = beside(tree, len(tree) - len(merging))
    found = [np.array(strips[mode].points, dtype=np.intp) for mode in order]
    return [Hill(mode, mine, weight[mine]) for mode, mine in zip(order, found, strict=True)]


def beside(tree: MergeTree, count: int) -> list[int]:
    """Return the first modes from left to right: each stands beside its elder, the first to meet it the nearest.

    Lines from each to its elder, at the height where they meet, then cross nothing.

    Examples
    --------
    >>> from modeseek.selection.modes import point_tree, merge_tree
    >>> tree = merge_tree(point_tree([3.0, 0.5, 2.0, 1.0, 1.5], [[0, 1], [1, 2], [2, 3], [3, 4]], [0.5, 0.5, 1.0, 1.0]))
    >>> beside(tree, 3)
    [0, 1, 2]
    """
    strips: dict[int, deque[int]] = {mode: deque([mode]) for mode in range(count)}
    turns = [0] * count
    # the highest saddle first: a mode then has all its own beside it already
    for mode in sorted(range(count), key=lambda mode: -tree.saddle[mode]):
        elder = int(tree.elder[mode])
        if elder < 0:
            continue
        if turns[elder] % 2 == 0:
            strips[elder].extend(strips.pop(mode))
        else:
            strips[elder].extendleft(reversed(strips.pop(mode)))
        turns[elder] += 1
    return [mode for strip in strips.values() for mode in strip]


class _Strip:
    """Points side by side, and the weight to the left and to the right of the first."""

    def __init__(self) -> None:
        self.points: deque[int] = deque()
        self.left = self.right = 0.0
        self.last_left = False

    def add(self, point: int, weight: float) -> None:
        self.last_left = self.left < self.right
        if self.last_left:
            self.points.appendleft(point)
            self.left += weight
        else:
            self.points.append(point)
            self.right += weight

    def join(self, other: _Strip) -> None:
        """Take in another one; the lowest points of both meet, so that the valley between them is seen."""
        inner_first = other.points if other.last_left else reversed(other.points)
        weight = other.left + other.right
        if self.last_left:
            self.points.extendleft(inner_first)
            self.left += weight
        else:
            self.points.extend(inner_first)
            self.right += weight


def _find(root: list[int], mode: int) -> int:
    while root[mode] != mode:
        root[mode] = root[root[mode]]
        mode = root[mode]
    return mode


def _some(tree: MergeTree, basin: IntArray) -> tuple[IntArray, Array]:
    """Return points to draw and what each stands for: the peaks, and of the rest every so many-th."""
    n = len(tree.weights)
    if n <= MOST_POINTS:
        return np.arange(n), tree.weights
    # each basin from its peak down
    order = np.lexsort((-tree.point_tree.heights, basin))
    kept = np.zeros(n, dtype=bool)
    kept[:: -(-n // MOST_POINTS)] = True
    kept |= np.isin(order, tree.inverse[tree.row])
    # each stands for itself and those after it, up to the next that is kept
    weights = np.add.reduceat(tree.weights[order], np.flatnonzero(kept))
    return order[kept], weights
