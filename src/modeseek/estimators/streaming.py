"""Fits of more rows than a chain can take one by one: on weighted points that stand for them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.hints import AdviceWarning
from modeseek._common.neighbors import nearest
from modeseek._common.points import Points, canonical_points, unit_rows
from modeseek._common.types import Array, Geometry, Watcher
from modeseek._common.validation import check_choice, check_number, check_weights
from modeseek.estimators.advice import caller_level
from modeseek.estimators.data import Columns, check_new_rows, check_rows
from modeseek.estimators.memory import check_fit
from modeseek.estimators.result import FitData, FitSettings
from modeseek.sketches import Sample, Sketch, SketchConfig, SketchLayout, is_dask

__all__ = ["Streaming", "resume_survey", "survey_of", "told_of"]

KINDS = ("auto", "grid", "sample")


class Streaming:
    """Base of estimators that can run on a summary of their rows, whole or in batches."""

    sketch: str | None = None
    resolution: float = 1 / 16
    n_jobs: int | None
    metric: str
    # above so many rows "auto" takes a summary
    _many: ClassVar[int] = 50_000
    _sketch_config: ClassVar[SketchConfig] = SketchConfig()

    def partial_fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None, *, forget: float = 0.0
    ) -> Self:
        """Take in a batch of rows, in bounded memory; `finalize` clusters what has come in.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A batch. Neither the size of batches nor their order changes the result, as long as the first 65,536 rows
            are the same.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 3 is three equal rows; a row of weight 0 takes no part, nor does a batch of such rows.
        forget : float, default=0
            Share of the weight of all earlier batches that is dropped before this one comes in.

        Returns
        -------
        self
        """
        check_number("forget", forget, strict=False)
        if forget > 1:
            raise ValueError(f"forget must be in [0, 1]; got {forget!r}.")
        if is_dask(X):
            raise TypeError("partial_fit takes a batch in memory: give a Dask collection whole, to fit(X).")
        begun = hasattr(self, "_pending")
        if begun:
            rows = check_new_rows(self, X)
        else:
            rows, columns = check_rows(self, X)
            for name, value in columns.attributes().items():
                setattr(self, name, value)
        rows = self._placed(rows)
        weights = check_weights(sample_weight, len(rows), some=False)
        rows, weights = rows[weights > 0], weights[weights > 0]
        if not begun:
            self._pending: list[tuple[Array, Array]] | None = []
            self._survey: Sketch | None = None
        elif forget > 0:
            self._settle()
            if self._survey is not None:
                self._survey = self._survey.discounted(1.0 - forget)
        if not len(rows):
            return self
        if self._pending is None:
            assert self._survey is not None
            self._survey = self._survey.add(rows, weights)
            return self
        self._pending.append((rows, weights))
        if sum(len(each) for each, _ in self._pending) >= self._sketch_config.layout_rows:
            self._settle()
        return self

    def finalize(self) -> Self:
        """Cluster all rows that `partial_fit` has taken in; `predict` then labels any.

        `labels_` and what else has an entry for each row are those of the sketch's points, `sketch_.points`. More
        batches may follow, and another `finalize`.

        Returns
        -------
        self
        """
        if not hasattr(self, "_pending"):
            raise ValueError("finalize() has nothing to cluster: give batches of rows to partial_fit(X) first.")
        self._settle()
        survey = self._survey
        if survey is None or not len(survey.sample.rows):
            raise ValueError(
                "finalize() has nothing to cluster: all rows so far have a sample_weight of zero or are forgotten. "
                "Give rows of positive weight to partial_fit(X, sample_weight=...) first."
            )
        geometry, kind = self._check_settings(), self._kind() or "auto"
        return self._fit(
            Columns.of(self), lambda watch: self._sketch_data(survey, geometry, kind, watch), keep_stream=True
        )

    def _fit_data(self, rows: Array, weights: Array, geometry: Geometry, watch: Watcher | None) -> FitData:
        """Return the input of a fit: all rows, or a sketch of them."""
        kind = self._kind()
        whole = kind is None or (kind == "auto" and (len(rows) <= self._many or getattr(self, "local_scale", False)))
        n, d = rows.shape
        check_fit(self, n, d, rows.itemsize, sketch=not whole)
        placed, taken = self._placed(rows), slice(None) if (weights > 0).all() else weights > 0
        if kind is None or whole:
            points = self._followed(canonical_points(rows, weights, geometry), rows)
            sample = points
            sample_size = self._sketch_config.sample_size
            if len(rows) > sample_size:
                # the rows that a sketch would sample, so that automatic bandwidths do not depend on the sketch
                empty = Sample.empty(sample_size, rows.shape[1])
                sample = _points(empty.add(placed[taken], weights[taken]), geometry)
            return FitData(points, self._choose_settings(sample, watch))
        survey = SketchLayout.of(placed[taken], self._sketch_config).empty().add(placed[taken], weights[taken])
        data = self._sketch_data(survey, geometry, kind, watch)
        assert data.sketch is not None
        if kind == "auto":
            warnings.warn(
                f"{type(self).__name__} runs on a sketch: {data.sketch}. sketch=None takes every row, however long "
                'that takes; sketch="grid" or "sample" takes one without this line.',
                AdviceWarning,
                stacklevel=caller_level(),
            )
        inverse = data.points.inverse[data.sketch.find(placed, self.n_jobs)]
        return replace(data, points=data.points._replace(inverse=inverse))

    def _sketch_data(self, survey: Sketch, geometry: Geometry, kind: str, watch: Watcher | None) -> FitData:
        """Return the input of a fit on a sketch; its cells are measured by the smallest bandwidth."""
        sample = _points(survey.sample, geometry)
        settings = self._choose_settings(sample, watch)
        h = self._finest(settings, sample)
        resolution = check_number("resolution", self.resolution)
        sketch = survey.points(
            1.0 if h is None else h, resolution, "sample" if h is None else kind, self._sketch_config
        )
        points = canonical_points(sketch.points, sketch.weights, geometry)
        return FitData(points, settings, sketch, sketch_points=points.inverse)

    def _kind(self) -> str | None:
        return None if self.sketch is None else check_choice("sketch", self.sketch, KINDS)

    def _followed(self, points: Points, rows: Array) -> Points:
        """Let rows of weight 0 follow their nearest point."""
        absent = np.flatnonzero(points.inverse < 0)
        if not len(absent):
            return points
        inverse = points.inverse.copy()
        inverse[absent] = nearest(points.values, points.to_canonical(rows[absent]), n_jobs=self.n_jobs)
        return points._replace(inverse=inverse)

    def _placed(self, rows: Array) -> Array:
        return unit_rows(rows) if self.metric == "cosine" else rows

    def _settle(self) -> None:
        """Make the plan from the first rows, once there are enough or no more come; without any, wait for them."""
        if self._pending:
            first = np.concatenate([rows for rows, _ in self._pending])
            weights = np.concatenate([each for _, each in self._pending])
            self._survey = SketchLayout.of(first, self._sketch_config).empty().add(first, weights)
            self._pending = None

    def _choose_settings(self, sample: Points, watch: Watcher | None) -> FitSettings:
        """Return the bandwidths in force; automatic ones are chosen from a sample of the rows."""
        raise NotImplementedError

    def _finest(self, settings: FitSettings, sample: Points) -> float | None:
        """Return the smallest bandwidth, by which grid cells are measured; None if there is no bandwidth."""
        return settings.smallest_bandwidth

    def _check_settings(self) -> Geometry:
        raise NotImplementedError

    def _fit(
        self, columns: Columns, make_data: Callable[[Watcher | None], FitData], *, keep_stream: bool = False
    ) -> Self:
        raise NotImplementedError


def survey_of(estimator: Streaming) -> Sketch | None:
    """Return what `partial_fit` has counted; None before there are rows enough to count them in anything."""
    return getattr(estimator, "_survey", None)


def resume_survey(estimator: Any, survey: Sketch) -> None:
    """Let an estimator go on from a survey as if its `partial_fit` had made it."""
    estimator._pending, estimator._survey = None, survey
    estimator.n_features_in_ = survey.sample.rows.shape[1]


def told_of(estimator: Any, rows: Array) -> Any:
    """Return a copy of an estimator fitted on a sketch, with labels and confidence of these rows instead."""
    told, result = copy.copy(estimator), estimator.result_.relabelled(rows, estimator.n_jobs)
    told._store(Columns.of(estimator), result, keep_stream=True)
    return told


def _points(sample: Sample, geometry: Geometry) -> Points:
    return canonical_points(sample.rows, sample.counts, geometry)
