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
from modeseek.estimators.advice import advice, advice_on_size, warn_caller
from modeseek.estimators.dask_input import fit_dask, predict_dask
from modeseek.estimators.data import Columns, advise_on_scale, check_new_rows, check_rows
from modeseek.estimators.display import DisplayMixin
from modeseek.estimators.result import FitData, FitResult
from modeseek.estimators.streaming import Streaming
from modeseek.sketches import is_dask

__all__ = ["BaseClusterer"]

# partial_fit keeps its state in these attributes
STREAM = ("_pending", "_survey")


@dataclass(eq=False, repr=False, kw_only=True)
class BaseClusterer(Streaming, DisplayMixin, ClusterMixin, BaseEstimator):
    """Base class of the estimators: a subclass implements `_choose_settings` and `_solve`.

    A fit first makes a `FitResult` and then stores it, in `_store`. A fit that raises leaves an earlier fit untouched.
    """

    metric: str = "euclidean"
    min_cluster_size: int = 1
    sketch: str | None = "auto"
    n_jobs: int | None = None
    verbose: int = 0
    callbacks: Sequence[Callable[..., None]] | None = None

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Ctrl-C raises `KeyboardInterrupt`. If a partial result exists by then, it is stored first, in `labels_` and
        the other attributes; otherwise the estimator is left unfitted.

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
        geometry = self._check_settings()
        if is_dask(X):
            fit_dask(self, X, sample_weight, geometry)
            return self
        rows, columns = check_rows(self, X)
        weights = check_weights(sample_weight, len(rows))
        if not geometry.spherical:
            advise_on_scale(type(self).__name__, rows, columns.names)
        return self._fit(columns, lambda watch: self._fit_data(rows, weights, geometry, watch))

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the label of the nearest training point for each row; on the training rows this is `labels_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : integer array of shape (n_samples,)
            A lazy Dask array if X is a Dask collection.
        """
        check_is_fitted(self)
        if is_dask(X):
            return predict_dask(self, X)
        rows, index = check_new_rows(self, X), self.result_.index
        with self._progress() as watch:
            return index.labels[index.find(rows, self.n_jobs, watch)]

    @property
    def memberships_(self) -> Array:
        """Membership of each row in each cluster; computed on access, since it may be large."""
        if not self.__sklearn_is_fitted__() or self.result_.memberships is None:
            raise AttributeError(f"{type(self).__name__} has no memberships_: it is not fitted, or has one chain only.")
        return self.result_.row_memberships()

    def __sklearn_is_fitted__(self) -> bool:
        # partial_fit sets n_features_in_ before there is a result
        return "result_" in vars(self)

    def _solve(self, data: FitData, watch: Watcher | None) -> FitResult:
        """Cluster the points; call `watch`, if there is one, with each stage of the work."""
        raise NotImplementedError

    def _fit(
        self,
        columns: Columns,
        make_data: Callable[[Watcher | None], FitData],
        finish: Callable[[FitResult], FitResult] | None = None,
        *,
        keep_stream: bool = False,
    ) -> Self:
        """Make the data, solve, and store the result; raise KeyboardInterrupt after storing."""
        try:
            with self._progress() as watch:
                data = make_data(watch)
                warn_caller(type(self).__name__, advice_on_size(self, data.points))
                result = self._solve(data, watch)
                result = result if finish is None else finish(result)
        except KeyboardInterrupt:
            self._clear(keep_stream=keep_stream)
            raise
        self._store(columns, result, keep_stream=keep_stream)
        if result.interrupted:
            raise KeyboardInterrupt(f"{type(self).__name__}: {self._interruption(result)}")
        warn_caller(type(self).__name__, advice(self, result))
        return self

    def _store(self, columns: Columns, result: FitResult, *, keep_stream: bool = False) -> None:
        """Set all fitted attributes; nothing else sets any."""
        fitted = {"result_": result, **columns.attributes(), **result.attributes()}
        self._clear(keep_stream=keep_stream)
        for name, value in fitted.items():
            setattr(self, name, value)

    def _clear(self, *, keep_stream: bool) -> None:
        """Delete all fitted attributes."""
        keep = ("n_features_in_", "feature_names_in_") if keep_stream else ()
        for name in [name for name in vars(self) if name.endswith("_") or (name in STREAM and not keep_stream)]:
            if name not in keep:
                delattr(self, name)

    def _check_settings(self) -> Geometry:
        """Check parameters that do not depend on the data."""
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
        """Short name for the progress line."""
        return type(self).__name__

    def _interruption(self, result: FitResult) -> str:
        return result.message
