"""Features of the number of clusters and their sizes."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import IntArray
from modeseek.selection.data import SelectionData
from modeseek.selection.features.base import Feature

SIZES = (
    Feature("log_k", "logarithm of the number of clusters"),
    Feature("entropy", "entropy of the shares of clusters"),
    Feature("simpson", "-ln of the sum of squared shares"),
    Feature("evenness", "entropy over its largest value, log_k"),
    Feature("log_rows_per_cluster", "logarithm of the mean weight of a cluster"),
    Feature("largest", "share of the largest cluster"),
    Feature("smallest", "logarithm of the weight of the smallest cluster"),
    Feature("tiny3", "share of the weight in clusters of weight 3 or less"),
    Feature("tiny10", "share of the weight in clusters of weight 10 or less"),
    Feature("tiny1p", "share of the weight in clusters of less than 1 % of it"),
    Feature("n_tiny", "share of the clusters that have less than 1 % of the weight"),
)


def size_features(data: SelectionData, labels: IntArray) -> dict[str, float]:
    """Return the features by name."""
    mass = np.bincount(labels, weights=data.weights)
    total, k = mass.sum(), len(mass)
    share = mass / total
    entropy = float(-(share * np.log(share)).sum())
    return {
        "log_k": float(np.log(k)),
        "entropy": entropy,
        "simpson": float(-np.log(np.square(share).sum())),
        "evenness": entropy / np.log(k),
        "log_rows_per_cluster": float(np.log(total / k)),
        "largest": share.max(),
        "smallest": float(np.log(mass.min())),
        "tiny3": mass[mass <= 3].sum() / total,
        "tiny10": mass[mass <= 10].sum() / total,
        "tiny1p": share[share < 0.01].sum(),
        "n_tiny": float((share < 0.01).mean()),
    }
