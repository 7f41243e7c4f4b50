"""Modes of a density on a graph, and how they merge by prominence."""

from modeseek.prominence.tree import ModeTree, cut, level_for, mode_tree, peaks

__all__ = ["ModeTree", "cut", "level_for", "mode_tree", "peaks"]
