"""Modes of a density on a graph, and how they merge by prominence."""

from modeseek.selection.modes.merge_tree import MergeTree, merge_tree, single_mode_tree
from modeseek.selection.modes.point_tree import PointTree, cut, cuts, level_for, peaks, point_tree, tree_of_sorted

__all__ = [
    "MergeTree",
    "PointTree",
    "cut",
    "cuts",
    "level_for",
    "merge_tree",
    "peaks",
    "point_tree",
    "single_mode_tree",
    "tree_of_sorted",
]
