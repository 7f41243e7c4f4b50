"""Order of the points, from left to right, in the plot of a merge tree.

A merge tree holds the modes (local maxima) of a density, and the saddles at which they merge as the density decreases.
The plot shows a mode as a hill: its points stand side by side, each as high as its density. The order keeps connected
points next to each other, and the lines between hills do not cross.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.modes import MergeTree, cut

# of more points, a sample is drawn, because they could not be distinguished
MAX_POINTS = 20_000


class Hill(NamedTuple):
    """A mode with the points of its hill, from left to right.

    Attributes
    ----------
    mode : int
    points : (n,) integer array
        Points of the mode and of the modes that merge into it.
    weights : (n,) array
        Weights of the points, which are their widths in the plot.
    """

    mode: int
    points: IntArray
    weights: Array


def layout_hills(tree: MergeTree, level: float, max_points: int = MAX_POINTS) -> list[Hill]:
    """Return the hills of the modes with at least the given prominence, in the order of `order_modes`.

    Points are added by decreasing density, each at the end of its hill that has less weight so far. Hills that merge
    are joined as a whole. Therefore all points above a saddle are next to each other, and the outline of a hill follows
    the density. If there are more than `max_points` points, a sample is laid out.

    Examples
    --------
    Three peaks of heights 3, 2 and 1.5, of which the last two merge first, at height 1:

    >>> from modeseek.selection.modes import point_tree, merge_tree
    >>> tree = merge_tree(point_tree([3.0, 0.5, 2.0, 1.0, 1.5], [[0, 1], [1, 2], [2, 3], [3, 4]], [0.5, 0.5, 1.0, 1.0]))
    >>> [(hill.mode, hill.points.tolist()) for hill in layout_hills(tree, 0.7)]
    [(0, [1, 0]), (1, [4, 3, 2])]
    """
    labels = cut(tree.point_tree, 0.0)
    mode_of_label = np.empty(len(tree), dtype=np.intp)
    mode_of_label[labels[tree.inverse[tree.row]]] = np.arange(len(tree))
    mode_of_point = mode_of_label[labels]
    points, weights = _sample_points(tree, mode_of_point, max_points)
    weight = np.zeros(len(labels))
    weight[points] = weights
    merging = np.flatnonzero(tree.prominence < level)
    # an event is a point, or a merge, written as -1 - mode; at equal height, points come first, so that the point at
    # the saddle lies between the two hills
    heights = np.concatenate([tree.point_tree.heights[points], tree.saddle[merging]])
    events = np.concatenate([points, -1 - merging])
    strips, root = [_Strip() for _ in range(len(tree))], list(range(len(tree)))
    for event in events[np.lexsort((events < 0, -heights))].tolist():
        if event >= 0:
            strips[_find_root(root, int(mode_of_point[event]))].add(event, float(weight[event]))
        else:
            mode, into = -1 - event, _find_root(root, int(tree.parent[-1 - event]))
            strips[into].join(strips[mode])
            root[mode] = into
    hills = []
    for mode in order_modes(tree, len(tree) - len(merging)):
        own = np.array(strips[mode].points, dtype=np.intp)
        hills.append(Hill(mode, own, weight[own]))
    return hills


def order_modes(tree: MergeTree, count: int) -> list[int]:
    """Return the first `count` modes from left to right, each next to the modes that merge into it.

    Modes that merge at a higher density are closer. If a line at the height of the saddle joins each mode to its elder
    (the higher mode that it merges with), no two of these lines cross.

    Examples
    --------
    >>> from modeseek.selection.modes import point_tree, merge_tree
    >>> tree = merge_tree(point_tree([3.0, 0.5, 2.0, 1.0, 1.5], [[0, 1], [1, 2], [2, 3], [3, 4]], [0.5, 0.5, 1.0, 1.0]))
    >>> order_modes(tree, 3)
    [0, 1, 2]
    """
    groups: dict[int, deque[int]] = {mode: deque([mode]) for mode in range(count)}
    n_joined = [0] * count
    # in the order of decreasing saddles, each group is complete before it joins another one
    for mode in sorted(range(count), key=lambda mode: -tree.saddle[mode]):
        elder = int(tree.elder[mode])
        if elder < 0:
            continue
        if n_joined[elder] % 2 == 0:
            groups[elder].extend(groups.pop(mode))
        else:
            groups[elder].extendleft(reversed(groups.pop(mode)))
        n_joined[elder] += 1
    return [mode for group in groups.values() for mode in group]


class _Strip:
    """Points side by side, with the weight to the left and to the right of the first point."""

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
        """Append another strip so that the lowest points of both meet, which makes the valley visible."""
        inner_first = other.points if other.last_left else reversed(other.points)
        weight = other.left + other.right
        if self.last_left:
            self.points.extendleft(inner_first)
            self.left += weight
        else:
            self.points.extend(inner_first)
            self.right += weight


def _find_root(root: list[int], mode: int) -> int:
    while root[mode] != mode:
        root[mode] = root[root[mode]]
        mode = root[mode]
    return mode


def _sample_points(tree: MergeTree, mode_of_point: IntArray, max_points: int) -> tuple[IntArray, Array]:
    """Return the points to draw and their weights: all peaks, and a regular sample of the other points."""
    n = len(tree.weights)
    if n <= max_points:
        return np.arange(n), tree.weights
    # the points of each mode by decreasing density; a kept point gets the weight of all points up to the next kept one
    order = np.lexsort((-tree.point_tree.heights, mode_of_point))
    kept = np.zeros(n, dtype=bool)
    kept[:: -(-n // max_points)] = True
    kept |= np.isin(order, tree.inverse[tree.row])
    return order[kept], np.add.reduceat(tree.weights[order], np.flatnonzero(kept))
