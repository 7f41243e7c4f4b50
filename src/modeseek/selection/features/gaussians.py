"""Features of held-out likelihood: one Gaussian for each cluster, fitted on half of a sample, predicts the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.config import FeaturesConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.features.base import Feature

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
    """Two halves of a sample, and how well one Gaussian predicts the second from the first."""

    train_rows: IntArray
    test_rows: IntArray
    train: Array
    test: Array
    one_gaussian: float


def gaussian_sample(data: SelectionData, rows: IntArray) -> GaussianSample:
    """Split points into halves."""
    from modeseek.selection.features.gaussians_loops import gaussian_scores

    half = len(rows) // 2
    train, test = (np.ascontiguousarray(data.coordinates[part]) for part in (rows[:half], rows[half:]))
    one = gaussian_scores(train, np.zeros(half, dtype=np.int32), test, 1)[0].mean() if half else 0.0
    return GaussianSample(rows[:half], rows[half:], train, test, float(one))


def gaussian_features(sample: GaussianSample, labels: IntArray, config: FeaturesConfig) -> dict[str, float]:
    """Return the features by name; none if there are too many clusters."""
    from modeseek.selection.features.gaussians_loops import gaussian_scores
    from modeseek.selection.partition_loops import compact

    first, second = labels[sample.train_rows], labels[sample.test_rows]
    own, k = compact(first)
    if k > config.max_gaussians:
        return {}
    logs, best, sure = gaussian_scores(sample.train, own, sample.test, k)
    name = np.zeros(k, dtype=np.int64)
    name[own] = first
    gain = float(logs.mean()) - sample.one_gaussian
    return {
        "gain": float(np.clip(gain / sample.train.shape[1], -20, 20)),
        "gain_total": float(np.clip(gain, -50, 50)),
        "gauss_accuracy": float((name[best] == second).mean()),
        "gauss_sure": sure.mean(),
    }
