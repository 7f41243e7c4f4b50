"""Base class of all estimators: validate the data, solve, store the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from modeseek._common.progress import show_progress
from modeseek._common.types import Array, Geometry, IntArray, Watcher
from modeseek._common.validation import (
    METRICS,
    check_callbacks,
    check_choice,
    check_integer,
    check_jobs,
    check_weights,
)
from modeseek.estimators.advice import advise_on_scale, warn
from modeseek.estimators.dask_input import fit_dask, predict_dask
from modeseek.estimators.display import DisplayMixin
from modeseek.estimators.input_checks import Columns, check_new_rows, check_rows
from modeseek.estimators.result import FitData, FitResult
from modeseek.estimators.streaming import StreamingMixin
from modeseek.sketches import is_dask

__all__ = ["BaseClusterer"]


@dataclass(eq=False, repr=False, kw_only=True)
class BaseClusterer(StreamingMixin, DisplayMixin, ClusterMixin, BaseEstimator):
    """Base class of the estimators: a subclass implements `_choose_settings` and `_solve`.

    Parameters are dataclass fields. A fit first computes a `FitResult` and then sets all fitted attributes from it, in
    `_store`. A fit that raises an exception leaves an earlier fit unchanged.
    """

    metric: str = "euclidean"
    min_cluster_size: int = 1
    sketch: str | None = "auto"
    n_jobs: int | None = None
    verbose: int = 0
    callbacks: Sequence[Callable[..., None]] | None = None

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Ctrl-C raises `KeyboardInterrupt`. If there is a partial result by then, it is stored first, in `labels_` and
        the other attributes. Otherwise the estimator is left unfitted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data. May be a `dask.array` or a `dask.dataframe`, see docs/how-to-dask.md.
        y : ignored
            Present for consistency with scikit-learn.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 3 counts as three equal rows. A row of weight 0 has no influence and gets the label of the
            nearest row of positive weight.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        geometry = self._check_parameters()
        if is_dask(X):
            fit_dask(self, X, sample_weight, geometry)
            return self
        rows, columns = check_rows(self, X)
        weights = check_weights(sample_weight, len(rows))
        if not geometry.spherical:
            advise_on_scale(type(self).__name__, rows, columns.names)
        return self._fit(columns, lambda watch: self._data_from_rows(rows, weights, geometry, watch))

    def predict(self, X: ArrayLike) -> IntArray:
        """Return for each row the label of the nearest training point.

        For the training rows, these are `labels_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to label.

        Returns
        -------
        labels : integer array of shape (n_samples,)
            Cluster of each row; -1 for noise. A lazy Dask array if X is a Dask collection.
        """
        check_is_fitted(self)
        if is_dask(X):
            return predict_dask(self, X)
        rows, index = check_new_rows(self, X), self.result_.index
        with self._progress() as watch:
            return index.labels[index.find(rows, self.n_jobs, watch)]

    @property
    def memberships_(self) -> Array:
        """Membership of each row in each cluster, computed on access because it may be large."""
        if not self.__sklearn_is_fitted__() or self.result_.memberships is None:
            raise AttributeError(
                f"this {type(self).__name__} has no memberships_: it is not fitted, or ran a single chain."
            )
        return self.result_.row_memberships()

    def __sklearn_is_fitted__(self) -> bool:
        # partial_fit sets n_features_in_ before there is a result
        return "result_" in vars(self)

    def _solve(self, data: FitData, watch: Watcher | None) -> FitResult:
        """Cluster the points. Call `watch`, if it is not None, with each `Stage` of the work."""
        raise NotImplementedError

    def _fit(
        self,
        columns: Columns,
        make_data: Callable[[Watcher | None], FitData],
        finish: Callable[[FitResult], FitResult] | None = None,
        *,
        keep_stream: bool = False,
    ) -> Self:
        """Make the input, solve, and store the result; an interruption is raised after that."""
        try:
            with self._progress() as watch:
                result = self._solve(make_data(watch), watch)
                result = result if finish is None else finish(result)
        except KeyboardInterrupt:
            self._clear(keep_stream=keep_stream)
            raise
        self._store(columns, result, keep_stream=keep_stream)
        if result.interrupted:
            raise KeyboardInterrupt(f"{type(self).__name__}: {self._interruption(result)}")
        self._advise(result)
        return self

    def _store(self, columns: Columns, result: FitResult, *, keep_stream: bool = False) -> None:
        """Set all fitted attributes."""
        fitted = {"result_": result, **columns.attributes(), **result.attributes()}
        self._clear(keep_stream=keep_stream)
        for name, value in fitted.items():
            setattr(self, name, value)

    def _clear(self, *, keep_stream: bool) -> None:
        """Delete all fitted attributes, and those of `partial_fit` unless `keep_stream`."""
        kept = ("n_features_in_", "feature_names_in_", "_stream") if keep_stream else ()
        for name in [name for name in vars(self) if name.endswith("_") or name == "_stream"]:
            if name not in kept:
                delattr(self, name)

    def _check_parameters(self) -> Geometry:
        """Check the parameters that do not depend on the data."""
        check_integer("min_cluster_size", self.min_cluster_size, low=1)
        check_jobs(self.n_jobs)
        check_callbacks(self.callbacks)
        return Geometry(check_choice("metric", self.metric, METRICS))

    @contextmanager
    def _progress(self) -> Iterator[Watcher | None]:
        """Show progress while the block runs, if `verbose` is set; yield a function to call with each `Stage`."""
        with show_progress(self._title) if self.verbose else nullcontext() as watch:
            yield watch

    @property
    def _title(self) -> str:
        """Name in the progress line."""
        return type(self).__name__

    def _interruption(self, result: FitResult) -> str:
        """Return the message of the `KeyboardInterrupt` that ends an interrupted fit."""
        return result.message

    def _advise(self, result: FitResult) -> None:
        """Warn about a result that is probably not what the user intended."""
        if not result.n_clusters:
            warn(
                f"{type(self).__name__}: all rows are noise: every cluster is smaller than "
                f"min_cluster_size={self.min_cluster_size}. Decrease it."
            )
