"""The merge tree of the modes, for users: a table of modes, labels at any level of prominence, and exports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek._common.storable import is_within, require, storable
from modeseek._common.text import counted
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_number, check_weights
from modeseek.meanshift.partition import rank_by_weight
from modeseek.selection.modes.point_tree import PointTree, cut, level_for, peaks, point_tree

if TYPE_CHECKING:
    import pandas

__all__ = ["MergeTree", "merge_tree", "single_mode_tree"]

COLUMNS = ("row", "height", "saddle", "prominence", "size", "parent", "elder")


@dataclass(frozen=True, eq=False, repr=False)
class MergeTree:
    """The modes of a density and how they merge: the clusters at every level of prominence.

    Modes are sorted by decreasing prominence. When the level exceeds the prominence of a mode, its cluster merges into
    the cluster of its `parent`, which is a higher mode of larger prominence. `merge_tree` builds a `MergeTree`.

    Attributes
    ----------
    row : (m,) integer array
        Row of the data at which each mode lies.
    height : (m,) array
        Log density at the mode, up to a constant.
    saddle : (m,) array
        Log density of the highest saddle to a higher mode; -inf if there is none.
    prominence : (m,) array
        height - saddle; inf for the highest mode of each connected component.
    size : (m,) array
        Weight of the mode's cluster when it merges.
    parent : (m,) integer array
        Mode whose cluster the cluster of this mode merges into; -1 if there is none.
    elder : (m,) integer array
        Highest mode on the other side of the saddle; -1 if there is none. `parent` may be a lower mode on that side:
        the one whose cluster the saddle leads to.
    point_tree : PointTree
        The tree with one entry for each distinct row.
    weights : (n,) array
        Weight of each distinct row.
    inverse : (n_rows,) integer array
        Index of the distinct row that each row is equal to.
    level : float or None
        Prominence at which clusters were selected; None if they were not selected from this tree.
    n_neighbors : int or None
        Number of neighbours of the density estimate; None for other densities.

    Examples
    --------
    >>> tree = merge_tree(point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0]))
    >>> tree
    MergeTree(2 modes in 3 rows, prominence inf, 1)
    >>> tree.cut(0.5), tree.clusters(1)
    (array([0, 0, 1]), array([0, 0, 0]))
    """

    row: IntArray
    height: Array
    saddle: Array
    prominence: Array
    size: Array
    parent: IntArray
    elder: IntArray
    point_tree: PointTree
    weights: Array
    inverse: IntArray
    level: float | None = None
    n_neighbors: int | None = None

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        most = ", ".join(f"{each:.3g}" for each in self.prominence[:5])
        more = ", ..." if len(self) > 5 else ""
        return f"MergeTree({counted(len(self), 'mode')} in {len(self.inverse):,} rows, prominence {most}{more})"

    def cut(self, prominence: float) -> IntArray:
        """Return the cluster of each row, for the modes with at least a given prominence; the heaviest is cluster 0."""
        labels = cut(self.point_tree, check_number("prominence", prominence, strict=False))
        return rank_by_weight(labels, self.weights).labels[self.inverse]

    def clusters(self, n_clusters: int) -> IntArray:
        """Return the cluster of each row, for a number of clusters; `level_for` says what impossible numbers give."""
        return self.cut(self.level_for(n_clusters))

    def level_for(self, n_clusters: int) -> float:
        """Return a prominence at which `cut` gives `n_clusters` clusters, in the middle of all such values.

        Modes of equal prominence merge at the same level, and connected components never merge. If no level gives the
        number exactly, the result is a level with the next larger number, or, if there are too few modes, with all of
        them.
        """
        return level_for(self.point_tree, n_clusters)

    def table(self) -> NDArray[np.void]:
        """Return the modes as a structured array with one record each.

        Examples
        --------
        >>> table = merge_tree(point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0])).table()
        >>> table.dtype.names
        ('row', 'height', 'saddle', 'prominence', 'size', 'parent', 'elder')
        >>> table["size"].tolist(), table["parent"].tolist()
        ([3.0, 1.0], [-1, 0])
        """
        columns = {name: getattr(self, name) for name in COLUMNS}
        table = np.empty(len(self), dtype=[(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            table[name] = column
        return table

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the modes as a pandas DataFrame; pandas must be installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_dataframe needs pandas: install it, or use table().") from None
        return pandas.DataFrame(self.table())

    def to_linkage(self, top: float = np.inf) -> Array:
        """Return the tree of the modes as a linkage matrix of SciPy, of shape (m - 1, 4).

        The distance of a merge is the prominence of the mode that ends there. Therefore
        `scipy.cluster.hierarchy.fcluster(Z, level, "distance")` gives the clusters of modes at a level.

        Parameters
        ----------
        top : float, default=inf
            Distance at which connected components merge. SciPy's `dendrogram` needs a finite value.

        Examples
        --------
        >>> merge_tree(point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0])).to_linkage()
        array([[0., 1., 1., 2.]])
        """
        largest = self.prominence[np.isfinite(self.prominence)].max(initial=0.0)
        if not top >= largest:
            raise ValueError(f"top must be at least the largest finite prominence, {largest:.6g}; got {top!r}.")
        m = len(self)
        # for each mode, SciPy's number of the cluster that currently contains it, and the number of modes in it
        number, counts = list(range(m)), [1] * m
        linkage = np.empty((m - 1, 4))
        # modes are sorted by decreasing prominence, so they merge from the last to the second
        for step, mode in enumerate(range(m - 1, 0, -1)):
            into = int(self.parent[mode]) if self.parent[mode] >= 0 else 0
            a, b = sorted((number[mode], number[into]))
            counts[into] += counts[mode]
            linkage[step] = a, b, min(self.prominence[mode], top), counts[into]
            number[into] = m + step
        return linkage


def merge_tree(
    tree: PointTree,
    *,
    weights: ArrayLike | None = None,
    inverse: ArrayLike | None = None,
    level: float | None = None,
    n_neighbors: int | None = None,
) -> MergeTree:
    """Return the merge tree of the modes.

    Parameters
    ----------
    tree : PointTree
        The tree of the distinct rows.
    weights : (n,) array-like, optional
        Weights of the distinct rows; 1 by default.
    inverse : (n_rows,) array-like of int, optional
        Index of the distinct row that each row is equal to. By default, all rows are distinct.
    level : float, optional
        Prominence at which clusters were selected.
    n_neighbors : int, optional
        Number of neighbours of the density estimate.
    """
    n = len(tree.heights)
    mass = check_weights(weights, n)
    rows = np.arange(n) if inverse is None else np.asarray(inverse, dtype=np.intp)
    top = peaks(tree)
    # `cut` numbers modes by height: translate that into the order of `peaks`
    labels = cut(tree, 0.0)
    number = np.empty(len(top), dtype=np.intp)
    number[labels[top]] = np.arange(len(top))
    mode_of = number[labels]
    prominence, height, saddle = tree.prominence[top], tree.heights[top], tree.saddle[top]
    beyond = mode_of[tree.target[top]]
    parent = _first_larger(prominence, beyond)
    size = np.bincount(mode_of, weights=mass, minlength=len(top))
    for mode in range(len(top) - 1, -1, -1):
        if parent[mode] >= 0:
            size[parent[mode]] += size[mode]
    first = np.full(n, -1, dtype=np.intp)
    first[rows[::-1]] = np.arange(len(rows))[::-1]
    elder = _first_larger(-saddle, beyond)
    columns = (first[top], height, saddle, prominence, size, parent, elder)
    return MergeTree(*columns, tree, mass, rows, level=level, n_neighbors=n_neighbors)


def single_mode_tree(inverse: IntArray, weights: Array) -> MergeTree:
    """Return a tree with one mode, for fewer points than a density estimate needs.

    Examples
    --------
    >>> single_mode_tree(np.array([0, 1, 0]), np.array([2.0, 1.0]))
    MergeTree(1 mode in 3 rows, prominence inf)
    """
    n = len(weights)
    edges = np.column_stack([np.zeros(n - 1, dtype=np.intp), np.arange(1, n)])
    return merge_tree(point_tree(np.zeros(n), edges, np.zeros(n - 1)), weights=weights, inverse=inverse)


def _first_larger(key: Array, beyond: IntArray) -> IntArray:
    """Return the first mode with a larger key on the path from each mode to the mode beyond its saddle, and so on."""
    parent: Any = beyond.tolist()
    for mode in np.argsort(key, kind="stable").tolist():
        if np.isinf(key[mode]):
            parent[mode] = -1
            continue
        other = parent[mode]
        while key[other] <= key[mode]:
            other = parent[other]
        parent[mode] = other
    return np.array(parent, dtype=np.intp)


def _restore_tree(point_tree: PointTree, weights: Array, inverse: IntArray, **more: Any) -> MergeTree:
    n = len(point_tree.heights)
    require(weights.shape == (n,) and is_within(weights, np.finfo(float).tiny, np.inf), "the weights of a tree")
    require(inverse.ndim == 1 and is_within(inverse, 0, n), "the rows of a tree")
    return merge_tree(point_tree, weights=weights, inverse=inverse, **more)


# model files hold these parts; the table of modes is computed from them
STORED_PARTS = {
    "point_tree": PointTree,
    "weights": Array,
    "inverse": IntArray,
    "level": float | None,
    "n_neighbors": int | None,
}
storable(parts=STORED_PARTS, make=_restore_tree)(MergeTree)
