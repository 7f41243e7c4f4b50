"""Base class of all estimators: validate the data, solve, store the result."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from modeseek._common.blas import one_blas_thread
from modeseek._common.points import Points
from modeseek._common.progress import show_progress
from modeseek._common.sphere import place_on_sphere
from modeseek._common.types import Array, Geometry, IntArray, Watcher
from modeseek._common.validation import (
    METRICS,
    check_callbacks,
    check_choice,
    check_integer,
    check_jobs,
    check_number,
    check_weights,
)
from modeseek.estimators.advice import advise_on_scale, warn
from modeseek.estimators.dask_input import fit_dask, predict_dask
from modeseek.estimators.display import DisplayMixin
from modeseek.estimators.fit_input import data_from_rows, data_from_sketch
from modeseek.estimators.input_checks import check_new_rows, check_rows, seen_columns
from modeseek.estimators.layers import LayersMixin
from modeseek.estimators.membership import MembershipMixin, with_outliers
from modeseek.estimators.memory import FitMemory
from modeseek.estimators.result import FitData, FitResult, FitSettings
from modeseek.estimators.streaming import Stream
from modeseek.sketches import Sketch, SketchConfig, SketchPoints, is_dask


@dataclass(eq=False, repr=False, kw_only=True)
class BaseClusterer(DisplayMixin, LayersMixin, MembershipMixin, ClusterMixin, BaseEstimator):
    """Base class of the estimators: a subclass implements `_choose_settings` and `_solve`.

    Parameters are dataclass fields. A fit first computes a `FitResult` and then sets all fitted attributes from it, in
    `_store`. A fit that raises an error leaves an earlier fit unchanged; an interrupted fit does not.
    """

    metric: str = "euclidean"
    min_cluster_size: int = 1
    outlier_fraction: float = 0.0
    sketch: str | None = "auto"
    n_jobs: int | None = None
    verbose: int = 0
    callbacks: Sequence[Callable[..., None]] | None = None

    _sketch_config: ClassVar[SketchConfig] = SketchConfig()
    _fit_memory: ClassVar[FitMemory] = FitMemory()
    _metrics: ClassVar[tuple[str, ...]] = METRICS

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
            A row of weight 3 counts as three equal rows. A row of weight 0 has no influence and gets the label that
            `predict` returns for it.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit_input(X, sample_weight)

    def _fit_input(self, X: ArrayLike, sample_weight: ArrayLike | None, constraints: Any = None) -> Self:
        geometry = self._check_parameters()
        if is_dask(X):
            fit_dask(self, X, sample_weight, geometry)
            return self
        rows, columns = check_rows(self, X)
        weights = check_weights(sample_weight, rows.shape[0])
        if geometry.metric == "euclidean":
            advise_on_scale(type(self).__name__, rows, columns.get("feature_names_in_"))

        def make_data(watch: Watcher | None) -> FitData:
            return replace(self._fit_data(rows, weights, geometry, watch), constraints=constraints)

        return self._fit(columns, make_data)

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the cluster of each row: the cluster of the nearest training point, or, with `MeanShift`, of its mode.

        For the training rows, the result is `labels_`. With `MeanShift`, a new row climbs the density of the training
        rows if the training rows around it belong to several modes. See docs/ecosystem.md.

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
        return self._label(check_new_rows(self, X))

    def _label(self, rows: Array) -> IntArray:
        """Return the cluster of each row; rows have been checked."""
        index = self.result_.index
        with self._progress() as watch:
            return index.labels[index.find(rows, self.n_jobs, watch)]

    def partial_fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None, *, forget: float = 0.0
    ) -> Self:
        """Add a batch of rows, in bounded memory. `finalize` clusters all batches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A batch, with the same columns as earlier batches or the last `fit`. Without `forget`, the result depends
            neither on the sizes of the batches nor on their order, as long as the first 65,536 rows are the same.
        y : ignored
            Present for consistency with scikit-learn.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 3 counts as three equal rows. Rows of weight 0 are ignored.
        forget : float, default=0
            Share of the weight of all earlier batches that is removed before this batch is added.

        Returns
        -------
        self : object
            The estimator.
        """
        if check_number("forget", forget, strict=False) > 1:
            raise ValueError(f"forget must be in [0, 1]; got {forget!r}.")
        if is_dask(X):
            raise TypeError("partial_fit takes a batch in memory: pass a Dask collection to fit(X).")
        stream = self._stream or Stream()
        seen: dict[str, Any] = {}
        if self._stream is None and not self.__sklearn_is_fitted__():
            rows, seen = check_rows(self, X)
        else:
            # also after `fit`: its result stays until `finalize`, so that X must have the same columns
            rows = check_new_rows(self, X)
        rows, weights = self._placed(rows), check_weights(sample_weight, len(rows), some=False)
        if forget > 0:
            stream = stream.faded(1.0 - forget, self._sketch_config)
        if (weights > 0).any():
            stream = stream.add(rows[weights > 0], weights[weights > 0], self._sketch_config)
        self.__dict__.update(seen, _stream=stream)
        return self

    def finalize(self) -> Self:
        """Cluster all rows that were passed to `partial_fit`; `predict` then labels rows.

        `labels_` and all other attributes with one entry per row have one entry for each point of the sketch,
        `sketch_.points`, instead. You can add more batches afterwards, and call `finalize` again.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self._stream is None:
            raise ValueError("finalize() has nothing to cluster: pass batches of rows to partial_fit(X) first.")
        self._stream = self._stream.settled(self._sketch_config)
        sketch = self._stream.sketch
        if sketch is None or not len(sketch.sample.rows):
            raise ValueError(
                "finalize() has nothing to cluster: all rows so far have a sample_weight of zero or are forgotten. "
                "Pass rows of positive weight to partial_fit(X, sample_weight=...) first."
            )
        geometry, kind = self._check_parameters(), self._sketch_kind() or "auto"
        return self._fit(
            seen_columns(self),
            lambda watch: data_from_sketch(self, sketch, geometry, kind, watch),
            keep_stream=True,
        )

    def __sklearn_is_fitted__(self) -> bool:
        # partial_fit sets n_features_in_ before there is a result
        return "result_" in vars(self)

    def _solve(self, data: FitData, watch: Watcher | None) -> FitResult:
        """Cluster the points. Call `watch`, if it is not None, with each `Stage` of the work."""
        raise NotImplementedError

    def _fit_data(self, rows: Array, weights: Array, geometry: Geometry, watch: Watcher | None) -> FitData:
        """Return the input of `_solve`."""
        return data_from_rows(self, rows, weights, geometry, watch)

    def _sketch_kind(self) -> str | None:
        return None if self.sketch is None else check_choice("sketch", self.sketch, ("auto", "grid", "sample"))

    def _placed(self, rows: Array) -> Array:
        return rows if self.metric == "euclidean" else place_on_sphere(rows, self.metric)

    @property
    def _needs_all_rows(self) -> bool:
        """Whether a parameter needs all rows, so that `sketch="auto"` uses no sketch."""
        return False

    @property
    def _has_automatic_bandwidth(self) -> bool:
        """Whether a bandwidth is chosen from the data."""
        return False

    def _memory(self, n: int, d: int, itemsize: int) -> float:
        """Return an upper bound on the bytes that a fit of n distinct rows needs in addition to the rows."""
        return self._fit_memory.bytes(n, d, itemsize)

    def _choose_settings(self, sample: Points, watch: Watcher | None, rounding: float = 0.0) -> FitSettings:
        """Return the settings in force; automatic bandwidths are chosen from a sample of the rows."""
        raise NotImplementedError

    def _points_of_sketch(self, sketch: Sketch, settings: FitSettings, sample: Points, kind: str) -> SketchPoints:
        """Return the points of a sketch that the fit clusters: means of grid cells, or a sample."""
        return sketch.points(1.0, 1.0, "sample")

    def _fit(
        self,
        columns: dict[str, Any],
        make_data: Callable[[Watcher | None], FitData],
        finish: Callable[[FitResult], FitResult] | None = None,
        *,
        keep_stream: bool = False,
    ) -> Self:
        """Make the input, solve, and store the result; then raise `KeyboardInterrupt` if the fit was interrupted."""
        try:
            with self._progress() as watch, one_blas_thread():
                result = self._solve(make_data(watch), watch)
                if self.outlier_fraction:
                    result = with_outliers(result, self.outlier_fraction, self.n_jobs)
                result = result if finish is None else finish(result)
        except KeyboardInterrupt:
            self._clear(keep_stream=keep_stream)
            raise
        self._store(columns, result, keep_stream=keep_stream)
        if result.interrupted:
            raise KeyboardInterrupt(f"{type(self).__name__}: {self._interruption(result)}")
        self._advise(result)
        return self

    def _store(self, columns: dict[str, Any], result: FitResult, *, keep_stream: bool = False) -> None:
        """Set all fitted attributes."""
        fitted = {"result_": result, **columns, **result.attributes()}
        self._clear(keep_stream=keep_stream)
        self.__dict__.update(fitted)

    def _clear(self, *, keep_stream: bool) -> None:
        """Delete all fitted attributes, and those of `partial_fit` unless `keep_stream`."""
        kept = ("n_features_in_", "feature_names_in_", "_stream") if keep_stream else ()
        for name in [name for name in vars(self) if name.endswith("_") or name == "_stream"]:
            if name not in kept:
                delattr(self, name)

    def _check_parameters(self) -> Geometry:
        """Check the parameters that do not depend on the data."""
        check_integer("min_cluster_size", self.min_cluster_size, low=1)
        if check_number("outlier_fraction", self.outlier_fraction, strict=False) >= 1:
            raise ValueError(f"outlier_fraction must be at least 0 and below 1; got {self.outlier_fraction!r}.")
        check_jobs(self.n_jobs)
        check_callbacks(self.callbacks)
        return Geometry(check_choice("metric", self.metric, self._metrics))

    def _progress(self) -> AbstractContextManager[Watcher | None]:
        """Return a context that shows progress if `verbose` is set; it yields a function to call with each `Stage`."""
        return show_progress(self._title) if self.verbose else nullcontext()

    @property
    def _title(self) -> str:
        """Name of the fit in the progress line."""
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
