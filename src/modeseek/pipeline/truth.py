"""Comparison of clusters with known groups."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from modeseek._common.types import IntArray


@dataclass(frozen=True, eq=False)
class TruthComparison:
    """How clusters agree with known groups.

    Attributes
    ----------
    column : str
        The column with the groups.
    groups : tuple of str
        The groups, the largest first.
    counts : (n_groups, n_clusters) integer array
        Number of rows of each group in each cluster; noise, if there is any, is the last column.
    ari, ami : float
        Adjusted Rand index and adjusted mutual information: 1 for equal partitions, about 0 for unrelated ones.
    """

    column: str
    groups: tuple[str, ...]
    counts: IntArray
    ari: float
    ami: float

    @classmethod
    def of(cls, column: str, cells: list[Any], labels: IntArray) -> "TruthComparison":
        """Compare labels with the cells of a column; a missing cell is a group of its own.

        Examples
        --------
        >>> found = TruthComparison.of("kind", ["u", "u", "v", "v"], np.array([0, 0, 1, 0]))
        >>> found.groups, found.counts.tolist(), round(found.ari, 2)
        (('u', 'v'), [[2, 0], [1, 1]], 0.0)
        """
        names, groups = np.unique(["" if cell is None else str(cell) for cell in cells], return_inverse=True)
        order = np.argsort(-np.bincount(groups), kind="stable")
        # noise, -1, comes last
        clusters = np.where(labels < 0, labels.max() + 1, labels)
        counts = contingency_matrix(groups, clusters)[order]
        ari, ami = adjusted_rand_score(groups, labels), adjusted_mutual_info_score(groups, labels)
        return cls(column, tuple(str(names[i]) or "missing" for i in order), counts, float(ari), float(ami))

    @property
    def headline(self) -> str:
        """The figures as a phrase."""
        groups = f"{len(self.groups):,} groups in '{self.column}'"
        return f"{groups}: adjusted Rand index {self.ari:.2f}, adjusted mutual information {self.ami:.2f}"

    def record(self) -> dict[str, Any]:
        """Return the comparison as values that JSON can hold."""
        figures = {"column": self.column, "n_groups": len(self.groups), "ari": self.ari, "ami": self.ami}
        return {**figures, "groups": list(self.groups), "counts": self.counts.tolist()}
