"""Fits of many rows: on a sketch, whose weighted points stand for the rows, and from batches (`partial_fit`)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.neighbors import nearest
from modeseek._common.points import Points, canonical_points, unit_rows
from modeseek._common.storable import is_real, require, storable
from modeseek._common.types import Array, Geometry, Watcher
from modeseek._common.validation import check_choice, check_number, check_weights
from modeseek.estimators.advice import warn
from modeseek.estimators.input_checks import Columns, check_new_rows, check_rows
from modeseek.estimators.memory import FitMemory, check_fit_memory, check_sketch_memory
from modeseek.estimators.result import FitData, FitSettings
from modeseek.sketches import Sample, Sketch, SketchConfig, SketchLayout, SketchPoints, is_dask

__all__ = ["Stream", "StreamingMixin", "labelled_copy", "resume_stream", "stream_sketch"]

KINDS = ("auto", "grid", "sample")


def _check_stream(stream: Stream) -> None:
    require(stream.sketch is None or not stream.pending, "pending batches beside a sketch")
    for rows, weights in stream.pending:
        require(is_real(rows, 2) and is_real(weights, 1) and len(rows) == len(weights), "the weights of batches")


@storable(_check_stream)
@dataclass(frozen=True, eq=False)
class Stream:
    """Rows that `partial_fit` was given.

    Attributes
    ----------
    pending : tuple of (rows, weights)
        Batches that wait until there are enough rows for the layout of a sketch.
    sketch : Sketch or None
        Sketch of all batches; None while they are pending.
    """

    pending: tuple[tuple[Array, Array], ...] = ()
    sketch: Sketch | None = None

    def arrays(self) -> list[Array]:
        """Return the rows that the stream holds."""
        return [rows for rows, _ in self.pending] + ([] if self.sketch is None else [self.sketch.sample.rows])

    def add(self, rows: Array, weights: Array, config: SketchConfig) -> Stream:
        """Return the stream with one more batch."""
        if self.sketch is not None:
            return Stream(sketch=self.sketch.add(rows, weights))
        more = Stream((*self.pending, (rows, weights)))
        return more.settled(config) if sum(len(each) for each, _ in more.pending) >= config.layout_rows else more

    def settled(self, config: SketchConfig) -> Stream:
        """Return the stream with its pending batches in a sketch."""
        if not self.pending:
            return self
        rows = np.concatenate([rows for rows, _ in self.pending])
        return Stream(sketch=_sketch(rows, np.concatenate([weights for _, weights in self.pending]), config))

    def faded(self, share: float, config: SketchConfig) -> Stream:
        """Return the stream with all weights multiplied by `share`."""
        settled = self.settled(config)
        return settled if settled.sketch is None else Stream(sketch=settled.sketch.discounted(share))


class StreamingMixin:
    """Fits on a sketch of the rows, from one array or from batches."""

    sketch: str | None
    n_jobs: int | None
    metric: str
    _sketch_config: ClassVar[SketchConfig] = SketchConfig()
    _fit_memory: ClassVar[FitMemory] = FitMemory()
    # set by `partial_fit`
    _stream: Stream | None = None

    def partial_fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None, *, forget: float = 0.0
    ) -> Self:
        """Add a batch of rows, in bounded memory. `finalize` clusters all batches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A batch. The result depends neither on the sizes of the batches nor on their order, as long as the first
            65,536 rows are the same.
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
        if self._stream is None:
            rows, columns = check_rows(self, X)
            stream, seen = Stream(), columns.attributes()
        else:
            rows, stream, seen = check_new_rows(self, X), self._stream, {}
        rows, weights = self._placed(rows), check_weights(sample_weight, len(rows), some=False)
        if forget > 0:
            stream = stream.faded(1.0 - forget, self._sketch_config)
        if (weights > 0).any():
            stream = stream.add(rows[weights > 0], weights[weights > 0], self._sketch_config)
        for name, value in (seen | {"_stream": stream}).items():
            setattr(self, name, value)
        return self

    def finalize(self) -> Self:
        """Cluster all rows that `partial_fit` was given; `predict` then labels rows.

        `labels_` and all other attributes with one entry per row describe the points of the sketch, `sketch_.points`.
        More batches may follow, and another `finalize`.

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
            Columns.of(self),
            lambda watch: self._data_from_sketch(sketch, geometry, kind, watch),
            keep_stream=True,
        )

    def _data_from_rows(self, rows: Array, weights: Array, geometry: Geometry, watch: Watcher | None) -> FitData:
        """Return the input of a fit: all rows, or a sketch of them."""
        kind, config, name = self._sketch_kind(), self._sketch_config, type(self).__name__
        n, d = rows.shape
        placed, taken = self._placed(rows), slice(None) if (weights > 0).all() else weights > 0
        if kind is None or (kind == "auto" and (n <= config.max_rows or self._needs_all_rows)):
            check_fit_memory(name, self._memory(n, d, rows.itemsize), (n, d), rows.itemsize)
            points = _with_weightless(canonical_points(rows, weights, geometry), rows, self.n_jobs)
            sample = points
            if n > config.sample_rows:
                # the rows that a sketch would sample, so that automatic bandwidths do not depend on the sketch
                empty = Sample.empty(config.sample_rows, d)
                sample = _sample_points(empty.add(placed[taken], weights[taken]), geometry)
            return FitData(points, self._choose_settings(sample, watch))
        check_sketch_memory(name, (n, d))
        data = self._data_from_sketch(_sketch(placed[taken], weights[taken], config), geometry, kind, watch)
        assert data.sketch is not None
        if kind == "auto":
            warn(
                f"{name} runs on a sketch: {data.sketch}. sketch=None uses every row, which may take long; "
                'sketch="grid" or sketch="sample" silence this warning.'
            )
        inverse = data.points.inverse[data.sketch.find(placed, self.n_jobs)]
        return replace(data, points=data.points._replace(inverse=inverse))

    def _data_from_sketch(self, sketch: Sketch, geometry: Geometry, kind: str, watch: Watcher | None) -> FitData:
        """Return the input of a fit on a sketch."""
        sample = _sample_points(sketch.sample, geometry)
        settings = self._choose_settings(sample, watch)
        chosen = self._points_of_sketch(sketch, settings, sample, kind)
        points = canonical_points(chosen.points, chosen.weights, geometry)
        return FitData(points, settings, chosen, sketch_points=points.inverse)

    def _sketch_kind(self) -> str | None:
        return None if self.sketch is None else check_choice("sketch", self.sketch, KINDS)

    def _placed(self, rows: Array) -> Array:
        return unit_rows(rows) if self.metric == "cosine" else rows

    @property
    def _needs_all_rows(self) -> bool:
        """Whether a parameter rules out a sketch with `sketch="auto"`."""
        return False

    def _memory(self, n: int, d: int, itemsize: int) -> float:
        """Return an upper bound on the bytes that a fit of n distinct rows needs beside the rows."""
        return self._fit_memory.bytes(n, d, itemsize)

    def _choose_settings(self, sample: Points, watch: Watcher | None) -> FitSettings:
        """Return the settings in force; automatic bandwidths are chosen from a sample of the rows."""
        raise NotImplementedError

    def _points_of_sketch(self, sketch: Sketch, settings: FitSettings, sample: Points, kind: str) -> SketchPoints:
        """Return the points of a sketch on which to run: means of grid cells, or a sample."""
        return sketch.points(1.0, 1.0, "sample")

    def _check_parameters(self) -> Geometry:
        raise NotImplementedError

    def _fit(
        self, columns: Columns, make_data: Callable[[Watcher | None], FitData], *, keep_stream: bool = False
    ) -> Self:
        raise NotImplementedError


def stream_sketch(estimator: StreamingMixin) -> Sketch | None:
    """Return the sketch of the rows that `partial_fit` was given; None while there are too few for its layout."""
    return None if estimator._stream is None else estimator._stream.sketch


def resume_stream(estimator: Any, sketch: Sketch) -> None:
    """Give an estimator the sketch of an earlier stream, so that `partial_fit` continues it."""
    estimator._stream = Stream(sketch=sketch)
    estimator.n_features_in_ = sketch.sample.rows.shape[1]


def labelled_copy(estimator: Any, rows: Array) -> Any:
    """Return a copy of an estimator that was fitted on a sketch, with labels and confidence of other rows."""
    other, result = copy.copy(estimator), estimator.result_.relabelled(rows, estimator.n_jobs)
    other._store(Columns.of(estimator), result, keep_stream=True)
    return other


def _sketch(rows: Array, weights: Array, config: SketchConfig) -> Sketch:
    return SketchLayout.of(rows, config).empty().add(rows, weights)


def _sample_points(sample: Sample, geometry: Geometry) -> Points:
    return canonical_points(sample.rows, sample.counts, geometry)


def _with_weightless(points: Points, rows: Array, n_jobs: int | None) -> Points:
    """Assign rows of weight 0 to their nearest point."""
    absent = np.flatnonzero(points.inverse < 0)
    if not len(absent):
        return points
    inverse = points.inverse.copy()
    inverse[absent] = nearest(points.values, points.to_canonical(rows[absent]), n_jobs=n_jobs)
    return points._replace(inverse=inverse)
