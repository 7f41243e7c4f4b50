"""Comparison of clusters with known groups."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modeseek._common.text import counted
from modeseek._common.types import IntArray
from modeseek._storage.cells import is_missing


@dataclass(frozen=True, eq=False)
class TruthComparison:
    """Agreement of clusters with known groups.

    Attributes
    ----------
    column : str
        The column with the groups.
    groups : tuple of str
        Names of the groups, by decreasing size; "missing" is the last entry if some rows have no group.
    counts : (n_groups, n_clusters) integer array
        Number of rows of each group in each cluster; noise, if there is any, is the last column.
    ari, ami : float
        Adjusted Rand index and adjusted mutual information of the rows with a group: 1 for equal partitions, about 0
        for unrelated ones.
    n_groups : int
        Number of groups, without "missing".
    """

    column: str
    groups: tuple[str, ...]
    counts: IntArray
    ari: float
    ami: float
    n_groups: int

    @classmethod
    def of(cls, column: str, cells: list[Any], labels: IntArray) -> "TruthComparison":
        """Compare labels with the groups in the cells of the column named `column`.

        Examples
        --------
        >>> found = TruthComparison.of("kind", ["u", "u", "v", "v"], np.array([0, 0, 1, 0]))
        >>> found.groups, found.counts.tolist(), round(found.ari, 2)
        (('u', 'v'), [[2, 0], [1, 1]], 0.0)
        """
        from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score  # slow to import
        from sklearn.metrics.cluster import contingency_matrix

        texts = ["" if cell is None or is_missing(str(cell)) else str(cell) for cell in cells]
        names, groups = np.unique(texts, return_inverse=True)
        order = np.lexsort((-np.bincount(groups), names == ""))
        known = names[groups] != ""
        # noise, -1, comes last
        clusters = np.where(labels < 0, labels.max() + 1, labels)
        counts = contingency_matrix(groups, clusters)[order]
        scores = adjusted_rand_score, adjusted_mutual_info_score
        ari, ami = (float(score(groups[known], labels[known])) for score in scores)
        shown = tuple(str(names[i]) or "missing" for i in order)
        return cls(column, shown, counts, ari, ami, n_groups=int((names != "").sum()))

    @property
    def headline(self) -> str:
        """The scores in one line of text."""
        missing = int(self.counts[self.n_groups :].sum())
        without = f", and {counted(missing, 'row')} without a group" if missing else ""
        groups = f"{counted(self.n_groups, 'group')} in '{self.column}'{without}"
        return f"{groups}: adjusted Rand index {self.ari:.2f}, adjusted mutual information {self.ami:.2f}"

    def record(self) -> dict[str, Any]:
        """Return the comparison as values that JSON can hold."""
        figures = {"column": self.column, "n_groups": self.n_groups, "ari": self.ari, "ami": self.ami}
        return {**figures, "groups": list(self.groups), "counts": self.counts.tolist()}
