"""Features of the number of clusters and their sizes."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array
from modeseek.selection.features.base import Feature
from modeseek.selection.features.partitions import Partitions

SIZES = (
    Feature("log_k", "logarithm of the number of clusters"),
    Feature("entropy", "entropy of the shares of clusters"),
    Feature("simpson", "-ln of the sum of squared shares"),
    Feature("evenness", "entropy divided by its largest value, log_k"),
    Feature("log_rows_per_cluster", "logarithm of the mean weight of a cluster"),
    Feature("largest", "share of the largest cluster"),
    Feature("smallest", "logarithm of the weight of the smallest cluster"),
    Feature("tiny3", "share of the weight in clusters of weight 3 or less"),
    Feature("tiny10", "share of the weight in clusters of weight 10 or less"),
    Feature("tiny1p", "share of the weight in clusters of less than 1 % of it"),
    Feature("n_tiny", "share of the clusters that have less than 1 % of the weight"),
)


def size_features(partitions: Partitions, mass: Array) -> dict[str, Array]:
    """Return the features of each partition, by name; `mass` is the weight of each cluster."""
    total, k = partitions.total(mass), partitions.sizes
    share = mass / partitions.to_clusters(total)
    entropy = -partitions.total(share * np.log(share))
    return {
        "log_k": np.log(k),
        "entropy": entropy,
        "simpson": -np.log(partitions.total(np.square(share))),
        "evenness": entropy / np.log(k),
        "log_rows_per_cluster": np.log(total / k),
        "largest": partitions.largest(share),
        "smallest": np.log(partitions.least(mass)),
        "tiny3": partitions.total(mass * (mass <= 3)) / total,
        "tiny10": partitions.total(mass * (mass <= 10)) / total,
        "tiny1p": partitions.total(share * (share < 0.01)),
        "n_tiny": partitions.total(1.0 * (share < 0.01)) / k,
    }
