"""Fits of more rows than a chain can take one by one: on weighted points that stand for them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.hints import AdviceWarning
from modeseek._common.neighbors import nearest
from modeseek._common.types import Array, Geometry, IntArray, Watcher
from modeseek._common.validation import Points, canonical_points, check_choice, check_number, check_weights, unit_rows
from modeseek.estimators.data import check_rows
from modeseek.estimators.memory import check_fit
from modeseek.sketches import LAYOUT_ROWS, Sample, Sketch, SketchLayout, SketchPoints, is_dask

__all__ = ["Summarised", "resume_survey", "survey_of", "told_of"]

KINDS = ("auto", "grid", "sample")


class Summarised:
    """Base of estimators that can run on a summary of their rows, whole or in batches."""

    resolution: float = 1 / 16
    n_jobs: int | None
    metric: str
    # above so many rows "auto" takes a summary
    _many: ClassVar[int] = 50_000
    _sample_rows: ClassVar[int] = 20_000

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
        rows = self._placed(check_rows(self, X, reset=not begun))
        weights = check_weights(sample_weight, len(rows), some=False)
        rows, weights = rows[weights > 0], weights[weights > 0]
        if not begun:
            self._pending: list[tuple[Array, Array]] | None = []
            self._survey: Sketch | None = None
        elif forget > 0:
            self._settle()
            if self._survey is not None:
                self._survey = self._survey.faded(1.0 - forget)
        if not len(rows):
            return self
        if self._pending is None:
            assert self._survey is not None
            self._survey = self._survey.add(rows, weights)
            return self
        self._pending.append((rows, weights))
        if sum(len(each) for each, _ in self._pending) >= LAYOUT_ROWS:
            self._settle()
        return self

    def finalize(self) -> Self:
        """Cluster all rows that `partial_fit` has taken in; `predict` then labels any.

        `labels_` and what else has an entry for each row are those of the summary's points, `summary_.points`. More
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
        geometry = Geometry(check_choice("metric", self.metric, ("euclidean", "cosine")))
        return self._fit_points(lambda: self._points_for(survey, geometry, self._kind() or "auto"))

    def _points_of(self, rows: Array, weights: Array, geometry: Geometry) -> Points:
        """Return the points to work on: all rows, or a summary of them."""
        kind = self._kind()
        whole = kind is None or (kind == "auto" and (len(rows) <= self._many or getattr(self, "local_scale", False)))
        n, d = rows.shape
        check_fit(self, n, d, rows.itemsize, summary=not whole)
        placed, taken = self._placed(rows), slice(None) if (weights > 0).all() else weights > 0
        if kind is None or whole:
            if len(rows) > self._sample_rows:
                # the same rows as in a summary, so that the range is the same with and without
                empty = Sample.empty(self._sample_rows, rows.shape[1])
                self._sample = _points(empty.add(placed[taken], weights[taken]), geometry)
            return self._followed(canonical_points(rows, weights, geometry), rows)
        survey = SketchLayout.of(placed[taken], rows=self._sample_rows).begin().add(placed[taken], weights[taken])
        points = self._points_for(survey, geometry, kind)
        if kind == "auto":
            warnings.warn(
                f"{type(self).__name__} runs on a summary: {self.summary_}. summary=None takes every row, however long "
                'that takes; summary="grid" or "sample" takes one without this line.',
                AdviceWarning,
                stacklevel=5,
            )
        return points._replace(inverse=points.inverse[self.summary_.find(placed, self.n_jobs)])

    def _kind(self) -> str | None:
        # not by the attribute, which is the table of clusters too
        kind = vars(self).get("summary")
        return None if kind is None else check_choice("summary", kind, KINDS)

    def _points_for(self, survey: Sketch, geometry: Geometry, kind: str) -> Points:
        """Choose the summary by the smallest bandwidth, which the sample tells, and return its points."""
        self._sample = _points(survey.sample, geometry)
        h = self._finest(self._sample)
        resolution = check_number("resolution", self.resolution)
        self.summary_ = survey.summary(1.0 if h is None else h, resolution, "sample" if h is None else kind)
        points = canonical_points(self.summary_.points, self.summary_.weights, geometry)
        self._stands_for = points.inverse
        return points

    def _followed(self, points: Points, rows: Array) -> Points:
        """Let rows of weight 0 follow their nearest point."""
        absent = np.flatnonzero(points.inverse < 0)
        if not len(absent):
            return points
        inverse = points.inverse.copy()
        inverse[absent] = nearest(points.values, points.to_canonical(rows[absent]), n_jobs=self.n_jobs)
        return points._replace(inverse=inverse)

    def _number(self, points: Points, rows: Array) -> IntArray:
        """Return for each row the point that it belongs to."""
        found: SketchPoints | None = getattr(self, "summary_", None)
        if found is None:
            return nearest(points.values, points.to_canonical(rows), n_jobs=self.n_jobs, watch=self._watch())
        return self._stands_for[found.find(self._placed(rows), self.n_jobs)]

    def _placed(self, rows: Array) -> Array:
        return unit_rows(rows) if self.metric == "cosine" else rows

    def _settle(self) -> None:
        """Make the plan from the first rows, once there are enough or no more come; without any, wait for them."""
        if self._pending:
            first = np.concatenate([rows for rows, _ in self._pending])
            weights = np.concatenate([each for _, each in self._pending])
            self._survey = SketchLayout.of(first, rows=self._sample_rows).begin().add(first, weights)
            self._pending = None

    def _finest(self, sample: Points) -> float | None:
        """Return the smallest bandwidth; None where there is none, and a sample is all that can be had."""
        raise NotImplementedError

    def _fit_points(self, make: Callable[[], Points]) -> Self:
        raise NotImplementedError

    def _watch(self) -> Watcher | None:
        raise NotImplementedError


def survey_of(estimator: Summarised) -> Sketch | None:
    """Return what `partial_fit` has counted; None before there are rows enough to count them in anything."""
    return getattr(estimator, "_survey", None)


def resume_survey(estimator: Any, survey: Sketch) -> None:
    """Let an estimator go on from a survey as if its `partial_fit` had made it."""
    estimator._pending, estimator._survey = None, survey
    estimator.n_features_in_ = survey.sample.rows.shape[1]


def told_of(estimator: Any, rows: Array) -> Any:
    """Return a copy of an estimator that was fitted on a summary, with labels and confidence for these rows instead."""
    told, number = copy.copy(estimator), estimator.summary_.find(estimator._placed(rows), estimator.n_jobs)
    told._points = estimator._points._replace(inverse=estimator._points.inverse[number])
    for name in ("labels_", "confidence_"):
        if hasattr(estimator, name):
            setattr(told, name, getattr(estimator, name)[number])
    return told


def _points(sample: Sample, geometry: Geometry) -> Points:
    return canonical_points(sample.rows, sample.counts, geometry)
