"""The scaled columns of a dataset that are clustered, and their projection to the plane of the plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from modeseek._common.points import Points, canonical_points
from modeseek._common.types import Array, Geometry, IntArray
from modeseek._storage.errors import DataError
from modeseek.estimators.chain_clusterer import ChainClusterer
from modeseek.estimators.stepwise import prepare_fit
from modeseek.explorer.config import DEFAULT, ExplorerConfig
from modeseek.explorer.dataset import Dataset
from modeseek.plots.projection import project
from modeseek.prepare import TablePreparer
from modeseek.selection.bandwidths import Range


@dataclass(frozen=True, eq=False)
class PreparedData:
    """Columns of a dataset, scaled for clustering.

    Attributes
    ----------
    dataset : Dataset
    columns : tuple of str
    preparer : TablePreparer
        How the columns were scaled.
    complete : boolean array
        Whether each row of the dataset is clustered; rows with missing values are not.
    raw, X : (n, d) array
        The columns of the clustered rows before and after scaling.
    shown : integer array
        The rows that are drawn, in increasing order.
    config : ExplorerConfig
    """

    dataset: Dataset
    columns: tuple[str, ...]
    preparer: TablePreparer
    complete: NDArray[np.bool_] = field(repr=False)
    raw: Array = field(repr=False)
    X: Array = field(repr=False)
    shown: IntArray = field(repr=False)
    config: ExplorerConfig = DEFAULT
    _ranges: dict[tuple[str, ...], Range] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def select(
        cls, dataset: Dataset, columns: Sequence[str], *, standardize: bool, config: ExplorerConfig = DEFAULT
    ) -> PreparedData:
        """Select and scale columns."""
        if not columns:
            raise DataError("no column is selected: select at least one.")
        preparer = TablePreparer(columns=list(columns), scale="standard" if standardize else "none")
        complete, raw, X = preparer.fit_table(dataset.table)
        shown = np.arange(len(X))
        if len(X) > config.max_shown:
            shown = np.sort(np.random.default_rng(0).choice(len(X), config.max_shown, replace=False))
        return cls(dataset, tuple(columns), preparer, complete, raw, X, shown, config)

    def group_labels(self, column: str) -> IntArray:
        """Return the known groups of the clustered rows as integers."""
        return self.dataset.group_labels(column)[self.complete]

    @property
    def sampled(self) -> bool:
        """Whether only a sample of the rows is drawn."""
        return len(self.shown) < len(self.X)

    def canonical(self, metric: str) -> Points:
        """Return the rows in canonical form."""
        return canonical_points(self.X, np.ones(len(self.X)), Geometry(metric))

    def automatic_range(self, model: ChainClusterer) -> Range:
        """Return the bandwidths that an estimator chooses by default; computed once for each metric and profile."""
        key = type(model).__name__, model.metric, str(model.profile)
        with self._lock:
            if key not in self._ranges:
                found = prepare_fit(type(model)(metric=model.metric, profile=model.profile), self.X).settings.bandwidths
                self._ranges[key] = Range(**found) if "h_inf" in found else Range(*[found["bandwidth"]] * 3)
            return self._ranges[key]

    def projector(self, points: Points) -> Projector:
        """Return a function that projects a state of a run on `points`."""
        return Projector(points, points.inverse[self.shown], self.columns)


class Projector:
    """Projects the state of a run to the plane, on axes that are fixed by the data.

    Up to two features are drawn unchanged, more by their first two principal components. A single feature is drawn
    with a random second coordinate, so that points do not hide each other.

    Attributes
    ----------
    rows : integer array
        Index in the state of each point that is drawn.
    axes : (str, str)
        Labels of the axes.
    start : (m, 2) float32 array
        Positions of the drawn points before the run.
    """

    def __init__(self, points: Points, rows: IntArray, names: Sequence[str]):
        self._points, self.rows = points, rows
        self._projection = project(points.to_data(points.values).astype(np.float64), list(names))
        self.axes = (*self._projection.axes, "")[:2]
        self.start = self(points.values)

    def __call__(self, state: Array) -> Array:
        """Return the positions of the drawn points, (m, 2) float32."""
        X = self._projection.apply(self._points.to_data(state[self.rows]).astype(np.float64))
        if X.shape[1] == 1:
            X = np.column_stack([X, np.random.default_rng(1).uniform(-1, 1, len(X))])
        return X.astype(np.float32)
