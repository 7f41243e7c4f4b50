"""Features of held-out likelihood: a Gaussian for each cluster, fitted to half of a sample, predicts the other half."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.config import FeaturesConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.features.base import Feature, nan_elsewhere
from modeseek.selection.features.partitions import Partitions

GAUSSIANS = tuple(
    Feature(name, meaning, graph_only=False)
    for name, meaning in (
        ("gain", "gain in held-out log likelihood over one Gaussian, per point and dimension"),
        ("gain_total", "gain in held-out log likelihood over one Gaussian, per point"),
        ("gauss_accuracy", "share of held-out points that the Gaussians assign to their own cluster"),
        ("gauss_sure", "mean probability of the most likely cluster of held-out points"),
    )
)


class GaussianSample(NamedTuple):
    """Two halves of a sample, and the mean log likelihood of the second half under one Gaussian fitted to the first."""

    train_rows: IntArray
    test_rows: IntArray
    train: Array
    test: Array
    one_gaussian: float


def gaussian_sample(data: SelectionData, rows: IntArray) -> GaussianSample:
    """Return the sample of the points `rows`, split into halves."""
    from modeseek.selection.features.gaussians_loops import gaussian_scores

    half = len(rows) // 2
    train, test = (np.ascontiguousarray(data.coordinates[part]) for part in (rows[:half], rows[half:]))
    single, one = np.zeros((1, half), dtype=np.int32), np.ones(1, dtype=np.intp)
    likelihood = float(gaussian_scores(train, single, one, test)[0].mean()) if half else 0.0
    return GaussianSample(rows[:half], rows[half:], train, test, likelihood)


def gaussian_features(sample: GaussianSample, partitions: Partitions, config: FeaturesConfig) -> dict[str, Array]:
    """Return the features of each partition, by name; NaN if there are too many clusters."""
    from modeseek.selection.features.gaussians_loops import gaussian_scores

    own = partitions.of_points(sample.train_rows)
    chosen = np.flatnonzero(own.sizes <= config.max_gaussians)
    labels = own.labels[chosen] - own.start[chosen, None].astype(np.int32)
    logs, best, sure = gaussian_scores(sample.train, labels, own.sizes[chosen], sample.test)
    name = np.empty(own.n_clusters, dtype=np.int32)
    name[own.labels] = partitions.labels[:, sample.train_rows]
    correct = name[own.start[chosen, None] + best] == partitions.labels[np.ix_(chosen, sample.test_rows)]
    gain = logs.mean(axis=1) - sample.one_gaussian
    per_dimension = np.clip(gain / sample.train.shape[1], -20, 20)
    values = per_dimension, np.clip(gain, -50, 50), correct.mean(axis=1), sure.mean(axis=1)
    return {
        each.name: nan_elsewhere(column, chosen, len(own.sizes)) for each, column in zip(GAUSSIANS, values, strict=True)
    }
