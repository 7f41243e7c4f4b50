"""Functions that make the input of a fit (`FitData`) from rows or from a sketch of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from modeseek._common.neighbors import nearest
from modeseek._common.points import Points, canonical_points
from modeseek._common.rounding import spread_rounded
from modeseek._common.types import Array, Geometry, IntArray, Watcher
from modeseek.estimators.advice import warn
from modeseek.estimators.memory import check_fit_memory, check_sketch_memory
from modeseek.estimators.result import FitData, FitSettings
from modeseek.estimators.streaming import make_sketch
from modeseek.sketches import Sample, Sketch

if TYPE_CHECKING:
    from modeseek.estimators.base import BaseClusterer


def data_from_rows(
    estimator: BaseClusterer, rows: Array, weights: Array, geometry: Geometry, watch: Watcher | None
) -> FitData:
    """Return the input of a fit: all rows, or a sketch of the rows, according to the parameter `sketch`."""
    kind, config, name = estimator._sketch_kind(), estimator._sketch_config, type(estimator).__name__
    n, d = rows.shape
    taken = slice(None) if (weights > 0).all() else weights > 0
    if kind is None or (kind == "auto" and (n <= config.max_rows or estimator._needs_all_rows)):
        check_fit_memory(name, estimator._memory(n, d, rows.itemsize), (n, d), rows.itemsize)
        points, weightless = _assign_weightless(canonical_points(rows, weights, geometry), rows, estimator.n_jobs)
        sample = points
        if n > config.sample_rows:
            # the rows that a sketch would sample, so that automatic bandwidths do not depend on the sketch
            drawn = Sample.empty(config.sample_rows, d).add(estimator._placed(rows)[taken], weights[taken])
            sample = canonical_points(drawn.rows, drawn.counts, geometry)
        return FitData(points, _choose_settings(estimator, sample, watch), weightless=weightless)
    check_sketch_memory(name, (n, d))
    placed = estimator._placed(rows)
    data = data_from_sketch(estimator, make_sketch(placed[taken], weights[taken], config), geometry, kind, watch)
    assert data.sketch is not None
    if kind == "auto":
        warn(
            f"{name} clusters a sketch, {data.sketch}, instead of all rows. sketch=None uses every row, which may take "
            f'long; sketch="{"sample" if data.sketch.resolution is None else "grid"}" silences this warning.'
        )
    inverse = data.points.inverse[data.sketch.find(placed, estimator.n_jobs)]
    return replace(data, points=data.points._replace(inverse=inverse))


def data_from_sketch(
    estimator: BaseClusterer, sketch: Sketch, geometry: Geometry, kind: str, watch: Watcher | None
) -> FitData:
    """Return the input of a fit on a sketch; `kind` is "auto", "grid" or "sample"."""
    sample = canonical_points(sketch.sample.rows, sketch.sample.counts, geometry)
    settings = _choose_settings(estimator, sample, watch)
    chosen = estimator._points_of_sketch(sketch, settings, sample, kind)
    points = canonical_points(chosen.points, chosen.weights, geometry)
    return FitData(points, settings, chosen, sketch_points=points.inverse)


def _choose_settings(estimator: BaseClusterer, sample: Points, watch: Watcher | None) -> FitSettings:
    """Return the settings in force; for automatic bandwidths, rounded values are spread within the rounding step."""
    spread = spread_rounded(sample) if estimator._has_automatic_bandwidth else None
    if spread is not None:
        return replace(estimator._choose_settings(spread.points, watch, spread.variance), rounded=spread.columns)
    settings = estimator._choose_settings(sample, watch)
    return replace(settings, in_meters=sample.geometry.metric == "haversine")


def _assign_weightless(points: Points, rows: Array, n_jobs: int | None) -> tuple[Points, tuple[IntArray, Array] | None]:
    """Assign rows of weight 0 to their nearest point; return the points, and indices and positions of these rows."""
    absent = np.flatnonzero(points.inverse < 0)
    if not len(absent):
        return points, None
    inverse, positions = points.inverse.copy(), points.to_canonical(rows[absent])
    inverse[absent] = nearest(points.values, positions, n_jobs=n_jobs)
    return points._replace(inverse=inverse), (absent, positions)
