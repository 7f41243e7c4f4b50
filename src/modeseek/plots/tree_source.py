"""What pictures of modes are drawn from: a tree, and the clusters that its rows have."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from modeseek._common.types import IntArray
from modeseek._common.validation import check_number
from modeseek.estimators import ModeSeek
from modeseek.selection.modes import MergeTree

__all__ = ["Look", "Source", "look_at"]

Source: TypeAlias = MergeTree | ModeSeek


class Look(NamedTuple):
    """A tree with clusters.

    Attributes
    ----------
    tree : MergeTree
    level : float or None
        Prominence that a cluster needs, where there is such a level.
    rows : (n_rows,) integer array
        Cluster of each row; -1 for noise.
    tops : (m,) boolean array
        Modes that stand for a cluster: of those in it the most prominent.
    sizes : (c,) integer array
        Rows of each cluster.
    """

    tree: MergeTree
    level: float | None
    rows: IntArray
    tops: NDArray[np.bool_]
    sizes: IntArray

    @property
    def n_noise(self) -> int:
        """Rows of no cluster."""
        return int((self.rows < 0).sum())


def look_at(source: Source, level: float | None) -> Look:
    """Return the tree of a source, with the clusters of the estimator, or else of a level."""
    if isinstance(source, ModeSeek):
        check_is_fitted(source)
        tree = source.tree_
    elif isinstance(source, MergeTree):
        tree = source
    else:
        raise TypeError(f"source must be a MergeTree or a fitted ModeSeek; got {type(source).__name__}.")
    if isinstance(source, ModeSeek) and level is None:
        rows, level = source.labels_, tree.level
    else:
        level = tree.level if level is None else check_number("level", level, strict=False)
        # where nothing was chosen all is one
        rows = np.zeros(len(tree.inverse), dtype=np.intp) if level is None else tree.cut(level)
    labels = rows[tree.row]
    # modes go from the most prominent on: the first of each cluster stands for it
    tops = np.zeros(len(tree), dtype=bool)
    tops[np.unique(labels, return_index=True)[1]] = True
    return Look(tree, level, rows, tops & (labels >= 0), np.bincount(rows[rows >= 0]))
