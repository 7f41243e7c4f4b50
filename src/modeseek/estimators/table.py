"""The table of clusters: sizes, shares, confidence, stability and centres, as every display shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from modeseek._common.storable import storable
from modeseek._common.text import counted
from modeseek._common.types import Array, IntArray
from modeseek.estimators.result import FitResult

if TYPE_CHECKING:
    import pandas as pd

# a row with a lower confidence is doubtful
DOUBTFUL = 0.75
# smallest difference that is shown between the mean of a cluster and the mean of the other rows, in standard deviations
MIN_EFFECT = 0.25


@storable()
class RowCounts(NamedTuple):
    """Numbers of rows in each cluster, for rows that are counted chunk by chunk.

    Attributes
    ----------
    n_rows : int
        Number of rows, noise included.
    sizes : tuple of int
        Number of rows in each cluster.
    confidence_sums : tuple of float
        Sum of the confidence of the rows in each cluster; empty if there is no confidence.
    doubtful : tuple of int
        Number of rows in each cluster with a confidence below `DOUBTFUL`; empty if there is no confidence.

    Examples
    --------
    >>> counts = RowCounts().add(np.array([0, 1, 0, -1]), None, 2)
    >>> counts.add(np.array([1, 1]), None, 2).sizes
    (2, 3)
    """

    n_rows: int = 0
    sizes: tuple[int, ...] = ()
    confidence_sums: tuple[float, ...] = ()
    doubtful: tuple[int, ...] = ()

    def add(
        self, labels: IntArray, confidence: Array | None, n_clusters: int, weights: Array | None = None
    ) -> RowCounts:
        """Return the counts after rows are added; a row of weight 3 counts as three rows."""
        weights = np.ones(len(labels)) if weights is None else weights

        def total(values: Array) -> Array:
            return np.bincount(labels[labels >= 0], values[labels >= 0], minlength=n_clusters)

        sizes = tuple(int(size) for size in total(weights))
        sums: tuple[float, ...] = ()
        doubtful: tuple[int, ...] = ()
        if confidence is not None:
            sums = tuple(total(weights * confidence).tolist())
            doubtful = tuple(int(count) for count in total(weights * (confidence < DOUBTFUL)))
        return RowCounts.joined([self, RowCounts(int(weights.sum()), sizes, sums, doubtful)])

    @classmethod
    def joined(cls, parts: Sequence[RowCounts]) -> RowCounts:
        """Return the sum of several counts."""
        parts = [part for part in parts if part.n_rows]
        if not parts:
            return cls()
        columns = [zip(*(part[i] for part in parts), strict=True) for i in (1, 2, 3)]
        sizes, sums, doubtful = columns
        return cls(
            sum(part.n_rows for part in parts),
            tuple(map(sum, sizes)),
            tuple(map(fsum, sums)),
            tuple(map(sum, doubtful)),
        )


class Trait(NamedTuple):
    """A feature whose mean differs between a cluster and the other clusters.

    Attributes
    ----------
    feature : int
        Index of the feature.
    center, others : float
        Centre of the cluster, and mean of the centres of the other clusters, weighted by their sizes.
    effect : float
        Their difference in standard deviations of the feature.
    spread : float
        Standard deviation of the feature.
    """

    feature: int
    center: float
    others: float
    effect: float
    spread: float


@dataclass(frozen=True, eq=False)
class ClusterTable:
    """Sizes, centres and other values for each cluster; fields that the algorithm does not compute are None.

    Attributes
    ----------
    sizes : integer array of shape (n_clusters,)
        Number of rows in each cluster.
    n_noise : int
        Number of rows that belong to no cluster.
    n_rows : int
        Number of all rows.
    centers : array of shape (n_clusters, n_features)
        Cluster centres.
    weights : array of shape (n_clusters,) or None
        Total sample weight of each cluster; None if every row has weight 1.
    noise_weight : float
        Total sample weight of the noise.
    confidence : array of shape (n_clusters,) or None
        Mean confidence of the rows in each cluster.
    doubtful : integer array of shape (n_clusters,) or None
        Number of rows in each cluster with a confidence below `DOUBTFUL`.
    stability : array of shape (n_clusters,) or None
        Stability of each cluster.

    Examples
    --------
    >>> from modeseek import MeanShift
    >>> table = ClusterTable.of(MeanShift(1.0).fit([[0.0], [0.1], [5.0]]).result_)
    >>> table.sizes, table.n_noise
    (array([2, 1]), 0)
    """

    sizes: IntArray
    n_noise: int
    n_rows: int
    centers: Array
    weights: Array | None = None
    noise_weight: float = 0.0
    confidence: Array | None = None
    doubtful: IntArray | None = None
    stability: Array | None = None

    @classmethod
    def of(cls, result: FitResult, counts: RowCounts | None = None) -> ClusterTable:
        """Return the table of a result.

        Parameters
        ----------
        result : FitResult
        counts : RowCounts, optional
            Counts of the rows to show, if they were labelled in chunks. If None, the rows of the fit are shown.
        """
        index = result.index
        table = cls(
            result.sizes,
            result.n_noise,
            result.n_rows,
            result.centers,
            weights=result.weights,
            noise_weight=float(index.points.weights[index.labels < 0].sum()),
            stability=result.cluster_stability,
        )
        if counts is None:
            if not isinstance(result.confidence, np.ndarray):  # a Dask array is not computed for a table
                return table
            counts = RowCounts().add(result.labels, result.confidence, result.n_clusters)
        return table.with_counts(counts)

    def with_counts(self, counts: RowCounts) -> ClusterTable:
        """Return the table with numbers of rows and confidence taken from `counts`."""
        sizes = np.array(counts.sizes, dtype=np.intp)
        confidence = np.array(counts.confidence_sums) / np.maximum(sizes, 1) if counts.confidence_sums else None
        doubtful = np.array(counts.doubtful, dtype=np.intp) if counts.confidence_sums else None
        n_noise = counts.n_rows - int(sizes.sum())
        return replace(
            self, sizes=sizes, n_noise=n_noise, n_rows=counts.n_rows, confidence=confidence, doubtful=doubtful
        )

    def with_centers(self, centers: Array) -> ClusterTable:
        """Return the table with centres in other units."""
        return replace(self, centers=centers)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.sizes)

    @property
    def shares(self) -> Array:
        """Share of the rows in each cluster."""
        return self.sizes / max(self.n_rows, 1)

    @property
    def headline(self) -> str:
        """Number of clusters, rows and noise, as a phrase."""
        noise = f", {self.n_noise:,} of them noise" if self.n_noise else ""
        return f"{counted(self.n_clusters, 'cluster')} in {counted(self.n_rows, 'row')}{noise}"

    def largest(self, most: int) -> IntArray:
        """Return the labels of the largest clusters, in descending order of size."""
        return np.argsort(-self.sizes, kind="stable")[:most]

    def traits(self, spreads: Array, most: int) -> list[list[Trait]]:
        """Return for each cluster up to `most` features that set it apart from the others, the clearest first.

        Features that differ by less than `MIN_EFFECT` are left out. Noise does not count as another cluster.

        Parameters
        ----------
        spreads : array of shape (n_features,)
            Standard deviation of each feature, in the units of the centres.
        most : int

        Examples
        --------
        >>> table = ClusterTable(np.array([3, 1]), 0, 4, np.array([[2.0, 1.0], [6.0, 1.1]]))
        >>> [(each.feature, each.others, each.effect) for each in table.traits(np.array([2.0, 1.0]), 3)[0]]
        [(0, 6.0, -2.0)]
        """
        if self.n_clusters < 2:
            return [[] for _ in self.sizes]
        weights = (self.sizes / self.sizes.sum())[:, None]
        total = (weights * self.centers).sum(axis=0)
        found: list[list[Trait]] = []
        for center, weight in zip(self.centers, weights, strict=True):
            if weight == 1:  # no row has another label
                found.append([])
                continue
            others = (total - weight * center) / (1 - weight)
            effects = (center - others) / spreads
            order = np.argsort(-np.abs(effects), kind="stable")[:most]
            found.append(
                [
                    Trait(int(j), float(center[j]), float(others[j]), float(effects[j]), float(spreads[j]))
                    for j in order
                    if abs(effects[j]) >= MIN_EFFECT
                ]
            )
        return found

    def columns(self) -> dict[str, Array]:
        """Return the columns that have values, by name, with a last entry for noise if there is noise."""
        noise = bool(self.n_noise)
        found = {
            "size": (self.sizes, self.n_noise),
            "share": (self.shares, self.n_noise / max(self.n_rows, 1)),
            "weight": (self.weights, self.noise_weight),
            "confidence": (self.confidence, np.nan),
            "doubtful": (self.doubtful, 0),
            "stability": (self.stability, np.nan),
        }
        return {
            name: np.append(values, np.array([last] * noise, values.dtype))
            for name, (values, last) in found.items()
            if values is not None
        }

    def to_pandas(self, features: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the table as a DataFrame indexed by the cluster label; noise is the last row, with label -1."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("summary() needs pandas: pip install pandas") from error
        labels = [*range(self.n_clusters), *([-1] if self.n_noise else [])]
        table = pd.DataFrame(self.columns(), index=pd.Index(labels, name="cluster"))
        names = [f"x{number}" for number in range(self.centers.shape[1])] if features is None else features
        centers = pd.DataFrame(self.centers, columns=[f"center_{name}" for name in names])
        return table.join(centers.reindex(labels).rename_axis("cluster"))
