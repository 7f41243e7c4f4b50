"""Scores of a clustering against the true labels."""

import numpy as np
from sklearn import config_context
from sklearn.metrics import adjusted_rand_score

from modeseek._common.types import Array, IntArray
from modeseek.metrics import acp, alp, k_score
from modeseek.paper.rows import Row

# column -> name in the report
MEASURES = {
    "n_clusters": "clusters",
    "n_singletons": "clusters of one point",
    "acp": "ACP",
    "alp": "ALP",
    "k": "K",
    "k_weighted": "K weighted by size",
    "ari": "ARI",
}


def score(truth: IntArray, labels: IntArray) -> Row:
    """Compare labels with the true ones; each noise point (label -1) counts as a cluster of one point.

    Examples
    --------
    >>> score(np.array([0, 0, 1, 1]), np.array([0, 0, 1, -1]))["n_clusters"]
    3
    """
    noise = labels == -1
    own = np.where(noise, labels.max() + 1 + np.cumsum(noise), labels)
    sizes = np.unique(own, return_counts=True)[1]
    # validation would take longer than the scores of these small sets
    with config_context(assume_finite=True, skip_parameter_validation=True):
        ari = float(adjusted_rand_score(truth, own))
    return {
        "n_clusters": len(sizes),
        "n_singletons": int((sizes == 1).sum()),
        "acp": acp(truth, own),
        "alp": alp(truth, own),
        "k": k_score(truth, own),
        "k_weighted": k_score(truth, own, weighted=True),
        "ari": ari,
    }


def mode_offset(X: Array, truth: IntArray, labels: IntArray, centers: Array) -> float | None:
    """Return the distance from the mean of a class to the centre of the cluster with most of its points, on average.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [9.0], [9.0]])
    >>> mode_offset(X, np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), np.array([[9.0], [0.25]]))
    0.125
    """
    offsets = []
    for label in np.unique(truth):
        mine = truth == label
        found, counts = np.unique(labels[mine], return_counts=True)
        main = found[np.argmax(counts)]
        if main >= 0:  # -1 is noise
            offsets.append(np.linalg.norm(centers[main] - X[mine].mean(axis=0)))
    return float(np.mean(offsets)) if offsets else None
