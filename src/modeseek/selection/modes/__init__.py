"""Modes of a density on a graph, and how they merge by prominence."""

from modeseek.selection.prominence.scale import ScaleTree, scale_tree
from modeseek.selection.prominence.tree import ModeTree, cut, level_for, mode_tree, peaks

__all__ = ["ModeTree", "ScaleTree", "cut", "level_for", "mode_tree", "peaks", "scale_tree"]
