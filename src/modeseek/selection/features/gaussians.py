"""Features of held-out likelihood: a Gaussian for each cluster, fitted to half of a sample, predicts the other half."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.config import FeaturesConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.features.base import Feature
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
    one = gaussian_scores(train, np.zeros(half, dtype=np.int32), test, 1)[0].mean() if half else 0.0
    return GaussianSample(rows[:half], rows[half:], train, test, float(one))


def gaussian_features(sample: GaussianSample, partitions: Partitions, config: FeaturesConfig) -> dict[str, Array]:
    """Return the features of each partition, by name; NaN if there are too many clusters."""
    from modeseek.selection.features.gaussians_loops import gaussian_scores

    own = partitions.of_points(sample.train_rows)
    found = np.full((len(own.sizes), 4), np.nan)
    for number in np.flatnonzero(own.sizes <= config.max_gaussians):
        labels, k = own.labels[number] - own.start[number].astype(np.int32), int(own.sizes[number])
        logs, best, sure = gaussian_scores(sample.train, labels, sample.test, k)
        name = np.zeros(k, dtype=np.int64)
        name[labels] = partitions.labels[number, sample.train_rows]
        gain = float(logs.mean()) - sample.one_gaussian
        accuracy = (name[best] == partitions.labels[number, sample.test_rows]).mean()
        per_dimension = np.clip(gain / sample.train.shape[1], -20, 20)
        found[number] = per_dimension, np.clip(gain, -50, 50), accuracy, sure.mean()
    return dict(zip((each.name for each in GAUSSIANS), found.T, strict=True))
