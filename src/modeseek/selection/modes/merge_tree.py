"""The tree of modes as users see it: a table of modes, labels at any level, and exports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek._common.storable import is_within, require, storable
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_number, check_weights
from modeseek.selection.modes.point_tree import PointTree, cut, level_for, peaks

if TYPE_CHECKING:
    import pandas

__all__ = ["MergeTree", "merge_tree"]


@dataclass(frozen=True, eq=False, repr=False)
class MergeTree:
    """How the modes of a density merge: one tree with the clusters of every scale.

    Modes are numbered from the most prominent to the least. A mode goes when the level passes its prominence; its
    cluster then joins that of `parent`, which is higher and more prominent. `merge_tree` makes one.

    Attributes
    ----------
    row : (m,) integer array
        The row of the data where each mode stands.
    height : (m,) array
        Log density there, up to a constant.
    saddle : (m,) array
        Log density of the highest pass to a higher mode; -inf where there is none.
    prominence : (m,) array
        height - saddle: how far the mode rises; inf for the highest of each connected part.
    size : (m,) array
        Weight of its cluster at the level where it goes.
    parent : (m,) integer array
        Mode whose cluster it then joins; -1 for none.
    elder : (m,) integer array
        Highest mode on the other side of its saddle; -1 for none. `parent` may be a lower one there: the one whose
        slope the pass leads to.
    tree : PointTree
        The same for every distinct row.
    weights : (n,) array
        Weight of each distinct row.
    inverse : (n_rows,) integer array
        Distinct row of each row.
    level : float or None
        Prominence at which clusters were chosen, if they were.
    count : int or None
        Neighbours that the density goes by, if it does.

    Examples
    --------
    >>> from modeseek.selection.modes import point_tree
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
    tree: PointTree
    weights: Array
    inverse: IntArray
    level: float | None = None
    count: int | None = None

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        most = ", ".join(f"{each:.3g}" for each in self.prominence[:5])
        more = ", ..." if len(self) > 5 else ""
        modes = "1 mode" if len(self) == 1 else f"{len(self):,} modes"
        return f"MergeTree({modes} in {len(self.inverse):,} rows, prominence {most}{more})"

    def cut(self, prominence: float) -> IntArray:
        """Return labels of the rows: clusters of the modes that rise by at least that much, from the heaviest on."""
        labels = cut(self.tree, check_number("prominence", prominence, strict=False))
        _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
        order = np.lexsort((first, -np.bincount(labels, weights=self.weights)))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return rank[labels][self.inverse]

    def clusters(self, n_clusters: int) -> IntArray:
        """Return labels of the rows for that many clusters.

        Modes of equal prominence go together and connected parts never merge: see `level_for` for the number then.
        """
        return self.cut(self.level_for(n_clusters))

    def level_for(self, n_clusters: int) -> float:
        """Return a prominence at which `cut` leaves that many clusters, in the middle of those that do.

        Where none does, it is the one with the fewest clusters above the number, or with all modes there are.
        """
        return level_for(self.tree, n_clusters)

    def table(self) -> NDArray[np.void]:
        """Return the modes as a structured array, a record for each.

        Examples
        --------
        >>> from modeseek.selection.modes import point_tree
        >>> table = merge_tree(point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0])).table()
        >>> table.dtype.names
        ('row', 'height', 'saddle', 'prominence', 'size', 'parent', 'elder')
        >>> table["size"].tolist(), table["parent"].tolist()
        ([3.0, 1.0], [-1, 0])
        """
        names = ("row", "height", "saddle", "prominence", "size", "parent", "elder")
        columns = [getattr(self, name) for name in names]
        table = np.empty(len(self), dtype=[(n, c.dtype) for n, c in zip(names, columns, strict=True)])
        for name, column in zip(names, columns, strict=True):
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
        """Return the tree over its modes as SciPy writes hierarchies: (m - 1, 4), merges from the lowest on.

        A merge is as far as the prominence of the mode that goes, so that
        `scipy.cluster.hierarchy.fcluster(Z, level, "distance")` gives the clusters of modes at a level.

        Parameters
        ----------
        top : float, default=inf
            Distance of merges between parts that no saddle joins. SciPy's `dendrogram` wants a finite one.

        Examples
        --------
        >>> from modeseek.selection.modes import point_tree
        >>> merge_tree(point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0])).to_linkage()
        array([[0., 1., 1., 2.]])
        """
        largest = self.prominence[np.isfinite(self.prominence)].max(initial=0.0)
        if not top >= largest:
            raise ValueError(f"top must be at least the largest finite prominence, {largest:.6g}; got {top!r}.")
        m = len(self)
        # number by which SciPy knows the cluster of a mode at present, and how many modes it has
        known, counts = list(range(m)), [1] * m
        linkage = np.empty((m - 1, 4))
        # modes are ordered by prominence: from the last to the second, each is the least that is left
        for step, mode in enumerate(range(m - 1, 0, -1)):
            into = int(self.parent[mode]) if self.parent[mode] >= 0 else 0
            a, b = sorted((known[mode], known[into]))
            counts[into] += counts[mode]
            linkage[step] = a, b, min(self.prominence[mode], top), counts[into]
            known[into] = m + step
        return linkage


def merge_tree(
    tree: PointTree,
    *,
    weights: ArrayLike | None = None,
    inverse: ArrayLike | None = None,
    level: float | None = None,
    count: int | None = None,
) -> MergeTree:
    """Return the tree of modes with a table of them.

    Parameters
    ----------
    tree : PointTree
        Of distinct rows.
    weights : (n,) array-like, optional
        Of distinct rows; 1 each.
    inverse : (n_rows,) array-like of int, optional
        Distinct row of each row; each row is distinct.
    level : float, optional
        Prominence at which clusters were chosen.
    count : int, optional
        Neighbours that the density goes by.
    """
    n = len(tree.heights)
    mass = check_weights(weights, n)
    rows = np.arange(n) if inverse is None else np.asarray(inverse, dtype=np.intp)
    top = peaks(tree)
    place = np.full(n, -1, dtype=np.intp)
    place[top] = np.arange(len(top))
    # cut counts from the highest: the mode of each such label, and so of each point
    labels = cut(tree, 0.0)
    highest = np.empty(len(top), dtype=np.intp)
    highest[labels[top]] = np.arange(len(top))
    basin = highest[labels]
    prominence, height, saddle = tree.prominence[top], tree.heights[top], tree.saddle[top]
    beyond = basin[tree.target[top]]
    parent = _parents(prominence, beyond)
    size = np.bincount(basin, weights=mass, minlength=len(top))
    for mode in range(len(top) - 1, -1, -1):
        if parent[mode] >= 0:
            size[parent[mode]] += size[mode]
    first = np.full(n, -1, dtype=np.intp)
    first[rows[::-1]] = np.arange(len(rows))[::-1]
    elder = _parents(-saddle, beyond)
    return MergeTree(
        first[top], height, saddle, prominence, size, parent, elder, tree, mass, rows, level=level, count=count
    )


def _parents(key: Array, beyond: IntArray) -> IntArray:
    """Return for each mode the first with a larger key on its way: the mode beyond its saddle, and so on."""
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


def _restore_tree(tree: PointTree, weights: Array, inverse: IntArray, **more: Any) -> MergeTree:
    n = len(tree.heights)
    require(weights.shape == (n,) and is_within(weights, np.finfo(float).tiny, np.inf), "the weights of a tree")
    require(inverse.ndim == 1 and is_within(inverse, 0, n), "the rows of a tree")
    return merge_tree(tree, weights=weights, inverse=inverse, **more)


# the table of modes is computed from these
STORED_PARTS = {"tree": PointTree, "weights": Array, "inverse": IntArray, "level": float | None, "count": int | None}
storable(parts=STORED_PARTS, make=_restore_tree)(MergeTree)
